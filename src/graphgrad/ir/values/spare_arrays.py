"""Updates of a few rows of a large variable in NumPy, which do not copy the others.

A variable's value is never written over: other threads, feeds and earlier results may hold it. But the value before it
is often nobody's any more, and differs in the rows of the last update only. So it is kept, and the next update brings
those rows up to date and writes there: two arrays take turns.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np

from .array_rows import set_rows

LARGE = 1 << 20  # bytes from which on an array is worth two
FEW = 4  # rows are few where they are at most one in so many


def _holders(holder: list[Any]) -> int:
    return sys.getrefcount(holder[0])


_ALONE = _holders([np.empty(0)])  # where nothing but the list holds the array
_are_counted = getattr(sys, "_is_gil_enabled", lambda: True)  # whether references are, exactly

# Current value's id -> a weak reference to it, the value before it, and the rows that differ.
_before: dict[int, tuple[weakref.ref[Any], list[Any], Any]] = {}


def copy_for_rows(value: Any, rows: Any) -> Any:
    """Returns an array equal to a variable's value, of which some rows are about to be changed.

    Args:
      value: (n, *D), the variable's value.
      rows: the numbers of the rows, within [0, n).
    """
    return _next(value, np.array(rows).reshape(-1)) if _pays(value, rows) else np.array(value)


def forget(value: Any) -> None:
    """Frees what is kept for the next update of a value."""
    _before.pop(id(value), None)


def _pays(value: Any, rows: Any) -> bool:
    return bool(isinstance(value, np.ndarray) and value.nbytes >= LARGE and np.size(rows) * FEW <= len(value)
            and value.dtype != object and _are_counted())


def _next(value: Any, rows: Any) -> Any:
    """Returns an array equal to a value, whose `rows` are about to change."""
    result: Any = None
    if (found := _before.pop(id(value), None)) is not None:
        is_current, before, stale = found
        if id(is_current()) == id(value) and _holders(before) == _ALONE:
            result = before.pop()
            set_rows(result, stale, value.take(stale, 0))
    if result is None:
        result = np.array(value)
    if value.base is None and value.flags.owndata and value.flags.writeable:
        key = id(result)
        _before[key] = weakref.ref(result, lambda _: _before.pop(key, None)), [value], rows
    return result
