"""The pictures of GIF files.

Pillow only decompresses the pixels of a picture; the rest is done here: the valid parts of a damaged file, the sizes of
the pictures, and what remains visible of the previous picture. All of that is as in TensorFlow, where the largest
picture, not the header, gives the size, and a picture stays until others cover it.

A file of a few bytes may declare pictures of gigabytes. So nothing is allocated that a picture's data cannot fill.

Reference: GIF89a specification; TensorFlow 2.21 DecodeGif.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import Complaint

_Array = np.ndarray[Any, Any]
_EXTENSION, _PICTURE = 0x21, 0x2C
_CONTROL = 0xF9  # the extension that names the transparent colour
_DENSEST = 4096 * 8 // 12 + 1  # pixels per byte: a code of 12 bits can encode 4,096 pixels
_PIECE = 1 << 20  # pixels to process at a time


def array_of(image: Any, mode: str | None = None) -> _Array:
    """Returns the pixels of a Pillow image, in its mode or another; copied in pieces, since Pillow copies twice."""
    rows = max(1, _PIECE // image.width)
    result: _Array | None = None
    for top in range(0, image.height, rows):
        piece = image.crop((0, top, image.width, min(image.height, top + rows)))
        pixels = np.asarray(piece if mode in (None, image.mode) else piece.convert(mode))
        if result is None:
            result = np.empty((image.height, *pixels.shape[1:]), pixels.dtype)
        result[top : top + rows] = pixels
    return np.asarray(image) if result is None else result


class _Picture(NamedTuple):
    left: int
    top: int
    width: int
    height: int
    interlaced: int
    colours: bytes  # red, green, blue of each; none where the file has none
    transparent: int  # -1 for no colour
    codes: memoryview  # the number of bits of the first codes, and the blocks of codes


def _end_of_blocks(data: bytes, at: int) -> int:
    """Returns the end of a sequence of blocks (each after its length, the last one empty), or raises IndexError."""
    while data[at]:
        at += 1 + data[at]
    return at + 1


def _palette(data: bytes, at: int, flags: int) -> bytes:
    """Reads the colours that begin at a position, if the flags announce them."""
    size = 3 << (flags & 7) + 1 if flags & 0x80 else 0
    if at + size > len(data):
        raise IndexError
    return data[at : at + size]


def _stored(data: bytes) -> Iterator[_Picture]:
    """Reads the pictures of a file as they are stored, up to where it is damaged."""
    view = memoryview(data)
    try:
        shared = _palette(data, 13, data[10])
        at, transparent = 13 + len(shared), None
        while data[at] in (_EXTENSION, _PICTURE):
            if data[at] == _EXTENSION:
                end = _end_of_blocks(data, at + 2)
                if end == at + 3:
                    return
                if data[at + 1] == _CONTROL and data[at + 2] == 4 and transparent is None:
                    transparent = data[at + 6] if data[at + 3] & 1 else -1
                at = end
                continue
            left, top, width, height, flags = struct.unpack_from("<HHHHB", data, at + 1)
            own = _palette(data, at + 10, flags)
            begin = at + 10 + len(own)
            at = _end_of_blocks(data, begin + 1)
            yield _Picture(left, top, width, height, flags & 0x40, own or shared,
                           -1 if transparent is None else transparent, view[begin:at])  # fmt: skip
            transparent = None
    except (IndexError, struct.error):
        return


def _indices(picture: _Picture, image_module: Any) -> _Array:
    """Decodes the colour index of each pixel, (height, width); raises ValueError or OSError for damaged data."""
    width, height = picture.width, picture.height
    if not 0 < width * height <= _DENSEST * len(picture.codes) or not 0 < picture.codes[0] <= 8:
        raise ValueError("no picture of this size")
    size = struct.pack("<HH", width, height)
    file = b"".join([b"GIF89a", size, b"\0\0\0,\0\0\0\0", size, bytes([picture.interlaced]), picture.codes, b";"])
    return array_of(image_module.open(io.BytesIO(file), formats=["GIF"]))  # without colours, indices are its greys


def _paint(canvas: _Array, picture: _Picture, indices: _Array) -> None:
    """Paints a picture on a canvas, (height, width, 3), except for its transparent pixels."""
    colours = np.frombuffer(picture.colours, np.uint8).reshape(-1, 3)
    if not len(colours):
        raise Complaint("missing color map", "feed the bytes of a whole file")
    if (highest := int(indices.max())) >= len(colours):
        raise Complaint(f"found color index {highest} outside of color map range {len(colours)}",
                        "feed the bytes of a whole file")  # fmt: skip
    left, top = picture.left, picture.top
    target = canvas[top : top + picture.height, left : left + picture.width]
    rows = max(1, _PIECE // picture.width)
    for first in range(0, len(target), rows):
        piece = indices[first : first + rows, : target.shape[1]][: len(target) - first]
        opaque = (piece != picture.transparent)[:, :, None]
        np.copyto(target[first : first + rows], colours[piece], where=opaque)


def gif_pictures(data: bytes, most: int | None, image_module: Any) -> _Array:
    """Decodes the pictures of a GIF file, up to where it is damaged; rejects more than Pillow accepts for a picture.

    Args:
      data: the file's bytes.
      most: the largest number of pictures to return; all by default.
      image_module: `PIL.Image`.
    Returns: (N, height, width, 3), uint8; as large as the largest picture.
    Raises: Complaint for indices of missing colours; ValueError or OSError without a whole picture.
    """
    limit = 2 * (image_module.MAX_IMAGE_PIXELS or 1 << 62)
    found: list[tuple[_Picture, _Array]] = []
    width = height = 0
    for picture in _stored(data):
        wider, higher = max(width, picture.width), max(height, picture.height)
        count = len(found) + (len(found) != most)
        if picture.width * picture.height <= _DENSEST * len(picture.codes) and count * wider * higher > limit:
            raise Complaint(f"the pictures have more than {limit} pixels", "feed a smaller file")
        try:
            indices = _indices(picture, image_module)
        except MemoryError:
            raise
        except Exception:  # damaged data may raise any error in Pillow
            break
        width, height = wider, higher
        if len(found) != most:
            found.append((picture, indices))
    if not found:
        raise ValueError("it has no whole picture")
    result = np.zeros((len(found), height, width, 3), np.uint8)
    found.reverse()
    for number, canvas in enumerate(result):
        picture, indices = found.pop()
        if number:
            canvas[:] = result[number - 1]
        _paint(canvas, picture, indices)
    return result
