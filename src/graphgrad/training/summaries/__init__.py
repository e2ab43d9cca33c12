"""Summaries of 0.x, 1.x and 2.x, and the files of events."""
