"""`tf.contrib.rnn`."""
