"""Branches, loops, tensor lists, assertions, calls of Python functions."""
