"""Modules of `tensorflow.python.layers`."""
