"""`tf.signal`, `tf.audio`."""
