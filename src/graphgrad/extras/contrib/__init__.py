"""What programs use of `tf.contrib` that is nothing of `tf.layers`, and of TensorFlow's tutorials."""
