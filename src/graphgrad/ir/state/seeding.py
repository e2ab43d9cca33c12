"""What gives random operations their seeds, for rooms beside `ops.random`, which says it."""

from __future__ import annotations

from collections.abc import Callable

_attrs: Callable[[int | None], dict[str, int]]


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
