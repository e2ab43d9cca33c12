"""The pixels of image files.

Files may be hostile, and Pillow reads dozens of formats, for some of which it starts other programs. So the first bytes
decide which of the four supported formats a file has, and Pillow is restricted to that one.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, InvalidArgumentError
from graphgrad.extras.image.gif import array_of, gif_pictures
from graphgrad.ir.dtypes import uint8, uint16

_BEGINNINGS = {b"\xff\xd8\xff": "JPEG", b"\x89PNG\r\n\x1a\n": "PNG", b"GIF8": "GIF", b"BM": "BMP"}
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_SCANS = 100  # a scan of a few bytes may cost as much as the whole picture; progressive files have about ten
_LARGE = 1 << 24  # pixels, or bytes of a PNG, beyond which it is checked first that the file contains them
_DENSEST_JPEG = 1024  # pixels per byte: a bit for 64 pixels, in two components, each at full resolution one way
_DENSEST_PNG = 1032  # the largest compression ratio of deflate
_PNG_SAMPLES = {2: 3, 4: 2, 6: 4}  # samples per pixel, by colour type
_PIECE = 1 << 18  # bytes


def pillow_missing(what: str) -> InvalidArgumentError:
    """Returns the error for a missing Pillow."""
    return InvalidArgumentError(None, None, f"{what} needs Pillow. Fix: pip install 'graphgrad[image]'")


def format_of(data: bytes) -> str:
    """Returns "JPEG", "PNG", "GIF" or "BMP"; raises a Complaint for anything else."""
    found = next((kind for begin, kind in _BEGINNINGS.items() if data.startswith(begin)), None)
    if found is None:
        raise Complaint("Unknown image file format. One of JPEG, PNG, GIF, BMP required" if data else "Input is empty",
                        "feed the bytes of a file of one of these formats")
    return found


def _guarded(data: bytes, kind: str, what: Callable[[Any], Any]) -> Any:
    """Applies a function to a file's data, given `PIL.Image`; converts any error to a Complaint."""
    try:
        from PIL import Image
    except ImportError:
        raise pillow_missing(f"decoding {kind}") from None
    try:
        return what(Image)
    except (MemoryError, Complaint):
        raise
    except Exception as e:  # damaged data may raise any error in Pillow
        raise Complaint(f"Invalid {kind} data, size {len(data)} ({e})", "feed the bytes of a whole file") from None


def pixels_of(data: bytes, kind: str, channels: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Decodes the pixels of a JPEG or PNG file.

    Args:
      data: the file's bytes.
      kind: the result of `format_of`.
      channels: 0 for those of the file.
      dtype: uint8 or uint16.
    Returns: (height, width, channels).
    """
    opened = _jpeg if kind == "JPEG" else _png
    pixels = _guarded(data, kind, lambda image_module: _array(opened(data, image_module), channels))
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.dtype == np.uint8 and dtype is uint16:
        return pixels.astype(np.uint16) * 257  # 255 becomes 65535
    if pixels.dtype != np.uint8 and dtype is uint8:
        return (pixels >> 8).astype(np.uint8)
    return pixels


def single_picture(data: bytes, channels: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Decodes a JPEG or PNG file, or a GIF of one picture: (height, width, channels)."""
    kind = format_of(data)
    if kind == "BMP":
        raise Complaint("Trying to decode BMP format using a wrong op", "use `decode_bmp` or `decode_image` instead")
    if kind != "GIF":
        return pixels_of(data, kind, channels, dtype)
    found = pictures_of(data, channels)
    if len(found) > 1:
        raise Complaint(f"Got {len(found)} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                        "tf.io.decode_image", "use one of these")
    return found[0].astype(np.uint16) << 8 if dtype is uint16 else found[0]


def _jpeg(data: bytes, image_module: Any) -> Any:
    """Opens a JPEG file with Pillow. Missing data at the end is grey, but the file has to be near its size."""
    if data.count(b"\xff\xda") > _SCANS:
        raise ValueError(f"more than {_SCANS} scans")
    image = image_module.open(io.BytesIO(data), formats=["JPEG"])
    if _LARGE < image.width * image.height > _DENSEST_JPEG * len(data):
        raise ValueError(f"{len(data)} bytes do not hold {image.width} x {image.height} pixels")
    return image


def _png(data: bytes, image_module: Any) -> Any:
    """Opens a PNG file that has all its parts and rows; Pillow itself would make missing rows black."""
    packed, at, kind = [], 8, b""
    while kind != b"IEND":
        size, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IDAT":
            packed.append((at + 8, size))
        at += 12 + size
    if at > len(data):
        raise ValueError("it is truncated")
    image = image_module.open(io.BytesIO(data), formats=["PNG"])
    row = (image.width * data[24] * _PNG_SAMPLES.get(data[25], 1) + 7) // 8
    needed = image.height * (row + 1)
    if data[28]:  # interlaced: Pillow checks for missing data
        if image.height * row > _DENSEST_PNG * sum(size for _, size in packed):
            raise ValueError(f"it does not hold {image.width} x {image.height} pixels")
        return image
    if needed > _LARGE or not np.asarray(image.crop((0, image.height - 1, image.width, image.height))).any():
        if not _unpacks_to(data, packed, needed):
            raise ValueError(f"it does not hold {image.width} x {image.height} pixels")
    return image


def _unpacks_to(data: bytes, packed: list[tuple[int, int]], needed: int) -> bool:
    """Returns whether parts of a file, (begin, size) each, decompress to that many bytes, without storing these."""
    if needed > _DENSEST_PNG * (sum(size for _, size in packed) + 1):
        return False
    stream = zlib.decompressobj()
    for begin, size in packed:
        for at in range(begin, begin + size, _PIECE):
            piece = data[at : min(at + _PIECE, begin + size)]
            while piece and needed > 0:
                needed -= len(stream.decompress(piece, _PIECE))
                piece = stream.unconsumed_tail
    return needed <= 0


def _array(image: Any, channels: int) -> Any:
    image.load()
    if channels:
        return array_of(image, _MODES[channels])
    if image.mode == "1":
        return array_of(image, "L")
    if image.mode not in ("L", "LA", "RGB", "RGBA", "I;16"):
        return array_of(image, "RGBA" if "transparency" in image.info else "RGB")
    return array_of(image)


def pictures_of(data: bytes, channels: int = 0, most: int | None = None) -> np.ndarray[Any, Any]:
    """Decodes the pictures of a GIF file (see gif.py).

    Args:
      data: the file's bytes.
      channels: 0 or 3.
      most: the largest number of pictures to return; all by default.
    Returns: (N, height, width, 3), uint8.
    """
    if channels not in (0, 3):
        raise Complaint(f"channels must be 0 or 3 for GIF, got {channels}", "use 3")

    return _guarded(data, "GIF", lambda image_module: gif_pictures(data, most, image_module))
