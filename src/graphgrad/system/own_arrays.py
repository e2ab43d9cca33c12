"""Arrays that are a program's own: copies of what users gave, and may change, where XLA reads them without a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import freed_memory

_ALIGNMENT = 64  # bytes: XLA copies what begins elsewhere
_LARGE = 1 << 16  # bytes from which on that takes longer than to align
_HUGE = 1 << 20  # bytes from which on clearing pages takes longer than computing what is in them


def empty(shape: tuple[int, ...], dtype: Any, make: Callable[..., Any] = np.empty) -> np.ndarray[Any, Any]:
    """Returns a new array that begins where XLA reads it without a copy; its elements are not set.

    Args:
      shape: its shape.
      dtype: its NumPy dtype, not of objects.
      make: what makes an array of a shape and a dtype: `np.zeros` sets the elements.
    """
    count = 1
    for size in shape:
        count *= size
    wanted = count * np.dtype(dtype).itemsize
    if wanted < _LARGE:
        return make(shape, dtype)
    if wanted >= _HUGE:
        freed_memory.keep()
    try:
        room = make(wanted + _ALIGNMENT, np.uint8)
    except (MemoryError, ValueError):
        return make(shape, dtype)  # fails, too, and says for which shape
    start = -room.__array_interface__["data"][0] % _ALIGNMENT
    return room[start : start + wanted].view(dtype).reshape(shape)


def full(shape: tuple[int, ...], value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Returns a new array of one value, as `empty` makes it.

    Args:
      shape: its shape.
      value: a number, or an array without dimensions.
      dtype: its NumPy dtype.
    """
    if dtype.hasobject:
        return np.full(shape, value, dtype)
    if type(value) is int and not value:
        return empty(shape, dtype, np.zeros)
    array = empty(shape, dtype)
    array[...] = value
    return array


def own_copy(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns a copy in row-major order that nothing else refers to.

    Args:
      array: the array; that of a subclass becomes a plain one.
    """
    if array.nbytes < _LARGE or array.dtype.hasobject:
        return np.array(array, order="C")
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy
