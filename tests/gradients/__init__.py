"""Tests of `tf.gradients`, a file a topic; and of these tests."""
