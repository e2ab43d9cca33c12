"""Images: flips, rotations by 90 degrees, crops and padding, composed of other ops."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.constant_value import static_value
from graphgrad.ir.dtypes import float64, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.attribute_values import whole_array
from graphgrad.ops.common.shape_values import axes, is_tensor, join, minus, plus, rank_of, times

from .image_arguments import (
    as_image,
    as_images,
    batched,
    keyed,
    size_along,
    stateful,
    unbatched,
    vector_of,
)


def _reversed(x, axis):
    """Reverses x, of rank 3 or 4, along an axis of its images."""
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
    """Mirrors each image left to right with probability 1/2, as a function of the seed.

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
    """Mirrors each image top to bottom with probability 1/2, as a function of the seed.

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
    """Rotates images by multiples of 90 degrees, counter-clockwise.

    Args:
      image: (*B, H, W, C).
      k: the number of rotations by 90 degrees, an int or a tensor that is known while the graph is built.
      name: a name for the scope of the operations.
    Returns: the rotated images.
    Raises: ValueError if the rank is not 3 or 4, or k is not known.
    Gradient: dy rotated back.
    Reference: TensorFlow 2.21 `tf.image.rot90`.

    >>> sess.run(tf.image.rot90([[[1.0], [2.0]]])).ravel()
    array([2., 1.], dtype=float32)
    """
    with name_scope(name, "rot90"):
        x = as_images(image)
        turns = static_value(k) if hasattr(k, "_spec") else k
        if turns is None:
            raise ValueError("rot90: k must be known while the graph is built. Fix: give a Python integer")
        turns = int(whole_array(turns, "k")) % 4
        if turns == 2:
            rank = 0 if x._spec.shape is None else len(x._spec.shape)
            return raw.ReverseV2(x, np.asarray([rank - 3, rank - 2], np.int32))
        if turns == 1:
            return transpose(_reversed(x, 1))
        return _reversed(transpose(x), 1) if turns else raw.Identity(x)


def _check(condition, what):
    """Raises ValueError unless a comparison of ints holds; leaves those of tensors to the run."""
    if condition is False:
        raise ValueError(f"{what}. Fix: choose offsets and sizes that fit the image")


def _le(a, b):
    return None if is_tensor(a) or is_tensor(b) else bool(a <= b)


def _value(v, name):
    """Returns an int, or the tensor if it is not known; raises TypeError for anything but one integer."""
    tensor = hasattr(v, "_spec")
    if tensor and v.dtype.kind in "iub":
        known = static_value(v)
        return v if known is None else int(known)
    if tensor or v is None or np.ndim(v):
        raise TypeError(f"Expected an integer for argument '{name}', not {v!r}.\n  Built at {user_source(2)}\n"
                        "  Fix: give an int, or a scalar of int32")
    return int(whole_array(v, name, np.int64))


def _box(offset_height, offset_width, target_height, target_width):
    """Returns the four as ints or tensors."""
    return (_value(offset_height, "offset_height"), _value(offset_width, "offset_width"),
            _value(target_height, "target_height"), _value(target_width, "target_width"))


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
        top, left, height, width = _box(offset_height, offset_width, target_height, target_width)
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
    Raises: ValueError if the image does not fit, TypeError if a number is no integer.
    Gradient: the box of dy.
    Reference: TensorFlow 2.21 `tf.image.pad_to_bounding_box`.

    >>> sess.run(tf.image.pad_to_bounding_box([[[1.0]]], 0, 1, 1, 2)).ravel()
    array([0., 1.], dtype=float32)
    """
    with name_scope(None, "pad_to_bounding_box"):
        x, added = batched(image)
        top, left, height, width = _box(offset_height, offset_width, target_height, target_width)
        bottom = minus(minus(height, top), size_along(x, 1))
        right = minus(minus(width, left), size_along(x, 2))
        for before, after, what in ((top, bottom, "height"), (left, right, "width")):
            _check(_le(0, before), f"offset_{what} must be >= 0")
            _check(_le(0, after), f"{what} must be <= target - offset")
        pads = vector_of([0, 0, top, bottom, left, right, 0, 0])
        return unbatched(raw.Pad(x, raw.Reshape(pads, [4, 2]) if is_tensor(pads) else pads.reshape(4, 2)), added)


def _half(v, by=2):
    """Returns v / 2 rounded down."""
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
    Raises: ValueError if a target is not positive, TypeError if it is no integer.
    Gradient: that of the cut and the padding.
    Reference: TensorFlow 2.21 `tf.image.resize_with_crop_or_pad`.

    >>> sess.run(tf.image.resize_with_crop_or_pad([[[1.0], [2.0], [3.0]]], 1, 1)).ravel()
    array([2.], dtype=float32)
    """
    with name_scope(None, "resize_image_with_crop_or_pad"):
        x, added = batched(image)
        targets = [_value(target_height, "target_height"), _value(target_width, "target_width")]
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
      central_fraction: the fraction of the height and width to keep, in (0, 1].
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
