"""Images: flips, crops, padding, brightness and the like, all made of other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.constant_value import static_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype, float16, float32, float64, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.array.cast import saturate_cast
from graphgrad.ops.common.shape_values import axes, is_tensor, join, minus, plus, rank_of, shape_of, times

from .image_arguments import (
    as_image,
    as_images,
    batched,
    check_bounds,
    keyed,
    size_along,
    stateful,
    unbatched,
    vector_of,
)

# -- flips and turns -------------------------------------------------------------------


def _reversed(x, axis):
    """x, of rank 3 or 4, turned around along an axis of its images."""
    rank = 0 if x._spec.shape is None else len(x._spec.shape)
    return raw.ReverseV2(x, np.asarray([axis + rank - 3], np.int32))


def _flip(image, axis, name):
    with name_scope(None, name):
        return _reversed(as_images(image), axis)


def flip_left_right(image: TensorLike) -> Tensor:
    """Mirrors images, left to right.

    Args:
      image: (*B, H, W, C).
    Returns: a tensor like `image`.
    Raises: ValueError if the rank is not 3 or 4.
    Gradient: dy mirrored.
    Reference: TensorFlow 2.21 `tf.image.flip_left_right`.

    >>> sess.run(tf.image.flip_left_right([[[1.0], [2.0]]])).ravel()
    array([2., 1.], dtype=float32)
    """
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: TensorLike) -> Tensor:
    """Mirrors images, top to bottom.

    Args:
      image: (*B, H, W, C).
    Returns: a tensor like `image`.
    Raises: ValueError if the rank is not 3 or 4.
    Gradient: dy mirrored.
    Reference: TensorFlow 2.21 `tf.image.flip_up_down`.

    >>> sess.run(tf.image.flip_up_down([[[1.0]], [[2.0]]])).ravel()
    array([2., 1.], dtype=float32)
    """
    return _flip(image, 0, "flip_up_down")


def _random_flip(image, axis, uniform, name):
    """Mirrors each image with probability 1/2; `uniform(shape)` draws."""
    with name_scope(None, name):
        x = as_image(image)
        _, single = batched(x)
        if single:
            return raw.SelectV2(raw.Less(uniform([]), 0.5), _reversed(x, axis), x)
        flips = raw.Cast(raw.Round(uniform(vector_of([size_along(x, 0), 1, 1, 1]))), DstT=x.dtype)
        one = np.ones((), x.dtype.np_dtype)
        return raw.AddV2(raw.Mul(flips, _reversed(x, axis)), raw.Mul(raw.Sub(one, flips), x))


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """Mirrors each image left to right with probability 1/2.

    Args:
      image: (*B, H, W, C).
      seed: an integer, or None.
    Returns: a tensor like `image`.
    Raises: ValueError if the rank is not 3 or 4.
    Gradient: dy, mirrored where the image was.
    Reference: TensorFlow 2.21 `tf.image.random_flip_left_right`.

    >>> sorted(sess.run(tf.image.random_flip_left_right([[[1.0], [2.0]]])).ravel().tolist())
    [1.0, 2.0]
    """
    return _random_flip(image, 1, stateful(seed), "random_flip_left_right")


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """Mirrors each image top to bottom with probability 1/2.

    Args:
      image: (*B, H, W, C).
      seed: an integer, or None.
    Returns: a tensor like `image`.
    Raises: ValueError if the rank is not 3 or 4.
    Gradient: dy, mirrored where the image was.
    Reference: TensorFlow 2.21 `tf.image.random_flip_up_down`.

    >>> sorted(sess.run(tf.image.random_flip_up_down([[[1.0]], [[2.0]]])).ravel().tolist())
    [1.0, 2.0]
    """
    return _random_flip(image, 0, stateful(seed), "random_flip_up_down")


def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike) -> Tensor:
    """Mirrors each image left to right with probability 1/2, as the seed says.

    Args:
      image: (*B, H, W, C).
      seed: a pair of integers.
    Returns: a tensor like `image`.
    Raises: ValueError if the rank is not 3 or 4.
    Gradient: dy, mirrored where the image was.
    Reference: TensorFlow 2.21 `tf.image.stateless_random_flip_left_right`.
    """
    return _random_flip(image, 1, keyed(seed), "stateless_random_flip_left_right")


def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike) -> Tensor:
    """Mirrors each image top to bottom with probability 1/2, as the seed says.

    Args:
      image: (*B, H, W, C).
      seed: a pair of integers.
    Returns: a tensor like `image`.
    Raises: ValueError if the rank is not 3 or 4.
    Gradient: dy, mirrored where the image was.
    Reference: TensorFlow 2.21 `tf.image.stateless_random_flip_up_down`.
    """
    return _random_flip(image, 0, keyed(seed), "stateless_random_flip_up_down")


def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """Exchanges the height and the width of images.

    Args:
      image: (*B, H, W, C).
      name: a name for the scope of the operations.
    Returns: (*B, W, H, C).
    Raises: ValueError if the rank is not 3 or 4.
    Gradient: dy transposed.
    Reference: TensorFlow 2.21 `tf.image.transpose`.

    >>> sess.run(tf.image.transpose([[[1.0], [2.0]]])).shape
    (2, 1, 1)
    """
    with name_scope(name, "transpose"):
        x = as_images(image)
        rank = rank_of(x)
        order = (2, 3, 1)
        return raw.Transpose(x, join(axes(0, minus(rank, 3)), *(vector_of([minus(rank, n)]) for n in order)))


def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Tensor:
    """Turns images by quarters, counter-clockwise.

    Args:
      image: (*B, H, W, C).
      k: how many quarters, a Python integer or a tensor that is known while the graph is built.
      name: a name for the scope of the operations.
    Returns: the turned images.
    Raises: ValueError if the rank is not 3 or 4, or k is not known.
    Gradient: dy turned back.
    Reference: TensorFlow 2.21 `tf.image.rot90`.

    >>> sess.run(tf.image.rot90([[[1.0], [2.0]]])).ravel()
    array([2., 1.], dtype=float32)
    """
    with name_scope(name, "rot90"):
        x = as_images(image)
        turns = static_value(k) if hasattr(k, "_spec") else k
        if turns is None:
            raise ValueError("rot90: k must be known while the graph is built. Fix: give a Python integer")
        turns = int(turns) % 4
        if turns == 2:
            rank = 0 if x._spec.shape is None else len(x._spec.shape)
            return raw.ReverseV2(x, np.asarray([rank - 3, rank - 2], np.int32))
        if turns == 1:
            return transpose(_reversed(x, 1))
        return _reversed(transpose(x), 1) if turns else raw.Identity(x)


# -- crops and padding -----------------------------------------------------------------


def _check(condition, what):
    """ValueError unless a comparison of ints holds; those of tensors are left to the run."""
    if condition is False:
        raise ValueError(f"{what}. Fix: choose offsets and sizes that fit the image")


def _le(a, b):
    return None if is_tensor(a) or is_tensor(b) else bool(a <= b)


def _value(v):
    """Returns an int, or the tensor if it is not known."""
    known = static_value(v) if hasattr(v, "_spec") else v
    return v if known is None or hasattr(known, "_spec") else int(known)


def crop_to_bounding_box(image: TensorLike, offset_height: TensorLike, offset_width: TensorLike,
                         target_height: TensorLike, target_width: TensorLike) -> Tensor:
    """Cuts a box out of images.

    Args:
      image: (*B, H, W, C).
      offset_height, offset_width: where the box begins.
      target_height, target_width: its size.
    Returns: (*B, target_height, target_width, C).
    Raises: ValueError if the box does not lie inside the image.
    Gradient: dy surrounded by zeros.
    Reference: TensorFlow 2.21 `tf.image.crop_to_bounding_box`.

    >>> sess.run(tf.image.crop_to_bounding_box([[[1.0], [2.0]]], 0, 1, 1, 1)).ravel()
    array([2.], dtype=float32)
    """
    with name_scope(None, "crop_to_bounding_box"):
        x, added = batched(image)
        top, left, height, width = map(_value, (offset_height, offset_width, target_height, target_width))
        for offset, size, axis, what in ((top, height, 1, "height"), (left, width, 2, "width")):
            _check(_le(0, offset), f"offset_{what} must be >= 0")
            _check(_le(1, size), f"target_{what} must be > 0")
            _check(_le(plus(offset, size), size_along(x, axis)), f"{what} must be >= target + offset")
        cut = raw.Slice(x, vector_of([0, top, left, 0]), vector_of([-1, height, width, -1]))
        return unbatched(cut, added)


def pad_to_bounding_box(image: TensorLike, offset_height: TensorLike, offset_width: TensorLike,
                        target_height: TensorLike, target_width: TensorLike) -> Tensor:
    """Surrounds images with zeros.

    Args:
      image: (*B, H, W, C).
      offset_height, offset_width: rows above and columns left of the image.
      target_height, target_width: the size of the result.
    Returns: (*B, target_height, target_width, C).
    Raises: ValueError if the image does not fit.
    Gradient: the box of dy.
    Reference: TensorFlow 2.21 `tf.image.pad_to_bounding_box`.

    >>> sess.run(tf.image.pad_to_bounding_box([[[1.0]]], 0, 1, 1, 2)).ravel()
    array([0., 1.], dtype=float32)
    """
    with name_scope(None, "pad_to_bounding_box"):
        x, added = batched(image)
        top, left, height, width = map(_value, (offset_height, offset_width, target_height, target_width))
        bottom = minus(minus(height, top), size_along(x, 1))
        right = minus(minus(width, left), size_along(x, 2))
        for before, after, what in ((top, bottom, "height"), (left, right, "width")):
            _check(_le(0, before), f"offset_{what} must be >= 0")
            _check(_le(0, after), f"{what} must be <= target - offset")
        pads = vector_of([0, 0, top, bottom, left, right, 0, 0])
        return unbatched(raw.Pad(x, raw.Reshape(pads, [4, 2]) if is_tensor(pads) else pads.reshape(4, 2)), added)


def _half(v, by=2):
    """v / 2 rounded down."""
    return raw.FloorDiv(v, by) if is_tensor(v) else v // by


def _at_least(v, low):
    return raw.Maximum(v, low) if is_tensor(v) or is_tensor(low) else max(v, low)


def _at_most(v, high):
    return raw.Minimum(v, high) if is_tensor(v) or is_tensor(high) else min(v, high)


def resize_with_crop_or_pad(image: TensorLike, target_height: TensorLike, target_width: TensorLike) -> Tensor:
    """Cuts or pads images about their centres.

    Args:
      image: (*B, H, W, C).
      target_height, target_width: the size of the result.
    Returns: (*B, target_height, target_width, C).
    Raises: ValueError if a target is not positive.
    Gradient: that of the cut and the padding.
    Reference: TensorFlow 2.21 `tf.image.resize_with_crop_or_pad`.

    >>> sess.run(tf.image.resize_with_crop_or_pad([[[1.0], [2.0], [3.0]]], 1, 1)).ravel()
    array([2.], dtype=float32)
    """
    with name_scope(None, "resize_image_with_crop_or_pad"):
        x, added = batched(image)
        targets = [_value(target_height), _value(target_width)]
        for t, what in zip(targets, ("height", "width"), strict=True):
            _check(_le(1, t), f"target_{what} must be > 0")
        sizes = [size_along(x, 1), size_along(x, 2)]
        differences = [minus(t, n) for t, n in zip(targets, sizes, strict=True)]
        cuts = [_at_least(_half(minus(0, d)), 0) for d in differences]
        pads = [_at_least(_half(d), 0) for d in differences]
        kept = [_at_most(t, n) for t, n in zip(targets, sizes, strict=True)]
        x = crop_to_bounding_box(x, *cuts, *kept)
        return unbatched(pad_to_bounding_box(x, *pads, *targets), added)


def central_crop(image: TensorLike, central_fraction: TensorLike) -> Tensor:
    """Cuts out the middle of images.

    Args:
      image: (*B, H, W, C).
      central_fraction: how much of the height and width to keep, a number in (0, 1].
    Returns: (*B, H', W', C).
    Raises: ValueError for another fraction.
    Gradient: dy surrounded by zeros.
    Reference: TensorFlow 2.21 `tf.image.central_crop`.

    >>> sess.run(tf.image.central_crop(np.ones((4, 4, 1)), 0.5)).shape
    (2, 2, 1)
    """
    with name_scope(None, "central_crop"):
        x = as_image(image)
        fraction = static_value(central_fraction) if hasattr(central_fraction, "_spec") else central_fraction
        if fraction is None:
            raise ValueError("central_crop: the fraction must be known while the graph is built. Fix: give a number")
        if not 0.0 < fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if fraction == 1.0:
            return x
        batched(x)
        lead = len(x._spec.shape) - 3
        begin, size = [0] * lead, [-1] * lead
        for axis in (lead, lead + 1):
            n = size_along(x, axis)
            if is_tensor(n):
                wide = raw.Cast(n, DstT=float64)
                start = raw.Cast(raw.Mul(raw.Sub(wide, raw.Mul(wide, float(fraction))), 0.5), DstT=int32)
            else:
                start = int((n - n * fraction) / 2)
            begin.append(start)
            size.append(minus(n, times(start, 2)))
        return raw.Slice(x, vector_of([*begin, 0]), vector_of([*size, -1]))


# -- brightness, contrast, standardization ---------------------------------------------


def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None) -> Tensor:
    """Converts images to a dtype, scaling between the ranges of integers and [0, 1).

    Args:
      image: a real tensor.
      dtype: the dtype wanted.
      saturate: whether to clip what the dtype cannot hold.
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
    """The image in a float dtype, and the dtype to go back to."""
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
    """`adjust_brightness` with a random delta.

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
    """`adjust_contrast` with a random factor.

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
    """gain * image ** gamma.

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
