"""Modules of `tensorflow.python.util`."""
