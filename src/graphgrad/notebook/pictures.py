"""Small pictures of values: a line for a vector, a heat map for a matrix, an image for an image."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np

_SIDE = 48  # a heat map has at most as many rows and columns
_WIDTH, _HEIGHT = 240, 60  # of a line, in pixels
_COLOURS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float)
_SIGNED = np.array([[33, 102, 172], [146, 197, 222], [247, 247, 247], [244, 165, 130], [178, 24, 43]], float)
_NAN = (255, 0, 255)


def picture(value: np.ndarray[Any, Any]) -> str:
    """Draws an array.

    Args:
      value: the array.
    Returns: HTML; '' for arrays without a picture: scalars, texts, empty ones.
    """
    if value.dtype.kind not in "fiub" or not value.size or value.ndim == 0:
        return ""
    if value.ndim == 3 and value.shape[-1] in (3, 4) and min(value.shape[:2]) > 4:
        return _png(_as_bytes(_thinned(value, 2 * _SIDE)[..., :3]))
    if value.ndim == 1:
        return _line(_thinned(value, _WIDTH).astype(float))
    rows = value.reshape(-1, value.shape[-1])
    return _png(_heat(_thinned(rows, _SIDE).astype(float)))


def _thinned(value: np.ndarray[Any, Any], side: int) -> np.ndarray[Any, Any]:
    """Returns at most `side` elements along each of the first two dimensions, evenly chosen."""
    for axis in range(min(2, value.ndim)):
        n = value.shape[axis]
        if n > side:
            value = value.take(np.linspace(0, n - 1, side).astype(int), axis)
    return value


def _as_bytes(image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if image.dtype.kind == "f" and np.nanmax(image, initial=0) <= 1:
        image = image * 255.0
    return np.clip(np.nan_to_num(image.astype(float)), 0, 255).astype(np.uint8)


def _scaled(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Maps finite values to 0..1; those of both signs so that 0 is in the middle."""
    finite = value[np.isfinite(value)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low < 0 < high:
        low, high = -max(-low, high), max(-low, high)
    span = high - low
    with np.errstate(all="ignore"):
        return np.clip((value - low) / span, 0, 1) if span > 0 and np.isfinite(span) else np.full(value.shape, 0.5)


def _heat(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Colours a matrix: blue, white, red around 0 for values of both signs, else from dark to light."""
    finite = np.isfinite(value)
    signed = bool((value[finite] < 0).any() and (value[finite] > 0).any())
    table = _SIGNED if signed else _COLOURS
    at = np.where(finite, _scaled(value), 0) * (len(table) - 1)
    colours = np.stack([np.interp(at, range(len(table)), table[:, c]) for c in range(3)], -1)
    colours[~finite] = _NAN
    return colours.astype(np.uint8)


def _png(image: np.ndarray[Any, Any]) -> str:
    """Returns an image element; each pixel becomes a square."""
    height, width = image.shape[:2]

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(image))
    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    scale = max(1, min(12, 160 // max(width, height)))
    return (f'<img alt="picture of the values" width="{width * scale}" height="{height * scale}" '
            f'style="image-rendering:pixelated" src="data:image/png;base64,{base64.b64encode(data).decode()}">')


def _line(value: np.ndarray[Any, Any]) -> str:
    if len(value) < 3:
        return ""
    y = (1 - _scaled(value)) * (_HEIGHT - 4) + 2
    x = np.linspace(2, _WIDTH - 2, len(value))
    lines: list[list[str]] = [[]]  # a new one after what is not finite
    for a, b, ok in zip(x, y, np.isfinite(value), strict=True):
        if ok:
            lines[-1].append(f"{a:.1f},{b:.1f}")
        elif lines[-1]:
            lines.append([])
    drawn = "".join('<polyline fill="none" stroke="#3b6ea5" stroke-width="1.5" stroke-linecap="round" '
                    f'points="{" ".join(points if len(points) > 1 else points * 2)}"/>' for points in lines if points)
    return (f'<svg role="img" aria-label="line of the values" width="{_WIDTH}" height="{_HEIGHT}" '
            f'viewBox="0 0 {_WIDTH} {_HEIGHT}">{drawn}</svg>')
