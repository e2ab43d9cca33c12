"""What NumPy kernels share: choices without branches, and elementwise steps block by block, within the cache."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.system import own_arrays

BLOCK = 1 << 14  # elements: some blocks of four bytes each fit into a core's own cache
_FEW = 1 << 12  # elements up to which a plain call is as fast
BITS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}  # integers by their bytes


def where(xp: Any, condition: Any, x: Any, y: Any) -> Any:
    """Returns `xp.where` of operands of one dtype; NumPy's own jumps for each element, and guesses wrong.

    Args:
      xp: NumPy or jax.numpy.
      condition: bool.
      x, y: of one dtype; the three broadcast.
    """
    return _choose(condition, x, y) if xp is np else xp.where(condition, x, y)


def _choose(condition: Any, x: Any, y: Any) -> Any:
    size = condition.size
    operands = [np.asarray(condition), np.asarray(x), np.asarray(y)]
    integer = BITS.get(operands[1].itemsize)
    if (size <= _FEW or integer is None or operands[1].dtype != operands[2].dtype or operands[1].dtype.kind in "Oc"
            or not _alike(operands)):
        return np.where(condition, x, y)
    mask, a, b = operands[0].view(np.int8).reshape(-1), *[v.reshape(-1).view(integer) for v in operands[1:]]
    result = own_arrays.empty(operands[0].shape, operands[1].dtype)
    flat = result.reshape(-1).view(integer)
    bits = np.empty(BLOCK, integer)
    for start in range(0, size, BLOCK):
        where = slice(start, min(start + BLOCK, size))
        chosen, out = bits[: where.stop - start], flat[where]
        np.copyto(chosen, mask[where])
        np.negative(chosen, out=chosen)  # all bits are set where x is chosen
        one, other = (v if v.size == 1 else v[where] for v in (a, b))
        np.bitwise_xor(one, other, out=out)
        np.bitwise_and(out, chosen, out=out)
        np.bitwise_xor(out, other, out=out)
    return result


def _alike(arrays: list[Any]) -> bool:
    """Returns whether each array is a number, or contiguous and of the first one's shape."""
    shape = arrays[0].shape
    return all(a.size == 1 or (a.shape == shape and a.flags.c_contiguous) for a in arrays) and arrays[0].shape == shape


def extreme(function: Callable[..., Any], x: Any, y: Any) -> Any:
    """Returns `function(x, y)`; with a number NumPy does not use the processor's vectors, with rows of it it does.

    Args:
      function: `np.maximum` or `np.minimum`.
      x, y: of one dtype; they broadcast.
    """
    many, number = (x, y) if y.size == 1 else (y, x)
    size = many.size
    if (number.size != 1 or size < BLOCK or number.ndim > many.ndim or many.dtype.kind != "f"
            or many.dtype != number.dtype or not many.flags.c_contiguous):
        return function(x, y)
    result = own_arrays.empty(many.shape, many.dtype)
    flat, out, row = many.reshape(-1), result.reshape(-1), constant_block(number)
    whole = size - size % BLOCK
    for where, kind in ((slice(whole), (-1, BLOCK)), (slice(whole, size), -1)):
        given, into = flat[where].reshape(kind), out[where].reshape(kind)
        filled = row[: given.shape[-1]]
        function(*((given, filled) if many is x else (filled, given)), out=into)
    return result


def constant_block(number: Any) -> Any:
    """Returns a row of a number of NumPy, as long as the largest block; it must not be changed."""
    return _row_of(number.tobytes(), number.dtype)


@functools.lru_cache(64)
def _row_of(content: bytes, dtype: Any) -> Any:
    row = np.full(BLOCK, np.frombuffer(content, dtype)[0], dtype)
    row.flags.writeable = False
    return row


def elementwise(steps: Callable[..., None], *arrays: Any, scratch: int = 0) -> Any:
    """Computes an elementwise function block by block, so that intermediate values stay within the cache.

    Args:
      steps: a function of (out, *blocks, *scratch arrays) that fills `out`, of the first array's dtype.
      *arrays: arrays of one shape.
      scratch: how many arrays of the block's size and dtype the function needs besides.
    Returns: a new array of the first one's shape and dtype.
    """
    first = arrays[0]
    result = own_arrays.empty(np.shape(first), first.dtype)
    size = result.size
    if not all(np.shape(a) == result.shape for a in arrays):
        raise ValueError("the arrays differ in shape")
    flat = result.reshape(-1)
    parts = [np.ascontiguousarray(a).reshape(-1) for a in arrays]
    spare = [np.empty(min(size, BLOCK), first.dtype) for _ in range(scratch)]
    if size <= BLOCK:
        steps(flat, *parts, *spare)
        return result
    for start in range(0, size, BLOCK):
        where = slice(start, min(start + BLOCK, size))
        steps(flat[where], *[p[where] for p in parts], *[s[: where.stop - start] for s in spare])
    return result


def rows(steps: Callable[..., None], *arrays: Any) -> Any:
    """Computes a function of rows (the last axis) some rows at a time, so that they stay within the cache.

    Args:
      steps: a function of (out, *blocks) that fills `out`, of the first array's shape and dtype.
      *arrays: matrices with as many rows.
    Returns: a new array like the first one.
    """
    first = arrays[0]
    result = own_arrays.empty(first.shape, first.dtype)
    count = max(1, BLOCK // max(1, first.shape[-1]))
    for start in range(0, first.shape[0], count):
        steps(result[start : start + count], *[a[start : start + count] for a in arrays])
    return result
