"""`tf.test`: test cases and queries about the machine."""
