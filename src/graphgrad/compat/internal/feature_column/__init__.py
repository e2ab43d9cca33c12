"""Modules of `tensorflow.python.feature_column`."""
