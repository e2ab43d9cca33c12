"""Graphs, meta graphs and saved models of TensorFlow 1: control flow, arrays and reference variables."""
