"""Modules of `tensorflow.python.saved_model`."""
