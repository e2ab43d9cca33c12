"""Streaming decompression of zlib and gzip data."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from graphgrad.errors import DataLossError

_PIECE = 1 << 18  # bytes
_WINDOWS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS | 16}


class Inflated:
    """A readable view of a compressed file; it ends where the data end, even if they are cut off.

    Args:
      read: a function of a number of bytes that returns at most that many of the compressed data.
      kind: "ZLIB", after whose end data are ignored, or "GZIP", of which several may be concatenated.
    Raises: DataLossError, while reading, for data that are not compressed so.
    """

    def __init__(self, read: Callable[[int], bytes], kind: str):
        self._source, self._kind = read, kind
        self._engine = zlib.decompressobj(_WINDOWS[kind])
        self._given = self._out = b""
        self._at = 0  # the position in _out

    def read(self, size: int = -1) -> bytes:
        """Returns the next bytes, all if there is no size."""
        if 0 <= size <= len(self._out) - self._at:
            self._at += size
            return self._out[self._at - size : self._at]
        parts = [self._out[self._at :]]
        length = len(parts[0])
        while (size < 0 or length < size) and (piece := self._decompressed()):
            parts.append(piece)
            length += len(piece)
        self._out = parts[-1]
        self._at = len(self._out) - (max(0, length - size) if size >= 0 else 0)
        return b"".join(parts)[: size if size >= 0 else None]

    def piece(self) -> bytes:
        """Returns some of the next bytes; b"" at the end."""
        if self._at < len(self._out):
            return self.read(len(self._out) - self._at)
        return self._decompressed()

    def _decompressed(self) -> bytes:
        """Decompresses a next piece of the contents; b"" at the end."""
        while True:
            if not self._given:
                self._given = self._source(_PIECE)
                if not self._given:
                    return b""
            if self._engine.eof:
                if self._kind == "ZLIB":
                    return b""
                self._engine = zlib.decompressobj(_WINDOWS[self._kind])
            try:
                piece = self._engine.decompress(self._given, _PIECE)
            except zlib.error as e:
                raise DataLossError(None, None, f"inflate() failed: {e}. Fix: give data that are compressed as "
                                    f"{self._kind}, or another compression") from None
            self._given = self._engine.unused_data if self._engine.eof else self._engine.unconsumed_tail
            if piece:
                return piece


def inflated(data: bytes, kind: str) -> bytes:
    """Decompresses data; see `Inflated`."""
    parts = [data]
    return Inflated(lambda size: parts.pop() if parts else b"", kind).read()


def read_up_to(file: Any, size: int) -> bytes:
    """Reads the next bytes of a file in pieces: memory depends on the data, not on the requested size."""
    parts = []
    while size > 0 and (piece := file.read(min(_PIECE, size))):
        parts.append(piece)
        size -= len(piece)
    return b"".join(parts)
