"""Ops whose output shape depends on values: partition and stitch, unique, set difference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.constant_value import folded
from graphgrad.ir.dtypes import INDEX, as_dtype, int32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import compatible, merged, normalize_axis, shape_str, with_rank
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.shape_values import reshape_like, shape_of

from .strided_slice import element


@op("DynamicPartition", "data: T, partitions: int32 -> outputs: num_partitions*T", flags=("host",),
    linear=Linear.JOINTLY)
def dynamic_partition_op(xp, data, partitions, *, num_partitions):
    """Sorts the slices of `data` into lists by `partitions`."""
    if partitions.size and (partitions.min() < 0 or partitions.max() >= num_partitions):
        raise Complaint(f"partitions must lie in [0, {num_partitions}) but range from {partitions.min()} to "
                        f"{partitions.max()}", "give a larger num_partitions")
    return [data[partitions == i] for i in range(num_partitions)]


@dynamic_partition_op.shape
def _dynamic_partition_shape(data, partitions, num_partitions):
    if num_partitions < 1:
        raise Complaint(f"num_partitions must be at least 1, not {num_partitions}", "give the number of lists")
    if data is None or partitions is None:
        return [None] * num_partitions
    if not compatible(data[: len(partitions)], partitions):
        raise Complaint(f"the shape of data must begin with that of partitions, {shape_str(partitions)}",
                        "give one list number for each slice")
    return [(None, *data[len(partitions) :])] * num_partitions


@dynamic_partition_op.grad
def _dynamic_partition_grad(op, *dys):
    data, partitions = op.inputs
    shape = shape_of(partitions)
    count = int(np.prod(shape)) if isinstance(shape, np.ndarray) else raw.Prod(shape, 0)
    places = raw.Reshape(raw.Range(0, count, 1), shape)
    indices = raw.DynamicPartition(places, partitions, num_partitions=op._attr("num_partitions"))
    return reshape_like(raw.ParallelDynamicStitch(indices, dys), data), None


def _stitch(xp, indices, data):
    size = max((int(i.max()) for i in indices if i.size), default=-1) + 1
    if any(i.size and i.min() < 0 for i in indices):
        raise Complaint("indices must not be negative", "give indices >= 0")
    rest = data[0].shape[len(indices[0].shape) :]
    result = np.zeros((size, *rest), data[0].dtype)
    for i, d in zip(indices, data, strict=True):
        if d.shape != i.shape + rest:
            raise Complaint(f"data must have shape {shape_str(i.shape + rest)} but has {shape_str(d.shape)}",
                            "give one slice for each index")
        result[i] = d  # a later one wins
    return result


def _stitch_shape(indices, data, input_shapes):
    rest = None
    size = 0
    for i, known, d in zip(indices, input_shapes[0], data, strict=True):
        value = _most(i)
        size = None if value is None or size is None else max(size, value)
        if d is None or known is None:
            continue
        if len(d) < len(known) or not compatible(d[: len(known)], known):
            raise Complaint(f"the shape of data, {shape_str(d)}, must begin with that of indices, {shape_str(known)}",
                            "give one slice for each index")
        rest = merged(rest, d[len(known) :])
    return None if rest is None else (size, *rest)


def _most(indices):
    """Returns one more than the largest of the indices whose static value is given, or None."""
    if indices is None:
        return None
    array = np.array(indices, float)  # None becomes NaN
    return None if np.isnan(array).any() else int(array.max()) + 1 if array.size else 0


def _stitch_grad(op, dy):
    n = op._attr("N")
    return [None] * n + [raw.GatherV2(dy, i, 0) for i in op.inputs[:n]]


@op("DynamicStitch", "indices: N*int32, data: N*T -> merged: T", flags=("host",), peek=("indices",),
    shape=_stitch_shape, partial_value=folded, linear=Linear.JOINTLY)
def dynamic_stitch_op(xp, indices, data):
    """Puts the slices of all `data` at `indices`; where several have one index, the last one wins."""
    return _stitch(xp, indices, data)


dynamic_stitch_op.grad(_stitch_grad)


@op("ParallelDynamicStitch", "indices: N*int32, data: N*T -> merged: T", flags=("host",), peek=("indices",),
    shape=_stitch_shape, linear=Linear.JOINTLY)
def parallel_dynamic_stitch_op(xp, indices, data):
    """Does what DynamicStitch does; which of several slices for one index wins is not defined."""
    return _stitch(xp, indices, data)


parallel_dynamic_stitch_op.grad(_stitch_grad)


# -- unique ------------------------------------------------------------------------


def _unique(x):
    """Returns the distinct elements in order of appearance, the index of each element among them, and counts."""
    if x.dtype == object:
        table = {}
        index = np.array([table.setdefault(v, len(table)) for v in x.tolist()], np.int64)
        values = np.empty(len(table), object)
        values[:] = list(table)
    else:
        values, first, index = np.unique(x, return_index=True, return_inverse=True, equal_nan=False)
        order = np.argsort(first)
        values = values[order]
        index = np.argsort(order)[index]
    return values, index, np.bincount(index, minlength=len(values))


@op("Unique", "x: T -> y: T, idx: out_idx", out_idx=INDEX, flags=("host",))
def unique_op(xp, x, *, out_idx=int32):
    """Returns the distinct elements of a vector, and for each element its index among them."""
    values, index, _ = _unique(x)
    return values, index.astype(out_idx.np_dtype)


@unique_op.shape
def _unique_shape(x):
    return [(None,), with_rank(x, 1, "x")]


@op("UniqueWithCounts", "x: T -> y: T, idx: out_idx, count: out_idx", out_idx=INDEX, flags=("host",))
def unique_with_counts_op(xp, x, *, out_idx=int32):
    """Returns what `Unique` does, and how often each distinct element occurs."""
    values, index, counts = _unique(x)
    return values, index.astype(out_idx.np_dtype), counts.astype(out_idx.np_dtype)


@unique_with_counts_op.shape
def _unique_with_counts_shape(x):
    return [(None,), with_rank(x, 1, "x"), (None,)]


def _unique_slices(x, axis, out_idx):
    """Does what `_unique` does with the slices along an axis; without one, `x` is a vector."""
    if not axis.size or x.ndim == 1:
        values, index, counts = _unique(x)
    else:
        slices = np.moveaxis(x, int(axis[0]), 0)
        _, index, counts = _unique(_numbered(slices))
        first = np.unique(index, return_index=True)[1]
        values = np.ascontiguousarray(np.moveaxis(slices[first], 0, int(axis[0])))
    return values, index.astype(out_idx.np_dtype), counts.astype(out_idx.np_dtype)


def _numbered(slices):
    """Returns a number for each slice, equal for equal ones."""
    table = {}
    return np.array([table.setdefault(tuple(s.ravel().tolist()), len(table)) for s in slices], np.int64)


def _along(x, axis):
    """Infers the shapes of the distinct slices, of the indices and of the counts."""
    if axis is not None and len(axis) > 1:
        raise Complaint(f"axis must have no element or one, not {len(axis)}", "give one axis")
    if axis == ():
        with_rank(x, 1, "x")
    if x is None or axis is None:
        return [None if x is None else (None,) * len(x), (None,), (None,)]
    at = element(axis, 0) if axis else 0
    if at is None:
        return [(None,) * len(x), (None,), (None,)]
    at = normalize_axis(at, len(x))
    return [(*x[:at], None, *x[at + 1 :]), (x[at],), (None,)]


@op("UniqueV2", "x: T, axis: Taxis -> y: T, idx: out_idx",
    prefers={"Taxis": "int64"}, Taxis=INDEX, out_idx=INDEX, flags=("host",),
    host=("axis",))
def unique_v2_op(xp, x, axis, *, out_idx=int32):
    """Returns the distinct slices along an axis, and for each slice its index among them."""
    return _unique_slices(x, axis, out_idx)[:2]


@unique_v2_op.shape
def _unique_v2_shape(x, axis):
    return _along(x, axis)[:2]


@op("UniqueWithCountsV2", "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx",
    prefers={"Taxis": "int64"}, Taxis=INDEX, out_idx=INDEX,
    flags=("host",), host=("axis",))
def unique_with_counts_v2_op(xp, x, axis, *, out_idx=int32):
    """Returns what `UniqueV2` does, and how often each distinct slice occurs."""
    return _unique_slices(x, axis, out_idx)


@unique_with_counts_v2_op.shape
def _unique_with_counts_v2_shape(x, axis):
    return _along(x, axis)


@op("ListDiff", "x: T, y: T -> out: T, idx: out_idx", out_idx=INDEX, flags=("host",), partial_value=folded)
def list_diff_op(xp, x, y, *, out_idx=int32):
    """Returns the elements of `x` that are not in `y`, and their indices in `x`."""
    others = set(y.tolist())
    keep = np.array([i for i, v in enumerate(x.tolist()) if v not in others], out_idx.np_dtype)
    return x[keep], keep


@list_diff_op.shape
def _list_diff_shape(x, y):
    with_rank(x, 1, "x")
    with_rank(y, 1, "y")
    return [(None,), (None,)]


# -- functions ---------------------------------------------------------------------


def dynamic_partition(data: TensorLike, partitions: Any, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """Sorts slices into lists.

    Args:
      data: (*P, *Q), any dtype.
      partitions: (*P), int32, each in [0, num_partitions): the list of each slice.
      num_partitions: int, the number of lists.
      name: a name for the operation.
    Returns: a list of tensors (n_i, *Q), dtype of `data`.
    Raises: ValueError if shapes are incompatible; InvalidArgumentError at run time for a partition
      out of range.
    Gradient: DynamicStitch of the dys; None for partitions.
    Reference: TensorFlow 2.21 DynamicPartition.

    >>> sess.run(tf.dynamic_partition([10, 20, 30], [1, 0, 1], 2))
    [array([20], dtype=int32), array([10, 30], dtype=int32)]
    """
    return raw.DynamicPartition(data, partitions, num_partitions=whole(num_partitions), name=name)


def dynamic_stitch(indices: TensorLike, data: TensorLike, name: str | None = None) -> Tensor:
    """Puts the slices of several tensors into one.

    Args:
      indices: a list of tensors (*I_i), int32: the positions of the slices.
      data: a list of tensors (*I_i, *Q), any dtype.
      name: a name for the operation.
    Returns: (largest index + 1, *Q), dtype of `data`; where several have one index, the last one.
    Raises: ValueError if shapes are incompatible.
    Gradient: the slices of dy for data; None for indices.
    Reference: TensorFlow 2.21 DynamicStitch.

    >>> sess.run(tf.dynamic_stitch([[1], [2, 0]], [[10], [20, 30]]))
    array([30, 10, 20], dtype=int32)
    """
    return raw.DynamicStitch(list(indices), list(data), name=name)


def unique(x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None) -> Unique:
    """Returns the distinct elements of a vector, in order of appearance.

    Args:
      x: (n,), any dtype.
      out_idx: int32 or int64.
      name: a name for the operation.
    Returns: a named tuple of y, (m,), the distinct elements, and idx, (n,): x[i] = y[idx[i]].
    Raises: ValueError if x is not a vector.
    Gradient: none is declared: LookupError.
    Reference: TensorFlow 2.21 Unique.

    >>> sess.run(tf.unique([7, 8, 7]).idx)
    array([0, 1, 0], dtype=int32)
    """
    return Unique(*raw.Unique(x, out_idx=as_dtype(out_idx), name=name))


def unique_with_counts(x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None) -> UniqueWithCounts:
    """Returns the distinct elements of a vector, in order of appearance, and how often each occurs.

    Args:
      x: (n,), any dtype.
      out_idx: int32 or int64.
      name: a name for the operation.
    Returns: a named tuple of y, (m,), idx, (n,), and count, (m,): x[i] = y[idx[i]].
    Raises: ValueError if x is not a vector.
    Gradient: none is declared: LookupError.
    Reference: TensorFlow 2.21 UniqueWithCounts.

    >>> sess.run(tf.unique_with_counts([7, 8, 7]).count)
    array([2, 1], dtype=int32)
    """
    return UniqueWithCounts(*raw.UniqueWithCounts(x, out_idx=as_dtype(out_idx), name=name))


def setdiff1d(x: TensorLike, y: TensorLike, index_dtype: DTypeLike = int32, name: str | None = None) -> ListDiff:
    """Returns the elements of `x` that are not in `y`.

    Args:
      x: (n,), any dtype.
      y: (m,), dtype of x.
      index_dtype: int32 or int64.
      name: a name for the operation.
    Returns: a named tuple of out, the elements in their order, and idx: out[i] = x[idx[i]].
    Raises: ValueError if x or y is not a vector.
    Gradient: none is declared: LookupError.
    Reference: TensorFlow 2.21 ListDiff.

    >>> sess.run(tf.setdiff1d([1, 2, 3], [2]).out)
    array([1, 3], dtype=int32)
    """
    return ListDiff(*raw.ListDiff(x, y, out_idx=as_dtype(index_dtype), name=name))


class Unique(NamedTuple):
    """The results of `unique`."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """The results of `unique_with_counts`."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]  # as TensorFlow calls it; hides the method of tuples


class ListDiff(NamedTuple):
    """The results of `setdiff1d`."""

    out: Tensor
    idx: Tensor
