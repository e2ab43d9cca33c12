"""Tests of the operations: the table of ops drives most of them."""
