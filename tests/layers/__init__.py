"""Tests of `tf.layers` and `tf.losses`."""
