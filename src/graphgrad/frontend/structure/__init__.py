"""Nested structures and type specs."""
