"""What programs import from TensorFlow's `python.lib`."""
