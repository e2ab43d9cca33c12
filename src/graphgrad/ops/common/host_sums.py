"""Sums over axes of large arrays in NumPy, with long inner loops.

`numpy.sum` along the last axis adds up in one chain for each row, and along others in a loop for each group of numbers
that lie side by side, however few they are: a sum of images over all but 16 channels takes 13 times as long as needed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_LEAST = 1 << 12  # numbers; for fewer `numpy.sum` is as quick
_ROW = 1 << 10  # numbers that are added up one after the other, in as many chains as the processor does at once
_WIDE = 1 << 11  # numbers that make a loop long


def sum_over(xp: Any, x: Any, axes: int | tuple[int, ...], keepdims: bool = False) -> Any:
    """Returns `xp.sum(x, axes, keepdims=keepdims)` in the array's own dtype.

    Args:
      xp: NumPy, or what has its functions.
      x: an array.
      axes: one axis or several, negative ones from the end.
      keepdims: whether the axes stay, with size 1.
    """
    if xp is not np or x.size < _LEAST or x.dtype.char not in "fd" or not x.flags.c_contiguous:
        return xp.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
    shape, rank = x.shape, x.ndim
    some = sorted({a % rank for a in ((axes,) if isinstance(axes, int) else axes)})
    if not some or some[-1] - some[0] != len(some) - 1:
        return np.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
    outer, inner = math.prod(shape[: some[0]]), math.prod(shape[some[-1] + 1 :])
    count = x.size // (outer * inner)
    if inner == 1:
        sums = _of_rows(x.reshape(outer, count))
    else:
        sums = _of_groups(x.reshape(outer, count, inner))
    kept = shape[: some[0]] + (1,) * (len(some) if keepdims else 0) + shape[some[-1] + 1 :]
    return sums.reshape(kept)[()]


def _of_rows(x: Any) -> Any:
    """Returns the sum of each row of a matrix."""
    count = x.shape[1]
    if count <= 4 * _ROW:
        return np.einsum("ij->i", x)
    parts = count // _ROW
    sums = np.add.reduce(np.einsum("ijk->ij", _parted(x, parts, _ROW)), 1)
    return sums + np.add.reduce(x[:, parts * _ROW :], 1)


def _of_groups(x: Any) -> Any:
    """Returns the sums over the middle axis of three."""
    outer, count, inner = x.shape
    joined = min(_WIDE // inner, math.isqrt(count))  # groups that are added to as many others in one loop
    if count * inner < _WIDE or joined < 2:
        return np.add.reduce(x, 1)
    parts = count // joined
    sums = np.add.reduce(_parted(x, parts, joined * inner), 1)
    sums = np.add.reduce(sums.reshape(outer, joined, inner), 1)
    return sums + np.add.reduce(x[:, parts * joined :], 1) if parts * joined < count else sums


def _parted(x: Any, parts: int, width: int) -> Any:
    """Returns a view (outer, parts, width) of the first numbers in each of the outer parts of a contiguous array."""
    item = x.itemsize
    return np.lib.stride_tricks.as_strided(x, (len(x), parts, width), (x.strides[0], width * item, item))
