"""`tf.contrib.distributions.bijectors`."""
