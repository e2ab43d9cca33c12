"""Small programs whose results TensorFlow has recorded: one module a subject, see `harness`."""
