"""The TFRecord format: records framed by length and checksums."""

from __future__ import annotations

import contextlib
import functools
import struct
from collections.abc import Callable, Iterator
from typing import Any

from graphgrad.errors import DataLossError

from .atomic_files import system_errors
from .crc32c import extender, masked
from .inflate import Inflated

_PIECE = 1 << 18  # bytes to read at once
_NUMBER = struct.Struct("<I").pack


def framed(record: bytes) -> bytes:
    """Frames a record for a file."""
    crc = extender()(0, record)
    return _head(len(record)) + record + _NUMBER(((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)  # `masked`


@functools.lru_cache(1 << 12)
def _head(size: int) -> bytes:
    """Returns what precedes a record: its length, and the checksum of that."""
    length = struct.pack("<Q", size)
    return length + _NUMBER(masked(extender()(0, length)))


def records(path: Any, kind: str) -> Iterator[bytes]:
    """Yields the records of a file.

    Args:
      path: the file.
      kind: "", "ZLIB" or "GZIP".
    Raises: NotFoundError if there is no such file; DataLossError where it is damaged.
    """
    extend = extender()
    with opened(path, kind) as file:
        more = file.piece if kind else functools.partial(file.read1, _PIECE)
        block, begins, at, have = b"", 0, 0, 0  # a part of the file, where it begins, where a record does, its length
        while True:
            if have - at < 12:
                block, begins, at = _longer(block[at:], 12, more), begins + at, 0
                have = len(block)
                if have < 12:
                    return  # as in TensorFlow, even if data are left
            (size,) = struct.unpack_from("<Q", block, at)
            if block[at : at + 12] != _head(size):
                raise _corrupted(path, begins + at, "corrupted record")
            if have - at < size + 16:
                block, begins, at = _longer(block[at:], size + 16, more), begins + at, 0
                have = len(block)
                if have < size + 16:
                    raise _corrupted(path, begins, "truncated record")
            end = at + 12 + size
            record = block[at + 12 : end]
            crc = extend(0, record)
            if block[end : end + 4] != _NUMBER(((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF):  # `masked`
                raise _corrupted(path, begins + at, "corrupted record")
            at = end + 4
            yield record


def _longer(block: bytes, size: int, more: Callable[[], bytes]) -> bytes:
    """Appends pieces to a block until it has a size, as far as there are any."""
    parts, have = [block], len(block)
    while have < size and (piece := more()):
        parts.append(piece)
        have += len(piece)
    return b"".join(parts)


@contextlib.contextmanager
def opened(path: Any, kind: str = "") -> Iterator[Any]:
    """Opens a file for reading: bytes, decompressed on demand.

    Args:
      path: the file.
      kind: "", "ZLIB" or "GZIP".
    Raises: TensorFlow's errors if it cannot be opened.
    """
    with system_errors(path):
        file = open(path, "rb")  # noqa: SIM115  # the `with` below closes it
    with file:
        yield Inflated(file.read, kind) if kind else file


def _corrupted(path: Any, at: int, problem: str) -> DataLossError:
    return DataLossError(None, None, f"{problem} at {at} of {path}\n  Fix: use another copy of the file; for "
                         "compressed ones give the options that it was written with")
