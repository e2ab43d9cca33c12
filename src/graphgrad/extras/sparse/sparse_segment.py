"""Segment reductions over gathered rows, without materializing these."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import FLOATING, INDEX
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import merged
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.row_sums import LARGE
from graphgrad.ops.math.segment import sparse_sums


def _row_shape(data, indices, segment_ids):
    if indices is not None and len(indices) != 1:
        raise Complaint("indices should be a vector", "tf.reshape(indices, [-1])")
    if segment_ids is not None and len(segment_ids) != 1:
        raise Complaint("segment_ids should be a vector", "tf.reshape(segment_ids, [-1])")
    merged(indices, segment_ids)
    return None if data is None else data[1:]


def _by_ids_shape(data, indices, segment_ids):
    rest = _row_shape(data, indices, segment_ids)
    return None if rest is None else (None, *rest)


def _by_number_shape(data, indices, segment_ids, num_segments):
    rest = _row_shape(data, indices, segment_ids)
    return None if rest is None else (num_segments, *rest)


def _checked_ids(indices, ids, rows):
    if len(indices) != len(ids):
        raise Complaint("segment_ids and indices should have same size", "give one id for each index")
    if len(ids) and (ids[0] < 0 or np.any(ids[1:] < ids[:-1])):
        raise Complaint("segment ids are not increasing or negative", "sort them")
    _checked_range("indices", indices, rows)


def _checked_range(what, indices, n):
    if len(indices) and (indices.min() < 0 or indices.max() >= n):
        found = f"{indices.min()}..{indices.max()}"
        raise Complaint(f"{what} out of range: {found} is not in [0, {n})", f"correct the {what}")


def _reduce(xp, kind, data, indices, ids, n):
    rows = xp.asarray(data)[indices]
    if xp is np:
        out = np.zeros((n, *rows.shape[1:]), rows.dtype)
        starts = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]]) if len(ids) else []
        if len(ids):
            out[ids[starts]] = np.add.reduceat(rows, starts, axis=0)
    else:
        out = xp.zeros((n, *rows.shape[1:]), rows.dtype).at[ids].add(rows, mode="drop")
    return out / _scale(xp, kind, ids, n, out) if kind != "Sum" else out


def _scale(xp, kind, ids, n, like):
    """Returns the divisor of each segment, of a shape that broadcasts."""
    ones = xp.ones(ids.shape, like.dtype)
    if xp is np:
        sizes = np.bincount(ids, minlength=n)[:n].astype(like.dtype)
    else:
        sizes = xp.zeros(n, like.dtype).at[ids].add(ones, mode="drop")
    sizes = xp.maximum(sizes, xp.ones((), like.dtype))
    sizes = xp.sqrt(sizes) if kind == "SqrtN" else sizes
    return sizes.reshape((n,) + (1,) * (like.ndim - 1))


_SIGNATURE = "data: T, indices: Tidx, segment_ids: Tsegmentids"
_TYPES: dict[str, Any] = {"T": FLOATING, "Tidx": INDEX, "Tsegmentids": INDEX}


def _declare(kind, words):
    """Declares the ops of a kind: with rows up to the last id (on the host), with a given number, and the gradient."""

    def by_ids(xp, data, indices, segment_ids, *, sparse_gradient=False):
        _checked_ids(indices, segment_ids, len(data))
        n = int(segment_ids[-1]) + 1 if len(segment_ids) else 0
        if data.dtype in (np.float32, np.float64) and len(segment_ids) * data[:1].size >= LARGE:
            out = sparse_sums(np.asarray(data), segment_ids, n, indices)  # indices are known to be in range
            return (out / _scale(np, kind, segment_ids, n, out)).astype(data.dtype) if kind != "Sum" else out
        return _reduce(np, kind, data, indices, segment_ids, n).astype(data.dtype)

    def by_number(xp, data, indices, segment_ids, num_segments, *, sparse_gradient=False):
        n = int(num_segments)
        if xp is np:
            _checked_ids(indices, segment_ids, len(data))
            if len(segment_ids) and segment_ids[-1] >= n:
                raise Complaint(f"segment ids must be < num_segments = {n}", "raise num_segments")
        return _reduce(xp, kind, data, indices, segment_ids, n).astype(data.dtype)

    def spread(xp, grad, indices, segment_ids, output_dim0):
        n = int(output_dim0)
        if xp is np:
            _checked_range("indices", indices, n)
            _checked_range("segment ids", segment_ids, len(grad))
        rows = xp.asarray(grad if kind == "Sum" else grad / _scale(xp, kind, segment_ids, grad.shape[0], grad))
        if xp is np:
            out = np.zeros((n, *grad.shape[1:]), grad.dtype)
            np.add.at(out, indices, rows[segment_ids].astype(grad.dtype))
            return out
        return xp.zeros((n, *grad.shape[1:]), grad.dtype).at[indices].add(rows[segment_ids].astype(grad.dtype))

    def gradient(op, dy):
        data, indices, ids = op.inputs[:3]
        none = [None] * (len(op.inputs) - 1)
        if op._attr("sparse_gradient"):
            picked = raw.GatherV2(_divided(kind, dy, ids), ids, 0)
            return [IndexedSlices(picked, indices, raw.Shape(data)), *none]
        rows = raw.StridedSlice(raw.Shape(data), [0], [1], [1], shrink_axis_mask=1)
        return [getattr(raw, f"SparseSegment{kind}Grad")(dy, indices, ids, rows), *none]

    def spread_gradient(op, dy):
        grad, indices, ids, _ = op.inputs
        n = raw.StridedSlice(raw.Shape(grad), [0], [1], [1], shrink_axis_mask=1)
        return getattr(raw, f"SparseSegment{kind}WithNumSegments")(dy, indices, ids, n), None, None, None

    by_ids.__doc__ = f"Computes the {words} of gathered rows by id; the last id gives the number of segments."
    by_number.__doc__ = f"Computes the {words} of gathered rows by id."
    spread.__doc__ = f"Computes the gradient of SparseSegment{kind}."
    name = f"SparseSegment{kind}"
    first = op(name, f"{_SIGNATURE} -> output: T", flags=("host",), shape=_by_ids_shape, **_TYPES)(by_ids)
    second = op(f"{name}WithNumSegments", f"{_SIGNATURE}, num_segments: Tnumsegments -> output: T", Tnumsegments=INDEX,
                host=("num_segments",), shape=_by_number_shape, **_TYPES)(by_number)
    third = op(f"{name}Grad", "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T",
               host=("output_dim0",), shape=_by_number_shape, **_TYPES)(spread)
    second.refuses("indices", "segment_ids", "num_segments")(_refused_by_number)
    third.refuses("indices", "segment_ids", "output_dim0")(_refused_by_spread)
    first.grad(gradient)
    second.grad(gradient)
    third.grad(spread_gradient)


def _refused_by_number(xp, data, indices, segment_ids, num_segments):
    unsorted = segment_ids[1:] < segment_ids[:-1]
    return [(indices, data.shape[0]), (segment_ids, int(num_segments)), unsorted]


def _refused_by_spread(xp, grad, indices, segment_ids, output_dim0):
    return [(indices, int(output_dim0)), (segment_ids, grad.shape[0])]


def _divided(kind, dy, ids):
    if kind == "Sum":
        return dy
    n = raw.StridedSlice(raw.Shape(dy), [0], [1], [1], shrink_axis_mask=1)
    rank = len(dy._spec.shape) if dy._spec.shape is not None else None
    ones = raw.Fill(raw.Shape(ids), np.ones((), dy.dtype.np_dtype))
    sizes = raw.Maximum(raw.UnsortedSegmentSum(ones, ids, n), 1)
    sizes = raw.Sqrt(sizes) if kind == "SqrtN" else sizes
    if rank is not None:
        return raw.RealDiv(dy, raw.Reshape(sizes, [-1] + [1] * (rank - 1)))
    tail = raw.Fill(raw.ExpandDims(raw.Sub(raw.Rank(dy), 1), 0), np.int32(1))
    return raw.RealDiv(dy, raw.Reshape(sizes, raw.ConcatV2([[-1], tail], 0)))


_declare("Sum", "sums")
_declare("Mean", "means")
_declare("SqrtN", "sums, divided by the root of their number,")

# -- public functions ------------------------------------------------------------------------------------


def _segment(kind: str, data: Any, indices: Any, segment_ids: Any, num_segments: Any, name: str | None,
             sparse_gradient: bool) -> Any:
    data = convert_to_tensor(data, name="data")
    if num_segments is None:
        return getattr(raw, f"SparseSegment{kind}")(data, indices, segment_ids, sparse_gradient=sparse_gradient,
                                                    name=name)
    return getattr(raw, f"SparseSegment{kind}WithNumSegments")(data, indices, segment_ids, num_segments,
                                                               sparse_gradient=sparse_gradient, name=name)


def segment_sum(data: TensorLike, indices: TensorLike, segment_ids: Any, num_segments: Any = None,
                name: str | None = None, sparse_gradient: bool = False) -> Tensor:
    """Sums gathered rows of `data` by segment id.

    Args:
      data: (n, *D), floating.
      indices: (m,), int32 or int64, each in [0, n).
      segment_ids: (m,), int32 or int64, not decreasing.
      num_segments: the number of segments; one more than the last id by default.
      name: a name for the operation.
      sparse_gradient: whether the gradient is an `IndexedSlices`.
    Returns: (num_segments, *D).
    Raises: InvalidArgumentError for ids that are not sorted.
    Gradient: to the gathered rows.
    Reference: TensorFlow 2.21 SparseSegmentSum.

    >>> sess.run(tf.sparse.segment_sum(tf.constant([1.0, 2.0, 4.0]), [0, 2, 1], [0, 0, 1]))
    array([5., 2.], dtype=float32)
    """
    return _segment("Sum", data, indices, segment_ids, num_segments, name, sparse_gradient)


def segment_mean(data: TensorLike, indices: TensorLike, segment_ids: Any, num_segments: Any = None,
                 name: str | None = None, sparse_gradient: bool = False) -> Tensor:
    """Averages gathered rows of `data` by segment id; see `sparse.segment_sum`.

    >>> sess.run(tf.sparse.segment_mean(tf.constant([1.0, 2.0, 4.0]), [0, 2, 1], [0, 0, 1]))
    array([2.5, 2. ], dtype=float32)
    """
    return _segment("Mean", data, indices, segment_ids, num_segments, name, sparse_gradient)


def segment_sqrt_n(data: TensorLike, indices: TensorLike, segment_ids: Any, num_segments: Any = None,
                   name: str | None = None, sparse_gradient: bool = False) -> Tensor:
    """Sums as `sparse.segment_sum` does and divides by the square root of the number of rows.

    Args:
      data, indices, segment_ids, num_segments, name, sparse_gradient: as for `sparse.segment_sum`.
    Returns: (num_segments, *D).
    Gradient: to the gathered rows.
    Reference: TensorFlow 2.21 SparseSegmentSqrtN.

    >>> sess.run(tf.sparse.segment_sqrt_n(tf.constant([1.0, 2.0]), [0, 1, 0, 1], [0, 0, 0, 0]))
    array([3.], dtype=float32)
    """
    return _segment("SqrtN", data, indices, segment_ids, num_segments, name, sparse_gradient)


def segment_sum_v1(data: TensorLike, indices: TensorLike, segment_ids: Any, name: str | None = None,
                   num_segments: Any = None, sparse_gradient: bool = False) -> Tensor:
    """Sums gathered rows by segment; see `sparse.segment_sum`.

    >>> sess.run(tf.sparse_segment_sum(tf.constant([1.0, 2.0]), [0, 1], [0, 0]))
    array([3.], dtype=float32)
    """
    return segment_sum(data, indices, segment_ids, num_segments, name, sparse_gradient)


def segment_mean_v1(data: TensorLike, indices: TensorLike, segment_ids: Any, name: str | None = None,
                    num_segments: Any = None, sparse_gradient: bool = False) -> Tensor:
    """Averages gathered rows by segment; see `sparse.segment_mean`.

    >>> sess.run(tf.sparse_segment_mean(tf.constant([1.0, 2.0]), [0, 1], [0, 0]))
    array([1.5], dtype=float32)
    """
    return segment_mean(data, indices, segment_ids, num_segments, name, sparse_gradient)


def segment_sqrt_n_v1(data: TensorLike, indices: TensorLike, segment_ids: Any, name: str | None = None,
                      num_segments: Any = None, sparse_gradient: bool = False) -> Tensor:
    """Sums gathered rows by segment, divided by the root of their number; see `sparse.segment_sqrt_n`.

    >>> sess.run(tf.sparse_segment_sqrt_n(tf.constant([1.0, 2.0]), [0], [0]))
    array([1.], dtype=float32)
    """
    return segment_sqrt_n(data, indices, segment_ids, num_segments, name, sparse_gradient)


limit_ranks(
    scalars="""
        SparseSegmentMeanGrad.output_dim0 SparseSegmentMeanWithNumSegments.num_segments
        SparseSegmentSqrtNGrad.output_dim0 SparseSegmentSqrtNWithNumSegments.num_segments
        SparseSegmentSumGrad.output_dim0 SparseSegmentSumWithNumSegments.num_segments""",
)

__all__ = ["segment_mean", "segment_mean_v1", "segment_sqrt_n", "segment_sqrt_n_v1", "segment_sum", "segment_sum_v1"]
