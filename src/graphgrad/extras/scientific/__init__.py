"""Tensors and functions for NumPy and SciPy: `as_function`, `formula`."""
