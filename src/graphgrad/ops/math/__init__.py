"""Arithmetic, elementwise functions, reductions, segments, special functions."""
