"""The parts of `tf.contrib`, and of TensorFlow's tutorials, that programs use."""
