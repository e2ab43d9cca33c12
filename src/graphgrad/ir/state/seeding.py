"""What gives random operations their seeds, and when they are set, for rooms beside `ops.random`, which says it."""

from __future__ import annotations

from collections.abc import Callable

_attrs: Callable[[int | None], dict[str, int]]
_times_set = 0


def seed_with(attrs: Callable[[int | None], dict[str, int]]) -> None:
    """Declares what returns the attributes `seed` and `seed2` of an operation, given the seed that a user gave or None.

    Args:
      attrs: `ops.random.seeds.seed_attrs`.
    """
    global _attrs
    _attrs = attrs


def seed_attrs(seed: int | None) -> dict[str, int]:
    """Returns the attributes `seed` and `seed2` of a random operation, whose record has been looked up before."""
    return _attrs(seed)


def seed_was_set() -> None:
    """Notes that eager mode's seed has been set: functions that are traced already draw from the beginning."""
    global _times_set
    _times_set += 1


def times_set() -> int:
    """Returns how often eager mode's seed has been set."""
    return _times_set
