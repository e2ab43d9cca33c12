"""Rows of arithmetic, reductions and segments."""
