"""How records stand in files (TFRecord): each with checksums of its length and of itself."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from ..errors import DataLossError, NotFoundError
from .crc32c import crc32c, masked


def framed(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(record))
    return length + _check(length) + record + _check(record)


def _check(data: bytes) -> bytes:
    return struct.pack("<I", masked(crc32c(data)))


def records(path: Any, kind: str) -> Iterator[bytes]:
    """The records of a file.

    Args:
      path: the file.
      kind: "", "ZLIB" or "GZIP".
    Raises: NotFoundError if there is no such file; DataLossError where it is damaged.
    """
    try:
        file: Any = gzip.open(path, "rb") if kind == "GZIP" else open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise NotFoundError(None, None, f"{path}; No such file or directory. Fix: check the path") from None
    with file:
        if kind == "ZLIB":
            try:
                file = io.BytesIO(zlib.decompress(file.read()))
            except zlib.error as e:
                raise DataLossError(None, None, f"{path}: no zlib data ({e}). Fix: check options") from None
        at = 0
        while True:
            try:
                head = file.read(12)
            except (OSError, EOFError) as e:
                raise DataLossError(None, None, f"{path}: no gzip data ({e}). Fix: check options") from None
            if not head:
                return
            if len(head) < 12 or head[8:] != _check(head[:8]):
                raise _corrupted(path, at, "truncated record" if len(head) < 12 else "corrupted record")
            size = struct.unpack("<Q", head[:8])[0]
            record, check = file.read(size), file.read(4)
            if len(check) < 4:
                raise _corrupted(path, at, "truncated record")
            if check != _check(record):
                raise _corrupted(path, at, "corrupted record")
            at += 16 + size
            yield record


def _corrupted(path: Any, at: int, problem: str) -> DataLossError:
    return DataLossError(None, None, f"{problem} at {at} of {path}\n  Fix: use another copy of the file; for "
                         "compressed ones give the options that it was written with")  # fmt: skip
