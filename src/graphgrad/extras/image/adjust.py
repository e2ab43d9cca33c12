"""Images: dtypes, brightness, contrast and the like, composed of other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype, float16, float32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.array.cast import saturate_cast
from graphgrad.ops.common.shape_values import is_tensor, shape_of

from .image_arguments import (
    as_image,
    check_bounds,
    stateful,
)


def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None) -> Tensor:
    """Converts images to a dtype, scaling between the ranges of integers and [0, 1).

    Args:
      image: a real tensor.
      dtype: the target dtype.
      saturate: whether to clip values to the range of the dtype.
      name: a name for the operation.
    Returns: a tensor of that dtype.
    Raises: AttributeError if either dtype is neither floating nor an integer.
    Gradient: that of the scaling, between floats.
    Reference: TensorFlow 2.21 `tf.image.convert_image_dtype`.

    >>> sess.run(tf.image.convert_image_dtype(np.array([0, 255], np.uint8), tf.float32))
    array([0., 1.], dtype=float32)
    """
    x = convert_to_tensor(image, name="image")
    dtype, given = as_dtype(dtype), x.dtype
    for what, t in (("dtype", dtype), ("image dtype", given)):
        if not (t.is_floating or t.is_integer):
            raise AttributeError(f"{what} must be either floating point or integer, not {t.name}. Fix: use tf.cast")
    if dtype is given:
        return raw.Identity(x, name=name)
    cast = saturate_cast if saturate else _cast
    with name_scope(name, "convert_image") as scope:
        if given.is_integer and dtype.is_integer:
            wide, narrow = given.max, dtype.max
            if wide > narrow:
                return cast(raw.FloorDiv(x, np.asarray((wide + 1) // (narrow + 1), given.np_dtype)), dtype)
            scale = np.asarray((narrow + 1) // (wide + 1), dtype.np_dtype)
            return raw.Mul(raw.Cast(x, DstT=dtype), scale)
        if given.is_floating and dtype.is_floating:
            return raw.Cast(x, DstT=dtype)
        if given.is_integer:
            return raw.Mul(raw.Cast(x, DstT=dtype), float(1.0 / given.max), name=scope or None)
        return cast(raw.Mul(x, float(dtype.max + 0.5)), dtype)


def _cast(x, dtype):
    return raw.Cast(x, DstT=dtype)


def as_floats(image: TensorLike) -> tuple[Any, DType]:
    """Converts an image to a float dtype; returns it and the dtype to convert back to."""
    x = convert_to_tensor(image, name="image")
    return (x, x.dtype) if x.dtype in (float16, float32) else (convert_image_dtype(x, float32), x.dtype)


def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """Adds `delta` to images whose range is [0, 1); integers are scaled to it.

    Args:
      image: a real tensor.
      delta: a number or scalar tensor.
    Returns: a tensor like `image`.
    Raises: TypeError for dtypes that are not real.
    Gradient: dy.
    Reference: TensorFlow 2.21 `tf.image.adjust_brightness`.

    >>> sess.run(tf.image.adjust_brightness([[[0.25]]], 0.5)).ravel()
    array([0.75], dtype=float32)
    """
    with name_scope(None, "adjust_brightness"):
        x, dtype = as_floats(image)
        amount = raw.Cast(delta, DstT=x.dtype) if hasattr(delta, "_spec") else delta
        return convert_image_dtype(raw.AddV2(x, amount), dtype, saturate=True)


def _random_amount(uniform, low, high):
    if high < low:
        raise ValueError(f"upper must be >= lower: {high} < {low}")
    return uniform([])


def random_brightness(image: TensorLike, max_delta: TensorLike, seed: int | None = None) -> Tensor:
    """Adjusts the brightness of images by a random delta.

    Args:
      image: a real tensor.
      max_delta: the delta is drawn from [-max_delta, max_delta).
      seed: an integer, or None.
    Returns: a tensor like `image`.
    Raises: ValueError if max_delta is negative.
    Gradient: dy.
    Reference: TensorFlow 2.21 `tf.image.random_brightness`.

    >>> bool(abs(sess.run(tf.image.random_brightness([[[0.5]]], 0.25)).item() - 0.5) <= 0.25)
    True
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, stateful(seed, -max_delta, max_delta)([]))


def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Stretches each channel about its mean over the image.

    Args:
      images: (*B, H, W, C), real.
      contrast_factor: a number or scalar tensor.
    Returns: a tensor like `images`.
    Raises: ValueError if the rank is less than 3.
    Gradient: factor dy + (1 - factor) mean(dy).
    Reference: TensorFlow 2.21 AdjustContrastv2.

    >>> sess.run(tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0)).ravel()
    array([0., 4.], dtype=float32)
    """
    with name_scope(None, "adjust_contrast"):
        x, dtype = as_floats(images)
        return convert_image_dtype(raw.AdjustContrastv2(x, contrast_factor), dtype, saturate=True)


def random_contrast(image: TensorLike, lower: TensorLike, upper: TensorLike, seed: int | None = None) -> Tensor:
    """Adjusts the contrast of images by a random factor.

    Args:
      image: (*B, H, W, C), real.
      lower, upper: the factor is drawn from [lower, upper).
      seed: an integer, or None.
    Returns: a tensor like `image`.
    Raises: ValueError if the bounds are not in order.
    Gradient: that of `adjust_contrast`.
    Reference: TensorFlow 2.21 `tf.image.random_contrast`.

    >>> sess.run(tf.image.random_contrast([[[1.0], [1.0]]], 0.5, 1.5)).ravel()
    array([1., 1.], dtype=float32)
    """
    check_bounds(lower, upper)
    return adjust_contrast(image, stateful(seed, lower, upper)([]))


def adjust_gamma(image: TensorLike, gamma: TensorLike = 1, gain: TensorLike = 1) -> Tensor:
    """Computes gain * image ** gamma.

    Args:
      image: a real tensor whose range is [0, 1); integers are scaled to it.
      gamma: a number that is not negative.
      gain: a number.
    Returns: a tensor like `image`.
    Raises: ValueError for a negative gamma.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.image.adjust_gamma`.

    >>> sess.run(tf.image.adjust_gamma([[[0.5]]], 2.0)).ravel()
    array([0.25], dtype=float32)
    """
    if not hasattr(gamma, "_spec") and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    with name_scope(None, "adjust_gamma"):
        x, dtype = as_floats(image)
        return convert_image_dtype(raw.Mul(gain, raw.Pow(x, gamma)), dtype, saturate=True)


def per_image_standardization(image: TensorLike) -> Tensor:
    """Shifts and scales each image to mean 0 and variance 1.

    Args:
      image: (*B, H, W, C), real.
    Returns: a float32 tensor of the same shape; the deviation counts as 1 / sqrt(H W C) at least.
    Raises: ValueError if the rank is less than 3.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.image.per_image_standardization`.

    >>> sess.run(tf.image.per_image_standardization([[[1.0], [3.0]]])).ravel()
    array([-1.,  1.], dtype=float32)
    """
    with name_scope(None, "per_image_standardization"):
        x = as_image(image)
        if x.dtype is not float32:
            x = raw.Cast(x, DstT=float32)
        axes = np.asarray([-1, -2, -3], np.int32)
        sizes = shape_of(x)
        sizes = raw.StridedSlice(sizes, [-3], [0], [1], end_mask=1) if is_tensor(sizes) else sizes[-3:]
        if isinstance(sizes, np.ndarray):
            least = np.float32(1 / np.sqrt(np.float32(np.prod(sizes))))
        else:
            least = raw.Rsqrt(raw.Cast(raw.Prod(sizes, 0), DstT=float32))
        centred = raw.Sub(x, raw.Mean(x, axes, keep_dims=True))
        deviation = raw.Sqrt(raw.Mean(raw.Square(centred), axes, keep_dims=True))
        return raw.RealDiv(centred, raw.Maximum(deviation, least))
