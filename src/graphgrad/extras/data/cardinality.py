"""How many elements data sets have, as far as that is known without a pass."""

from __future__ import annotations

INFINITE = -1  # it never ends
UNKNOWN = -2


def limited(*sizes: int) -> int:
    """The smallest number."""
    known = [s for s in sizes if s >= 0]
    if UNKNOWN in sizes:
        return UNKNOWN
    return min(known) if known else INFINITE


def divided(size: int, by: int, drop_remainder: bool) -> int:
    """How many batches there are."""
    return size if size < 0 else size // by if drop_remainder else -(-size // by)


def times_(size: int, count: int) -> int:
    """How many elements `count` passes have; for ever if it is negative."""
    if size == 0 or count == 0:
        return 0
    if count < 0:
        return INFINITE
    return size if size < 0 else size * count
