"""`tf.metrics` of 1.x."""
