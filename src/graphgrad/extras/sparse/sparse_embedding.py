"""Lookup of rows in embedding tables by sparse ids: each row of ids gives one combined embedding."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.dtypes import as_dtype, bfloat16, float16, float32, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.common.sparse_tensor import SparseTensor
from graphgrad.ops.nn.embedding import embedding_lookup_v1

from .sparse_functions import sparse_fill_empty_rows, sparse_reshape, sparse_retain

_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup_sparse(params: Any, sp_ids: Any, sp_weights: Any, combiner: str | None = None,
                            max_norm: Any = None, name: str | None = None, allow_fast_lookup: bool = False) -> Tensor:
    """Looks up the ids of each row of a sparse matrix and combines their embeddings.

    Args:
      params: (n, *D), a table, or a list of its pieces.
      sp_ids: a `SparseTensor`, (rows, columns) of int32 or int64, rows in order; or a `RaggedTensor`.
      sp_weights: a tensor of that kind with weights at the same positions; None for equal weights.
      combiner: "mean" (the default), "sum", or "sqrtn": the sum divided by the root of the sum of
        squared weights.
      max_norm: scales down each embedding whose norm is larger, before combining.
      name: a name for the scope.
      allow_fast_lookup: accepted as TensorFlow does; not needed.
    Returns: (m, *D), with m one more than the last row that has an id; zeros for rows without ids.
    Raises: TypeError if ids or weights are not sparse; ValueError for another combiner.
    Gradient: IndexedSlices for the table, and for the weights.
    Reference: TensorFlow 2.21 `tf.nn.embedding_lookup_sparse`.

    >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 0], [2, 2])
    >>> sess.run(tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [2.0], [4.0]]), ids, None, combiner="sum"))
    array([[6.],
           [1.]], dtype=float32)
    """
    return _lookup(params, sp_ids, sp_weights, "div", combiner, max_norm, name)


def embedding_lookup_sparse_v1(params: Any, sp_ids: Any, sp_weights: Any, partition_strategy: str = "mod",
                               name: str | None = None, combiner: str | None = None, max_norm: Any = None,
                               allow_fast_lookup: bool = False) -> Tensor:
    """Looks up sparse ids and combines each row: `embedding_lookup_sparse` with TensorFlow 1's arguments.

    Args:
      params, sp_ids, sp_weights, name, combiner, max_norm, allow_fast_lookup: as there.
      partition_strategy: the division of the table into pieces: "mod" or "div".
    Returns: (m, *D).
    Raises: as there.
    Gradient: as there.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.embedding_lookup_sparse`.
    """
    return _lookup(params, sp_ids, sp_weights, partition_strategy, combiner, max_norm, name)


def _lookup(params: Any, sp_ids: Any, sp_weights: Any, strategy: str, combiner: str | None, max_norm: Any,
            name: str | None) -> Any:
    combiner = combiner or "mean"
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    sp_ids, sp_weights = _as_sparse(sp_ids, sp_weights)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}. Fix: tf.sparse.from_dense(ids)")
    if sp_weights is not None and not isinstance(sp_weights, SparseTensor):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
    with name_scope(name, "embedding_lookup_sparse"):
        segments = raw.Cast(_column(sp_ids.indices), DstT=int32)
        rows = embedding_lookup_v1(params, sp_ids.values, strategy, max_norm=max_norm)
        dtype = as_dtype(rows.dtype)
        if dtype in (float16, bfloat16):  # sums keep more digits
            rows = raw.Cast(rows, DstT=float32)
        if sp_weights is None:
            combined = _equally(rows, segments, combiner)
        else:
            combined = _weighted(rows, segments, sp_weights.values, combiner)
        return raw.Cast(combined, DstT=dtype) if combined.dtype is not dtype else combined


def _as_sparse(ids: Any, weights: Any) -> tuple[Any, Any]:
    """Converts ragged ids and weights to sparse ones; returns others unchanged."""
    if not hasattr(ids, "nested_row_splits"):
        return ids, weights
    if weights is not None and not hasattr(weights, "nested_row_splits"):
        raise TypeError(f"sp_ids is a RaggedTensor, but sp_weights is a {type(weights).__name__}. "
                        "Fix: give both ragged, or both sparse")
    return ids.to_sparse(), None if weights is None else weights.to_sparse()


def _column(indices: Any) -> Any:
    return raw.StridedSlice(indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2)


def _equally(rows: Any, segments: Any, combiner: str) -> Any:
    if combiner == "mean":
        return raw.SegmentMean(rows, segments)
    total = raw.SegmentSum(rows, segments)
    if combiner == "sum":
        return total
    ones = raw.Fill(raw.Shape(segments), np.ones((), rows.dtype.np_dtype))
    return raw.DivNoNan(total, _trailing(raw.Sqrt(raw.SegmentSum(ones, segments)), rows))


def _weighted(rows: Any, segments: Any, weights: Any, combiner: str) -> Any:
    if weights.dtype is not rows.dtype:
        weights = raw.Cast(weights, DstT=rows.dtype)
    total = raw.SegmentSum(raw.Mul(rows, _trailing(weights, rows)), segments)
    if combiner == "sum":
        return total
    if combiner == "mean":
        return raw.DivNoNan(total, _trailing(raw.SegmentSum(weights, segments), rows))
    return raw.DivNoNan(total, _trailing(raw.Sqrt(raw.SegmentSum(raw.Square(weights), segments)), rows))


def _trailing(vector: Any, like: Any) -> Any:
    """Returns the vector with as many dimensions as `like`, to broadcast along the first."""
    if like._spec.shape is not None:
        return raw.Reshape(vector, [-1] + [1] * (len(like._spec.shape) - 1))
    tail = raw.Fill(raw.ExpandDims(raw.Sub(raw.Rank(like), 1), 0), np.int32(1))
    return raw.Reshape(vector, raw.ConcatV2([[-1], tail], 0))


def safe_embedding_lookup_sparse(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None,
                                 combiner: str = "mean", default_id: Any = None, max_norm: Any = None,
                                 name: str | None = None, allow_fast_lookup: bool = False) -> Tensor:
    """Looks up sparse ids as `embedding_lookup_sparse` does, with a result for every row.

    Ids below 0, and those whose weight is not positive, are ignored (unless the combiner is "sum").

    Args:
      embedding_weights: (n, d), a table, or a list of its pieces.
      sparse_ids: a `SparseTensor` of ids, of rank 2 or more; or a `RaggedTensor`.
      sparse_weights: a tensor of that kind with weights at the same positions; None for equal weights.
      combiner, max_norm, name, allow_fast_lookup: as there.
      default_id: the id of rows without ids; None gives them zeros.
    Returns: the shape of `sparse_ids` with the last dimension replaced by d.
    Raises: as there; ValueError if there is no table.
    Gradient: as there.
    Reference: TensorFlow 2.21 `tf.nn.safe_embedding_lookup_sparse`.

    >>> ids = tf.SparseTensor([[0, 0], [2, 0]], [1, -1], [3, 2])
    >>> sess.run(tf.nn.safe_embedding_lookup_sparse(tf.constant([[1.0], [2.0]]), ids))
    array([[2.],
           [0.],
           [0.]], dtype=float32)
    """
    return _safely(embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name, "div", max_norm)


def safe_embedding_lookup_sparse_v1(embedding_weights: Any, sparse_ids: Any, sparse_weights: Any = None,
                                    combiner: str = "mean", default_id: Any = None, name: str | None = None,
                                    partition_strategy: str = "div", max_norm: Any = None,
                                    allow_fast_lookup: bool = False) -> Tensor:
    """Looks up sparse ids with a result for every row: `safe_embedding_lookup_sparse` with TensorFlow 1's arguments.

    Args:
      embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name, max_norm, allow_fast_lookup:
        as there.
      partition_strategy: the division of the table into pieces: "mod" or "div".
    Returns: as there.
    Raises: as there.
    Gradient: as there.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.safe_embedding_lookup_sparse`.
    """
    return _safely(embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name, partition_strategy,
                   max_norm)


def _safely(table: Any, sp_ids: Any, sp_weights: Any, combiner: str, default_id: Any, name: str | None, strategy: str,
            max_norm: Any) -> Any:
    if table is None or (isinstance(table, (list, tuple)) and not table):
        raise ValueError(f"Missing embedding_weights {table}.")
    with name_scope(name, "embedding_lookup"):
        sp_ids, sp_weights = _as_sparse(sp_ids, sp_weights)
        shape = raw.Cast(sp_ids.dense_shape, DstT=int32)
        lead = raw.StridedSlice(shape, [0], [-1], [1], begin_mask=1)
        last = raw.StridedSlice(shape, [-1], [0], [1], end_mask=1)
        matrix = raw.ConcatV2([raw.ExpandDims(raw.Prod(lead, [0]), 0), last], 0)
        ids = sparse_reshape(sp_ids, matrix)
        weights = None if sp_weights is None else SparseTensor(ids.indices, sp_weights.values, ids.dense_shape)
        valid = raw.GreaterEqual(ids.values, 0)
        if weights is not None and combiner != "sum":
            valid = raw.LogicalAnd(valid, raw.Greater(weights.values, 0))
        ids = sparse_retain(ids, valid)
        ids, empty = sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(sparse_retain(weights, valid), 1.0)
        result = _lookup(table, ids, weights, strategy, combiner, max_norm, None)
        if default_id is None:
            result = raw.SelectV2(raw.ExpandDims(empty, 1), np.zeros((), result.dtype.np_dtype), result)
        width = raw.StridedSlice(raw.Shape(result), [1], [0], [1], end_mask=1)
        return raw.Reshape(result, raw.ConcatV2([lead, width], 0))


__all__ = ["embedding_lookup_sparse", "embedding_lookup_sparse_v1", "safe_embedding_lookup_sparse",
           "safe_embedding_lookup_sparse_v1"]
