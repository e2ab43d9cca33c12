"""Services of the process: late imports, logging, garbage collection, subnormal numbers, names of devices."""
