"""Graphs as TensorFlow 1 built them, recorded from TensorFlow 2.21 with its behaviours switched to those of 1.x."""
