"""Tile, repeat, meshgrid."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import folded
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INDEX, int32, int64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import is_fully_defined, normalize_axis, with_rank
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import fill, host_array, join, minus, part, plus, rank_of, shape_of, times


@op("Tile", "input: T, multiples: Tmultiples -> output: T", Tmultiples=INDEX, host=("multiples",), partial_value=folded,
    data_movement=True, linear=Linear.JOINTLY)
def tile_op(xp, x, multiples):
    """Repeats the input `multiples[i]` times along each axis i."""
    _tile_shape(x.shape, tuple(multiples.tolist()))
    return xp.tile(x, tuple(multiples.tolist()))


@tile_op.shape
def _tile_shape(x, multiples):
    if multiples is None:
        return None if x is None else (None,) * len(x)
    shape = with_rank(x, len(multiples))
    if any(m is not None and m < 0 for m in multiples):
        raise Complaint(f"Expected multiples >= 0, but got {list(multiples)}", "give multiples >= 0")
    pairs = zip(shape, multiples, strict=True)
    return tuple([0 if 0 in (d, m) else None if None in (d, m) else d * m for d, m in pairs])


@tile_op.grad
def _tile_grad(op, dy):
    x, multiples = op.inputs
    known = host_array(multiples)
    shape = x._spec.shape
    if known is not None and is_fully_defined(shape):
        # Axes that are not repeated need no split of their own.
        parts, summed = [], []
        for m, d in zip(known.tolist(), shape, strict=True):
            if m != 1:
                summed.append(len(parts))
                parts.append(m)
            parts.append(d)
        if not summed:
            return dy, None
        return raw.Sum(raw.Reshape(dy, np.asarray(parts, np.int32)), np.asarray(summed, np.int32)), None
    sizes = shape_of(x, multiples.dtype)
    parts = raw.Reshape(raw.Transpose(raw.Pack([multiples, sizes]), [1, 0]), [-1])
    return raw.Sum(raw.Reshape(dy, parts), raw.Range(0, raw.Size(parts), 2)), None


def tile(input: TensorLike, multiples: Any, name: str | None = None) -> Tensor:
    """Repeats a tensor along each axis.

    Args:
      input: (*D), any dtype.
      multiples: an integer vector, the number of copies along each axis.
      name: a name for the operation.
    Returns: size D[i] * multiples[i] along axis i, dtype of `input`.
    Raises: ValueError, or InvalidArgumentError at run time, if there is not one multiple >= 0
      for each axis.
    Gradient: the sum over the repetitions; None for multiples.
    Reference: TensorFlow 2.21 Tile.

    >>> sess.run(tf.tile([1, 2], [2]))
    array([1, 2, 1, 2], dtype=int32)
    """
    return raw.Tile(input, multiples, name=name)


def _one_for_each(counts, data, axis):
    """Returns the counts of `repeat`, which are as many as what they repeat; the run checks what is not known."""
    n, m = counts._spec.shape, data._spec.shape
    if n is not None and m is not None and isinstance(axis, int) and len(n) == 1 and None not in (n[0], m[axis]):
        if n[0] != m[axis]:
            raise ValueError(f"Dimensions {m[axis]} and {n[0]} are not compatible: `repeats` of tf.repeat has {n[0]} "
                             f"numbers for {m[axis]} elements.\n  Built at {user_source(3)}\n"
                             "  Fix: give one number, or one for each element along the axis")
        return counts
    size = raw.GatherV2(raw.Shape(data), axis, 0)
    return raw.BroadcastTo(counts, raw.Reshape(size, [1]))


def repeat(input: TensorLike, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Repeats each element along an axis.

    Args:
      input: (*P, n, *Q), any dtype, P having `axis` dimensions.
      repeats: scalar, or (n,), integers: the numbers of repetitions.
      axis: int in [-rank, rank); the flattened input by default.
      name: a name for the operations.
    Returns: (*P, sum of repeats, *Q), dtype of `input`.
    Raises: ValueError if shapes are incompatible; TypeError for repeats or an axis that are no integers.
    Gradient: the sum over the repetitions.
    Reference: TensorFlow 2.21 `tf.repeat`.

    >>> sess.run(tf.repeat([1, 2], [2, 1]))
    array([1, 1, 2], dtype=int32)
    """
    if not isinstance(axis, (int, np.integer, type(None))):
        raise TypeError(f"`axis` of tf.repeat must be an integer, got {axis!r}.\n  Built at {user_source(2)}\n"
                        "  Fix: give an int, or None for the flattened input")
    with name_scope(name, "Repeat"):
        data = convert_to_tensor(input, name="data")
        if axis is None:
            data, axis = raw.Reshape(data, [-1]), 0
        counts = convert_to_tensor(repeats, dtype_hint=int32, name="repeats")
        if not counts.dtype.is_integer:
            raise TypeError(f"`repeats` of tf.repeat must be integers, got {counts.dtype.name}.\n  Built at "
                            f"{user_source(2)}\n  Fix: tf.cast(repeats, tf.int32)")
        if counts.dtype not in (int32, int64):
            counts = raw.Cast(counts, DstT=int32)
        rank = rank_of(data)
        if isinstance(rank, int):
            axis = normalize_axis(axis, rank)
        elif axis < 0:
            axis = plus(rank, axis)
        own = counts._spec.shape
        if own == () or own == (1,):
            return _repeat_evenly(data, raw.Reshape(counts, []) if own else counts, axis, rank)
        counts = _one_for_each(counts, data, axis)
        known = host_array(counts)
        if known is not None:
            return raw.GatherV2(data, np.repeat(np.arange(len(known), dtype=np.int32), known), axis)
        # Row i of the mask holds counts[i] times: the rows of its true elements are the indices.
        columns = raw.Range(0, raw.Maximum(raw.Max(counts, 0), 0), 1)
        where = raw.Where(raw.Less(columns, raw.ExpandDims(counts, -1)))
        return raw.GatherV2(data, raw.StridedSlice(where, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1,
                                                   shrink_axis_mask=2), axis)


def _repeat_evenly(data, count, axis, rank):
    known = host_array(count)
    n = int(known) if known is not None else raw.Cast(count, DstT=int32) if count.dtype is int64 else count
    shape = shape_of(data)
    before, after = fill(plus(axis, 1), 1), fill(minus(rank, plus(axis, 1)), 1)
    once = [n] if isinstance(n, int) else raw.Reshape(n, [1])
    tiled = raw.Tile(raw.ExpandDims(data, plus(axis, 1)), join(before, once, after))
    size = times(part(shape, axis, plus(axis, 1)), n)
    return raw.Reshape(tiled, join(part(shape, 0, axis), size, part(shape, plus(axis, 1), rank)))


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Broadcasts vectors against each other, one axis for each.

    Args:
      *args: N tensors of one dtype, of rank 0 or 1 (or flattened), of sizes n_0, ..., n_N-1.
      indexing: 'xy' (the default: the first two axes exchanged) or 'ij'.
      name: a name for the operations.
    Returns: a list of N tensors (n_1, n_0, ...) for 'xy', (n_0, n_1, ...) for 'ij'.
    Raises: TypeError for other keywords; ValueError for another indexing.
    Gradient: the sum over the axes of the others.
    Reference: TensorFlow 2.21 `tf.meshgrid`.

    >>> sess.run(tf.meshgrid([1, 2], [3, 4]))
    [array([[1, 2],
           [1, 2]], dtype=int32), array([[3, 3],
           [4, 4]], dtype=int32)]
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        key = next(iter(kwargs))
        raise TypeError(f"'{key}' is an invalid keyword argument for this function. Fix: use indexing= and name=")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    with name_scope(name, "meshgrid"):
        n = len(args)
        place = list(range(n))
        if indexing == "xy" and n > 1:
            place[:2] = [1, 0]
        tensors = [convert_to_tensor(a) for a in args]
        columns = []
        for t, at in zip(tensors, place, strict=True):
            target = np.ones(n, np.int32)
            target[at] = -1
            columns.append(raw.Reshape(t, target))
        sizes: list[Any] = [None] * n
        for c, at in zip(columns, place, strict=True):
            sizes[at] = part(shape_of(c), at, at + 1)
        full = join(*sizes)
        return [raw.BroadcastTo(c, full) for c in columns]


limit_ranks(vectors="Tile.multiples")
