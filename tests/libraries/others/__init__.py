"""Programs on libraries that the project did not set out for: they were tried later."""
