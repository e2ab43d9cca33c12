"""Graphs of TensorFlow 1 read from files: their control flow, arrays and reference variables."""
