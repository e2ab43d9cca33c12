"""Checkpoints by name and by object, meta graphs, saved models."""
