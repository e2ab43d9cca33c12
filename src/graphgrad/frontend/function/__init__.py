"""`tf.function`: signatures, concrete functions, inlining, initializers."""
