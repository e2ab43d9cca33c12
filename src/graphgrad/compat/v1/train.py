"""`tf.train` of TensorFlow 1."""
