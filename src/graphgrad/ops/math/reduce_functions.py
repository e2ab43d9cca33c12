"""The functions that reduce over axes: `reduce_sum` and the rest, for TensorFlow 2 and 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.shape_values import shape_of
from graphgrad.ops.common.synonyms import either


def _reduce(record, x, axis, keepdims, name):
    """Builds a reduction; without axes, over all of them."""
    if axis is not None:
        return record(x, axis, keep_dims=bool(keepdims), name=name)
    if not hasattr(x, "_spec"):
        x = convert_to_tensor(x, name="input_tensor")
    shape = x._spec.shape
    if shape is not None:
        axes = constant(np.arange(len(shape), dtype=np.int32))
        return record(x, axes, keep_dims=bool(keepdims), name=name)
    result = record(x, raw.Range(0, raw.Rank(x), 1, name="range"), keep_dims=bool(keepdims), name=name)
    if not keepdims:
        result.set_shape(())
    return result


def reduce_sum(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
               name: str | None = None) -> Tensor:
    """Computes the sum over axes.

    Args:
      input_tensor: a numeric tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation.
    Returns: a tensor of the same dtype without the axes; 0 for no elements.
    Raises: TypeError for bool; ValueError for axes out of range or given twice.
    Gradient: dy, repeated along the axes.
    Reference: TensorFlow 2.21 Sum.

    >>> sess.run(tf.reduce_sum([[1, 2], [3, 4]], axis=0))
    array([4, 6], dtype=int32)
    """
    return _reduce(raw.Sum, input_tensor, axis, keepdims, name)


def reduce_mean(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
                name: str | None = None) -> Tensor:
    """Computes the mean over axes.

    Args:
      input_tensor: a numeric tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation.
    Returns: a tensor of the same dtype without the axes; integers are rounded toward zero.
    Raises: TypeError for bool; ValueError for axes out of range or given twice.
    Gradient: dy / n, repeated along the axes.
    Reference: TensorFlow 2.21 Mean.

    >>> sess.run(tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1))
    array([1.5, 3.5], dtype=float32)
    """
    return _reduce(raw.Mean, input_tensor, axis, keepdims, name)


def reduce_prod(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
                name: str | None = None) -> Tensor:
    """Computes the product over axes.

    Args:
      input_tensor: a numeric tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation.
    Returns: a tensor of the same dtype without the axes; 1 for no elements.
    Raises: TypeError for bool; ValueError for axes out of range or given twice.
    Gradient: dy times the product of the other elements, also where some are 0.
    Reference: TensorFlow 2.21 Prod.

    >>> sess.run(tf.reduce_prod([[1, 2], [3, 4]], axis=1))
    array([ 2, 12], dtype=int32)
    """
    return _reduce(raw.Prod, input_tensor, axis, keepdims, name)


def reduce_max(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
               name: str | None = None) -> Tensor:
    """Computes the maximum over axes.

    Args:
      input_tensor: a real tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation.
    Returns: a tensor of the same dtype without the axes; the smallest value for no elements.
    Raises: TypeError for bool and complex; ValueError for axes out of range or given twice.
    Gradient: dy, in equal shares for the elements that attain the maximum.
    Reference: TensorFlow 2.21 Max.

    >>> sess.run(tf.reduce_max([[1, 5], [3, 4]], axis=1))
    array([5, 4], dtype=int32)
    """
    return _reduce(raw.Max, input_tensor, axis, keepdims, name)


def reduce_min(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
               name: str | None = None) -> Tensor:
    """Computes the minimum over axes.

    Args:
      input_tensor: a real tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation.
    Returns: a tensor of the same dtype without the axes; the largest value for no elements.
    Raises: TypeError for bool and complex; ValueError for axes out of range or given twice.
    Gradient: dy, in equal shares for the elements that attain the minimum.
    Reference: TensorFlow 2.21 Min.

    >>> sess.run(tf.reduce_min([[1, 5], [3, 4]], axis=1))
    array([1, 3], dtype=int32)
    """
    return _reduce(raw.Min, input_tensor, axis, keepdims, name)


def reduce_all(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
               name: str | None = None) -> Tensor:
    """Returns whether all elements along axes are true.

    Args:
      input_tensor: a bool tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation.
    Returns: a bool tensor without the axes; True for no elements.
    Raises: TypeError for other dtypes; ValueError for axes out of range or given twice.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 All.

    >>> sess.run(tf.reduce_all([[True, True], [True, False]], axis=1))
    array([ True, False])
    """
    return _reduce(raw.All, input_tensor, axis, keepdims, name)


def reduce_any(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
               name: str | None = None) -> Tensor:
    """Returns whether any element along axes is true.

    Args:
      input_tensor: a bool tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation.
    Returns: a bool tensor without the axes; False for no elements.
    Raises: TypeError for other dtypes; ValueError for axes out of range or given twice.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 Any.

    >>> sess.run(tf.reduce_any([[True, False], [False, False]], axis=1))
    array([ True, False])
    """
    return _reduce(raw.Any, input_tensor, axis, keepdims, name)


def reduce_logsumexp(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
                     name: str | None = None) -> Tensor:
    """Computes log(sum(exp(x))) over axes, without overflow.

    Args:
      input_tensor: a float tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operations.
    Returns: a tensor of the same dtype without the axes.
    Raises: TypeError for other dtypes; ValueError for axes out of range or given twice.
    Gradient: dy times the softmax of the input along the axes.
    Reference: TensorFlow 2.21 `tf.math.reduce_logsumexp`.

    >>> sess.run(tf.reduce_logsumexp([1000.0, 1000.0])).round(1)
    np.float32(1000.7)
    """
    with name_scope(name, "ReduceLogSumExp") as scope:
        x = convert_to_tensor(input_tensor, name="input_tensor")
        top = reduce_max(x, axis, keepdims=True)
        top = raw.StopGradient(raw.SelectV2(raw.IsFinite(top), top, 0))
        result = raw.Log(reduce_sum(raw.Exp(raw.Sub(x, top)), axis, keepdims=keepdims))
        if not keepdims:
            top = raw.Reshape(top, shape_of(result))
        return raw.AddV2(result, top, name=scope)


def reduce_variance(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
                    name: str | None = None) -> Tensor:
    """Computes the variance over axes: the mean of |x - mean(x)|**2.

    Args:
      input_tensor: a float or complex tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operations.
    Returns: a real tensor without the axes.
    Raises: TypeError for other dtypes; ValueError for axes out of range or given twice.
    Gradient: 2 dy (x - mean(x)) / n.
    Reference: TensorFlow 2.21 `tf.math.reduce_variance`.

    >>> sess.run(tf.math.reduce_variance([1.0, 3.0]))
    np.float32(1.0)
    """
    with name_scope(name, "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        if not x.dtype.is_differentiable:
            raise TypeError(f"Input must be either real or complex. Received type {x.dtype!r}.\n"
                            f"  Asked for at {user_source(2)}\n  Fix: tf.cast(input_tensor, tf.float32)")
        deviation = raw.Sub(x, reduce_mean(x, axis, keepdims=True), name="sub")
        if x.dtype.is_complex:
            square = raw.Real(raw.Mul(raw.Conj(deviation), deviation), Tout=x.dtype.real_dtype)
        else:
            square = raw.Square(deviation)
        return reduce_mean(square, axis, keepdims=keepdims)


def reduce_std(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
               name: str | None = None) -> Tensor:
    """Computes the standard deviation over axes: the root of the variance.

    Args:
      input_tensor: a float or complex tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operations.
    Returns: a real tensor without the axes.
    Raises: TypeError for other dtypes; ValueError for axes out of range or given twice.
    Gradient: dy (x - mean(x)) / (n std); NaN where the deviation is 0.
    Reference: TensorFlow 2.21 `tf.math.reduce_std`.

    >>> sess.run(tf.math.reduce_std([1.0, 3.0]))
    np.float32(1.0)
    """
    with name_scope(name, "reduce_std"):
        return raw.Sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = False,
                          name: str | None = None) -> Tensor:
    """Computes the Euclidean norm over axes: the root of the sum of squares.

    Args:
      input_tensor: a numeric tensor.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      name: a name for the operation.
    Returns: a tensor of the same dtype without the axes.
    Raises: TypeError for bool; ValueError for axes out of range or given twice.
    Gradient: dy x / norm; NaN where the norm is 0.
    Reference: TensorFlow 2.21 EuclideanNorm.

    >>> sess.run(tf.math.reduce_euclidean_norm([[3.0, 4.0], [6.0, 8.0]], axis=1))
    array([ 5., 10.], dtype=float32)
    """
    return _reduce(raw.EuclideanNorm, input_tensor, axis, keepdims, name)


def count_nonzero(input: TensorLike, axis: TensorLike = None, keepdims: bool | None = None, dtype: DTypeLike = int64,
                  name: str | None = None) -> Tensor:
    """Counts the nonzero elements along axes.

    Args:
      input: a numeric, bool or string tensor; the empty string is zero.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      dtype: the dtype of the result.
      name: a name for the operations.
    Returns: a tensor of dtype `dtype` without the axes.
    Raises: ValueError for axes out of range or given twice.
    Gradient: None.
    Reference: TensorFlow 2.21 `tf.math.count_nonzero`.

    >>> sess.run(tf.math.count_nonzero([[0, 1], [2, 3]], axis=1))
    array([1, 2])
    """
    with name_scope(name, "count_nonzero"):
        x = convert_to_tensor(input, name="input")
        zero = constant("" if x.dtype.name == "string" else np.zeros((), x.dtype.np_dtype), name="zeros")
        found = raw.Cast(raw.NotEqual(x, zero), DstT=int64)
        total = reduce_sum(found, axis, keepdims=keepdims)
        dtype = as_dtype(dtype)
        return total if dtype is int64 else raw.Cast(total, DstT=dtype)


# -- TensorFlow 1's arguments ------------------------------------------------------


def _v1(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Returns a reduction with TensorFlow 1's arguments."""

    def reduce_v1(input_tensor: TensorLike, axis: TensorLike = None, keepdims: bool | None = None,
                  name: str | None = None, reduction_indices: TensorLike = None,
                  keep_dims: bool | None = None) -> Tensor:
        axis = either("axis", axis, "reduction_indices", reduction_indices)
        keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
        return function(input_tensor, axis, bool(keepdims), name)

    older = "      reduction_indices, keep_dims: the older names of `axis` and `keepdims`.\n    Returns:"
    reduce_v1.__doc__ = str(function.__doc__).replace("    Returns:", older, 1)
    reduce_v1.__name__ = reduce_v1.__qualname__ = function.__name__
    return reduce_v1


reduce_sum_v1 = _v1(reduce_sum)
reduce_mean_v1 = _v1(reduce_mean)
reduce_prod_v1 = _v1(reduce_prod)
reduce_max_v1 = _v1(reduce_max)
reduce_min_v1 = _v1(reduce_min)
reduce_all_v1 = _v1(reduce_all)
reduce_any_v1 = _v1(reduce_any)
reduce_logsumexp_v1 = _v1(reduce_logsumexp)


def count_nonzero_v1(input_tensor: TensorLike = None, axis: TensorLike = None, keepdims: bool | None = None,
                     dtype: DTypeLike = int64, name: str | None = None, reduction_indices: TensorLike = None,
                     keep_dims: bool | None = None, input: TensorLike = None) -> Tensor:
    """Counts the nonzero elements along axes.

    Args:
      input_tensor, input: a numeric, bool or string tensor; the empty string is zero.
      axis: an axis or a list of axes, in [-rank, rank); all by default.
      keepdims: whether the axes stay, with size 1.
      dtype: the dtype of the result.
      name: a name for the operations.
      reduction_indices, keep_dims: the older names of `axis` and `keepdims`.
    Returns: a tensor of dtype `dtype` without the axes.
    Raises: ValueError for axes out of range or given twice.
    Gradient: None.
    Reference: TensorFlow 2.21 `tf.compat.v1.count_nonzero`.

    >>> sess.run(tf.count_nonzero([[0, 1], [2, 3]], axis=1))
    array([1, 2])
    """
    x = either("input", input, "input_tensor", input_tensor)
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    return count_nonzero(x, axis, either("keepdims", keepdims, "keep_dims", keep_dims), dtype, name)
