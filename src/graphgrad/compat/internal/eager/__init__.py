"""Modules of `tensorflow.python.eager`."""
