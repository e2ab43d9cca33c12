"""Tests of the faces: TensorFlow's names, and the command line."""
