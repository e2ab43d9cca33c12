"""`tf.layers`, `tf.losses`, `tf.metrics`, and what programs use of `tf.contrib`."""
