"""Networks of `tf.contrib.slim.nets`, with the names of variables that published checkpoints have."""
