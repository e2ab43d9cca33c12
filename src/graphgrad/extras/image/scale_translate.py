"""Resizing of images by a kernel, with a scale and a translation known only to the run."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import REAL, float32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import part, shape_of

from .resize import _apply, _resized

# -- kernels: the weight of a pixel at a distance; each with its support --------


def _lanczos(radius):
    def kernel(xp, x):
        safe = xp.where(x > 1e-3, x, 1)
        value = radius * xp.sin(np.pi * safe) * xp.sin(np.pi * safe / radius) / (np.pi * np.pi * safe * safe)
        return xp.where(x > radius, 0, xp.where(x <= 1e-3, 1, value))

    return kernel, radius


def _gaussian(xp, x):
    return xp.where(x >= 1.5, 0, xp.exp(-x * x / (2 * 0.5 * 0.5)))


def _box(xp, x):
    return xp.where(x < 0.5, 1.0, xp.where(x == 0.5, 0.5, 0.0))


def _triangle(xp, x):
    return xp.where(x < 1, 1 - x, 0)


def _keys(xp, x):
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return xp.where(x >= 2, 0, xp.where(x >= 1, far, (1.5 * x - 2.5) * x * x + 1))


def _mitchell(xp, x):
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return xp.where(x >= 2, 0, xp.where(x >= 1, far, (7 / 6 * x - 2) * x * x + 8 / 9))


_KERNELS = {"lanczos1": _lanczos(1.0), "lanczos3": _lanczos(3.0), "lanczos5": _lanczos(5.0),
            "gaussian": (_gaussian, 1.5), "box": (_box, 1.0), "triangle": (_triangle, 1.0), "keyscubic": (_keys, 2.0),
            "mitchellcubic": (_mitchell, 2.0)}


def _matrix(xp, n, out, scale, translation, kernel_type, antialias):
    """Returns the weights (out, n) of input pixels for each output pixel."""
    kernel, radius = _KERNELS[kernel_type]
    inverse = 1 / scale
    wide = xp.maximum(inverse, 1) if antialias else xp.ones_like(scale)
    at = (np.arange(out, dtype=np.float32) + np.float32(0.5)) * inverse - inverse * translation
    pixels = np.arange(n, dtype=np.float32)
    reach = np.float32(radius) * wide
    start = xp.clip(xp.ceil(at - reach - np.float32(0.5)), 0, n - 1)[:, None]
    end = xp.clip(xp.floor(at + reach - np.float32(0.5)), 0, n - 1)[:, None]
    seen = (pixels >= start) & (pixels <= end) & (pixels < start + xp.minimum(2 * xp.ceil(reach) + 1, n))
    distance = xp.abs(pixels + np.float32(0.5) - at[:, None]) / wide
    weights = xp.where(seen, kernel(xp, distance), 0)
    total = xp.sum(weights, axis=1, keepdims=True)
    usable = (xp.abs(total) >= 1000 * np.finfo(np.float32).tiny) & ((at >= 0) & (at <= n))[:, None]
    return xp.where(usable, weights / xp.where(usable, total, 1), 0).astype(np.float32)


def _matrices(xp, sizes, scale, translation, kernel_type, antialias):
    if xp is np and not (scale > 0).all():
        raise Complaint("Scale must be greater than zero.", "give positive scales")
    return [_matrix(xp, n, out, scale[i], translation[i], kernel_type, antialias) for i, (n, out) in enumerate(sizes)]


def _check(kernel_type, scale, translation):
    if kernel_type not in _KERNELS:
        raise Complaint(f"Unrecognized kernel type: {kernel_type}", "use one of " + ", ".join(_KERNELS))
    for name, shape in (("scale", scale), ("translation", translation)):
        (n,) = with_rank(shape, 1, name)
        if n not in (2, None):
            raise Complaint(f"{name} must have two elements but has {n}", "give one for the height, one for the width")


def _options(op):
    return {k: op._attr(k) for k in ("kernel_type", "antialias")}


@op("ScaleAndTranslate", "images: T, size: int32, scale: float32, translation: float32 -> resized_images: float32",
    T=REAL, host=("size",), flags=("sized",))
def scale_and_translate_op(xp, images, size, scale, translation, *, kernel_type="lanczos3", antialias=True):
    """Computes each pixel as a weighted mean of those near its position in the input."""
    sizes = zip(images.shape[1:3], map(int, size), strict=True)
    rows, columns = _matrices(xp, sizes, scale, translation, kernel_type, antialias)
    return _apply(xp, rows, columns, images.astype(np.float32))


@scale_and_translate_op.shape
def _scale_and_translate_shape(images, size, scale, translation, kernel_type):
    _check(kernel_type, scale, translation)
    return _resized(images, size)


@scale_and_translate_op.grad
def _scale_and_translate_grad(op, dy):
    image, _, *moved = op.inputs
    if not image.dtype.is_floating:
        return None, None, None, None
    like = image if image.dtype is float32 else raw.Cast(image, DstT=float32)
    dx = raw.ScaleAndTranslateGrad(dy, like, *moved, **_options(op))
    return dx if image.dtype is float32 else raw.Cast(dx, DstT=image.dtype), None, None, None


@op("ScaleAndTranslateGrad", "grads: T, original_image: T, scale: float32, translation: float32 -> output: T",
    T={float32})
def scale_and_translate_grad_op(xp, dy, original, scale, translation, *, kernel_type="lanczos3", antialias=True):
    """Applies the transpose of ScaleAndTranslate."""
    sizes = zip(original.shape[1:3], dy.shape[1:3], strict=True)
    rows, columns = _matrices(xp, sizes, scale, translation, kernel_type, antialias)
    return _apply(xp, rows.T, columns.T, dy)


@scale_and_translate_grad_op.shape
def _scale_and_translate_grad_shape(dy, original, scale, translation, kernel_type):
    _check(kernel_type, scale, translation)
    with_rank(dy, 4, "grads")
    return with_rank(original, 4, "original_image")


@scale_and_translate_grad_op.grad
def _scale_and_translate_grad_grad(op, u):
    size = part(shape_of(op.inputs[0]), 1, 3)
    return raw.ScaleAndTranslate(u, size, *op.inputs[2:], **_options(op)), None, None, None


limit_ranks(vectors="ScaleAndTranslate.size")
