"""What the process is asked for: late imports, logging, garbage collection, files that appear whole."""
