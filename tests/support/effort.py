"""How much is tested: what takes long and says little more, only where GRAPHGRAD_TEST_ALL is set (`make test-all`)."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

_Item = TypeVar("_Item")

ALL = "GRAPHGRAD_TEST_ALL" in os.environ


def long(why: str) -> Any:
    """A mark for tests that run only where everything is asked for.

    Args:
      why: why their like is enough otherwise.
    """
    return pytest.mark.skipif(not ALL, reason=f"takes long; {why}; GRAPHGRAD_TEST_ALL=1 runs it")


def part(items: Iterable[_Item], of: int, first: int = 0) -> list[_Item]:
    """One in so many items, beginning with one of the first; all where everything is asked for."""
    return list(items) if ALL else list(items)[first::of]


def chosen(name: str, of: int) -> bool:
    """Whether a name is in the part, one in so many, that is always tested; all are where everything is asked for."""
    return ALL or zlib.crc32(name.encode()) % of == 0
