"""Modules of `tensorflow.python.training`."""
