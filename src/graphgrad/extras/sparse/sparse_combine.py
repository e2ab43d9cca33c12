"""Sparse maxima and minima, splits, sparse reductions, merges."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor, make_array
from graphgrad.ir.dtypes import REAL, as_dtype, int32, int64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import as_shape, with_rank
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ir.values.composite import SparseTensorValue
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ops.common.sparse_tensor import SparseTensor

from .sparse_functions import _sparse
from .sparse_ops import sparse_shape

_SIGNATURE = ("a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64"
              " -> output_indices: int64, output_values: T")


def _united(a_indices, a_values, b_indices, b_values):
    """Returns the positions that either one has, in order, and both values there; 0 where there is none."""
    both = np.concatenate([a_indices, b_indices])
    places, inverse = np.unique(both, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    values = []
    for at, given in ((inverse[: len(a_indices)], a_values), (inverse[len(a_indices) :], b_values)):
        full = np.zeros(len(places), given.dtype)
        full[at] = given
        values.append(full)
    return places.reshape(len(places), a_indices.shape[1]), *values


def _declare(name, choose, compare, doc):
    def kernel(xp, a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        if tuple(a_shape) != tuple(b_shape):
            raise Complaint(f"shapes {tuple(a_shape.tolist())} and {tuple(b_shape.tolist())} differ",
                            "give equal shapes")
        places, a, b = _united(a_indices, a_values, b_indices, b_values)
        return places, choose(a, b)

    def grad(op, d_indices, d_values):
        a_indices, a_values, _, b_indices, b_values, _ = op.inputs
        places = op.outputs[0]
        at_a, at_b = raw.SparsePlaces(a_indices, places), raw.SparsePlaces(b_indices, places)
        n = raw.Size(d_values)
        a, b = raw.UnsortedSegmentSum(a_values, at_a, n), raw.UnsortedSegmentSum(b_values, at_b, n)
        of_a = raw.Cast(getattr(raw, compare)(a, b), DstT=d_values.dtype)  # ties go to a, as in `maximum`
        taken = raw.Mul(d_values, of_a)
        d_a, d_b = raw.GatherV2(taken, at_a, 0), raw.GatherV2(raw.Sub(d_values, taken), at_b, 0)
        return None, d_a, None, None, d_b, None

    kernel.__doc__ = doc
    declared = op(name, _SIGNATURE, T=REAL, flags=("host",))(kernel)
    declared.shape(_pair_shape)
    declared.grad(grad)


def _pair_shape(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
    sparse_shape(a_indices, a_values, None)
    sparse_shape(b_indices, b_values, None)
    return [(None, with_rank(a_indices, 2)[1]), (None,)]


_declare("SparseSparseMaximum", np.maximum, "GreaterEqual", "Returns the larger elements; missing ones are 0.")
_declare("SparseSparseMinimum", np.minimum, "LessEqual", "Returns the smaller elements; missing ones are 0.")


def _reduce_sparse(name, function, doc):
    def kernel(xp, indices, values, shape, axes, *, keep_dims=False):
        rank = len(shape)
        chosen = {int(a) % rank for a in np.asarray(axes).reshape(-1)} if np.size(axes) else set(range(rank))
        kept = indices.copy()
        kept[:, sorted(chosen)] = 0
        places, inverse = np.unique(kept, axis=0, return_inverse=True)
        out = np.full(len(places), 0 if function is np.add else _lowest(values.dtype), values.dtype)
        function.at(out, inverse.reshape(-1), values)
        sizes = [1 if i in chosen else int(n) for i, n in enumerate(shape)]
        rest = list(range(rank)) if keep_dims else [i for i in range(rank) if i not in chosen]
        return places[:, rest], out, np.asarray(sizes, np.int64)[rest]

    def shape_rule(indices, values, shape, axes):
        return [(None, None), (None,), (None,)]

    def grad(op, d_indices, d_values, d_shape):
        indices, values, _, axes = op.inputs
        kept = _kept_columns(indices, axes, op._attr("keep_dims"))
        # Elements get the gradient of the sum that they are part of, or of the maximum that they attain.
        places = raw.SparsePlaces(kept, op.outputs[0])
        share = raw.GatherV2(d_values, places, 0)
        if function is np.add:
            return None, share, None, None
        is_largest = raw.Cast(raw.Equal(values, raw.GatherV2(op.outputs[1], places, 0)), DstT=values.dtype)
        sharing = raw.UnsortedSegmentSum(is_largest, places, raw.Size(d_values))
        return None, raw.Mul(share, raw.DivNoNan(is_largest, raw.GatherV2(sharing, places, 0))), None, None

    kernel.__doc__ = doc
    declared = op(name, "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
                  " -> output_indices: int64, output_values: T, output_shape: int64", T=REAL,
                  flags=("host",))(kernel)
    declared.shape(shape_rule)
    declared.grad(grad)


def _kept_columns(indices, axes, keep_dims):
    """Returns the indices without the axes that are reduced, or with 0 there."""
    known, rank = constant_value(axes), indices._spec.shape and indices._spec.shape[1]
    if known is None or rank is None:
        raise NotImplementedError("the gradient needs axes and a rank that are known while the graph is built.\n"
                                  "  Fix: give axis as numbers, and the SparseTensor a static shape")
    chosen = {int(a) % rank for a in known.reshape(-1)} if known.size else set(range(rank))
    if keep_dims:
        return raw.Mul(indices, np.asarray([i not in chosen for i in range(rank)], np.int64))
    return raw.GatherV2(indices, np.asarray([i for i in range(rank) if i not in chosen], np.int32), 1)


def _lowest(dtype):
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


_reduce_sparse("SparseReduceSumSparse", np.add, "Sums a sparse tensor along axes, sparse.")
_reduce_sparse("SparseReduceMaxSparse", np.maximum, "Computes the maximum of a sparse tensor along axes, sparse.")


# -- functions -------------------------------------------------------------------------------------------


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Computes the elementwise maximum of two sparse tensors; missing elements count as 0.

    Args:
      sp_a, sp_b: `SparseTensor`s of one shape and real dtype, their indices in order.
      name: a name for the operation.
    Returns: a `SparseTensor` with the positions of both.
    Raises: InvalidArgumentError at run time if the shapes differ.
    Gradient: to the larger of the two, to `sp_a` if they are equal; TensorFlow's raises an error.
    Reference: TensorFlow 2.21 SparseSparseMaximum.

    >>> a, b = (tf.sparse.from_dense(x) for x in ([0.0, 2.0, -1.0], [1.0, 1.0, 0.0]))
    >>> sess.run(tf.sparse.to_dense(tf.sparse.maximum(a, b)))
    array([1., 2., 0.], dtype=float32)
    """
    return _pair("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """Computes the elementwise minimum of two sparse tensors; missing elements count as 0.

    Args:
      sp_a, sp_b: `SparseTensor`s of one shape and real dtype, their indices in order.
      name: a name for the operation.
    Returns: a `SparseTensor` with the positions of both.
    Raises: InvalidArgumentError at run time if the shapes differ.
    Gradient: to the smaller of the two, to `sp_a` if they are equal; TensorFlow's raises an error.
    Reference: TensorFlow 2.21 SparseSparseMinimum.

    >>> a, b = (tf.sparse.from_dense(x) for x in ([0.0, 2.0, -1.0], [1.0, 1.0, 0.0]))
    >>> sess.run(tf.sparse.to_dense(tf.sparse.minimum(a, b)))
    array([ 0.,  1., -1.], dtype=float32)
    """
    return _pair("SparseSparseMinimum", sp_a, sp_b, name)


def _pair(op_type, sp_a, sp_b, name):
    a, b = _sparse(sp_a), _sparse(sp_b)
    with name_scope(name, op_type):
        indices, values = getattr(raw, op_type)(a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape)
        return SparseTensor(indices, values, a.dense_shape)


def sparse_split(sp_input: Any = None, num_split: Any = None, axis: Any = None,
                 name: str | None = None) -> list[SparseTensor]:
    """Splits a sparse tensor along an axis; the first pieces are one longer where they cannot be equal.

    Args:
      sp_input: a `SparseTensor`.
      num_split: the number of pieces, an int.
      axis: the axis.
      name: a name for the operation.
    Returns: a list of `SparseTensor`s.
    Raises: InvalidArgumentError at run time for an axis out of range, or more pieces than the size of the axis.
    Gradient: for the values; TensorFlow has none.
    Reference: TensorFlow 2.21 SparseSplit.

    >>> x = tf.sparse.from_dense([[1, 0, 2], [0, 3, 0]])
    >>> [sess.run(tf.sparse.to_dense(p)).tolist() for p in tf.sparse.split(sp_input=x, num_split=2, axis=1)]
    [[[1, 0], [0, 3]], [[2], [0]]]
    """
    for what, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{what} is required. Fix: tf.sparse.split(sp_input=..., num_split=..., axis=...)")
    x = _sparse(sp_input)
    axis = convert_to_tensor(axis, int64)
    indices, values, shapes = raw.SparseSplit(axis, x.indices, x.values, x.dense_shape, num_split=num_split, name=name)
    return [SparseTensor(*part) for part in zip(indices, values, shapes, strict=True)]


class KeywordRequired:
    """A marker before keyword-only arguments of TensorFlow 1."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


def sparse_split_v1(keyword_required: Any = KeywordRequired(), sp_input: Any = None,  # noqa: B008  # TensorFlow's
                    num_split: Any = None, axis: Any = None, name: str | None = None,
                    split_dim: Any = None) -> list[SparseTensor]:
    """Splits a sparse tensor along an axis; see `sparse.split`. Arguments must be named.

    >>> x = tf.sparse.from_dense([[1, 2]])
    >>> [sess.run(p.values).tolist() for p in tf.sparse_split(sp_input=x, num_split=2, axis=1)]
    [[1], [2]]
    """
    if not isinstance(keyword_required, KeywordRequired):
        raise ValueError("Keyword arguments are required for this function. "
                         "Fix: tf.sparse_split(sp_input=..., num_split=..., axis=...)")
    return sparse_split(sp_input, num_split, split_dim if axis is None else axis, name)


def _sparse_reduction(op_type, sp_input, axis, keepdims, reduction_axes, keep_dims):
    x = _sparse(sp_input)
    axes = axis if axis is not None else reduction_axes
    axes = np.zeros(0, np.int32) if axes is None else make_array(axes, int32)
    keep = bool(keepdims if keepdims is not None else keep_dims)
    return SparseTensor(*getattr(raw, op_type)(x.indices, x.values, x.dense_shape, axes, keep_dims=keep))


def sparse_reduce_max_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
                             keep_dims: Any = None) -> SparseTensor:
    """Computes the maximum of the elements of a sparse tensor along axes, as a sparse tensor.

    Args:
      sp_input: a `SparseTensor` of real numbers.
      axis, keepdims, reduction_axes, keep_dims: as for `sparse_reduce_max`.
    Returns: a `SparseTensor`.
    Gradient: for the values, in equal shares where several are the maximum; TensorFlow has none.
    Reference: TensorFlow 2.21 SparseReduceMaxSparse.

    >>> x = tf.sparse.from_dense([[1, 3], [0, 0]])
    >>> sess.run(tf.sparse_reduce_max_sparse(x, 1).values)
    array([3], dtype=int32)
    """
    return _sparse_reduction("SparseReduceMaxSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_sum_sparse(sp_input: Any, axis: Any = None, keepdims: Any = None, reduction_axes: Any = None,
                             keep_dims: Any = None) -> SparseTensor:
    """Sums the elements of a sparse tensor along axes, as a sparse tensor.

    Args:
      sp_input: a `SparseTensor` of real numbers.
      axis, keepdims, reduction_axes, keep_dims: as for `sparse_reduce_sum`.
    Returns: a `SparseTensor`.
    Gradient: for the values; TensorFlow has none.
    Reference: TensorFlow 2.21 SparseReduceSumSparse.

    >>> x = tf.sparse.from_dense([[1, 3], [0, 0]])
    >>> sess.run(tf.sparse_reduce_sum_sparse(x, 1).values)
    array([4], dtype=int32)
    """
    return _sparse_reduction("SparseReduceSumSparse", sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """Changes the shape around the elements of a sparse tensor.

    Args:
      sp_input: a `SparseTensor`.
      new_shape: the shape, at least as large along each axis; the tightest one if it is not given.
    Returns: a `SparseTensor`.
    Raises: ValueError for another rank, or known sizes that are smaller.
    Gradient: for the values.
    Reference: TensorFlow 2.21 `tf.sparse.reset_shape`.

    >>> x = tf.SparseTensor([[0, 1]], [5], [3, 3])
    >>> sess.run(tf.sparse.reset_shape(x).dense_shape)
    array([1, 2])
    """
    x = _sparse(sp_input)
    if new_shape is None:
        ends = raw.AddV2(raw.Max(x.indices, [0]), np.int64(1))
        return SparseTensor(x.indices, x.values, raw.Maximum(ends, np.int64(0)))
    shape = convert_to_tensor(new_shape, int64, name="new_shape")
    known = constant_value(shape)
    old, new = as_shape(x.shape), None if known is None else tuple(known.tolist())
    if old is not None and new is not None:
        if len(old) != len(new):
            raise ValueError(f"new_shape has {len(new)} dimensions, the tensor {len(old)}. Fix: give one size an axis")
        if any(a is not None and b < a for a, b in zip(old, new, strict=True)):
            raise ValueError(f"new_shape {new} must be at least {old} along each axis. Fix: give larger sizes")
    return SparseTensor(x.indices, x.values, shape)


def sparse_to_indicator(sp_input: Any, vocab_size: int, name: str | None = None) -> Tensor:
    """Marks, for each row of ids, the numbers below `vocab_size` that are among them.

    Args:
      sp_input: a `SparseTensor` of int32 or int64 ids.
      vocab_size: a number larger than all ids.
      name: a name for the scope.
    Returns: bool, the shape of `sp_input` with `vocab_size` as the last size.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.sparse.to_indicator`.

    >>> sess.run(tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [0, 1]], [2, 0], [1, 2]), 3))
    array([[ True, False,  True]])
    """
    x = _sparse(sp_input)
    with name_scope(name, "SparseToIndicator"):
        ids = x.values if x.dtype is int64 else raw.Cast(x.values, DstT=int64)
        rank = raw.Size(x.dense_shape)
        lead = raw.Slice(x.indices, [0, 0], raw.Pack([-1, raw.Sub(rank, 1)]))
        indices = raw.ConcatV2([lead, raw.ExpandDims(ids, 1)], 1)
        sizes = raw.ConcatV2([raw.Slice(x.dense_shape, [0], raw.Reshape(raw.Sub(rank, 1), [1])),
                              np.asarray([vocab_size], np.int64)], 0)
        return raw.SparseToDense(indices, sizes, True, False, validate_indices=False)


def sparse_merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None,
                 already_sorted: bool = False) -> SparseTensor:
    """Places values along a last axis by their ids.

    Args:
      sp_ids: a `SparseTensor` of int32 or int64 ids, or a list of them, one for each new axis.
      sp_values: a `SparseTensor` with the same positions.
      vocab_size: the size of the new axis, larger than all ids; a list for several.
      name: a name for the scope.
      already_sorted: whether the result is in order already, so that it need not be sorted.
    Returns: a `SparseTensor` whose last axis, or axes, are the ids.
    Gradient: for the values.
    Reference: TensorFlow 2.21 `tf.compat.v1.sparse_merge`.

    >>> ids = tf.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1])
    >>> values = tf.SparseTensor([[0, 0], [1, 0]], [5.0, 7.0], [2, 1])
    >>> sess.run(tf.sparse.to_dense(tf.sparse_merge(ids, values, 3)))
    array([[0., 0., 5.],
           [7., 0., 0.]], dtype=float32)
    """
    ids = [_sparse(i) for i in (sp_ids if isinstance(sp_ids, list) else [sp_ids])]
    sizes = vocab_size if isinstance(sp_ids, list) else [vocab_size]
    if len(ids) != len(sizes):
        raise ValueError(f"sp_ids and vocab_size have lengths {len(ids)} and {len(sizes)}. Fix: give one size for each")
    with name_scope(name, "SparseMerge"):
        values = _sparse(sp_values)
        columns = [raw.ExpandDims(i.values if i.dtype is int64 else raw.Cast(i.values, DstT=int64), 1) for i in ids]
        rank = raw.Size(ids[0].dense_shape)
        lead = raw.Slice(ids[0].indices, [0, 0], raw.Pack([-1, raw.Sub(rank, 1)]))
        last = [raw.Reshape(convert_to_tensor(n, int64), [1]) for n in sizes]
        shape = raw.ConcatV2([raw.Slice(ids[0].dense_shape, [0], raw.Reshape(raw.Sub(rank, 1), [1])), *last], 0)
        merged = SparseTensor(raw.ConcatV2([lead, *columns], 1), values.values, shape)
        if already_sorted:
            return merged
        indices, ordered = raw.SparseReorder(merged.indices, merged.values, merged.dense_shape)
        return SparseTensor(indices, ordered, merged.dense_shape)


def convert_to_tensor_or_sparse_tensor(value: TensorLike, dtype: DTypeLike | None = None,
                                       name: str | None = None) -> SparseTensor | Tensor:
    """Converts to a tensor; returns a sparse tensor unchanged.

    Args:
      value: a `SparseTensor`, a `SparseTensorValue`, or what `convert_to_tensor` accepts.
      dtype: the target dtype.
      name: a name for the constant.
    Returns: a `SparseTensor` or a tensor.
    Raises: RuntimeError for a sparse tensor of another dtype.
    Reference: TensorFlow 2.21 `tf.compat.v1.convert_to_tensor_or_sparse_tensor`.

    >>> sess.run(tf.convert_to_tensor_or_sparse_tensor([1, 2]))
    array([1, 2], dtype=int32)
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        return convert_to_tensor(value, None if dtype is None else as_dtype(dtype), name=name)
    if dtype is not None and value.dtype is not as_dtype(dtype):
        raise RuntimeError(f"Sparse dtype mismatch. Requested: {as_dtype(dtype).name}, Actual: {value.dtype.name}. "
                           "Fix: tf.cast its values")
    return value


def sparse_mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """Removes the slices of an `IndexedSlices` whose index is in `mask_indices`.

    >>> x = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([4, 5]))
    >>> sess.run(tf.sparse.mask(x, [4]).values)
    array([2.], dtype=float32)
    """
    with name_scope(name, "sparse_mask"):
        indices, places = raw.ListDiff(a.indices, mask_indices)
        return type(a)(raw.GatherV2(a.values, places, 0), indices, a.dense_shape)


__all__ = ["convert_to_tensor_or_sparse_tensor", "sparse_mask", "sparse_maximum", "sparse_merge", "sparse_minimum",
           "sparse_reduce_max_sparse", "sparse_reduce_sum_sparse",
           "sparse_reset_shape", "sparse_split", "sparse_split_v1", "sparse_to_indicator"]
