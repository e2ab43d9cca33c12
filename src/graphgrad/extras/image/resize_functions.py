"""The public functions that resize images."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.constant_value import static_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike

from .flips_and_crops import pad_to_bounding_box
from .image_arguments import batched, size_along, unbatched, vector_of


class ResizeMethod:
    """The methods to compute the pixels of a resized image."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


class ResizeMethodV1:
    """The methods to compute the pixels of a resized image: TensorFlow 1's numbers."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def _scaled_size(x, size):
    """Returns the largest size within `size` that keeps the ratio of height and width."""
    heights = raw.Cast(raw.Pack([size_along(x, 1), size_along(x, 2)], axis=0), DstT=float32)
    factor = raw.Min(raw.RealDiv(raw.Cast(size, DstT=float32), heights), np.asarray([0], np.int32))
    return raw.Cast(raw.Round(raw.Mul(factor, heights)), DstT=int32)


def _scaled_known(x, size):
    """Returns the same for known sizes, or None."""
    known, sizes = static_value(size), x._spec.shape[1:3]
    if known is None or None in known or None in sizes:
        return None
    here = np.asarray(sizes, np.float32)
    factor = np.min(np.asarray(known, np.float32) / here)
    return np.round(factor * here).astype(np.int32)


_SUPPORTED = "Fix: use 'bilinear', 'nearest', 'bicubic' or 'area'"
# The kernels of methods that use ScaleAndTranslate.
_KERNELS = {"bilinear": "triangle", "bicubic": "keyscubic", "lanczos3": "lanczos3", "lanczos5": "lanczos5",
            "gaussian": "gaussian", "mitchellcubic": "mitchellcubic"}


def _resize(images, size, resizer, preserve_aspect_ratio, name, skip=False):
    with name_scope(name, "resize"):
        x = convert_to_tensor(images, name="images")
        if x._spec.shape is None:
            raise ValueError("'images' contains no shape. Fix: use set_shape")
        x, added = batched(x)
        try:
            size = convert_to_tensor(size, int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor. Fix: give new height and width as integers") from None
        if size._spec.shape not in ((2,), None):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width. "
                             "Fix: give [height, width]")
        if preserve_aspect_ratio:
            known = _scaled_known(x, size)
            size = _scaled_size(x, size) if known is None else convert_to_tensor(known)
        if skip and static_value(size) == x._spec.shape[1:3] and None not in x._spec.shape[1:3]:
            return unbatched(x, added)
        return unbatched(resizer(x, size), added)


def resize(images: TensorLike, size: TensorLike, method: TensorLike = ResizeMethod.BILINEAR,
           preserve_aspect_ratio: bool = False, antialias: bool = False, name: str | None = None) -> Tensor:
    """Resizes images.

    Args:
      images: (H, W, C) or (N, H, W, C).
      size: the new height and width, an integer vector.
      method: "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian" or "mitchellcubic".
      preserve_aspect_ratio: whether `size` is a bound and the ratio is kept.
      antialias: whether to smooth before shrinking.
      name: a name for the scope of the operations.
    Returns: (*B, height, width, C), float32 unless the method is "nearest".
    Raises: ValueError for another rank or another method.
    Gradient: the transpose of the interpolation.
    Reference: TensorFlow 2.21 `tf.image.resize`.

    >>> import graphgrad
    >>> sess.run(graphgrad.image.resize([[[0.0], [1.0]]], [1, 4])).ravel()
    array([0.  , 0.25, 0.75, 1.  ], dtype=float32)
    """
    methods = {"bilinear": raw.ResizeBilinear, "nearest": raw.ResizeNearestNeighbor, "bicubic": raw.ResizeBicubic}
    methods["area"] = raw.ResizeArea
    kernel = _KERNELS.get(method) if antialias or method not in ("bilinear", "bicubic") else None
    if method not in methods and kernel is None:
        raise ValueError(f"Resize method is not implemented: {method!r}. Fix: use one of "
                         f"{', '.join(sorted({*methods, *_KERNELS}))}")
    options = {} if method == "area" else {"half_pixel_centers": True}

    def resizer(x, size):
        if kernel is None:
            return methods[method](x, size, **options)
        here = raw.Cast(raw.StridedSlice(raw.Shape(x), [1], [3], [1]), DstT=float32)
        scale = raw.RealDiv(raw.Cast(size, DstT=float32), here)
        return raw.ScaleAndTranslate(x, size, scale, np.zeros(2, np.float32), kernel_type=kernel,
                                     antialias=bool(antialias))

    return _resize(images, size, resizer, preserve_aspect_ratio, name)


def resize_v1(images: TensorLike, size: TensorLike, method: TensorLike = ResizeMethodV1.BILINEAR,
              align_corners: bool = False, preserve_aspect_ratio: bool = False, name: str | None = None) -> Tensor:
    """Resizes images as TensorFlow 1 does.

    Args:
      images: (H, W, C) or (N, H, W, C).
      size: the new height and width, an integer vector.
      method: 0 (bilinear), 1 (nearest), 2 (bicubic) or 3 (area), or TensorFlow 2's name.
      align_corners: whether the centres of the corner pixels stay in the corners.
      preserve_aspect_ratio: whether `size` is a bound and the ratio is kept.
      name: a name for the scope of the operations.
    Returns: (*B, height, width, C), float32 unless the method is nearest or the size stays.
    Raises: ValueError for another rank or an unknown method.
    Gradient: the transpose of the interpolation.
    Reference: TensorFlow 2.21 `tf.compat.v1.image.resize_images`.

    >>> sess.run(tf.image.resize_images([[[0.0], [1.0]]], [1, 4])).ravel()
    array([0. , 0.5, 1. , 1. ], dtype=float32)
    """
    kernels = (raw.ResizeBilinear, raw.ResizeNearestNeighbor, raw.ResizeBicubic, raw.ResizeArea)
    methods: dict[object, Any] = dict(enumerate(kernels))
    methods |= dict(zip(("bilinear", "nearest", "bicubic", "area"), kernels, strict=True))
    if method not in methods:
        raise ValueError(f"Resize method is not implemented: {method!r}. {_SUPPORTED}")

    def resizer(x, size):
        return methods[method](x, size, align_corners=bool(align_corners))

    return _resize(images, size, resizer, preserve_aspect_ratio, name, skip=True)


def resize_bilinear(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None,
                    half_pixel_centers: bool = False) -> Tensor:
    """Resizes images by interpolation between four pixels.

    Args:
      images: (N, H, W, C), real.
      size: the new height and width, an integer vector.
      align_corners: whether the centres of the corner pixels stay in the corners.
      name: a name for the operation.
      half_pixel_centers: whether pixels have their centres at half numbers.
    Returns: (N, height, width, C), float32.
    Raises: ValueError for another rank or a size that is not positive.
    Gradient: ResizeBilinearGrad.
    Reference: TensorFlow 2.21 ResizeBilinear.

    >>> sess.run(tf.image.resize_bilinear([[[[0.0], [1.0]]]], [1, 3], align_corners=True)).ravel()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    return raw.ResizeBilinear(images, size, align_corners=bool(align_corners),
                              half_pixel_centers=bool(half_pixel_centers), name=name)


def resize_bicubic(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None,
                   half_pixel_centers: bool = False) -> Tensor:
    """Resizes images by interpolation between sixteen pixels.

    Args:
      images: (N, H, W, C), real.
      size: the new height and width, an integer vector.
      align_corners: whether the centres of the corner pixels stay in the corners.
      name: a name for the operation.
      half_pixel_centers: whether pixels have their centres at half numbers.
    Returns: (N, height, width, C), float32.
    Raises: ValueError for another rank or a size that is not positive.
    Gradient: ResizeBicubicGrad.
    Reference: TensorFlow 2.21 ResizeBicubic.

    >>> sess.run(tf.image.resize_bicubic(np.ones((1, 2, 2, 1)), [1, 3])).ravel()
    array([1., 1., 1.], dtype=float32)
    """
    return raw.ResizeBicubic(images, size, align_corners=bool(align_corners),
                             half_pixel_centers=bool(half_pixel_centers), name=name)


def resize_nearest_neighbor(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None,
                            half_pixel_centers: bool = False) -> Tensor:
    """Resizes images by repeating or dropping pixels.

    Args:
      images: (N, H, W, C), real.
      size: the new height and width, an integer vector.
      align_corners: whether the centres of the corner pixels stay in the corners.
      name: a name for the operation.
      half_pixel_centers: whether pixels have their centres at half numbers.
    Returns: (N, height, width, C), of the same dtype.
    Raises: ValueError for another rank or a size that is not positive.
    Gradient: ResizeNearestNeighborGrad.
    Reference: TensorFlow 2.21 ResizeNearestNeighbor.

    >>> sess.run(tf.image.resize_nearest_neighbor([[[[0], [1]]]], [1, 4])).ravel()
    array([0, 0, 1, 1], dtype=int32)
    """
    return raw.ResizeNearestNeighbor(images, size, align_corners=bool(align_corners),
                                     half_pixel_centers=bool(half_pixel_centers), name=name)


def resize_area(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Resizes images by means over areas.

    Args:
      images: (N, H, W, C), real.
      size: the new height and width, an integer vector.
      align_corners: whether the centres of the corner pixels stay in the corners.
      name: a name for the operation.
    Returns: (N, height, width, C), float32.
    Raises: ValueError for another rank or a size that is not positive.
    Gradient: none is declared, as in TensorFlow.
    Reference: TensorFlow 2.21 ResizeArea.

    >>> sess.run(tf.image.resize_area([[[[0.0], [1.0]]]], [1, 1])).ravel()
    array([0.5], dtype=float32)
    """
    return raw.ResizeArea(images, size, align_corners=bool(align_corners), name=name)


def _with_pad(image, target_height, target_width, resizer):
    with name_scope(None, "resize_image_with_pad"):
        x, added = batched(image)
        sizes = x._spec.shape[1:3]
        if None in sizes or hasattr(target_height, "_spec") or hasattr(target_width, "_spec"):
            targets = raw.Pack([convert_to_tensor(target_height), convert_to_tensor(target_width)], axis=0)
            have = raw.Cast(raw.StridedSlice(raw.Shape(x), [1], [3], [1]), DstT=float32)
            wanted = raw.Cast(targets, DstT=float32)
            fitting = raw.RealDiv(have, raw.Max(raw.RealDiv(have, wanted), 0))
            x = resizer(x, raw.Cast(raw.Floor(fitting), DstT=int32))
            margins = raw.Cast(raw.Floor(raw.RealDiv(raw.Sub(wanted, fitting), 2.0)), DstT=int32)
            top, left = raw.Unpack(raw.Maximum(margins, 0), num=2)
            return unbatched(pad_to_bounding_box(x, top, left, target_height, target_width), added)
        if target_height <= 0 or target_width <= 0:
            raise ValueError("target_height and target_width must be > 0.")
        ratio = max(sizes[1] / target_width, sizes[0] / target_height)
        height, width = sizes[0] / ratio, sizes[1] / ratio
        x = resizer(x, vector_of([int(height), int(width)]))
        # The exact sizes, not the rounded ones, decide the position of the image.
        top, left = (max(0, int((t - n) / 2)) for t, n in ((target_height, height), (target_width, width)))
        return unbatched(pad_to_bounding_box(x, top, left, target_height, target_width), added)


def resize_with_pad(image: TensorLike, target_height: TensorLike, target_width: TensorLike,
                    method: TensorLike = ResizeMethod.BILINEAR, antialias: bool = False) -> Tensor:
    """Resizes images to fit into a size, and surrounds them with zeros.

    Args:
      image: (*B, H, W, C).
      target_height, target_width: the size of the result.
      method, antialias: as in `resize`.
    Returns: (*B, target_height, target_width, C).
    Raises: ValueError if a size is not positive.
    Gradient: that of `resize` and the padding.
    Reference: TensorFlow 2.21 `tf.image.resize_with_pad`.
    """

    def resizer(x, size):
        return resize(x, size, method, antialias=antialias)

    return _with_pad(image, target_height, target_width, resizer)


def resize_with_pad_v1(image: TensorLike, target_height: TensorLike, target_width: TensorLike,
                       method: TensorLike = ResizeMethodV1.BILINEAR, align_corners: bool = False) -> Tensor:
    """Resizes images to fit into a size, and surrounds them with zeros, with TensorFlow 1's arguments.

    Args:
      image: (*B, H, W, C).
      target_height, target_width: the size of the result.
      method, align_corners: as in `resize_images`.
    Returns: (*B, target_height, target_width, C).
    Raises: ValueError if a size is not positive.
    Gradient: that of `resize_images` and the padding.
    Reference: TensorFlow 2.21 `tf.compat.v1.image.resize_image_with_pad`.

    >>> sess.run(tf.image.resize_image_with_pad(np.ones((2, 2, 1)), 2, 4))[0, :, 0]
    array([0., 1., 1., 0.])
    """

    def resizer(x, size):
        return resize_v1(x, size, method, align_corners)

    return _with_pad(image, target_height, target_width, resizer)
