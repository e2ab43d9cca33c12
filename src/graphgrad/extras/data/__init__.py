"""`tf.data`."""
