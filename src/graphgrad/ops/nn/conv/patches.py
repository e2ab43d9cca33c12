"""Extracts image patches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import REAL
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.shape_values import join, part, shape_of
from graphgrad.ops.common.synonyms import either

from .window_geometry import cells, count, pad_spatial, patches, seen_by, spatial, window

_SIZES = range(1, 2**31)


def _window_for(x, ksizes, strides, rates, padding):
    for name, numbers in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if any(int(n) not in _SIZES for n in numbers):
            raise Complaint(f"attribute '{name}' is {list(numbers)}", f"give numbers in [1, {_SIZES[-1]}]")
    return window(x[1:3], spatial(ksizes, "NHWC", 2), spatial(strides, "NHWC", 2), spatial(rates, "NHWC", 2), padding,
                  (), "NHWC")


@op("ExtractImagePatches", "images: T -> patches: T", T=REAL, linear=Linear.JOINTLY)
def extract_image_patches_op(xp, images, *, ksizes, strides, rates, padding):
    """Extracts the patch at each position of a window as one vector of channels."""
    w = _window_for(images.shape, ksizes, strides, rates, padding)
    padded = pad_spatial(xp, images, w)
    return xp.concatenate([seen_by(xp, padded, w, cell) for cell in cells(w)], axis=-1)


@extract_image_patches_op.on_host
def _extract_host(xp, images, *, ksizes, strides, rates, padding):
    w = _window_for(images.shape, ksizes, strides, rates, padding)
    views = patches(images, w)  # batch, rows, columns, channels, and two for the window
    return np.moveaxis(views, 3, -1).reshape(*views.shape[:3], -1)


@extract_image_patches_op.shape
def _extract_shape(images, ksizes, strides, rates, padding):
    x = with_rank(images, 4, "images")
    w = _window_for(x, ksizes, strides, rates, padding)
    return (x[0], *w.out, None if x[3] is None else x[3] * count(w))


@extract_image_patches_op.grad
def _extract_grad(op, dy):
    x = op.inputs[0]
    ksizes, strides, rates, padding = (op._attr(k) for k in ("ksizes", "strides", "rates", "padding"))
    rows, columns = spatial(ksizes, "NHWC", 2)
    n = rows * columns
    # A depthwise convolution with one unit filter for each cell gives the same patches, channels first.
    units = np.eye(n, dtype=x.dtype.np_dtype).reshape(rows, columns, 1, n)
    sizes = shape_of(x)
    channels = part(sizes, 3, 4)
    filters = raw.BroadcastTo(units, join([rows, columns], channels, [n]))
    out = shape_of(dy)
    split = raw.Reshape(dy, join(part(out, 0, 3), [n], channels))
    turned = raw.Reshape(raw.Transpose(split, np.asarray([0, 1, 2, 4, 3], np.int32)), out)
    return raw.DepthwiseConv2dNativeBackpropInput(sizes, filters, turned, strides=tuple(strides),
                                                  dilations=tuple(rates), padding=padding)


# -- volumes -----------------------------------------------------------------------------


def _volume_window(x, ksizes, strides, padding):
    sizes = spatial(ksizes, "NDHWC", 3)
    return window(x[1:4], sizes, spatial(strides, "NDHWC", 3), (1, 1, 1), padding, (), "NDHWC")


@op("ExtractVolumePatches", "input: T -> patches: T", T=REAL, linear=Linear.JOINTLY)
def extract_volume_patches_op(xp, x, *, ksizes, strides, padding):
    """Extracts the patch at each position of a window as one vector of channels."""
    w = _volume_window(x.shape, ksizes, strides, padding)
    padded = pad_spatial(xp, x, w)
    return xp.concatenate([seen_by(xp, padded, w, cell) for cell in cells(w)], axis=-1)


@extract_volume_patches_op.shape
def _extract_volume_shape(x, ksizes, strides, padding):
    x = with_rank(x, 5, "input")
    w = _volume_window(x, ksizes, strides, padding)
    return (x[0], *w.out, None if x[4] is None else x[4] * count(w))


@extract_volume_patches_op.grad
def _extract_volume_grad(op, dy):
    x = op.inputs[0]
    sizes, strides, padding = (op._attr(k) for k in ("ksizes", "strides", "padding"))
    n = int(np.prod(spatial(sizes, "NDHWC", 3)))
    # Channels become rows of the batch; a convolution with one unit filter for each cell gives their patches.
    units = np.eye(n, dtype=x.dtype.np_dtype).reshape(*spatial(sizes, "NDHWC", 3), 1, n)
    shape = shape_of(x)
    channels, out = part(shape, 4, 5), shape_of(dy)
    split = raw.Reshape(dy, join(part(out, 0, 4), [n], channels))
    rows = raw.Reshape(raw.Transpose(split, np.asarray([0, 5, 1, 2, 3, 4], np.int32)), join([-1], part(out, 1, 4), [n]))
    batch = raw.Mul(part(shape, 0, 1), channels)
    single = raw.Conv3DBackpropInputV2(join(batch, part(shape, 1, 4), [1]), units, rows, strides=tuple(strides),
                                       padding=padding)
    apart = raw.Reshape(single, join(part(shape, 0, 1), channels, part(shape, 1, 4)))
    return raw.Transpose(apart, np.asarray([0, 2, 3, 4, 1], np.int32))


def extract_volume_patches(input: TensorLike, ksizes: Sequence[Any], strides: Sequence[Any], padding: str,
                           name: str | None = None) -> Tensor:
    """Extracts the patches of volumes under a sliding window into the channels.

    Args:
      input: (N, D, H, W, C), real.
      ksizes: the size of the window: [1, d, h, w, 1].
      strides: its step: [1, sd, sh, sw, 1].
      padding: "VALID" or "SAME".
      name: a name for the operation.
    Returns: (N, D', H', W', d * h * w * C).
    Raises: ValueError if the window is larger than the input.
    Gradient: dy added up at the patches' positions.
    Reference: TensorFlow 2.21 ExtractVolumePatches.

    >>> x = np.arange(8.0).reshape(1, 2, 2, 2, 1)
    >>> sess.run(tf.extract_volume_patches(x, [1, 1, 2, 2, 1], [1] * 5, "VALID")).reshape(2, 4)
    array([[0., 1., 2., 3.],
           [4., 5., 6., 7.]])
    """
    return raw.ExtractVolumePatches(input, ksizes=tuple(ksizes), strides=tuple(strides), padding=padding, name=name)


# -- public functions for images ---------------------------------------------------------


def extract_patches(images: TensorLike, sizes: Sequence[Any], strides: Sequence[Any], rates: Sequence[Any],
                    padding: str, name: str | None = None) -> Tensor:
    """Extracts the patches under a sliding window into the channels.

    Args:
      images: (N, H, W, C), real.
      sizes: the size of the window: [1, h, w, 1].
      strides: its step: [1, sh, sw, 1].
      rates: its dilations: [1, rh, rw, 1].
      padding: "VALID" or "SAME".
      name: a name for the operation.
    Returns: (N, H', W', h * w * C).
    Raises: ValueError if the window is larger than the input.
    Gradient: dy added up at the patches' positions.
    Reference: TensorFlow 2.21 ExtractImagePatches.

    >>> x = np.arange(9.0).reshape(1, 3, 3, 1)
    >>> sess.run(tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"))[0, 0, 0]
    array([0., 1., 3., 4.])
    """
    return raw.ExtractImagePatches(images, ksizes=tuple(sizes), strides=tuple(strides), rates=tuple(rates),
                                   padding=padding, name=name)


def extract_patches_v1(images: TensorLike, ksizes: Any = None, strides: Any = None, rates: Any = None,
                       padding: Any = None, name: str | None = None, sizes: Any = None) -> Tensor:
    """Extracts the patches under a sliding window into the channels, with TensorFlow 1's arguments.

    Args:
      images: (N, H, W, C), real.
      ksizes, sizes: the size of the window: [1, h, w, 1].
      strides: its step: [1, sh, sw, 1].
      rates: its dilations: [1, rh, rw, 1].
      padding: "VALID" or "SAME".
      name: a name for the operation.
    Returns: (N, H', W', h * w * C).
    Raises: ValueError if the window is larger than the input.
    Gradient: dy added up at the patches' positions.
    Reference: TensorFlow 2.21 `tf.compat.v1.extract_image_patches`.
    """
    return extract_patches(images, either("sizes", sizes, "ksizes", ksizes), strides, rates, padding, name)
