"""`tf.strings`."""
