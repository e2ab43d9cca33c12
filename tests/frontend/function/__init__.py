"""Tests of functions: what is traced when, and what is made of Python."""
