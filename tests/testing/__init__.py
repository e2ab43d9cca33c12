"""Tests of `tf.test`."""
