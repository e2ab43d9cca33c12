"""`tf.contrib.distributions`."""
