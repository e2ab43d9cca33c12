"""Images of single formats: BMP, GIF, parts of JPEG files, and JPEG compression as a distortion."""

from __future__ import annotations

import struct

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INDEX, as_dtype, int32, uint8
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.random.random import random_uniform
from graphgrad.ops.random.stateless import stateless_uniform

from .adjust import convert_image_dtype
from .bmp import bitmap
from .image_arguments import as_image
from .jpeg_png import decode_jpeg, image_shape
from .pillow import format_of, pictures_of, pixels_of, single_picture

# -- BMP, GIF ----------------------------------------------------------------------------


@op("DecodeBmp", "contents: string -> image: uint8", flags=("host",), shape=image_shape)
def decode_bmp_op(xp, contents, *, channels=0):
    """Decodes a BMP file without compression: 8 (grey), 24 or 32 bits per pixel."""
    data = contents.item()
    kind = format_of(data)
    if kind != "BMP":
        raise Complaint(f"Trying to decode {kind} format using DecodeBmp op",
                        f"use `decode_{kind.lower()}` or `decode_image` instead")
    return bitmap(data, channels)


decode_bmp_op.grad(NOT_DIFFERENTIABLE)


@op("DecodeGif", "contents: string -> image: uint8", flags=("host",), shape=lambda contents: (None, None, None, 3))
def decode_gif_op(xp, contents):
    """Decodes the pictures of a GIF file."""
    data = contents.item()
    return pictures_of(data) if format_of(data) == "GIF" else single_picture(data, 3, uint8)[None]


decode_gif_op.grad(NOT_DIFFERENTIABLE)


def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """Decodes a BMP image without compression.

    Args:
      contents: a string scalar, the bytes of the file.
      channels: 1 for grey (8 bits per pixel), 3 for RGB (24), 4 for RGBA (32); 0 for the file's own.
      name: a name for the operation.
    Returns: uint8, (height, width, channels).
    Raises: InvalidArgumentError at run time for another kind of file, or other channels.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeBmp.

    >>> tf.image.decode_bmp(tf.placeholder(tf.string, []), channels=3).shape.as_list()
    [None, None, 3]
    """
    return raw.DecodeBmp(contents, channels=whole(channels), name=name)


def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """Decodes the pictures of a GIF file, or a JPEG or PNG image (by Pillow; extra `image`).

    Args:
      contents: a string scalar, the bytes of the file.
      name: a name for the operation.
    Returns: uint8, (N, height, width, 3).
    Raises: InvalidArgumentError at run time for anything but a GIF file.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeGif.

    >>> tf.image.decode_gif(tf.placeholder(tf.string, [])).shape.as_list()
    [None, None, None, 3]
    """
    return raw.DecodeGif(contents, name=name)


# -- JPEG --------------------------------------------------------------------------------


@op("DecodeAndCropJpeg", "contents: string, crop_window: int32 -> image: uint8", flags=("host",),
    peek=("crop_window",))
def decode_and_crop_jpeg_op(xp, contents, window, *, channels=0, ratio=1, fancy_upscaling=True,
                            try_recover_truncated=False, acceptable_fraction=1.0, dct_method=""):
    """Decodes a part of a JPEG image."""
    kind = format_of(contents.item())
    if kind != "JPEG":
        raise Complaint(f"DecodeAndCropJpeg operation can run on JPEG only, but detected {kind}", "feed a JPEG file")
    image = pixels_of(contents.item(), kind, channels, uint8)
    image = image[::ratio, ::ratio] if ratio > 1 else image
    if len(window) != 4:
        raise Complaint(f"crop_size must have four elements but has {len(window)}", "give [y, x, height, width]")
    y, x, height, width = window.tolist()
    if min(y, x) < 0 or min(height, width) <= 0 or y + height > image.shape[0] or x + width > image.shape[1]:
        raise Complaint(f"the crop window {window.tolist()} is not within the image of {image.shape[:2]}",
                        "keep y + height and x + width within the image")
    return image[y : y + height, x : x + width]


@decode_and_crop_jpeg_op.shape
def _decode_and_crop_jpeg_shape(contents, window, channels):
    height, width = window[2:] if window is not None and len(window) == 4 else (None, None)
    return height, width, channels or None


decode_and_crop_jpeg_op.grad(NOT_DIFFERENTIABLE)


@op("ExtractJpegShape", "contents: string -> image_shape: output_type", output_type=INDEX, flags=("host",),
    shape=lambda contents: (3,))
def extract_jpeg_shape_op(xp, contents, *, output_type=int32):
    """Reads the height, width and channels of a JPEG image from its header alone."""
    data, at = contents.item(), 2
    if data[:2] == b"\xff\xd8":
        while at + 9 < len(data) and data[at] == 0xFF:
            marker, size = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a frame begins
                height, width, channels = struct.unpack_from(">HHB", data, at + 5)
                return np.asarray([height, width, channels], output_type.np_dtype)
            at += 1 if marker == 0xFF else 2 + size
    raise Complaint(f"Invalid JPEG data, size {len(data)}", "feed the bytes of a JPEG file")


extract_jpeg_shape_op.grad(NOT_DIFFERENTIABLE)


def decode_and_crop_jpeg(contents: TensorLike, crop_window: TensorLike, channels: int = 0, ratio: TensorLike = 1,
                         fancy_upscaling: bool = True, try_recover_truncated: bool = False,
                         acceptable_fraction: float = 1, dct_method: str = "", name: str | None = None) -> Tensor:
    """Decodes a part of a JPEG image (by Pillow; extra `image`).

    Args:
      contents: a string scalar, the bytes of the file.
      crop_window: int32, [y, x, height, width].
      channels, ratio: as for `decode_jpeg`.
      fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method: accepted as TensorFlow does.
      name: a name for the operation.
    Returns: uint8, (height, width, channels): what a slice of `decode_jpeg` gives.
    Raises: InvalidArgumentError at run time for anything but an image, or a window that is not within it.
    Gradient: none.
    Reference: TensorFlow 2.21 DecodeAndCropJpeg.

    >>> tf.image.decode_and_crop_jpeg(tf.placeholder(tf.string, []), [1, 2, 3, 4], channels=3).shape.as_list()
    [3, 4, 3]
    """
    return raw.DecodeAndCropJpeg(contents, convert_to_tensor(crop_window, int32), channels=channels, ratio=ratio,
                                 fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
                                 acceptable_fraction=acceptable_fraction, dct_method=dct_method,
                                 name=name)


def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = int32, name: str | None = None) -> Tensor:
    """Reads the shape of a JPEG image, without decoding it.

    Args:
      contents: a string scalar, the bytes of the file.
      output_type: int32 or int64.
      name: a name for the operation.
    Returns: [height, width, channels].
    Raises: InvalidArgumentError at run time for anything but a JPEG file.
    Gradient: none.
    Reference: TensorFlow 2.21 ExtractJpegShape.

    >>> tf.image.extract_jpeg_shape(tf.placeholder(tf.string, [])).shape.as_list()
    [3]
    """
    return raw.ExtractJpegShape(contents, output_type=as_dtype(output_type), name=name)


def adjust_jpeg_quality(image: TensorLike, jpeg_quality: TensorLike, dct_method: str = "",
                        name: str | None = None) -> Tensor:
    """Compresses an image as JPEG and decodes it again (by Pillow; extra `image`).

    Args:
      image: (height, width, channels) of 1 or 3 channels; floats are in [0, 1].
      jpeg_quality: a number or an int32 scalar, from 0 to 100.
      dct_method: accepted as TensorFlow does.
      name: a name for the scope of the operations.
    Returns: an image of the same shape and dtype.
    Raises: ValueError for another rank or number of channels; InvalidArgumentError at run time for a quality that is
      out of range.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.image.adjust_jpeg_quality`.

    >>> tf.image.adjust_jpeg_quality(np.zeros((2, 2, 3), np.float32), 75).dtype
    tf.float32
    """
    with name_scope(name, "adjust_jpeg_quality"):
        image = as_image(image)
        dtype, channels = image.dtype, with_rank(image._spec.shape, 3, "image")[2]
        small = convert_image_dtype(image, uint8, saturate=True)
        data = raw.EncodeJpegVariableQuality(small, convert_to_tensor(jpeg_quality, int32))
        found = decode_jpeg(data, channels=channels or 0, dct_method=dct_method)
        found.set_shape(image._spec.shape)
        return convert_image_dtype(found, dtype, saturate=True)


def _check_qualities(low, high):
    if not (0 <= low <= 100 and 0 <= high <= 100):
        raise ValueError(f"jpeg encoding range must be between 0 and 100, not {low} to {high}. Fix: use numbers there")
    if low >= high:
        raise ValueError(f"`min_jpeg_quality` must be less than `max_jpeg_quality`, not {low} and {high}. "
                         "Fix: give the smaller one first")


def random_jpeg_quality(image: TensorLike, min_jpeg_quality: TensorLike, max_jpeg_quality: TensorLike,
                        seed: int | None = None) -> Tensor:
    """Compresses an image as JPEG with a random quality and decodes it again.

    Args:
      image: (height, width, channels) of 1 or 3 channels.
      min_jpeg_quality, max_jpeg_quality: the bounds of the quality, from 0 to 100; the second is not included.
      seed: the op's seed; see `set_random_seed`.
    Returns: an image of the same shape and dtype.
    Raises: ValueError for bounds that are out of range or order.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.image.random_jpeg_quality`.

    >>> tf.image.random_jpeg_quality(np.zeros((2, 2, 3), np.uint8), 75, 95).dtype
    tf.uint8
    """
    _check_qualities(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, random_uniform([], min_jpeg_quality, max_jpeg_quality, dtype=int32, seed=seed))


def stateless_random_jpeg_quality(image: TensorLike, min_jpeg_quality: TensorLike, max_jpeg_quality: TensorLike,
                                  seed: TensorLike) -> Tensor:
    """Compresses an image as JPEG with a quality chosen by the seed alone, and decodes it again.

    Args:
      image: (height, width, channels) of 1 or 3 channels.
      min_jpeg_quality, max_jpeg_quality: the bounds of the quality, from 0 to 100; the second is not included.
      seed: two integers.
    Returns: an image of the same shape and dtype.
    Raises: ValueError for bounds that are out of range or order.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.image.stateless_random_jpeg_quality`.

    >>> stateless_random_jpeg_quality(np.zeros((2, 2, 3), np.uint8), 75, 95, [1, 2]).dtype
    tf.uint8
    """
    _check_qualities(min_jpeg_quality, max_jpeg_quality)
    quality = stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, int32)
    return adjust_jpeg_quality(image, quality)
