"""Recorders of programs that generators draw."""
