"""The pixels of BMP files."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from graphgrad.errors import Complaint

_CHANNELS = {8: 1, 24: 3, 32: 4}  # by bits per pixel
_ORDERS = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}
_MOST = 1 << 30  # bytes of pixels


def bitmap(data: bytes, channels: int, opaque: bool = False) -> np.ndarray[Any, Any]:
    """Decodes a BMP file without compression: 8 (grey), 24 or 32 bits per pixel.

    Args:
      data: the file's bytes.
      channels: 0 for those of the file.
      opaque: whether RGB files may get a fourth channel.
    Returns: (height, width, channels), uint8.
    """
    if len(data) < 32:
        raise Complaint(f"Incomplete bmp content, requires at least 32 bytes, got {len(data)}", "feed the whole file")
    start, width, height, bits = (struct.unpack_from("<" + c, data, at)[0] for c, at in
                                  (("i", 10), ("i", 18), ("i", 22), ("H", 28)))
    found = _CHANNELS.get(bits)
    if found is None:
        raise Complaint(f"Number of channels inherent in the image must be 1, 3 or 4, but it has {bits} bits a pixel",
                        "save it with 24 bits a pixel")
    fourth = opaque and (channels, found) == (4, 3)
    if channels not in (0, found) and not fourth:
        raise Complaint(f"channels attribute {channels} does not match bits per pixel from file {bits}",
                        f"use channels={found}")
    if width <= 0:
        raise Complaint("Width must be positive", "feed the bytes of a whole file")
    row = -(-width * found // 4) * 4
    if row * abs(height) >= _MOST:
        raise Complaint("Total possible pixel bytes must be less than 2^30", "save a smaller image")
    if start < 0 or len(data) < start + row * (abs(height) - 1) + width * found:
        raise Complaint(f"the file is too short for {abs(height)} x {width} pixels", "feed the whole file")
    rows = np.frombuffer(data[start : start + row * abs(height)].ljust(row * abs(height), b"\0"), np.uint8)
    pixels = rows.reshape(abs(height), row)[:, : width * found].reshape(abs(height), width, found)
    pixels = (pixels[::-1] if height > 0 else pixels)[:, :, _ORDERS[found]]
    if fourth:
        return np.concatenate([pixels, np.full((*pixels.shape[:2], 1), 255, np.uint8)], axis=2)
    return np.ascontiguousarray(pixels)
