"""Saved models of TensorFlow 2: objects with their functions, variables and files."""
