"""Shapes, ranks, sizes and permutations for gradient rules: constants where they are known, ops where not."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.constant_value import has_unknown, static_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import is_fully_defined


def shape_of(x, dtype=int32):
    """Returns the shape of `x` as an integer vector: an array if it is known, else a tensor."""
    shape = x._spec.shape
    if is_fully_defined(shape):
        return np.asarray(shape, dtype.np_dtype)
    return raw.Shape(x, out_type=dtype)


def shape_tensor(x):
    """Returns the shape of `x` as a tensor: a constant if it is known."""
    return convert_to_tensor(shape_of(x))


def rank_of(x):
    """Returns the rank of `x`: an int if it is known, else a tensor."""
    shape = x._spec.shape
    return raw.Rank(x) if shape is None else len(shape)


def axes(start, stop):
    """Returns the axes from `start` up to `stop`, each an int or a tensor, as an integer vector."""
    if isinstance(start, int) and isinstance(stop, int):
        return np.arange(start, stop, dtype=np.int32)
    return raw.Range(start, stop, 1)


def all_axes(x):
    """Returns all axes of `x` as an integer vector."""
    return axes(0, rank_of(x))


def join(*parts):
    """Concatenates integer vectors: an array if all of them are arrays or lists."""
    parts = [p if is_tensor(p) else np.asarray(p, np.int32) for p in parts]
    if all(isinstance(p, np.ndarray) for p in parts):
        return np.concatenate(parts)
    return raw.ConcatV2(parts, 0)


def part(vector, start, stop):
    """Slices an integer vector; all three arguments may be tensors."""
    if isinstance(vector, np.ndarray) and isinstance(start, int) and isinstance(stop, int):
        return vector[start:stop]
    return raw.StridedSlice(vector, [start], [stop], [1])


def in_one_batch(x, rank, apply):
    """Applies a function to a tensor of unknown rank whose batch axes are merged into one, and restores them.

    Args:
      x: (*B, *T), T of `rank` axes.
      rank: the number of axes that `apply` handles.
      apply: a function from (n, *T) to (n, *S).
    Returns: (*B, *S).
    """
    sizes = raw.Shape(x)
    lead, tail = raw.StridedSlice(sizes, [0], [-rank], [1]), raw.StridedSlice(sizes, [-rank], [0], [1], end_mask=1)
    flat = raw.Reshape(x, join(raw.Prod(lead, [0], keep_dims=True), tail))
    flat.set_shape((None,) * (rank + 1))
    y = apply(flat)
    return raw.Reshape(y, join(lead, raw.StridedSlice(raw.Shape(y), [1], [0], [1], end_mask=1)))


def fill(count, value):
    """Returns an integer vector of `count` times the same value."""
    return np.full(count, value, np.int32) if isinstance(count, int) else raw.Fill(raw.Reshape(count, [1]), value)


def is_tensor(v):
    """Returns whether `v` is a tensor, not an int or an array."""
    return not isinstance(v, (int, np.ndarray, np.generic))


def plus(a, b):
    """Returns a + b for ints, arrays and tensors."""
    return raw.AddV2(a, b) if is_tensor(a) or is_tensor(b) else a + b


def minus(a, b):
    """Returns a - b for ints, arrays and tensors."""
    return raw.Sub(a, b) if is_tensor(a) or is_tensor(b) else a - b


def times(a, b):
    """Returns a * b for ints, arrays and tensors."""
    return raw.Mul(a, b) if is_tensor(a) or is_tensor(b) else a * b


def reshape_like(dy, x):
    """Reshapes `dy` to the shape of `x`."""
    return raw.Reshape(dy, shape_of(x))


def host_array(t):
    """Returns the value of `t` as an array if it is fully known and small, else None."""
    value = static_value(t)
    return None if has_unknown(value) else np.asarray(value, t.dtype.np_dtype)


def _axis_of(x, axis):
    """Returns an axis counted from the front, and the rank of x, each of them maybe a tensor; None for the last axis.

    Raises: InvalidArgumentError if the axis is out of range.
    """
    rank = rank_of(x)
    if axis == -1:
        return None
    if not isinstance(rank, int):
        return (axis if axis >= 0 else plus(rank, axis)), rank
    if not -rank <= axis < rank:
        raise InvalidArgumentError(None, None, f"axis {axis} is out of range for logits of rank {rank}.\n"
                                   f"  Fix: use an axis in [{-rank}, {rank})")
    return None if axis % rank == rank - 1 else (axis % rank, rank)


def swapped_with_last(x, axis):
    """Returns the permutation that swaps an axis with the last one, or None if it is the last one."""
    found = _axis_of(x, axis)
    if found is None:
        return None
    at, rank = found
    if not isinstance(at, int) or not isinstance(rank, int):
        # The two may be the same axis.
        numbers = axes(0, rank)
        last = raw.Equal(numbers, minus(rank, 1))
        return raw.SelectV2(raw.Equal(numbers, at), minus(rank, 1), raw.SelectV2(last, at, numbers))
    last = rank - 1
    return join(axes(0, at), _vector(last), axes(plus(at, 1), last), _vector(at))


def moved_to_last(x, axis):
    """Returns the permutation that moves an axis behind the others, or None if it is the last one.

    Raises: InvalidArgumentError if the axis is out of range.
    """
    found = _axis_of(x, axis)
    if found is None:
        return None
    at, rank = found
    return join(axes(0, at), axes(plus(at, 1), rank), _vector(at))


def _vector(n):
    return np.asarray([n], np.int32) if isinstance(n, int) else raw.Reshape(n, [1])
