"""Modules of TensorFlow's inside that programs import."""
