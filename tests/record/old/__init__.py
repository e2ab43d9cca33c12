"""Records from graphs as TensorFlow 1 built them."""
