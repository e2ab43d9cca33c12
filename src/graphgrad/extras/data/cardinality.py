"""Cardinalities of data sets, as far as they are known without a pass."""

from __future__ import annotations

INFINITE = -1  # no end
UNKNOWN = -2


def limited(*sizes: int) -> int:
    """Returns the smallest cardinality."""
    known = [s for s in sizes if s >= 0]
    if UNKNOWN in sizes:
        return UNKNOWN
    return min(known) if known else INFINITE


def divided(size: int, by: int, drop_remainder: bool) -> int:
    """Returns the number of batches."""
    return size if size < 0 else size // by if drop_remainder else -(-size // by)


def times_(size: int, count: int) -> int:
    """Returns the number of elements of `count` passes; infinite if it is negative."""
    if size == 0 or count == 0:
        return 0
    if count < 0:
        return INFINITE
    return size if size < 0 else size * count
