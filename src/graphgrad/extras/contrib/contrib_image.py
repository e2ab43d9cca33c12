"""`tf.contrib.image`: projective transforms of images, and warps.

Reference: TensorFlow 1.15 `tf.contrib.image`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float16, float32, float64, int32, int64, uint8
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.math.clip import clip_by_value

_DTYPES = (uint8, int32, int64, float16, float32, float64)


def _images(images: Any) -> tuple[Any, int]:
    """Returns images as (N, H, W, C), and their original rank."""
    images = convert_to_tensor(images, name="images")
    if images.dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype.name}.\n  Asked for at {user_source(3)}\n  Fix: tf.cast")
    rank = images.shape.rank
    if rank not in (2, 3, 4):
        raise TypeError(f"Images should have rank between 2 and 4, not {rank}.\n  Asked for at {user_source(3)}\n"
                        "  Fix: (N, H, W, C), (H, W, C) or (H, W)")
    if rank == 2:
        images = raw.ExpandDims(images, -1)
    return (images if rank == 4 else raw.ExpandDims(images, 0)), rank


def _as_before(images: Any, rank: int) -> Any:
    return images if rank == 4 else raw.Squeeze(images, squeeze_dims=(0,) if rank == 3 else (0, 3))


def _rows(values: Any, size: int | None, what: str) -> Any:
    values = convert_to_tensor(values, float32, name=what)
    ranks = (0, 1) if size is None else (1, 2)
    if values.shape.rank not in ranks:
        raise TypeError(f"{what} should have rank {ranks[0]} or {ranks[1]}, not {values.shape.rank}.\n"
                        f"  Asked for at {user_source(3)}\n  Fix: one for all images, or one for each")
    return raw.ExpandDims(values, 0) if values.shape.rank == ranks[0] else values


def transform(images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None,
              name: str | None = None) -> Tensor:
    """Applies projective transforms to images; pixels from outside are 0.

    Args:
      images: (N, H, W, C), (H, W, C) or (H, W).
      transforms: (N, 8), (1, 8) or (8,): a row a0 a1 a2 b0 b1 b2 c0 c1 maps the output's pixel (x, y) to
        ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) of the input, with k = c0 x + c1 y + 1.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: (height, width) of the output; those of the input by default.
      name: a name for the operations.
    Returns: images of the input's rank and dtype.
    Raises: TypeError for other dtypes and ranks.
    Gradient: with respect to images: the transpose. TensorFlow 1.15 applied the inverse transform instead.

    >>> from graphgrad.compat import contrib
    >>> sess.run(contrib.image.transform([[1, 2], [3, 4]], [1, 0, 1, 0, 1, 0, 0, 0]))
    array([[2, 0],
           [4, 0]], dtype=int32)
    """
    with name_scope(name, "transform"):
        batch, rank = _images(images)
        size = shape(batch)[1:3] if output_shape is None else convert_to_tensor(output_shape, int32)
        out = raw.ImageProjectiveTransformV2(batch, _rows(transforms, 8, "transforms"), size,
                                             interpolation=interpolation.upper())
        if output_shape is None:
            out.set_shape(batch.shape)
        return _as_before(out, rank)


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Rotates images about their centres, counterclockwise.

    Args:
      images: (N, H, W, C), (H, W, C) or (H, W).
      angles: in radians, one, or one for each image.
      interpolation: "NEAREST" or "BILINEAR".
      name: a name for the operations.
    Returns: images of the input's shape and dtype; pixels from outside are 0.
    Raises: TypeError for other dtypes and ranks.
    Gradient: with respect to images.

    >>> from graphgrad.compat import contrib
    >>> sess.run(contrib.image.rotate([[1, 2], [3, 4]], np.pi / 2))
    array([[2, 4],
           [1, 3]], dtype=int32)
    """
    with name_scope(name, "rotate"):
        batch, rank = _images(images)
        height, width = (raw.Cast(shape(batch)[i], DstT=float32) for i in (1, 2))
        turned = transform(batch, angles_to_projective_transforms(angles, height, width), interpolation)
        return _as_before(turned, rank)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Shifts images.

    Args:
      images: (N, H, W, C), (H, W, C) or (H, W).
      translations: (dx, dy), or one for each image (N, 2).
      interpolation: "NEAREST" or "BILINEAR".
      name: a name for the operations.
    Returns: images of the input's shape and dtype; pixels from outside are 0.
    Raises: TypeError for other dtypes and ranks.
    Gradient: with respect to images.
    """
    with name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any,
                                    name: str | None = None) -> Tensor:
    """Computes the transforms that rotate images about their centres.

    Args:
      angles: in radians, a scalar or (N,).
      image_height, image_width: the size of images.
      name: a name for the operations.
    Returns: (N, 8), for `transform`.
    """
    with name_scope(name, "angles_to_projective_transforms"):
        a = _rows(angles, None, "angles")
        right, down = (raw.Cast(convert_to_tensor(n), DstT=float32) - 1.0 for n in (image_width, image_height))
        cos, sin, zero = raw.Cos(a), raw.Sin(a), raw.ZerosLike(a)
        x = (right - (cos * right - sin * down)) / 2.0
        y = (down - (sin * right + cos * down)) / 2.0
        return raw.Pack([cos, -sin, x, sin, cos, y, zero, zero], axis=1)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Tensor:
    """Computes the transforms that shift images.

    Args:
      translations: (dx, dy), or (N, 2).
      name: a name for the operations.
    Returns: (N, 8), for `transform`.
    """
    with name_scope(name, "translations_to_projective_transforms"):
        t = _rows(translations, 2, "translations")
        zero = raw.ZerosLike(t[:, 0])
        one = raw.OnesLike(zero)
        return raw.Pack([one, zero, -t[:, 0], zero, one, -t[:, 1], zero, zero], axis=1)


def flat_transforms_to_matrices(transforms: Any) -> Tensor:
    """Converts rows of 8 numbers to matrices (N, 3, 3).

    Args:
      transforms: (N, 8) or (8,).
    Returns: (N, 3, 3), float32.
    """
    flat = raw.Reshape(convert_to_tensor(transforms, float32), np.array([-1, 8], np.int32))
    return raw.Reshape(raw.ConcatV2([flat, raw.OnesLike(flat[:, :1])], 1), np.array([-1, 3, 3], np.int32))


def matrices_to_flat_transforms(transform_matrices: Any) -> Tensor:
    """Converts matrices (..., 3, 3) to rows (N, 8), scaled so that the last element is 1.

    Args:
      transform_matrices: (..., 3, 3).
    Returns: (N, 8), float32.
    """
    flat = raw.Reshape(convert_to_tensor(transform_matrices, float32), np.array([-1, 9], np.int32))
    return (flat / flat[:, 8:])[:, :8]


def compose_transforms(*transforms: Any) -> Tensor:
    """Composes several transforms, the first one applied first, to one.

    Args:
      *transforms: each (8,) or (N, 8).
    Returns: (N, 8), for `transform`.
    """
    if not transforms:
        raise ValueError("transforms cannot be empty. Fix: give at least one")
    composed = flat_transforms_to_matrices(transforms[0])
    for t in transforms[1:]:
        composed = raw.BatchMatMulV2(composed, flat_transforms_to_matrices(t))
    return matrices_to_flat_transforms(composed)


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Tensor:
    """Warps images: pixel (j, i) is the one at (j, i) - flow(j, i), by bilinear interpolation.

    Args:
      image: (N, H, W, C), floats.
      flow: (N, H, W, 2), floats: the shift in rows and columns.
      name: a name for the operations.
    Returns: (N, H, W, C).
    Raises: ValueError for images smaller than 2 by 2.
    Gradient: with respect to both.

    >>> from graphgrad.compat import contrib
    >>> pixels = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 2, 2, 1])
    >>> moved = contrib.image.dense_image_warp(pixels, tf.ones([1, 2, 2, 2]) / 2)
    >>> sess.run(moved)[0, :, :, 0]
    array([[1. , 1.5],
           [2. , 2.5]], dtype=float32)
    """
    with name_scope(name):
        image = convert_to_tensor(image)
        flow = convert_to_tensor(flow)
        sizes = image.shape.as_list()[1:3]
        if any(n is not None and n < 2 for n in sizes):
            raise ValueError(f"Grid must be at least 2 by 2, not {sizes}\n  Asked for at {user_source(2)}\n"
                             "  Fix: give larger images")
        count = shape(image)
        rows, columns = (raw.Cast(raw.Range(np.int32(0), count[i], np.int32(1)), DstT=flow.dtype) for i in (1, 2))
        at = [raw.ExpandDims(rows, 1) - flow[..., 0], columns - flow[..., 1]]
        floors, weights = [], []
        for i, query in enumerate(at):
            last = raw.Cast(count[i + 1] - 2, DstT=query.dtype)
            zero = convert_to_tensor(0.0, query.dtype)
            low = raw.StopGradient(raw.Minimum(raw.Maximum(raw.Floor(query), zero), last))
            weights.append(raw.Cast(raw.ExpandDims(clip_by_value(query - low, 0.0, 1.0), -1), DstT=image.dtype))
            floors.append(raw.Cast(low, DstT=int32))
        flat = raw.Reshape(image, raw.Pack([count[0], np.int32(-1), count[3]]))

        def pixel(down: int, right: int) -> Any:
            index = (floors[0] + down) * count[2] + floors[1] + right
            rows = raw.GatherV2(flat, raw.Reshape(index, raw.Pack([count[0], np.int32(-1)])), np.int32(1), batch_dims=1)
            return raw.Reshape(rows, count)

        y, x = weights
        top, bottom = (pixel(d, 0) + x * (pixel(d, 1) - pixel(d, 0)) for d in (0, 1))
        warped = top + y * (bottom - top)
        warped.set_shape(image.shape)
        return warped
