"""Decoding JPEG and PNG images."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import as_dtype, uint8, uint16
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.tensor import DTypeLike, Tensor

from .pillow import single_picture


def image_shape(contents, channels):
    """Returns the shape of one decoded picture; for shape rules."""
    return None, None, channels or None


@op("DecodeJpeg", "contents: string -> image: uint8", flags=("host",), shape=image_shape)
def decode_jpeg_op(xp, contents, *, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
                   acceptable_fraction=1.0, dct_method=""):
    """Decodes a JPEG image."""
    image = single_picture(contents.item(), channels, uint8)
    return image[::ratio, ::ratio] if ratio > 1 else image


decode_jpeg_op.grad(NOT_DIFFERENTIABLE)


@op("DecodePng", "contents: string -> image: dtype", dtype=(uint8, uint16), flags=("host",), shape=image_shape)
def decode_png_op(xp, contents, *, dtype=uint8, channels=0):
    """Decodes a PNG image."""
    return single_picture(contents.item(), channels, dtype)


decode_png_op.grad(NOT_DIFFERENTIABLE)


def decode_jpeg(contents: Any, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
                try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = "",
                name: str | None = None) -> Tensor:
    """Decodes a JPEG image, or a PNG or a GIF of one picture (by Pillow; extra `image`).

    Args:
      contents: a string scalar, the bytes of the file.
      channels: 1 for grey, 3 for RGB; 0 for the file's own.
      ratio: the factor by which to shrink.
      fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method: accepted as
        TensorFlow does.
      name: a name for the operation.
    Returns: uint8, (height, width, channels).
    Raises: InvalidArgumentError at run time for anything but an image.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeJpeg.

    >>> tf.image.decode_jpeg(tf.placeholder(tf.string, []), channels=3).shape.as_list()
    [None, None, 3]
    """
    return raw.DecodeJpeg(contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
                          try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
                          dct_method=dct_method, name=name)


def decode_png(contents: Any, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None) -> Tensor:
    """Decodes a PNG image, or a JPEG or a GIF of one picture (by Pillow; extra `image`).

    Args:
      contents: a string scalar, the bytes of the file.
      channels: 1 for grey, 3 for RGB, 4 for RGBA; 0 for the file's own.
      dtype: uint8 or uint16.
      name: a name for the operation.
    Returns: `dtype`, (height, width, channels).
    Raises: InvalidArgumentError at run time for anything but an image.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodePng.

    >>> tf.image.decode_png(tf.placeholder(tf.string, []), channels=1).shape.as_list()
    [None, None, 1]
    """
    return raw.DecodePng(contents, channels=channels, dtype=as_dtype(dtype), name=name)
