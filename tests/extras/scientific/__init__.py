"""Tests of `tf.implicit`."""
