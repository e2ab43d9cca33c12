"""Reductions of ragged tensors: along rows, or over equal positions of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ops.math.bincount import number_of_bins

from .ragged_array_ops import axis_of, expand_dims, rank_of
from .ragged_elementwise import positions
from .ragged_tensor import RaggedTensor
from .row_partitions import _ends, _rowids


def segments(combine: Callable[..., Any], data: Any, ids: Any, n: Any) -> Any:
    """Reduces rows with the same number.

    Args:
      combine: a function of dense data, ids and their number, such as `UnsortedSegmentSum`.
      data: a tensor or `RaggedTensor`; of ragged rows, the values at the same position are combined.
      ids: for each row its number, from 0 to n - 1.
      n: the number of results.
    Returns: n rows.
    """
    if not isinstance(data, RaggedTensor):
        return combine(data, ids, n)
    splits = data.row_splits
    ids = raw.Cast(ids, DstT=splits.dtype)
    longest = raw.UnsortedSegmentMax(data.row_lengths(), ids, n)
    ends = _ends(raw.Maximum(longest, raw.ZerosLike(longest)))
    rows, places = positions(splits)
    starts = raw.GatherV2(ends, raw.GatherV2(ids, rows, 0), 0)
    count = raw.GatherV2(ends, raw.Sub(raw.Size(ends), 1), 0)
    combined = segments(combine, data.values, raw.AddV2(starts, places), count)
    return RaggedTensor.from_row_splits(combined, ends, validate=False)


def _along(combine: Callable[..., Any], dense: Callable[..., Any], t: Any, axis: int) -> Any:
    """Reduces along one axis."""
    if not isinstance(t, RaggedTensor):
        return dense(t, np.asarray([axis], np.int32))
    if axis > 1:
        return t.with_values(_along(combine, dense, t.values, axis - 1))
    if axis:
        return segments(combine, t.values, _rowids(t.row_splits), t.nrows())
    lengths = t.row_lengths()
    zero = np.zeros(1, t.row_splits.dtype.np_dtype)
    longest = raw.Max(raw.ConcatV2([lengths, zero], 0), [0])
    return segments(combine, t.values, positions(t.row_splits)[1], longest)


def _all_along(combine: Callable[..., Any], dense: Callable[..., Any], t: RaggedTensor, axes: list[int]) -> Any:
    found: Any = t
    for axis in sorted(axes, reverse=True):
        found = _along(combine, dense, found, axis)
    return found


def _sums(t: RaggedTensor, axes: list[int]) -> Any:
    return _all_along(raw.UnsortedSegmentSum, raw.Sum, t, axes)


def _of_flat(f: Callable[..., Any], *ts: Any) -> Any:
    """Returns a function of the flat values of tensors with the same rows, or of tensors."""
    first = ts[0]
    if not isinstance(first, RaggedTensor):
        return f(*ts)
    return first.with_flat_values(f(*[t.flat_values for t in ts]))


def _mean(t: RaggedTensor, axes: list[int]) -> Any:
    ones = t.with_flat_values(raw.OnesLike(t.flat_values))
    return _of_flat(raw.RealDiv if t.dtype.is_floating or t.dtype.is_complex else raw.FloorDiv, _sums(t, axes),
                    _sums(ones, axes))


def _variance(t: RaggedTensor, axes: list[int]) -> Any:
    squares = _mean(t.with_flat_values(raw.Square(t.flat_values)), axes)
    return _of_flat(lambda s, m: raw.Maximum(raw.Sub(s, raw.Square(m)), raw.ZerosLike(m)), squares, _mean(t, axes))


def _counted(t: RaggedTensor, axes: list[int], wanted: bool) -> Any:
    """Counts the flags that have the wanted value."""
    flags = t.flat_values if wanted else raw.LogicalNot(t.flat_values)
    return _sums(t.with_flat_values(raw.Cast(flags, DstT=int32)), axes)


def _logsumexp(t: RaggedTensor, axes: list[int]) -> Any:
    sums = _sums(t.with_flat_values(raw.Exp(t.flat_values)), axes)
    return _of_flat(raw.Log, sums)


_REDUCTIONS: dict[str, Callable[[RaggedTensor, list[int]], Any]] = {
    "reduce_sum": _sums,
    "reduce_prod": lambda t, axes: _all_along(raw.UnsortedSegmentProd, raw.Prod, t, axes),
    "reduce_max": lambda t, axes: _all_along(raw.UnsortedSegmentMax, raw.Max, t, axes),
    "reduce_min": lambda t, axes: _all_along(raw.UnsortedSegmentMin, raw.Min, t, axes),
    "reduce_mean": _mean,
    "reduce_variance": _variance,
    "reduce_std": lambda t, axes: _of_flat(raw.Sqrt, _variance(t, axes)),
    "reduce_any": lambda t, axes: _of_flat(lambda n: raw.Greater(n, 0), _counted(t, axes, True)),
    "reduce_all": lambda t, axes: _of_flat(lambda n: raw.Equal(n, 0), _counted(t, axes, False)),
    "reduce_logsumexp": _logsumexp,
}


def reduce(name: str, f: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Reduces a ragged tensor.

    Args:
      name: such as "reduce_sum".
      f: the function of dense tensors.
      given: its arguments by name.
    """
    t, axis = given["input_tensor"], given.get("axis", given.get("reduction_indices"))
    keep = given.get("keepdims", given.get("keep_dims", False))
    if axis is None:
        found = f(t.flat_values)
        axes = list(range(rank_of(t)))
    else:
        axes = [axis_of(a, rank_of(t)) for a in np.asarray(axis).reshape(-1).tolist()]
        if axes and set(axes) == set(range(rank_of(t))):
            found = f(t.flat_values)
        else:
            found = _REDUCTIONS[name](t, axes) if axes else t
    for a in sorted(axes) if keep else ():
        found = expand_dims(found, a)
    return found


def reduce_join(name: str, f: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Joins the strings of rows of a ragged tensor; arguments as for `reduce`."""
    t = given["inputs"] if "inputs" in given else given["input"]
    axis = given.get("axis", given.get("reduction_indices"))
    separator = given.get("separator", "")
    if axis is None:
        return f(t.flat_values, separator=separator)

    def combine(data: Any, ids: Any, n: Any) -> Any:
        return raw.UnsortedSegmentJoin(data, ids, n, separator=separator)

    def dense(data: Any, axes: Any) -> Any:
        return raw.ReduceJoin(data, axes, separator=separator)

    axes = [axis_of(a, rank_of(t)) for a in np.asarray(axis).reshape(-1).tolist()]
    found = _all_along(combine, dense, t, axes)
    for a in sorted(axes) if given.get("keepdims", given.get("keep_dims", False)) else ():
        found = expand_dims(found, a)
    return found


def segment(name: str, f: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Computes `unsorted_segment_sum` and the like; arguments as for `reduce`."""
    ids, n = given["segment_ids"], given["num_segments"]
    if isinstance(ids, RaggedTensor):
        return f(given["data"].flat_values, ids.flat_values, n)
    from graphgrad.ir.conversion import convert_to_tensor

    return segments(lambda d, i, m: f(d, i, m), given["data"], convert_to_tensor(ids), n)


def softmax(name: str, f: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Computes softmax along the last axis; arguments as for `reduce`."""
    t = given["logits"]
    axis = given.get("axis", given.get("dim"))
    if axis_of(-1 if axis is None else axis, rank_of(t)) != rank_of(t) - 1:
        raise ValueError("softmax of a ragged tensor is offered along its last axis alone. Fix: axis=-1")
    flat = t.flat_values
    if len(flat.shape.as_list()) > 1:
        return t.with_flat_values(f(flat))
    splits = t.nested_row_splits[-1]
    rows, n = _rowids(splits), raw.Sub(raw.Size(splits), 1)
    largest = raw.StopGradient(raw.UnsortedSegmentMax(flat, rows, n))
    parts = raw.Exp(raw.Sub(flat, raw.GatherV2(largest, rows, 0)))
    return t.with_flat_values(raw.RealDiv(parts, raw.GatherV2(raw.UnsortedSegmentSum(parts, rows, n), rows, 0)))


__all__ = ["reduce", "reduce_join", "segment", "segments", "softmax"]


def bincount(name: str, f: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Counts the numbers of a ragged matrix, all together or in each row; arguments as for `reduce`."""
    arr, weights = given["arr"], given.get("weights")
    if not isinstance(arr, RaggedTensor):
        raise ValueError("`weights` is ragged, `arr` is not. Fix: give both the same rows")
    if weights is not None and not isinstance(weights, RaggedTensor):
        raise ValueError("`weights` must be ragged where `arr` is. Fix: tf.RaggedTensor.from_row_splits")
    if arr.ragged_rank > 1 or arr.flat_values.shape.rank != 1:
        raise ValueError(f"`arr` must be a ragged matrix, not of rank {arr.shape.rank}. Fix: count its values")
    flat = None if weights is None else weights.flat_values
    if given.get("axis") != -1:
        return f(arr.flat_values, **{**{k: v for k, v in given.items() if k != "arr"}, "weights": flat})
    values = arr.flat_values if arr.dtype in (int32, int64) else raw.Cast(arr.flat_values, DstT=int32)
    size = number_of_bins(values, given.get("minlength"), given.get("maxlength"))
    flat = constant([], as_dtype(given.get("dtype", int32))) if flat is None else convert_to_tensor(flat)
    return raw.RaggedBincount(raw.Cast(arr.row_splits, DstT=int64), values, size, flat,
                              binary_output=bool(given.get("binary_output", False)))
