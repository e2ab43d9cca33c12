"""Crops of images that are resized to one size, differentiable in the images and in the boxes."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint, OutOfRangeError
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import FLOATING, REAL, float32, int32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.rule_by_composition import pullback
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import ShapeLike, Tensor, TensorLike
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import part, shape_of
from graphgrad.ops.common.synonyms import either


def _positions(xp, low, high, n, size):
    """Returns, for each box and each of n crop pixels, its position in an image of a size, and whether it is inside."""
    last = np.float32(size - 1)
    if n > 1:
        step = (high - low) * last / np.float32(n - 1)
        at = (low * last)[:, None] + np.arange(n, dtype=np.float32) * step[:, None]
    else:
        at = (np.float32(0.5) * (low + high) * last)[:, None]
    return at, (at >= 0) & (at <= last)


class _Grid:
    """The positions of the pixels of crops."""

    def __init__(self, xp, boxes, shape, crop):
        y, inside_y = _positions(xp, boxes[:, 0], boxes[:, 2], crop[0], shape[1])
        x, inside_x = _positions(xp, boxes[:, 1], boxes[:, 3], crop[1], shape[2])
        self.inside = (inside_y[:, :, None] & inside_x[:, None, :])[..., None]
        self.y, self.x = xp.where(inside_y, y, 0), xp.where(inside_x, x, 0)
        self.rows = [xp.floor(self.y).astype(np.int32), xp.ceil(self.y).astype(np.int32)]
        self.columns = [xp.floor(self.x).astype(np.int32), xp.ceil(self.x).astype(np.int32)]
        lerp_y, lerp_x = (self.y - self.rows[0])[:, :, None, None], (self.x - self.columns[0])[:, None, :, None]
        self.lerp_y, self.lerp_x = lerp_y.astype(np.float32), lerp_x.astype(np.float32)

    def corners(self):
        """Yields the four pixels around each position: (rows, columns, weight)."""
        for i, wy in enumerate((1 - self.lerp_y, self.lerp_y)):
            for j, wx in enumerate((1 - self.lerp_x, self.lerp_x)):
                yield self.rows[i][:, :, None], self.columns[j][:, None, :], wy * wx

    def nearest(self, xp):
        """Returns the nearest pixel to each position."""
        half = np.float32(0.5)  # halves are rounded up, as all positions are positive
        rows, columns = (xp.floor(v + half).astype(np.int32) for v in (self.y, self.x))
        return rows[:, :, None], columns[:, None, :]


def _check(xp, box_ind, batch):
    if xp is np and box_ind.size and (box_ind.min() < 0 or box_ind.max() >= batch):
        raise Complaint("box_index has values outside [0, batch_size)", f"give numbers in [0, {batch})",
                        OutOfRangeError)


def _crop_shape(image, boxes, box_ind, crop_size):
    image = with_rank(image, 4, "image")
    n = _boxes(boxes, box_ind)
    if crop_size is None:
        return n, None, None, image[3]
    if len(crop_size) != 2:
        raise Complaint(f"crop_size must have 2 elements but has {len(crop_size)}", "give [height, width]")
    if any(d is not None and d <= 0 for d in crop_size):
        raise Complaint(f"crop dimensions must be positive, not {crop_size}", "give a height and width of at least 1")
    return n, *crop_size, image[3]


def _boxes(boxes, box_ind):
    n, columns = with_rank(boxes, 2, "boxes")
    (m,) = with_rank(box_ind, 1, "box_ind")
    if columns not in (4, None):
        raise Complaint(f"boxes must have 4 columns but have {columns}", "give [y1, x1, y2, x2] for each box")
    if n is not None and m is not None and n != m:
        raise Complaint(f"there are {n} boxes but {m} numbers of images", "give one number for each box")
    return m if n is None else n


def _method(method):
    if method not in ("bilinear", "nearest"):
        raise Complaint(f"unknown method {method!r}", "use 'bilinear' or 'nearest'")


@op("CropAndResize", "image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32", T=REAL,
    host=("crop_size",), flags=("sized",))
def crop_and_resize_op(xp, image, boxes, box_ind, crop_size, *, method="bilinear", extrapolation_value=0.0):
    """Resizes parts of images to one size."""
    _check(xp, box_ind, image.shape[0])
    grid = _Grid(xp, boxes, image.shape, [int(n) for n in crop_size])
    image, which = xp.asarray(image).astype(np.float32), box_ind[:, None, None]
    if method == "nearest":
        crops = image[(which, *grid.nearest(xp))]
    else:
        crops = sum(image[which, rows, columns] * weight for rows, columns, weight in grid.corners())
    return xp.where(grid.inside, crops, np.float32(extrapolation_value)).astype(np.float32)


@crop_and_resize_op.shape
def _crop_and_resize_shape(image, boxes, box_ind, crop_size, method):
    _method(method)
    return _crop_shape(image, boxes, box_ind, crop_size)


@crop_and_resize_op.refuses("box_ind")
def _crop_and_resize_refuses(xp, image, boxes, box_ind, crop_size):
    return [(box_ind, image.shape[0])]


@crop_and_resize_op.grad
def _crop_and_resize_grad(op, dy):
    image, boxes, box_ind, _ = op.inputs
    method, dimage = op._attr("method"), None
    if image.dtype.is_floating:
        sizes = shape_of(image)
        dimage = raw.CropAndResizeGradImage(dy, boxes, box_ind, sizes, T=image.dtype, method=method)
    # TensorFlow's gradient for boxes is that of the bilinear method, for the nearest pixel too.
    return dimage, raw.CropAndResizeGradBoxes(dy, image, boxes, box_ind), None, None


@op("CropAndResizeGradImage", "grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T",
    T=FLOATING, host=("image_size",), flags=("sized",))
def crop_and_resize_grad_image(xp, dy, boxes, box_ind, image_size, *, T, method="bilinear"):
    """Computes the gradient of CropAndResize for the image."""
    shape = tuple(int(n) for n in image_size)
    _check(xp, box_ind, shape[0])
    grid = _Grid(xp, boxes, shape, dy.shape[1:3])
    which = box_ind[:, None, None]
    dy = xp.where(grid.inside, dy, np.float32(0))
    parts = [(*grid.nearest(xp), dy)] if method == "nearest" else [(r, c, dy * w) for r, c, w in grid.corners()]
    total = xp.zeros(shape, np.float32)
    for rows, columns, part_dy in parts:
        if xp is np:
            np.add.at(total, (which, rows, columns), part_dy)
        else:
            total = total.at[which, rows, columns].add(part_dy)
    return total.astype(T.np_dtype)


@crop_and_resize_grad_image.shape
def _crop_and_resize_grad_image_shape(dy, boxes, box_ind, image_size, method):
    _method(method)
    with_rank(dy, 4, "grads")
    _boxes(boxes, box_ind)
    return (None,) * 4 if image_size is None else image_size


@crop_and_resize_grad_image.refuses("box_ind")
def _crop_and_resize_grad_image_refuses(xp, dy, boxes, box_ind, image_size):
    return [(box_ind, int(image_size[0]))]


@crop_and_resize_grad_image.grad
def _crop_and_resize_grad_image_grad(op, u):
    dy, boxes, box_ind, _ = op.inputs
    method = op._attr("method")
    ddy = raw.CropAndResize(u, boxes, box_ind, part(shape_of(dy), 1, 3), method=method)
    dboxes = raw.CropAndResizeGradBoxes(dy, u, boxes, box_ind) if method == "bilinear" else raw.ZerosLike(boxes)
    return ddy, dboxes, None, None


@op("CropAndResizeGradBoxes", "grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32", T=REAL,
    limits={"method": frozenset({"bilinear"})})
def crop_and_resize_grad_boxes(xp, dy, image, boxes, box_ind, *, method="bilinear"):
    """Computes the gradient of CropAndResize for the boxes."""
    _check(xp, box_ind, image.shape[0])
    grid = _Grid(xp, boxes, image.shape, dy.shape[1:3])
    image, which = xp.asarray(image).astype(np.float32), box_ind[:, None, None]
    (top, bottom), (left, right) = grid.rows, grid.columns
    pixel = {(i, j): image[which, rows[:, :, None], columns[:, None, :]]
             for i, rows in enumerate((top, bottom)) for j, columns in enumerate((left, right))}
    dy = xp.where(grid.inside, dy, np.float32(0))
    by_y = (pixel[1, 0] - pixel[0, 0]) * (1 - grid.lerp_x) + (pixel[1, 1] - pixel[0, 1]) * grid.lerp_x
    by_x = (pixel[0, 1] - pixel[0, 0]) * (1 - grid.lerp_y) + (pixel[1, 1] - pixel[1, 0]) * grid.lerp_y
    dy1, dy2 = _spread_shares(xp, xp.sum(dy * by_y, axis=(2, 3)), image.shape[1])
    dx1, dx2 = _spread_shares(xp, xp.sum(dy * by_x, axis=(1, 3)), image.shape[2])
    return xp.stack([dy1, dx1, dy2, dx2], axis=1).astype(np.float32)


@crop_and_resize_grad_boxes.refuses("box_ind")
def _crop_and_resize_grad_boxes_refuses(xp, dy, image, boxes, box_ind):
    return [(box_ind, image.shape[0])]


def _shares(n, size):
    """Returns the derivatives of a crop pixel's position by both ends of the box."""
    high = np.arange(n, dtype=np.float32) / np.float32(n - 1) if n > 1 else np.full(1, 0.5, np.float32)
    return (1 - high) * np.float32(size - 1), high * np.float32(size - 1)


def _spread_shares(xp, slopes, size):
    return [xp.sum(slopes * s, axis=1) for s in _shares(slopes.shape[1], size)]


@crop_and_resize_grad_boxes.shape
def _crop_and_resize_grad_boxes_shape(dy, image, boxes, box_ind):
    with_rank(dy, 4, "grads")
    with_rank(image, 4, "image")
    return _boxes(boxes, box_ind), 4


class _Places:
    """The positions of crop pixels along one axis, as ops: neighbours, weights and derivatives.

    Args:
      low, high: the ends of the boxes, vectors.
      n: the number of crop pixels, size: of image pixels; int32 scalars.
    """

    def __init__(self, low, high, n, size):
        last = raw.Cast(raw.Sub(size, 1), DstT=float32)
        index = raw.Cast(raw.Range(0, n, 1), DstT=float32)
        spaces = raw.Maximum(raw.Sub(raw.Cast(n, DstT=float32), 1.0), 1.0)
        single = raw.Equal(n, 1)
        share = raw.SelectV2(single, 0.5, raw.RealDiv(index, spaces))
        self.low_share, self.high_share = raw.Mul(raw.Sub(1.0, share), last), raw.Mul(share, last)
        at = raw.AddV2(raw.Mul(raw.ExpandDims(low, 1), self.low_share),
                       raw.Mul(raw.ExpandDims(high, 1), self.high_share))
        self.inside = raw.LogicalAnd(raw.GreaterEqual(at, 0.0), raw.LessEqual(at, last))
        self.at = raw.SelectV2(self.inside, at, 0.0)
        before = raw.StopGradient(raw.Floor(self.at))
        self.lerp = raw.Sub(self.at, before)
        self.ends = [raw.Cast(before, DstT=int32), raw.Cast(raw.Ceil(self.at), DstT=int32)]

    def spread(self, slopes):
        """Computes the gradients of both ends from gradients of the positions."""
        return [raw.Sum(raw.Mul(slopes, s), np.asarray([1], np.int32)) for s in (self.low_share, self.high_share)]


def _at(vector, i):
    return raw.StridedSlice(vector, [i], [i + 1], [1], shrink_axis_mask=1)


def _by_boxes(dy, image, boxes, box_ind):
    """Builds CropAndResizeGradBoxes of ops."""
    image = raw.Cast(image, DstT=float32) if image.dtype is not float32 else image
    shape, crop = raw.Shape(image), raw.Shape(dy)
    y1, x1, y2, x2 = raw.Unpack(boxes, num=4, axis=1)
    y, x = _Places(y1, y2, _at(crop, 1), _at(shape, 1)), _Places(x1, x2, _at(crop, 2), _at(shape, 2))
    inside = raw.LogicalAnd(raw.ExpandDims(y.inside, 2), raw.ExpandDims(x.inside, 1))
    dy = raw.Mul(dy, raw.ExpandDims(raw.Cast(inside, DstT=float32), 3))
    size = part(crop, 0, 3)

    def pixels(i, j):
        places = [raw.Reshape(box_ind, np.asarray([-1, 1, 1], np.int32)), raw.ExpandDims(y.ends[i], 2),
                  raw.ExpandDims(x.ends[j], 1)]
        return raw.GatherNd(image, raw.Pack([raw.BroadcastTo(p, size) for p in places], axis=3))

    p = {(i, j): pixels(i, j) for i in (0, 1) for j in (0, 1)}
    lerp_y, lerp_x = raw.Reshape(y.lerp, _around(crop, 1)), raw.Reshape(x.lerp, _around(crop, 2))

    def mix(a, b, lerp):
        return raw.AddV2(a, raw.Mul(raw.Sub(b, a), lerp))

    by_y = mix(raw.Sub(p[1, 0], p[0, 0]), raw.Sub(p[1, 1], p[0, 1]), lerp_x)
    by_x = mix(raw.Sub(p[0, 1], p[0, 0]), raw.Sub(p[1, 1], p[1, 0]), lerp_y)
    dy1, dy2 = y.spread(raw.Sum(raw.Mul(dy, by_y), np.asarray([2, 3], np.int32)))
    dx1, dx2 = x.spread(raw.Sum(raw.Mul(dy, by_x), np.asarray([1, 3], np.int32)))
    return [raw.Pack([dy1, dx1, dy2, dx2], axis=1)]


def _around(crop, axis):
    return raw.Pack([_at(crop, 0), _at(crop, 1) if axis == 1 else 1, _at(crop, 2) if axis == 2 else 1, 1], axis=0)


@crop_and_resize_grad_boxes.grad
def _crop_and_resize_grad_boxes_grad(op, v):
    image = op.inputs[1]
    wanted = (0, 1, 2) if image.dtype.is_floating else (0, 2)
    found = dict(zip(wanted, pullback(_by_boxes, op.inputs, [v], wanted), strict=True))
    return found[0], found.get(1), found[2], None


# -- public functions --------------------------------------------------------------------


def crop_and_resize(image: TensorLike, boxes: TensorLike, box_indices: TensorLike, crop_size: ShapeLike,
                    method: str = "bilinear", extrapolation_value: TensorLike = 0.0, name: str | None = None) -> Tensor:
    """Cuts parts out of images and resizes them to one size.

    Args:
      image: (N, H, W, C), real.
      boxes: (M, 4), float32: y1, x1, y2, x2, of which 0 is the first and 1 the last pixel; y1 > y2 flips.
      box_indices: (M), int32: the image that each box is in.
      crop_size: the height and width of the crops.
      method: "bilinear" or "nearest".
      extrapolation_value: the value outside of the image.
      name: a name for the operation.
    Returns: (M, height, width, C), float32.
    Raises: ValueError for incompatible shapes; OutOfRangeError at run time for an invalid image index.
    Gradient: of any order, for the image and for the boxes.
    Reference: TensorFlow 2.21 CropAndResize.

    >>> x = np.arange(9.0).reshape(1, 3, 3, 1)
    >>> sess.run(tf.image.crop_and_resize(x, [[0.0, 0.0, 0.5, 0.5]], [0], [2, 2])).ravel()
    array([0., 1., 3., 4.], dtype=float32)
    """
    boxes = convert_to_tensor(boxes, float32, name="boxes")
    return raw.CropAndResize(image, boxes, box_indices, crop_size, method=method,
                             extrapolation_value=float(extrapolation_value), name=name)


def crop_and_resize_v1(image: TensorLike, boxes: TensorLike, box_ind: TensorLike = None,
                       crop_size: TensorLike = None, method: str = "bilinear",
                       extrapolation_value: TensorLike = 0, name: str | None = None,
                       box_indices: TensorLike = None) -> Tensor:
    """Cuts parts out of images and resizes them to one size, with TensorFlow 1's arguments.

    Args:
      image: (N, H, W, C), real.
      boxes: (M, 4), float32: y1, x1, y2, x2, of which 0 is the first and 1 the last pixel.
      box_ind, box_indices: (M), int32: the image that each box is in.
      crop_size: the height and width of the crops.
      method: "bilinear" or "nearest".
      extrapolation_value: the value outside of the image.
      name: a name for the operation.
    Returns: (M, height, width, C), float32.
    Raises: ValueError for incompatible shapes; OutOfRangeError at run time for an invalid image index.
    Gradient: of any order, for the image and for the boxes.
    Reference: TensorFlow 2.21 `tf.compat.v1.image.crop_and_resize`.
    """
    box_ind = either("box_indices", box_indices, "box_ind", box_ind)
    return crop_and_resize(image, boxes, box_ind, crop_size, method, extrapolation_value, name)


limit_ranks(vectors="CropAndResize.crop_size CropAndResizeGradImage.image_size")
