"""What programs import from TensorFlow's `python.ops`."""
