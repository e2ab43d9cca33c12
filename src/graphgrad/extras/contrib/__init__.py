"""What programs use of `tf.contrib`, and of TensorFlow's tutorials."""
