"""Projective transforms of images, and their transposes."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING, int32, int64, uint8
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import part, shape_of

_KINDS = FLOATING | {uint8, int32, int64}


def _inside(xp, at, n, mode):
    """Maps coordinates into an axis of length n, according to `fill_mode`."""
    last = np.float32(n - 1)
    if mode == "CONSTANT":
        return at
    if mode == "NEAREST" or n <= 1:
        return xp.clip(at, 0, last)
    if mode == "REFLECT":
        period = np.float32(2 * n)
        low = xp.where(at < 0, period * xp.trunc(-at / period) + at, at)
        below = xp.where(low < -n, low + period, -low - 1)
        high = at - period * xp.trunc(at / period)
        above = xp.where(high >= n, period - high - 1, high)
    else:
        below = at + np.float32(n) * (xp.trunc(-at / last) + 1)
        above = at - np.float32(n) * xp.trunc(at / last)
    return xp.clip(xp.where(at < 0, below, xp.where(at > last, above, at)), 0, last)


def _corners(xp, transforms, shape, out, interpolation, fill_mode):
    """Yields, for each output pixel, the input pixels that it is computed from.

    Yields: (rows, columns, weights, whether they are inside), each (B, *out) or (1, *out).
    """
    t = transforms.astype(np.float32)[:, :, None, None]
    y = np.arange(out[0], dtype=np.float32)[:, None]
    x = np.arange(out[1], dtype=np.float32)[None, :]
    scale = t[:, 6] * x + t[:, 7] * y + 1
    finite = scale != 0
    scale = xp.where(finite, scale, 1)
    at_x = _inside(xp, (t[:, 0] * x + t[:, 1] * y + t[:, 2]) / scale, shape[2], fill_mode)
    at_y = _inside(xp, (t[:, 3] * x + t[:, 4] * y + t[:, 5]) / scale, shape[1], fill_mode)

    def corner(row, column, weight):
        inside = finite & (row >= 0) & (row < shape[1]) & (column >= 0) & (column < shape[2])
        row, column = (xp.where(inside, v, 0).astype(np.int32) for v in (row, column))
        return row, column, weight, inside

    if interpolation == "NEAREST":  # halves are rounded away from zero
        rounded = [xp.sign(v) * xp.floor(xp.abs(v) + np.float32(0.5)) for v in (at_y, at_x)]
        yield corner(*rounded, xp.ones_like(at_y))
        return
    top, left = xp.floor(at_y), xp.floor(at_x)
    for row, wy in ((top, top + 1 - at_y), (top + 1, at_y - top)):
        for column, wx in ((left, left + 1 - at_x), (left + 1, at_x - left)):
            yield corner(row, column, wy * wx)


def _batch(xp, n):
    return np.arange(n)[:, None, None]


def _transformed(xp, images, transforms, out, fill_value, interpolation, fill_mode):
    wide = np.float64 if images.dtype == np.float64 else np.float32
    fill = xp.asarray(fill_value).astype(images.dtype).astype(wide)
    images, out = xp.asarray(images), [int(n) for n in out]
    if min(out) <= 0:
        raise Complaint(f"output dimensions must be positive, not {out}", "give a height and width of at least 1")
    total = None
    if interpolation == "NEAREST":
        ((row, column, _, inside),) = _corners(xp, transforms, images.shape, out, interpolation, fill_mode)
        return xp.where(inside[..., None], images[_batch(xp, images.shape[0]), row, column], fill.astype(images.dtype))
    for row, column, weight, inside in _corners(xp, transforms, images.shape, out, interpolation, fill_mode):
        pixel = images[_batch(xp, images.shape[0]), row, column].astype(wide)
        term = weight[..., None].astype(wide) * xp.where(inside[..., None], pixel, fill)
        total = term if total is None else total + term
    return total.astype(images.dtype)


_KNOWN = {"interpolation": ("NEAREST", "BILINEAR"), "fill_mode": ("REFLECT", "WRAP", "CONSTANT", "NEAREST")}


def _check_options(**options):
    """Raises a Complaint for unknown names; TensorFlow logs an error and continues with uninitialized memory."""
    for what, value in options.items():
        if value not in _KNOWN[what]:
            raise Complaint(f"Invalid {what} {value!r}", f"use one of {', '.join(_KNOWN[what])}")


def _shape(images, transforms, out, interpolation, fill_mode):
    _check_options(interpolation=interpolation, fill_mode=fill_mode)
    images = with_rank(images, 4, "images")
    _check_transforms(images, transforms)
    if out is None:
        return images[0], None, None, images[3]
    if len(out) != 2:
        raise Complaint("output shape must have two elements", "give [height, width]")
    if any(n is not None and n <= 0 for n in out):
        raise Complaint(f"output dimensions must be positive, not {out}", "give a height and width of at least 1")
    return images[0], *out, images[3]


def _check_transforms(images, transforms):
    n, eight = with_rank(transforms, 2, "transforms")
    known = None not in (n, images[0])
    if eight not in (8, None) or (known and n not in (1, images[0])):
        raise Complaint("Input transform should be num_images x 8 or 1 x 8", "give 8 numbers for each image")


def _options(op):
    return {k: op._attr(k) for k in ("interpolation", "fill_mode")}


def _backward(op, dy):
    images, transforms = op.inputs[:2]
    if not images.dtype.is_floating:
        return None
    return raw.ImageProjectiveTransformGrad(dy, transforms, shape_of(images), **_options(op))


@op("ImageProjectiveTransformV3", "images: dtype, transforms: float32, output_shape: int32, fill_value: float32 -> "
    "transformed_images: dtype", dtype=_KINDS, host=("output_shape",), flags=("sized",))
def projective_v3(xp, images, transforms, output_shape, fill_value, *, interpolation, fill_mode="CONSTANT"):
    """Computes each pixel from where the transform sends it."""
    return _transformed(xp, images, transforms, output_shape, fill_value, interpolation, fill_mode)


@projective_v3.shape
def _projective_v3_shape(images, transforms, output_shape, fill_value, interpolation, fill_mode):
    with_rank(fill_value, 0, "fill_value")
    return _shape(images, transforms, output_shape, interpolation, fill_mode)


@projective_v3.grad
def _projective_v3_grad(op, dy):
    return _backward(op, dy), None, None, None


@op("ImageProjectiveTransformV2", "images: dtype, transforms: float32, output_shape: int32 -> "
    "transformed_images: dtype", dtype=_KINDS, host=("output_shape",), flags=("sized",), shape=_shape)
def projective_v2(xp, images, transforms, output_shape, *, interpolation, fill_mode="CONSTANT"):
    """Computes each pixel from where the transform sends it; zero outside of the image."""
    return _transformed(xp, images, transforms, output_shape, np.float32(0), interpolation, fill_mode)


@projective_v2.grad
def _projective_v2_grad(op, dy):
    return _backward(op, dy), None, None


@op("ImageProjectiveTransformGrad", "grads: dtype, transforms: float32, image_shape: int32 -> output: dtype",
    dtype=FLOATING, host=("image_shape",))
def projective_grad(xp, dy, transforms, image_shape, *, interpolation, fill_mode="CONSTANT"):
    """Applies the transpose of ImageProjectiveTransformV2."""
    shape = tuple(int(n) for n in image_shape)
    wide = dy.astype(np.float32) if dy.dtype.itemsize <= 2 else dy
    total = xp.zeros(shape, wide.dtype)
    batch = _batch(xp, shape[0])
    for row, column, weight, inside in _corners(xp, transforms, shape, dy.shape[1:3], interpolation, fill_mode):
        part_dy = xp.where(inside, weight, 0).astype(wide.dtype)[..., None] * wide
        if xp is np:
            np.add.at(total, (batch, row, column), part_dy)
        else:
            total = total.at[batch, row, column].add(part_dy)
    return total.astype(dy.dtype)


@projective_grad.shape
def _projective_grad_shape(dy, transforms, image_shape, interpolation, fill_mode):
    _check_options(interpolation=interpolation, fill_mode=fill_mode)
    dy = with_rank(dy, 4, "grads")
    _check_transforms(dy, transforms)
    return (dy[0], None, None, dy[3]) if image_shape is None else image_shape


@projective_grad.grad
def _projective_grad_grad(op, u):
    dy, transforms, _ = op.inputs
    size = part(shape_of(dy), 1, 3)
    return raw.ImageProjectiveTransformV2(u, transforms, size, **_options(op)), None, None


limit_ranks(
    vectors="""
        ImageProjectiveTransformGrad.image_shape ImageProjectiveTransformV2.output_shape
        ImageProjectiveTransformV3.output_shape""",
)
