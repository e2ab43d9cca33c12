"""What is done to large graphs takes steps in proportion to their size.

Lines of Python are counted, not seconds: for a graph of some size, and for one four times as large. A list that is
searched in C is not seen; what is quadratic there was looked for by hand, with 40,000 operations.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import graphgrad.compat.v1 as tf

_SMALL = 150


def _lines(action: Callable[[], Any]) -> int:
    """How many lines of Python run."""
    count = 0

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    old = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(old)
    return count


def _placeholders(n: int) -> None:
    for _ in range(n):
        tf.placeholder(tf.float32, [], name="same")


def _name_scopes(n: int) -> None:
    for _ in range(n):
        with tf.name_scope("same"):
            pass


def _variable_scopes(n: int) -> None:
    for _ in range(n):
        with tf.variable_scope(None, "same"), tf.variable_scope(None, "inside"):
            pass


_BUILDING = [_placeholders, _name_scopes, _variable_scopes]


@pytest.mark.parametrize("build", _BUILDING, ids=lambda f: f.__name__.strip("_"))
def test_building(build: Callable[[int], None]) -> None:
    counts = []
    for n in (_SMALL, _SMALL, 4 * _SMALL):  # first once to import and to fill caches
        with tf.Graph().as_default():
            counts.append(_lines(lambda n=n: build(n)))
    assert counts[2] < 4.6 * counts[1], counts
