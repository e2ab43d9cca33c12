"""Moments, batch normalization and l2 normalization, composed of other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.constant_value import static_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import bfloat16, float16, float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.attribute_values import whole_array
from graphgrad.ops.common.shape_values import all_axes, shape_of
from graphgrad.ops.common.synonyms import either


def _squeeze_axes(axes):
    """Returns the axes as an attribute, if they are known."""
    value = static_value(axes) if hasattr(axes, "_spec") else np.asarray(axes).tolist()
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _axes(axes):
    return axes if hasattr(axes, "_spec") else whole_array(axes, "axes")


def moments(x: TensorLike, axes: TensorLike, shift: TensorLike = None, keepdims: bool = False,
            name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean and the variance over some axes.

    The mean enters the variance as a constant, as in TensorFlow: first derivatives are exact
    because the variance is stationary in it, second derivatives of the variance lack that part.

    Args:
      x: a float tensor.
      axes: a list of axes.
      shift: accepted as TensorFlow does; not used.
      keepdims: whether to keep the axes, with size 1.
      name: a name for the scope of the operations.
    Returns: the pair (mean, variance).
    Raises: ValueError if an axis is out of range.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.moments`.

    >>> sess.run(tf.nn.moments([1.0, 3.0], [0]))
    (np.float32(2.0), np.float32(1.0))
    """
    with name_scope(name, "moments"):
        x = convert_to_tensor(x, name="x")
        dtype = x.dtype
        wide = raw.Cast(x, DstT=float32) if dtype in (float16, bfloat16) else x
        over = _axes(axes)
        mean = raw.Mean(wide, over, keep_dims=True, name="mean")
        variance = raw.Mean(raw.SquaredDifference(wide, raw.StopGradient(mean)), over, keep_dims=True, name="variance")
        if not keepdims:
            which = _squeeze_axes(axes)
            mean, variance = raw.Squeeze(mean, squeeze_dims=which), raw.Squeeze(variance, squeeze_dims=which)
        if dtype is not wide.dtype:
            mean, variance = raw.Cast(mean, DstT=dtype), raw.Cast(variance, DstT=dtype)
        return mean, variance


def moments_v1(x: TensorLike, axes: TensorLike, shift: TensorLike = None, name: str | None = None,
               keep_dims: bool | None = None, keepdims: bool | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean and the variance over some axes: `moments` with TensorFlow 1's arguments.

    Args:
      x: a float tensor.
      axes: a list of axes.
      shift: accepted as TensorFlow does; not used.
      name: a name for the scope of the operations.
      keep_dims, keepdims: whether to keep the axes, with size 1.
    Returns: the pair (mean, variance).
    Raises: ValueError if an axis is out of range.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.moments`.
    """
    return moments(x, axes, shift, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), name)


def weighted_moments(x: TensorLike, axes: TensorLike, frequency_weights: TensorLike, keepdims: bool = False,
                     name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the weighted mean and variance over some axes.

    Args:
      x: a float tensor.
      axes: a list of axes.
      frequency_weights: non-negative weights that broadcast with x.
      keepdims: whether to keep the axes, with size 1.
      name: a name for the scope of the operations.
    Returns: the pair (mean, variance); 0 where all weights are.
    Raises: ValueError if the shapes do not broadcast.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.weighted_moments`.

    >>> sess.run(tf.nn.weighted_moments([1.0, 3.0], [0], [3.0, 1.0]))
    (np.float32(1.5), np.float32(0.75))
    """
    with name_scope(name, "weighted_moments"):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, dtype_hint=x.dtype, name="frequency_weights")
        dtype = x.dtype
        if dtype in (float16, bfloat16):
            x = raw.Cast(x, DstT=float32)
        if weights.dtype is not x.dtype:
            weights = raw.Cast(weights, DstT=x.dtype)
        over = _axes(axes)
        total = raw.Sum(raw.Mul(weights, x), over, keep_dims=True, name="weighted_input_sum")
        full = raw.AddV2(weights, raw.ZerosLike(x))
        of_weights = raw.Sum(full, over, keep_dims=True, name="sum_of_weights")
        mean = raw.DivNoNan(total, of_weights)
        squares = raw.Mul(weights, raw.SquaredDifference(x, mean))
        variance = raw.DivNoNan(raw.Sum(squares, over, keep_dims=True, name="weighted_distsq"), of_weights)
        if not keepdims:
            which = _squeeze_axes(axes)
            mean, variance = raw.Squeeze(mean, squeeze_dims=which), raw.Squeeze(variance, squeeze_dims=which)
        if dtype is not x.dtype:
            mean, variance = raw.Cast(mean, DstT=dtype), raw.Cast(variance, DstT=dtype)
        return mean, variance


def weighted_moments_v1(x: TensorLike, axes: TensorLike, frequency_weights: TensorLike, name: str | None = None,
                        keep_dims: bool | None = None, keepdims: bool | None = None) -> tuple[Tensor, Tensor]:
    """Computes the weighted mean and variance: `weighted_moments` with TensorFlow 1's arguments.

    Args:
      x: a float tensor.
      axes: a list of axes.
      frequency_weights: non-negative weights that broadcast with x.
      name: a name for the scope of the operations.
      keep_dims, keepdims: whether to keep the axes, with size 1.
    Returns: the pair (mean, variance).
    Raises: ValueError if the shapes do not broadcast.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.weighted_moments`.
    """
    keep = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    return weighted_moments(x, axes, frequency_weights, keep, name)


def sufficient_statistics(x: TensorLike, axes: TensorLike, shift: TensorLike = None, keepdims: bool = False,
                          name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Computes sums from which the mean and variance over some axes follow.

    Args:
      x: a float tensor.
      axes: a list of axes.
      shift: a value to subtract from x for numerical stability, or None.
      keepdims: whether to keep the axes, with size 1.
      name: a name for the scope of the operations.
    Returns: (count, sum, sum of squares, shift).
    Raises: ValueError if an axis is out of range.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.sufficient_statistics`.

    >>> sess.run(tf.nn.sufficient_statistics([1.0, 3.0], [0])[:3])
    (np.float32(2.0), np.float32(4.0), np.float32(10.0))
    """
    with name_scope(name, "sufficient_statistics"):
        x = convert_to_tensor(x, name="x")
        over = _axes(sorted(set(axes))) if isinstance(axes, (list, tuple)) else _axes(axes)
        sizes = shape_of(x)
        if isinstance(sizes, np.ndarray) and not hasattr(over, "_spec"):
            count = convert_to_tensor(np.prod(sizes[over]), x.dtype, name="count")
        else:
            count = raw.Cast(raw.Prod(raw.GatherV2(raw.Shape(x), over, 0), 0), DstT=x.dtype, name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, dtype_hint=x.dtype, name="shift")
            first, second = raw.Sub(x, shift), raw.SquaredDifference(x, shift)
        else:
            first, second = x, raw.Square(x)
        return (count, raw.Sum(first, over, keep_dims=bool(keepdims), name="mean_ss"),
                raw.Sum(second, over, keep_dims=bool(keepdims), name="var_ss"), shift)


def sufficient_statistics_v1(x: TensorLike, axes: TensorLike, shift: TensorLike = None, keep_dims: bool | None = None,
                             name: str | None = None,
                             keepdims: bool | None = None) -> tuple[Tensor, Tensor, Tensor, Any]:
    """Computes sums from which mean and variance follow: `sufficient_statistics` with TensorFlow 1's arguments.

    Args:
      x: a float tensor.
      axes: a list of axes.
      shift: a value to subtract from x for numerical stability, or None.
      keep_dims, keepdims: whether to keep the axes, with size 1.
      name: a name for the scope of the operations.
    Returns: (count, sum, sum of squares, shift).
    Raises: ValueError if an axis is out of range.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.sufficient_statistics`.
    """
    return sufficient_statistics(x, axes, shift, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), name)


def normalize_moments(counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike,
                      name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes the mean and variance from the results of `sufficient_statistics`.

    Args:
      counts: a scalar.
      mean_ss, variance_ss: the (shifted) sum and sum of squares.
      shift: the shift, or None.
      name: a name for the scope of the operations.
    Returns: the pair (mean, variance).
    Raises: ValueError if the shapes do not broadcast.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.normalize_moments`.

    >>> sess.run(tf.nn.normalize_moments(2.0, 4.0, 10.0, None))
    (np.float32(2.0), np.float32(1.0))
    """
    with name_scope(name, "normalize"):
        divisor = raw.Reciprocal(counts, name="divisor")
        shifted = raw.Mul(mean_ss, divisor, name="mean" if shift is None else "shifted_mean")
        mean = shifted if shift is None else raw.AddV2(shifted, shift, name="mean")
        variance = raw.Sub(raw.Mul(variance_ss, divisor), raw.Square(shifted), name="variance")
        return mean, variance


# -- batch normalization ---------------------------------------------------------------


def batch_normalization(x: TensorLike, mean: TensorLike, variance: TensorLike, offset: TensorLike, scale: TensorLike,
                        variance_epsilon: TensorLike, name: str | None = None) -> Tensor:
    """Computes scale (x - mean) / sqrt(variance + variance_epsilon) + offset.

    Args:
      x: a float tensor.
      mean, variance: tensors that broadcast with x.
      offset, scale: tensors that broadcast with x, or None for 0 and 1.
      variance_epsilon: a small number.
      name: a name for the scope of the operations.
    Returns: a tensor like x.
    Raises: ValueError if the shapes do not broadcast.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.batch_normalization`.

    >>> sess.run(tf.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, None, None, 0.0))
    array([-1.,  1.], dtype=float32)
    """
    with name_scope(name, "batchnorm"):
        x = convert_to_tensor(x)
        variance = convert_to_tensor(variance, dtype_hint=x.dtype)
        inv = raw.Rsqrt(raw.AddV2(variance, variance_epsilon, name="add"))
        if scale is not None:
            inv = raw.Mul(inv, scale, name="mul")
        inv_x = inv if inv.dtype is x.dtype else raw.Cast(inv, DstT=x.dtype)
        scaled = raw.Mul(x, inv_x, name="mul")
        if offset is None:
            shift = raw.Mul(raw.Neg(convert_to_tensor(mean, dtype_hint=inv.dtype)), inv, name="mul")
        else:
            shift = raw.Sub(offset, raw.Mul(mean, inv, name="mul"), name="sub")
        return raw.AddV2(scaled, shift if shift.dtype is x.dtype else raw.Cast(shift, DstT=x.dtype), name="add")


def batch_norm_with_global_normalization(input: TensorLike, mean: TensorLike, variance: TensorLike, beta: TensorLike,
                                         gamma: TensorLike, variance_epsilon: TensorLike,
                                         scale_after_normalization: bool | None, name: str | None = None) -> Tensor:
    """Normalizes as `batch_normalization` does, under its oldest name.

    Args:
      input: (N, H, W, C).
      mean, variance, beta, gamma: (C).
      variance_epsilon: a small number.
      scale_after_normalization: whether to multiply with gamma.
      name: a name for the scope of the operations.
    Returns: a tensor like `input`.
    Raises: ValueError if the shapes do not broadcast.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.batch_norm_with_global_normalization`.
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon, name)


def batch_norm_with_global_normalization_v1(t: TensorLike = None, m: TensorLike = None, v: TensorLike = None,
                                            beta: TensorLike = None, gamma: TensorLike = None,
                                            variance_epsilon: TensorLike = None,
                                            scale_after_normalization: bool | None = None, name: str | None = None,
                                            input: TensorLike = None, mean: TensorLike = None,
                                            variance: TensorLike = None) -> Tensor:
    """Normalizes as `batch_normalization` does, under its oldest name and with TensorFlow 1's arguments.

    Args:
      t, input: (N, H, W, C).
      m, mean: (C).
      v, variance: (C).
      beta, gamma: (C).
      variance_epsilon: a small number.
      scale_after_normalization: whether to multiply with gamma.
      name: a name for the scope of the operations.
    Returns: a tensor like `t`.
    Raises: ValueError if the shapes do not broadcast.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.batch_norm_with_global_normalization`.
    """
    return batch_norm_with_global_normalization(
        either("input", input, "t", t), either("mean", mean, "m", m), either("variance", variance, "v", v), beta, gamma,
        variance_epsilon, scale_after_normalization, name)


_LEAST_EPSILON = 1.001e-5  # the minimum of the fused op elsewhere; smaller values are raised to it


def fused_batch_norm(x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike = None,
                     variance: TensorLike = None, epsilon: TensorLike = 0.001, data_format: str = "NHWC",
                     is_training: bool = True, name: str | None = None,
                     exponential_avg_factor: TensorLike = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    """Normalizes a batch, as one op.

    Args:
      x: (N, H, W, C), or according to `data_format`.
      scale, offset: (C), float32.
      mean, variance: (C); used to normalize if not training, or the moving averages to update if
        `exponential_avg_factor` is not 1.
      epsilon: a small number that is added to the variance.
      data_format: "NHWC", "NCHW", "NDHWC" or "NCDHW".
      is_training: whether to normalize to the mean and variance of the batch.
      name: a name for the operation.
      exponential_avg_factor: the weight of this batch in the running averages; None is 1.
    Returns: (y, mean, variance); the variance is the unbiased one.
    Raises: ValueError if mean or variance is missing where needed.
    Gradient: FusedBatchNormGradV3 for x, scale and offset; differentiable again.
    Reference: TensorFlow 2.21 FusedBatchNormV3.

    >>> y, m, v = tf.nn.fused_batch_norm([[[[1.0]], [[3.0]]]], [1.0], [0.0])
    >>> sess.run([m, v])
    [array([2.], dtype=float32), array([2.], dtype=float32)]
    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError("Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
                         f"`exponential_avg_factor` != 1.0. Received: mean={mean}, variance={variance}")
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    none = np.zeros((0,), scale.dtype.np_dtype)
    y, running_mean, running_variance, *_ = raw.FusedBatchNormV3(
        x, scale, offset, none if mean is None else mean, none if variance is None else variance,
        epsilon=max(float(epsilon), _LEAST_EPSILON), data_format=data_format, is_training=bool(is_training),
        exponential_avg_factor=1.0 if exponential_avg_factor is None else float(exponential_avg_factor), name=name)
    return y, running_mean, running_variance


# -- slices of unit length -------------------------------------------------------------


def l2_normalize(x: TensorLike, axis: TensorLike = None, epsilon: TensorLike = 1e-12, name: str | None = None,
                 dim: TensorLike = None) -> Tensor:
    """Divides by the root of the sum of squares along an axis.

    Args:
      x: a float or complex tensor.
      axis, dim: an axis or a list of them; all by default.
      epsilon: the least sum of squares that is divided by.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: ValueError if an axis is out of range.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.l2_normalize`.

    >>> sess.run(tf.nn.l2_normalize([3.0, 4.0]))
    array([0.6, 0.8], dtype=float32)
    """
    axis = either("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize") as scope:
        x = convert_to_tensor(x, name="x")
        over = _axes(axis) if axis is not None else all_axes(x)
        if x.dtype.is_complex:
            part = x.dtype.real_dtype
            squares = raw.AddV2(raw.Square(raw.Real(x, Tout=part)), raw.Square(raw.Imag(x, Tout=part)))
            inverse = raw.Rsqrt(raw.Maximum(raw.Sum(squares, over, keep_dims=True), epsilon))
            return raw.Mul(x, raw.Cast(inverse, DstT=x.dtype), name=scope)
        squares = raw.Sum(raw.Square(x), over, keep_dims=True)
        return raw.Mul(x, raw.Rsqrt(raw.Maximum(squares, epsilon)), name=scope)


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """Computes the fraction of the elements that are zero.

    Args:
      value: a numeric tensor.
      name: a name for the operation.
    Returns: a float32 scalar; NaN if there are no elements.
    Raises: TypeError for dtypes that do not compare.
    Gradient: none; it is constant between jumps.
    Reference: TensorFlow 2.21 `tf.nn.zero_fraction`.

    >>> sess.run(tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]))
    np.float32(0.5)
    """
    with name_scope(name, "zero_fraction"):
        value = convert_to_tensor(value, name="value")
        zeros = raw.Cast(raw.Equal(value, raw.ZerosLike(value)), DstT=float32)
        return raw.Mean(zeros, all_axes(value), name="fraction")
