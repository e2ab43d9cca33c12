"""Resizing of images: ops that apply two small matrices, to height and width."""

from __future__ import annotations

import functools

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING, REAL, float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank
from graphgrad.op_traits import Linear
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import part, shape_of

# -- positions of output pixels in the input -------------------------------------------


def _scale(n, out, align_corners):
    """Returns the number of input pixels per output pixel, in TensorFlow's single precision."""
    if align_corners and out > 1:
        return np.float32(n - 1) / np.float32(out - 1)
    return np.float32(n) / np.float32(out)


def _positions(n, out, align_corners, half_pixel_centers):
    scale = _scale(n, out, align_corners)
    at = np.arange(out, dtype=np.float32)
    if half_pixel_centers:
        return (at + np.float32(0.5)) * scale - np.float32(0.5)
    return at * scale


def _linear(n, out, align_corners, half_pixel_centers):
    """Returns, for each output pixel, the two input pixels around it, and the weight of the second."""
    at = _positions(n, out, align_corners, half_pixel_centers)
    floor = np.floor(at)
    lower = np.maximum(floor, 0).astype(np.int32)
    upper = np.minimum(np.ceil(at) if half_pixel_centers else floor + 1, n - 1).astype(np.int32)
    return lower, upper, at - floor


def _nearest(n, out, align_corners, half_pixel_centers):
    """Returns, for each output pixel, the nearest input pixel."""
    scale = _scale(n, out, align_corners)
    at = np.arange(out, dtype=np.float32)
    if half_pixel_centers:
        at = np.floor((at + np.float32(0.5)) * scale)
    elif align_corners:
        at = np.trunc(at * scale + np.float32(0.5))
    else:
        at = np.floor(at * scale)
    return np.clip(at, 0, n - 1).astype(np.int32)


# -- the same as matrices (output, input) ----------------------------------------------


def _linear_matrix(n, out, *options):
    lower, upper, weight = _linear(n, out, *options)
    matrix = np.zeros((out, n), np.float32)
    rows = np.arange(out)
    np.add.at(matrix, (rows, lower), 1 - weight)
    np.add.at(matrix, (rows, upper), weight)
    return matrix


def _nearest_matrix(n, out, *options):
    matrix = np.zeros((out, n), np.float32)
    matrix[np.arange(out), _nearest(n, out, *options)] = 1
    return matrix


_TABLE = 1024  # TensorFlow's cubic weights come from a table with this many steps


@functools.lru_cache
def _cubic_table(a):
    """Computes the weights at distances i / 1024 (first column) and 1 + i / 1024 (second)."""
    x = np.arange(_TABLE + 1, dtype=np.float64) / _TABLE
    y = x + 1
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * y - 5 * a) * y + 8 * a) * y - 4 * a
    return np.stack([near, far], 1).astype(np.float32)


def _cubic_matrix(n, out, align_corners, half_pixel_centers):
    table = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    at = _positions(n, out, align_corners, half_pixel_centers)
    floor = np.floor(at).astype(np.int64)
    offset = np.rint((at - floor) * _TABLE).astype(np.int64)
    weights = np.stack([table[offset, 1], table[offset, 0], table[_TABLE - offset, 0], table[_TABLE - offset, 1]], 1)
    columns = floor[:, None] + np.arange(-1, 3)
    inside = np.clip(columns, 0, n - 1)
    if half_pixel_centers:  # pixels outside do not count
        weights = np.where(columns == inside, weights, 0)
        weights = weights / weights.sum(1, keepdims=True)
    matrix = np.zeros((out, n), np.float32)
    np.add.at(matrix, (np.arange(out)[:, None], inside), weights)
    return matrix


def _area_matrix(n, out, align_corners):
    scale = _scale(n, out, align_corners)
    start = np.arange(out, dtype=np.float32)[:, None] * scale
    pixels = np.arange(n, dtype=np.float32)
    overlap = np.minimum(pixels + 1, start + scale) - np.maximum(pixels, start)
    matrix = np.maximum(overlap, 0)
    beyond = np.maximum(start + scale - n, 0)[:, 0]  # the last pixel replaces those outside
    matrix[:, -1] += beyond
    return (matrix / scale).astype(np.float32)


def _apply(xp, rows, columns, images):
    """Computes rows @ images @ columns^T for each channel."""
    if xp is np:
        n, height, width, channels = images.shape
        rows, columns = rows.astype(images.dtype), columns.astype(images.dtype)
        half = np.matmul(rows, images.reshape(n, height, width * channels))
        return np.matmul(columns, half.reshape(n, len(rows), width, channels))
    for axis, matrix, letters in ((1, rows, "oh,nhwc->nowc"), (2, columns, "ow,nhwc->nhoc")):
        if isinstance(matrix, np.ndarray) and np.count_nonzero(matrix, 1).max() <= _FEW:  # others are traced
            images = _weighted(xp, matrix, images, axis)
        else:
            images = xp.einsum(letters, matrix, images, precision="highest")
    return images


_FEW = 8  # pixels up to which summing them is faster than the product with the matrix, whose operands are transposed


def _weighted(xp, matrix, images, axis):
    """Computes matrix @ images along an axis, for rows of few nonzero elements."""
    order = np.argsort(matrix == 0, axis=1, kind="stable")  # those first
    total = None
    for places in order[:, : np.count_nonzero(matrix, 1).max()].T:
        weights = np.take_along_axis(matrix, places[:, None], 1)[:, 0]
        term = xp.take(images, places.astype(np.int32), axis=axis) * weights.reshape((-1,) + (1,) * (3 - axis))
        total = term if total is None else total + term
    return total


# -- shared by the records -------------------------------------------------------------


def _resized(images, size):
    n, _, _, channels = with_rank(images, 4, "images")
    if size is None:
        return n, None, None, channels
    if len(size) != 2:
        raise Complaint(f"size must have 2 elements, height and width, but has {len(size)}", "give [height, width]")
    if any(d is not None and d <= 0 for d in size):
        raise Complaint(f"output dimensions must be positive, not {size}", "give a height and width of at least 1")
    return n, size[0], size[1], channels


def _sizes(size, images):
    height, width = (int(d) for d in size)
    if height <= 0 or width <= 0:
        raise Complaint(f"output dimensions must be positive, not {(height, width)}", "give at least 1")
    return (images.shape[1], height), (images.shape[2], width)


def _options(op):
    return {k: op.attrs[k] for k in ("align_corners", "half_pixel_centers") if k in op.attrs}


def _of_original(grads, original):
    with_rank(grads, 4, "grads")
    return with_rank(original, 4, "original_image")


def _size_of(image):
    return part(shape_of(image), 1, 3)


def _declare_gradient(forward, matrix, differentiable):
    """Declares the gradient of an interpolation, by a product with a matrix for each axis, for some dtypes."""

    @op(f"{forward.name}Grad", "grads: float32, original_image: T -> output: T", T=FLOATING, shape=_of_original,
        eager_seconds=3e-9)
    def transpose(xp, dy, original, *, align_corners=False, half_pixel_centers=False):
        """Applies the transpose of an interpolation."""
        rows, columns = (matrix(n, out, align_corners, half_pixel_centers).T
                         for n, out in zip(original.shape[1:3], dy.shape[1:3], strict=True))
        return _apply(xp, rows, columns, dy).astype(original.dtype)

    @forward.grad
    def _forward_grad(op, dy):
        image = op.inputs[0]
        return transpose(dy, image, **_options(op)) if image.dtype in differentiable else None, None

    @transpose.grad
    def _transpose_grad(op, ddx):
        return forward(ddx, _size_of(op.inputs[0]), **_options(op)), None


# -- ResizeBilinear --------------------------------------------------------------------


@op("ResizeBilinear", "images: T, size: int32 -> resized_images: float32", T=REAL, host=("size",), shape=_resized,
    eager_seconds=2e-9)
def resize_bilinear_op(xp, images, size, *, align_corners=False, half_pixel_centers=False):
    """Interpolates each pixel between the four around it."""
    x = images.astype(np.float32)
    for axis, (n, out) in zip((1, 2), _sizes(size, images), strict=True):
        lower, upper, weight = _linear(n, out, align_corners, half_pixel_centers)
        weight = weight.reshape((-1, 1, 1) if axis == 1 else (-1, 1)).astype(np.float32)
        low, high = xp.take(x, lower, axis=axis), xp.take(x, upper, axis=axis)
        if xp is np:
            high -= low
            high *= weight
            high += low
            x = high
        else:
            x = low + (high - low) * weight
    return x


_declare_gradient(resize_bilinear_op, _linear_matrix, FLOATING)


# -- ResizeNearestNeighbor -------------------------------------------------------------


@op("ResizeNearestNeighbor", "images: T, size: int32 -> resized_images: T", T=REAL, host=("size",), shape=_resized,
    linear=Linear.JOINTLY)
def resize_nearest_op(xp, images, size, *, align_corners=False, half_pixel_centers=False):
    """Copies the nearest input pixel."""
    for axis, (n, out) in zip((1, 2), _sizes(size, images), strict=True):
        images = xp.take(images, _nearest(n, out, align_corners, half_pixel_centers), axis=axis)
    return images


@resize_nearest_op.grad
def _resize_nearest_op_grad(op, dy):
    return raw.ResizeNearestNeighborGrad(dy, _size_of(op.inputs[0]), **_options(op)), None


@op("ResizeNearestNeighborGrad", "grads: T, size: int32 -> output: T", T=REAL, host=("size",), shape=_resized,
    linear=Linear.JOINTLY)
def resize_nearest_grad(xp, dy, size, *, align_corners=False, half_pixel_centers=False):
    """Applies the transpose of ResizeNearestNeighbor: each pixel gets the gradients of its copies."""
    rows, columns = (_nearest_matrix(int(n), out, align_corners, half_pixel_centers).T.astype(_wide(dy.dtype))
                     for n, out in zip(size, dy.shape[1:3], strict=True))
    return _apply(xp, rows, columns, dy.astype(rows.dtype)).astype(dy.dtype)


def _wide(dtype):
    return np.float32 if dtype.itemsize <= 2 else dtype


@resize_nearest_grad.grad
def _resize_nearest_grad_grad(op, ddx):
    return raw.ResizeNearestNeighbor(ddx, _size_of(op.inputs[0]), **_options(op)), None


# -- ResizeBicubic and ResizeArea ------------------------------------------------------


@op("ResizeBicubic", "images: T, size: int32 -> resized_images: float32", T=REAL, host=("size",), shape=_resized)
def resize_bicubic_op(xp, images, size, *, align_corners=False, half_pixel_centers=False):
    """Interpolates each pixel by cubics between the sixteen around it."""
    rows, columns = (_cubic_matrix(n, out, align_corners, half_pixel_centers) for n, out in _sizes(size, images))
    return _apply(xp, rows, columns, images.astype(np.float32))


_declare_gradient(resize_bicubic_op, _cubic_matrix, (float32, float64))


@op("ResizeArea", "images: T, size: int32 -> resized_images: float32", T=REAL, host=("size",), shape=_resized)
def resize_area_op(xp, images, size, *, align_corners=False):
    """Averages over the area of each pixel in the input."""
    rows, columns = (_area_matrix(n, out, align_corners) for n, out in _sizes(size, images))
    return _apply(xp, rows, columns, images.astype(np.float32))


@resize_area_op.grad
def _resize_area_op_grad(op, dy):
    image = op.inputs[0]
    if not image.dtype.is_floating:
        return None, None
    return raw.ResizeAreaGrad(dy, image, align_corners=op._attr("align_corners")), None


@op("ResizeAreaGrad", "grads: float32, original_image: T -> output: T", T=FLOATING, shape=_of_original)
def resize_area_grad(xp, dy, original, *, align_corners=False):
    """Applies the transpose of ResizeArea."""
    rows, columns = (_area_matrix(n, out, align_corners).T
                     for n, out in zip(original.shape[1:3], dy.shape[1:3], strict=True))
    return _apply(xp, rows, columns, dy).astype(original.dtype)


@resize_area_grad.grad
def _resize_area_grad_grad(op, ddx):
    return raw.ResizeArea(ddx, _size_of(op.inputs[0]), align_corners=op._attr("align_corners")), None


limit_ranks(
    vectors="""
        ResizeArea.size ResizeBicubic.size ResizeBilinear.size ResizeNearestNeighbor.size
        ResizeNearestNeighborGrad.size""",
)
