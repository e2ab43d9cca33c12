"""Counting integers into sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INDEX, float32, float64, int32, int64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.sparse_tensor import SparseTensor

_SUMS = {"T": INDEX, "output_type": frozenset({int32, int64, float32, float64}), "flags": ("host",)}
_RESULT = "output_indices: int64, output_values: output_type, output_dense_shape: int64"


def _counted(places, lead, weights, minlength, maxlength, binary_output):
    """Computes the sum at each position; a position is the indices of a row and the number that is counted."""
    numbers = places[:, -1]
    if numbers.size and numbers.min() < 0:
        raise Complaint("Input values must all be non-negative", "shift or drop the negative numbers")
    if weights.size and weights.size != len(places):
        raise Complaint(f"there are {weights.size} weights for {len(places)} values", "give one weight for each value")
    size = max(int(numbers.max(initial=-1)) + 1, minlength)
    size = size if maxlength < 0 else min(size, maxlength)
    inside = numbers < size
    found, inverse = np.unique(places[inside], axis=0, return_inverse=True)
    out = np.zeros(len(found), weights.dtype)
    each = weights.reshape(-1)[inside] if weights.size else np.ones(int(inside.sum()), weights.dtype)
    np.add.at(out, inverse.reshape(-1), each)
    out = np.ones_like(out) if binary_output else out
    return found.reshape(len(found), places.shape[1]), out, np.asarray([*lead, size], np.int64)


def _dense_places(values):
    if values.ndim not in (1, 2):
        raise Complaint(f"Input must be a 1 or 2-dimensional tensor, but has rank {values.ndim}", "tf.reshape it")
    rows = np.indices(values.shape)[:-1].reshape(values.ndim - 1, values.size)
    return np.stack([*rows, values.reshape(-1)], axis=1).astype(np.int64)


@op("DenseCountSparseOutput", f"values: T, weights: output_type -> {_RESULT}", **_SUMS)
def dense_count_op(xp, values, weights, *, minlength=-1, maxlength=-1, binary_output=False):
    """Counts the occurrences of each number in a vector, or in each row of a matrix."""
    return _counted(_dense_places(values), values.shape[:-1], weights, minlength, maxlength, binary_output)


@dense_count_op.shape
def _dense_count_shape(values, weights):
    rank = None if values is None else len(values)
    return [(None, rank), (None,), (rank,)]


@op("SparseCountSparseOutput", f"indices: int64, values: T, dense_shape: int64, weights: output_type -> {_RESULT}",
    **_SUMS)
def sparse_count_op(xp, indices, values, dense_shape, weights, *, minlength=-1, maxlength=-1, binary_output=False):
    """Counts the occurrences of each number in a sparse vector, or in each row of a sparse matrix."""
    places = np.concatenate([indices[:, :-1], values[:, None].astype(np.int64)], axis=1)
    return _counted(places, dense_shape[:-1], weights, minlength, maxlength, binary_output)


@sparse_count_op.shape
def _sparse_count_shape(indices, values, dense_shape, weights):
    rank = None if indices is None else indices[1]
    return [(None, rank), (None,), (rank,)]


def _of_weights(op, d_values, places):
    """Returns the gradient for the weights: that of the sum that each one is added to; 0 for ignored ones."""
    weights = op.inputs[-1]
    if op._attr("binary_output") or not weights.dtype.is_floating or weights._spec.shape == (0,):
        return None
    padded = raw.ConcatV2([d_values, np.zeros(1, weights.dtype.np_dtype)], 0)
    return raw.Reshape(raw.GatherV2(padded, raw.SparsePlaces(places, op.outputs[0]), 0), raw.Shape(weights))


@dense_count_op.grad
def _dense_count_grad(op, d_indices, d_values, d_shape):
    values = op.inputs[0]
    numbers = raw.Cast(raw.Reshape(values, [-1, 1]), DstT=int64)
    if len(values._spec.shape) == 1:
        return None, _of_weights(op, d_values, numbers)
    rows = raw.ConcatV2([raw.Where(raw.Equal(values, values))[:, :1], numbers], 1)
    return None, _of_weights(op, d_values, rows)


@sparse_count_op.grad
def _sparse_count_grad(op, d_indices, d_values, d_shape):
    indices, values, _, _ = op.inputs
    lead = raw.StridedSlice(indices, [0, 0], [0, -1], [1, 1], begin_mask=3, end_mask=1)
    places = raw.ConcatV2([lead, raw.Cast(raw.ExpandDims(values, 1), DstT=int64)], 1)
    return None, None, None, _of_weights(op, d_values, places)


def sparse_bincount(values: Any, weights: Any = None, axis: int | None = 0, minlength: Any = None,
                    maxlength: Any = None, binary_output: bool = False,
                    name: str | None = None) -> SparseTensor:
    """Counts the occurrences of each number 0, 1, 2 and so on, as a sparse tensor.

    Args:
      values: a tensor, `SparseTensor` or `RaggedTensor` of int32 or int64, without negative numbers.
      weights: the weight of each value, of the same form; 1 by default.
      axis: 0 or None to count all numbers together, -1 to count in each row of a matrix.
      minlength: the least size of the result.
      maxlength: the greatest size; larger numbers are ignored.
      binary_output: whether to return 1 for each number that occurs, instead of its count.
      name: a name for the scope.
    Returns: a `SparseTensor` of rank 1, or 2 for axis=-1.
    Raises: ValueError for other axes; InvalidArgumentError at run time for negative numbers.
    Gradient: for floating weights; TensorFlow has none.
    Reference: TensorFlow 2.21 DenseCountSparseOutput and SparseCountSparseOutput.

    >>> counts = tf.sparse.bincount([1, 1, 3])
    >>> sess.run([counts.indices[:, 0], counts.values])
    [array([1, 3]), array([2, 1], dtype=int32)]
    """
    if axis not in (0, -1, None):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are supported. Fix: choose one")
    with name_scope(name, "count"):
        if hasattr(values, "row_splits"):  # ragged
            values = values.to_sparse() if axis == -1 else values.flat_values
            if hasattr(weights, "row_splits"):
                weights = weights.to_sparse() if axis == -1 else weights.flat_values
        sparse = values if isinstance(values, SparseTensor) else None
        numbers = sparse.values if sparse is not None else convert_to_tensor(values, name="values")
        weights = weights.values if isinstance(weights, SparseTensor) else weights
        weights = np.zeros(0, np.int32) if weights is None else convert_to_tensor(weights)
        options = {"minlength": -1 if minlength is None else whole(minlength),
                   "maxlength": -1 if maxlength is None else whole(maxlength),
                   "binary_output": binary_output}
        if axis == -1 and sparse is not None:
            return SparseTensor(*raw.SparseCountSparseOutput(sparse.indices, numbers, sparse.dense_shape, weights,
                                                             **options))
        if axis != -1:
            numbers = raw.Reshape(numbers, [-1])
            weights = weights if isinstance(weights, np.ndarray) else raw.Reshape(weights, [-1])
        return SparseTensor(*raw.DenseCountSparseOutput(numbers, weights, **options))


limit_ranks(matrices="SparseCountSparseOutput.indices")
