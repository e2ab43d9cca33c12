"""Modules of `tensorflow.python.distribute`."""
