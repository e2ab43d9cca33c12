"""Sums and maxima of sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor

from .sparse_functions import _sparse, from_dense


def sparse_reduce_sum(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False,
                      name: str | None = None) -> Tensor:
    """Sums a sparse tensor along axes.

    Args:
      sp_input: a `SparseTensor`.
      axis: an axis or a list of them; all by default.
      keepdims: whether to keep reduced axes with size 1.
      output_is_sparse: whether to return a `SparseTensor`.
      name: a name for the operation.
    Returns: a dense tensor (or a sparse one).
    Raises: ValueError for an axis out of range.
    Gradient: for the values.
    Reference: TensorFlow 2.21 SparseReduceSum.

    >>> sess.run(tf.sparse.reduce_sum(tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2]), 1))
    array([2., 3.], dtype=float32)
    """
    return _reduce("SparseReduceSum", sp_input, axis, keepdims, output_is_sparse, name)


def sparse_reduce_max(sp_input: Any, axis: Any = None, keepdims: Any = None, output_is_sparse: bool = False,
                      name: str | None = None) -> Tensor:
    """Computes the maximum of the elements of a sparse tensor along axes; see `sparse.reduce_sum`.

    >>> sess.run(tf.sparse.reduce_max(tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])))
    np.float32(3.0)
    """
    return _reduce("SparseReduceMax", sp_input, axis, keepdims, output_is_sparse, name)


def _reduce(op_type: str, sp_input: Any, axis: Any, keepdims: Any, output_is_sparse: bool, name: str | None) -> Any:
    sp_input = _sparse(sp_input)
    if axis is None:
        rank = sp_input.shape.rank
        axis = raw.Range(0, raw.Size(sp_input.dense_shape), 1) if rank is None else np.arange(rank, dtype=np.int32)
    axis = raw.Reshape(convert_to_tensor(axis, int32), [-1]) if hasattr(axis, "_spec") else np.reshape(axis, [-1])
    dense = getattr(raw, op_type)(sp_input.indices, sp_input.values, sp_input.dense_shape, axis,
                                  keep_dims=bool(keepdims), name=name)
    return from_dense(dense) if output_is_sparse else dense


def sparse_reduce_sum_v1(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
                         keep_dims: Any = None) -> Tensor:
    """Sums a sparse tensor along axes; see `sparse.reduce_sum`.

    >>> sess.run(tf.sparse_reduce_sum(tf.SparseTensor([[0, 1]], [2.0], [2, 2]), 0))
    array([0., 2.], dtype=float32)
    """
    axis, keepdims = reduction_axes if axis is None else axis, keep_dims if keepdims is None else keepdims
    return sparse_reduce_sum(sp_input, axis, keepdims)


def sparse_reduce_max_v1(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
                         keep_dims: Any = None) -> Tensor:
    """Computes the maximum of a sparse tensor along axes; see `sparse.reduce_max`.

    >>> sess.run(tf.sparse_reduce_max(tf.SparseTensor([[0, 1]], [2.0], [2, 2])))
    np.float32(2.0)
    """
    axis, keepdims = reduction_axes if axis is None else axis, keep_dims if keepdims is None else keepdims
    return sparse_reduce_max(sp_input, axis, keepdims)
