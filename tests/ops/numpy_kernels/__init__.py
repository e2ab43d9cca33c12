"""Kernels in NumPy, compared with its own functions."""
