"""Modules of `tensorflow.python.framework`."""
