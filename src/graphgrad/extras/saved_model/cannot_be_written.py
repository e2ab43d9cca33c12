"""What stops a function from being written."""

from __future__ import annotations


class CannotBeWritten(Exception):
    """What a function holds cannot be written to a file; its text says what."""
