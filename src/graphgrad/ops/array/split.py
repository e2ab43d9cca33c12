"""Splits a tensor along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import folded
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dimension import Dimension
from graphgrad.ir.dtypes import INDEX
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import normalize_axis, shape_str
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Linear, SideBySide
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import host_array


@op("Split", "split_dim: int32, value: T -> output: num_split*T", host=("split_dim",), partial_value=folded,
    data_movement=True, linear=Linear.JOINTLY)
def split_op(xp, axis, value, *, num_split):
    """Splits a tensor into parts of equal size along an axis."""
    at = normalize_axis(int(axis.reshape(())), len(value.shape))
    _even(value.shape[at], num_split, at)
    return xp.split(value, num_split, at)


@split_op.on_device
def _split_device(xp, axis, value, *, num_split):
    at = normalize_axis(int(axis.reshape(())), len(value.shape))
    _even(value.shape[at], num_split, at)
    return _parts(xp, value, [value.shape[at] // num_split] * num_split, at)


def _parts(xp, value, sizes, at):
    lax = lax_of(xp)
    stops = np.cumsum(sizes).tolist()
    return [lax.slice_in_dim(value, stop - n, stop, axis=at) for n, stop in zip(sizes, stops, strict=True)]


def _even(size, n, at):
    if n < 1:
        raise Complaint(f"num_split must be positive, not {n}", "give the number of parts")
    if size is not None and size % n:
        raise Complaint(f"dimension {at} of size {size} does not divide into {n} equal parts",
                        "give a divisor, or a list of sizes")


@split_op.shape
def _split_shape(axis, value, num_split):
    if value is None:
        return [None] * num_split
    if axis is None:
        return [(None,) * len(value)] * num_split
    at = normalize_axis(axis[0] if isinstance(axis, tuple) else axis, len(value))
    _even(value[at], num_split, at)
    size = None if value[at] is None else value[at] // num_split
    return [value[:at] + (size,) + value[at + 1 :]] * num_split


@split_op.grad
def _split_grad(op, *dys):
    return None, raw.ConcatV2(dys, op.inputs[0])


@op("SplitV", "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split*T", Tlen=INDEX,
    host=("size_splits", "split_dim"), partial_value=folded, data_movement=True, linear=Linear.JOINTLY)
def split_v(xp, value, sizes, axis, *, num_split):
    """Splits a tensor into parts of given sizes along an axis; one size may be -1."""
    at = normalize_axis(int(axis.reshape(())), len(value.shape))
    sizes = _all_sizes(tuple(sizes.tolist()), value.shape[at], at)
    return xp.split(value, np.cumsum(sizes)[:-1].tolist(), at)


@split_v.on_device
def _split_v_device(xp, value, sizes, axis, *, num_split):
    at = normalize_axis(int(axis.reshape(())), len(value.shape))
    return _parts(xp, value, _all_sizes(tuple(sizes.tolist()), value.shape[at], at), at)


def _all_sizes(sizes, total, at):
    """Returns the sizes with their -1 replaced, as far as known."""
    if None in sizes or total is None:
        return [None if s == -1 else s for s in sizes]
    given = sum(s for s in sizes if s != -1)
    if sizes.count(-1) > 1 or given > total or (-1 not in sizes and given != total):
        raise Complaint(f"sizes {list(sizes)} do not add up to {total}, the size of dimension {at}",
                        "make them add up, or let one of them be -1")
    return [total - given if s == -1 else s for s in sizes]


@split_v.shape
def _split_v_shape(value, sizes, axis, num_split):
    if value is None:
        return [None] * num_split
    if axis is None:
        return [(None,) * len(value)] * num_split
    at = normalize_axis(axis[0] if isinstance(axis, tuple) else axis, len(value))
    if sizes is None:
        return [value[:at] + (None,) + value[at + 1 :]] * num_split
    if len(sizes) != num_split:
        raise Complaint(f"size_splits has {len(sizes)} elements but num_split is {num_split}",
                        "give one size for each part")
    return [value[:at] + (s,) + value[at + 1 :] for s in _all_sizes(sizes, value[at], at)]


@split_op.parts
@split_v.parts
def _split_parts(op):
    position, where = (1, 0) if op.type == "Split" else (0, 2)
    axis, shape = host_array(op.inputs[where]), op.inputs[position]._spec.shape
    if axis is None or shape is None:
        return None
    at = normalize_axis(int(axis.reshape(())), len(shape))
    sizes = [None if t._spec.shape is None else t._spec.shape[at] for t in op.outputs]
    return None if None in sizes or shape[at] != sum(sizes) else SideBySide(position, at, tuple(sizes))


@split_op.by_rows
@split_v.by_rows
def _split_rows(op, rows):
    parts = _split_parts(op)
    return parts is not None and parts.axis != 0


@split_v.grad
def _split_v_grad(op, *dys):
    return raw.ConcatV2(dys, op.inputs[2]), None, None


def split(value: TensorLike, num_or_size_splits: Any, axis: Any = 0, num: int | None = None,
          name: str | None = "split") -> list[Tensor]:
    """Splits a tensor along an axis.

    Args:
      value: (*P, n, *Q), any dtype, P having `axis` dimensions.
      num_or_size_splits: an int, the number of equal parts, which must divide n; or an integer
        vector of sizes, which must add up to n; one of them may be -1.
      axis: scalar int in [-rank, rank).
      num: the number of parts, where the length of the vector is not known.
      name: a name for the operation.
    Returns: a list of tensors (*P, size, *Q).
    Raises: ValueError, or InvalidArgumentError at run time, if the sizes are incompatible.
    Gradient: ConcatV2.
    Reference: TensorFlow 2.21 Split and SplitV.

    >>> sess.run(tf.split([1, 2, 3], [1, 2]))
    [array([1], dtype=int32), array([2, 3], dtype=int32)]
    """
    sizes = num_or_size_splits
    if isinstance(sizes, (int, np.integer, Dimension)):
        return raw.Split(axis, value, num_split=int(sizes), name=name)
    sizes = convert_to_tensor(sizes)
    known = sizes._spec.shape
    if known == ():
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
                         f"Argument provided: {sizes}. Fix: give an int")
    if num is None:
        num = None if known is None else known[0]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {shape_str(known)}. Fix: give num")
    return raw.SplitV(value, sizes, axis, num_split=num, name=name)


def split_v1(value: TensorLike, num_or_size_splits: Any, axis: Any = 0, num: int | None = None,
             name: str | None = "split") -> list[Tensor]:
    """Splits as `split` does; accepts the order (axis, num, value) of TensorFlow 0.x too.

    Args:
      value, num_or_size_splits, axis, num, name: as for `split`.
    Returns: as for `split`.
    Raises: as for `split`.
    Gradient: as for `split`.
    Reference: TensorFlow 2.21 `tf.compat.v1.split`; TensorFlow 0.12 `tf.split`.

    >>> sess.run(tf.split([1, 2, 3, 4], 2))
    [array([1, 2], dtype=int32), array([3, 4], dtype=int32)]
    """
    if isinstance(value, int) and isinstance(num_or_size_splits, int) and is_tensor_like(axis):
        value, axis = axis, value
    return split(value, num_or_size_splits, axis, num, name)


limit_ranks(vectors="SplitV.size_splits")
