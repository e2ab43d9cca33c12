"""Rows of operations of neural networks."""
