"""Counting integers."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.dtypes import INDEX, as_dtype, float32, float64, int32, int64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import merged
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.rank_limits import limit_ranks

_COUNTED = frozenset({int32, int64, float32, float64})


def _count(xp, rows, size, weights):
    """Returns the sums of the weights (1 where there are none) by value, for each row of a matrix."""
    if xp is np and rows.size and rows.min() < 0:
        raise Complaint("Input arr must be non-negative", "shift or drop the negative numbers")
    size = int(size)
    out = xp.zeros((len(rows), size), weights.dtype)
    if not rows.size:
        return out
    values = weights.reshape(rows.shape) if weights.size else xp.ones(rows.shape, weights.dtype)
    row = xp.broadcast_to(xp.arange(len(rows))[:, None], rows.shape)
    if xp is not np:
        return out.at[row, xp.where(rows < 0, size, rows)].add(values, mode="drop")
    kept = rows < size
    np.add.at(out, (row[kept], rows[kept]), values[kept])
    return out


@op("Bincount", "arr: int32, size: int32, weights: T -> bins: T", T=_COUNTED, host=("size",))
def _bincount(xp, arr, size, weights):
    """Computes the sums of the weights by value; ignores values from `size` on."""
    return _count(xp, arr.reshape(1, -1), size, weights)[0]


@_bincount.shape
def _bincount_shape(arr, size, weights):
    return (size,)


def _of_weights(op, dy):
    """Returns the gradient for the weights: that of the bin that each one is added to."""
    arr, size, weights = op.inputs
    if dy is None or not weights.dtype.is_floating or weights._spec.shape == (0,) or op.attrs.get("binary_output"):
        return None, None, None
    inside = raw.Less(arr, size)
    bins = raw.SelectV2(inside, arr, raw.ZerosLike(arr))  # ignored values read any bin; their gradient is masked
    by_row = dy._spec.shape is not None and len(dy._spec.shape) == 2
    found = raw.GatherV2(dy, bins, 1 if by_row else 0, batch_dims=int(by_row))
    found = raw.Mul(found, raw.Cast(inside, DstT=dy.dtype))
    shape = weights._spec.shape
    if shape is None or None in shape:  # there may be none at all
        found = raw.Slice(raw.Reshape(found, [-1]), [0], raw.Reshape(raw.Size(weights), [1]))
    return None, None, raw.Reshape(found, raw.Shape(weights))


def _refuses(xp, numbers, size, weights):
    return [numbers < 0]


_bincount.refuses("arr")(_refuses)


@_bincount.grad
def _bincount_grad(op, dy):
    return _of_weights(op, dy)


@op("DenseBincount", "input: Tidx, size: Tidx, weights: T -> output: T",
    prefers={"Tidx": None}, T=_COUNTED, Tidx=INDEX, host=("size",))
def _dense_bincount(xp, input, size, weights, *, binary_output=False):
    """Computes, for a vector or each row of a matrix, the sums of the weights by value, or whether a value occurs."""
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    bins = _count(xp, rows, size, xp.zeros(0, weights.dtype) if binary_output else weights)
    if binary_output:
        bins = (bins > 0).astype(bins.dtype)
    return bins if input.ndim == 2 else bins[0]


@_dense_bincount.shape
def _dense_bincount_shape(input, size, weights):
    if input is None:
        return None
    if len(input) > 2:
        raise Complaint(f"Shape must be at most rank 2 but is rank {len(input)}", "tf.reshape the input")
    if weights is not None and weights != (0,) and None not in weights:
        merged(input, weights)
    return (*input[:-1], size) if len(input) == 2 else (size,)


_dense_bincount.refuses("input")(_refuses)


@_dense_bincount.grad
def _dense_bincount_grad(op, dy):
    return _of_weights(op, dy)


@op("RaggedBincount", "splits: int64, values: Tidx, size: Tidx, weights: T -> output: T",
    prefers={"Tidx": None}, T=_COUNTED, Tidx=INDEX,
    host=("size",))
def _ragged_bincount(xp, splits, values, size, weights, *, binary_output=False):
    """Computes, for each row of a ragged matrix, the sums of the weights by value, or whether a value occurs."""
    if xp is np and values.size and values.min() < 0:
        raise Complaint("Input must be non-negative", "shift or drop the negative numbers")
    size, rows = int(size), splits.shape[0] - 1
    out = xp.zeros((rows, size), weights.dtype)
    if values.size and rows and size:
        row = xp.searchsorted(splits[1:], xp.arange(values.size), side="right")
        counted = weights.size and not binary_output
        given = weights.reshape(-1) if counted else xp.ones(values.shape, weights.dtype)
        if xp is np:
            kept = values < size
            np.add.at(out, (row[kept], values[kept]), given[kept])
        else:
            out = out.at[row, xp.where(values < 0, size, values)].add(given, mode="drop")
    return (out > 0).astype(out.dtype) if binary_output else out


@_ragged_bincount.shape
def _ragged_bincount_shape(splits, values, size, weights):
    rows = None if splits is None or splits[0] is None else splits[0] - 1
    return (rows, size)


def _refuses_values(xp, splits, values, size, weights):
    return [values < 0]


_ragged_bincount.refuses("values")(_refuses_values)


@_ragged_bincount.grad
def _ragged_bincount_grad(op, dy):
    splits, values, size, weights = op.inputs
    if dy is None or not weights.dtype.is_floating or weights._spec.shape == (0,) or op.attrs.get("binary_output"):
        return None, None, None, None
    inside = raw.Less(values, size)
    bins = raw.Cast(raw.SelectV2(inside, values, raw.ZerosLike(values)), DstT=int64)
    ends = raw.ExpandDims(raw.StridedSlice(splits, [1], [0], [1], end_mask=1), 0)
    places = raw.ExpandDims(raw.Range(raw.Cast(0, DstT=int64), raw.Size(values, out_type=int64),
                                      raw.Cast(1, DstT=int64)), 0)
    rows = raw.Reshape(raw.UpperBound(ends, places, out_type=int64), [-1])
    found = raw.Mul(raw.GatherNd(dy, raw.Pack([rows, bins], axis=1)), raw.Cast(inside, DstT=dy.dtype))
    found = raw.Slice(found, [0], raw.Reshape(raw.Size(weights), [1]))  # there may be no weights
    return None, None, None, raw.Reshape(found, raw.Shape(weights))


def bincount(arr: TensorLike, weights: TensorLike = None, minlength: TensorLike = None, maxlength: TensorLike = None,
             dtype: DTypeLike = int32, name: str | None = None, axis: TensorLike = None,
             binary_output: bool = False) -> Tensor:
    """Counts the occurrences of each number 0, 1, 2 and so on.

    Args:
      arr: an int32 or int64 tensor without negative numbers.
      weights: a tensor of the same shape to sum instead of counting ones.
      minlength: the least length of the result; it is padded with zeros.
      maxlength: the greatest length; larger numbers are ignored.
      dtype: the dtype of the result where there are no weights.
      name: a name for the operations.
      axis: None or 0 to count all numbers together, -1 to count along the last axis of a matrix.
      binary_output: whether to return 1 for each number that occurs, instead of its count.
    Returns: a vector as long as the largest number plus 1; a matrix for axis=-1.
    Raises: ValueError for other axes; InvalidArgumentError at run time for negative numbers.
    Gradient: for floating weights; TensorFlow has none.
    Reference: TensorFlow 2.21 `tf.math.bincount`.

    >>> sess.run(tf.math.bincount([1, 1, 3]))
    array([0, 2, 0, 1], dtype=int32)
    """
    with name_scope(name, "bincount"):
        if axis not in (None, 0, -1):
            raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
        arr = convert_to_tensor(arr, name="arr")
        if arr.dtype not in INDEX:
            arr = raw.Cast(arr, DstT=int32)
        size = number_of_bins(arr, minlength, maxlength)
        weights = constant([], as_dtype(dtype)) if weights is None else convert_to_tensor(weights, name="weights")
        if axis != -1:
            arr = raw.Reshape(arr, [-1])
            weights = raw.Reshape(weights, [-1])
        return raw.DenseBincount(arr, size, weights, binary_output=binary_output)


def number_of_bins(arr: Tensor, minlength: TensorLike, maxlength: TensorLike) -> Tensor:
    """Makes the tensor of how many numbers are counted; arguments as for `bincount`."""
    some = raw.Cast(raw.Greater(raw.Size(arr), 0), DstT=arr.dtype)
    size = raw.Mul(some, raw.AddV2(_largest(arr), 1, name="add"), name="mul")
    if minlength is not None:
        size = raw.Maximum(convert_to_tensor(minlength, arr.dtype, name="minlength"), size)
    if maxlength is not None:
        size = raw.Minimum(convert_to_tensor(maxlength, arr.dtype, name="maxlength"), size)
    made: Tensor = size
    return made


def _largest(x):
    return raw.Max(raw.Reshape(x, [-1]), [0])


def bincount_v1(arr: TensorLike, weights: TensorLike = None, minlength: TensorLike = None, maxlength: TensorLike = None,
                dtype: DTypeLike = int32) -> Tensor:
    """Counts the occurrences of each number 0, 1, 2 and so on.

    Args:
      arr: an int32 or int64 tensor without negative numbers.
      weights: a tensor of the same shape to sum instead of counting ones.
      minlength: the least length of the result; it is padded with zeros.
      maxlength: the greatest length; larger numbers are ignored.
      dtype: the dtype of the result where there are no weights.
    Returns: a vector as long as the largest number plus 1.
    Raises: InvalidArgumentError at run time for negative numbers.
    Gradient: for floating weights; TensorFlow has none.
    Reference: TensorFlow 2.21 `tf.compat.v1.bincount`.

    >>> sess.run(tf.bincount([1, 1, 3]))
    array([0, 2, 0, 1], dtype=int32)
    """
    return bincount(arr, weights, minlength, maxlength, dtype)


def confusion_matrix(labels: TensorLike, predictions: TensorLike, num_classes: TensorLike = None,
                     weights: TensorLike = None, dtype: DTypeLike = int32, name: str | None = None) -> Tensor:
    """Counts the predictions of each class for each true class.

    Args:
      labels: (n,) or (n, 1), the true classes, integers from 0.
      predictions: (n,) or (n, 1), the classes predicted.
      num_classes: the number of classes; the largest one plus 1 by default.
      weights: (n,), what each prediction counts; 1 by default.
      dtype: the dtype of the result.
      name: a name for the operations.
    Returns: (num_classes, num_classes), true classes along the rows.
    Raises: InvalidArgumentError at run time for classes out of range.
    Gradient: of the weights, that of a scatter.
    Reference: TensorFlow 2.21 `tf.math.confusion_matrix`.

    >>> sess.run(tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]))
    array([[1, 0],
           [1, 1]], dtype=int32)
    """
    dtype = as_dtype(dtype)
    with name_scope(name, "confusion_matrix"):
        labels, predictions = (_class_vector(t) for t in (labels, predictions))
        if num_classes is None:
            num_classes = raw.AddV2(raw.Maximum(_largest(predictions), _largest(labels)), 1, name="add")
        else:
            num_classes = convert_to_tensor(num_classes)
            num_classes = num_classes if num_classes.dtype is int64 else raw.Cast(num_classes, DstT=int64)
        if weights is None:
            weights = raw.Fill(raw.Shape(labels), constant(1, dtype))
        else:
            weights = convert_to_tensor(weights)
            weights = weights if weights.dtype is dtype else raw.Cast(weights, DstT=dtype)
        size = raw.Pack([num_classes, num_classes], axis=0, name="stack")
        return raw.ScatterNd(raw.Pack([labels, predictions], axis=1, name="stack"), weights, size)


def _class_vector(t):
    t = convert_to_tensor(t)
    t = t if t.dtype is int64 else raw.Cast(t, DstT=int64)
    return t if t.shape.rank == 1 else raw.Reshape(t, [-1])


def confusion_matrix_v1(labels: TensorLike, predictions: TensorLike, num_classes: TensorLike = None,
                        dtype: DTypeLike = int32, name: str | None = None, weights: TensorLike = None) -> Tensor:
    """Counts the predictions of each class for each true class.

    Args:
      labels: (n,) or (n, 1), the true classes, integers from 0.
      predictions: (n,) or (n, 1), the classes predicted.
      num_classes: the number of classes; the largest one plus 1 by default.
      dtype: the dtype of the result.
      name: a name for the operations.
      weights: (n,), what each prediction counts; 1 by default.
    Returns: (num_classes, num_classes), true classes along the rows.
    Raises: InvalidArgumentError at run time for classes out of range.
    Gradient: of the weights, that of a scatter.
    Reference: TensorFlow 2.21 `tf.compat.v1.confusion_matrix`.

    >>> sess.run(tf.confusion_matrix([0, 1, 1], [0, 1, 0]))
    array([[1, 0],
           [1, 1]], dtype=int32)
    """
    return confusion_matrix(labels, predictions, num_classes, weights, dtype, name)


limit_ranks(scalars="Bincount.size DenseBincount.size")
