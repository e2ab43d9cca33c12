"""Encoding of images as files, and decoding of any format."""

from __future__ import annotations

import io

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, uint8, uint16
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank_at_least
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.training.summaries.summary_ops import encode_png as _png

from .adjust import convert_image_dtype
from .bmp import bitmap
from .jpeg_png import image_shape
from .pillow import format_of, pictures_of, pillow_missing, pixels_of


def _scalar(data):
    result = np.empty((), object)
    result[()] = data
    return result


def _encoded_shape(image):
    with_rank_at_least(image, 3, "image")
    if image is not None and image[-1] not in (1, 2, 3, 4, None):
        raise Complaint(f"image must have 1, 2, 3, or 4 channels but has {image[-1]}", "give grey, RGB or RGBA images")
    return image if image is None else image[:-3]


@op("EncodePng", "image: T -> contents: string",
    prefers={"T": "uint8"}, T=frozenset({uint8, uint16}), flags=("host",), shape=_encoded_shape)
def encode_png_op(xp, image, *, compression=-1):
    """Encodes images as PNG files."""
    flat = image.reshape(-1, *image.shape[-3:])
    result = np.empty(len(flat), object)
    for i, pixels in enumerate(flat):
        result[i] = _png(pixels)
    return result.reshape(image.shape[:-3])


encode_png_op.grad(NOT_DIFFERENTIABLE)


def _jpeg_shape(image, format):
    channels = {"": (1, 3), "grayscale": (1,), "rgb": (3,)}
    if format not in channels:
        raise Complaint(f"format must be '', 'grayscale' or 'rgb', not {format!r}", "leave it out")
    if image is not None and (len(image) != 3 or image[2] not in (*channels[format], None)):
        raise Complaint(f"image must be (height, width, channels) with 1 or 3 channels, not {image}", "give one image")
    return ()


@op("EncodeJpeg", "image: uint8 -> contents: string", flags=("host",), shape=_jpeg_shape,
    limits={"density_unit": frozenset({"in", "cm"})})
def encode_jpeg_op(xp, image, *, format="", quality=95, progressive=False, optimize_size=False,
                   chroma_downsampling=True, density_unit="in", x_density=300, y_density=300,
                   xmp_metadata=""):
    """Encodes an image as a JPEG file."""
    try:
        from PIL import Image
    except ImportError:
        raise pillow_missing("encoding JPEG") from None
    pixels = Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image)
    data = io.BytesIO()
    scale = 1.0 if density_unit == "in" else 2.54
    pixels.save(data, "JPEG", quality=quality, progressive=progressive, optimize=optimize_size,
                subsampling=2 if chroma_downsampling else 0, dpi=(x_density * scale, y_density * scale))
    return _scalar(data.getvalue())


encode_jpeg_op.grad(NOT_DIFFERENTIABLE)


def _any_quality_shape(images, quality):
    return _jpeg_shape(images, "")


@op("EncodeJpegVariableQuality", "images: uint8, quality: int32 -> contents: string", flags=("host",),
    shape=_any_quality_shape)
def encode_jpeg_variable_quality_op(xp, images, quality):
    """Encodes an image as a JPEG file, of a quality known only to the run."""
    if not 0 <= quality <= 100:
        raise Complaint(f"quality must be in [0,100], got {quality}", "use a number from 0 to 100")
    return encode_jpeg_op.kernel(xp, images, quality=int(quality))


encode_jpeg_variable_quality_op.grad(NOT_DIFFERENTIABLE)


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """Encodes images as PNG files.

    Args:
      image: (*B, height, width, channels), uint8 or uint16, of 1 (grey), 2 (and alpha), 3 or 4 channels.
      compression: accepted as in TensorFlow; it does not affect the decoded image.
      name: a name for the operation.
    Returns: (*B), string.
    Raises: ValueError for another rank or number of channels.
    Gradient: none.
    Reference: TensorFlow 2.21 EncodePng.

    >>> sess.run(tf.image.encode_png(np.zeros((2, 2, 3), np.uint8)))[:4]
    b'\\x89PNG'
    """
    return raw.EncodePng(image, compression=whole(compression), name=name)


def encode_jpeg(image: TensorLike, format: str = "", quality: int = 95, progressive: bool = False,
                optimize_size: bool = False, chroma_downsampling: bool = True, density_unit: str = "in",
                x_density: int = 300, y_density: int = 300, xmp_metadata: str = "", name: str | None = None) -> Tensor:
    """Encodes an image as a JPEG file (by Pillow; extra `image`).

    Args:
      image: (height, width, channels), uint8, of 1 or 3 channels.
      format: "grayscale", "rgb", or "" to derive it from the channels.
      quality: from 0 to 100.
      progressive: whether the file stores coarse versions first.
      optimize_size: whether to spend more time on a smaller file.
      chroma_downsampling: whether colours have half the resolution.
      density_unit: "in" or "cm".
      x_density, y_density: pixels per unit.
      xmp_metadata: accepted as TensorFlow does; not written.
      name: a name for the operation.
    Returns: a string scalar.
    Raises: ValueError for another rank or number of channels.
    Gradient: none.
    Reference: TensorFlow 2.21 EncodeJpeg.

    >>> tf.image.encode_jpeg(np.zeros((2, 2, 3), np.uint8)).dtype
    tf.string
    """
    return raw.EncodeJpeg(image, format=format, quality=whole(quality), progressive=bool(progressive),
                          optimize_size=bool(optimize_size), chroma_downsampling=bool(chroma_downsampling),
                          density_unit=density_unit, x_density=whole(x_density), y_density=whole(y_density),
                          xmp_metadata=xmp_metadata, name=name)


@op("DecodeImage", "contents: string -> image: uint8", flags=("host",))
def decode_image_op(xp, contents, *, channels=0, expand_animations=True):
    """Decodes an image of any format; all pictures of an animation."""
    if contents.ndim:
        raise Complaint(f"`contents` must be scalar but got shape {list(contents.shape)}", "contents[0]")
    data = contents.item()
    if channels not in (0, 1, 3, 4):
        raise Complaint(f"`channels` must be 0, 1, 3 or 4 but got {channels}", "use one of these")
    kind = format_of(data)
    if kind == "GIF":
        return pictures_of(data, channels) if expand_animations else pictures_of(data, channels, 1)[0]
    if kind == "BMP":
        return bitmap(data, channels, opaque=True)
    if kind == "JPEG" and channels == 4:
        raise Complaint("JPEG does not support 4 channels", "use 3")
    return pixels_of(data, kind, channels, uint8)


@decode_image_op.shape
def _decodeimage_shape(contents, channels, expand_animations):
    return None if expand_animations else image_shape(contents, channels)


decode_image_op.grad(NOT_DIFFERENTIABLE)


def decode_image(contents: TensorLike, channels: int | None = None, dtype: DTypeLike = uint8, name: str | None = None,
                 expand_animations: bool = True) -> Tensor:
    """Decodes a JPEG, PNG, BMP or GIF image (extra `image`).

    Args:
      contents: a string scalar, the bytes of the file.
      channels: 1 for grey, 3 for RGB, 4 for RGBA; 0 for the file's own.
      dtype: the dtype of the result; floats are in [0, 1].
      name: a name for the scope of the operations.
      expand_animations: whether the pictures of a GIF are stacked, else the first one is taken.
    Returns: `dtype`, (height, width, channels), or (N, height, width, 3) for a GIF, of unknown static shape.
    Raises: InvalidArgumentError at run time for anything but an image.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.io.decode_image`.

    >>> png = tf.image.encode_png(np.full((1, 2, 1), 255, np.uint8))
    >>> tf.image.decode_image(png, expand_animations=False).shape.as_list()
    [None, None, None]
    """
    with name_scope(name, "decode_image"):
        contents = convert_to_tensor(contents, name="contents")
        image = raw.DecodeImage(contents, channels=channels or 0, expand_animations=bool(expand_animations))
        return convert_image_dtype(image, as_dtype(dtype)) if as_dtype(dtype) is not uint8 else image


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether the bytes begin as a JPEG file does.

    Args:
      contents: a string scalar.
      name: a name for the scope of the operations.
    Returns: a bool scalar.
    Raises: TypeError for anything but a string.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.io.is_jpeg`.

    >>> sess.run(tf.image.is_jpeg(b"\\xff\\xd8\\xff\\xe0"))
    np.True_
    """
    with name_scope(name, "is_jpeg"):
        first = raw.Substr(convert_to_tensor(contents, name="contents"), np.int32(0), np.int32(3))
        return raw.Equal(first, np.asarray(b"\xff\xd8\xff", object), name="is_jpeg")
