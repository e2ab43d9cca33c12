"""`tf.test`: test cases and what they ask of the machine."""
