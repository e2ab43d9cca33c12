"""Rows of operations on arrays."""
