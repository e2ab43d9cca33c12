"""The TFRecord format: records framed by length and checksums."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from typing import Any

from graphgrad.errors import DataLossError

from .atomic_files import system_errors
from .crc32c import crc32c, masked
from .inflate import Inflated, read_up_to


def framed(record: bytes) -> bytes:
    """Frames a record for a file."""
    length = struct.pack("<Q", len(record))
    return length + _check(length) + record + _check(record)


def _check(data: bytes) -> bytes:
    return struct.pack("<I", masked(crc32c(data)))


def records(path: Any, kind: str) -> Iterator[bytes]:
    """Yields the records of a file.

    Args:
      path: the file.
      kind: "", "ZLIB" or "GZIP".
    Raises: NotFoundError if there is no such file; DataLossError where it is damaged.
    """
    with opened(path, kind) as file:
        at = 0
        while True:
            head = file.read(12)
            if len(head) < 12:
                return  # as in TensorFlow, even if data are left
            if head[8:] != _check(head[:8]):
                raise _corrupted(path, at, "corrupted record")
            size = struct.unpack("<Q", head[:8])[0]
            record, check = read_up_to(file, size), file.read(4)
            if len(record) < size or len(check) < 4:
                raise _corrupted(path, at, "truncated record")
            if check != _check(record):
                raise _corrupted(path, at, "corrupted record")
            at += 16 + size
            yield record


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
