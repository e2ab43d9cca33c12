"""Record files (TFRecord): data of any length, each with checksums of its length and of itself.

Reference: TensorFlow 2.21 `tf.io.TFRecordWriter`.
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from ..errors import DataLossError, InvalidArgumentError, NotFoundError
from ..ops.summary_messages import Event
from .crc32c import crc32c, masked


def framed(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(record))
    return length + _check(length) + record + _check(record)


def _check(data: bytes) -> bytes:
    return struct.pack("<I", masked(crc32c(data)))


class TFRecordCompressionType:
    """How a file of records is compressed."""

    NONE, ZLIB, GZIP = range(3)


class TFRecordOptions:
    """How a file of records is compressed.

    Args:
      compression_type: "", "ZLIB" or "GZIP", or a member of `TFRecordCompressionType`.
      flush_mode, input_buffer_size, output_buffer_size, window_bits, compression_level, compression_method, mem_level,
        compression_strategy: accepted; without effect but for `compression_level`.
    Raises: ValueError for another compression.
    """

    compression_type_map = {TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP",
                            TFRecordCompressionType.NONE: ""}  # fmt: skip

    def __init__(self, compression_type: Any = None, flush_mode: Any = None, input_buffer_size: Any = None,
                 output_buffer_size: Any = None, window_bits: Any = None, compression_level: Any = None,
                 compression_method: Any = None, mem_level: Any = None, compression_strategy: Any = None):  # fmt: skip
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.compression_level = compression_level

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """"", "ZLIB" or "GZIP", for options or a compression type."""
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        kind = cls.compression_type_map.get(options, options) if isinstance(options, int) else options or ""
        if kind not in ("", "ZLIB", "GZIP"):
            raise ValueError(f"Not a valid compression_type: {kind!r}. Fix: use '', 'ZLIB' or 'GZIP'")
        return str(kind)


class TFRecordWriter:
    """Writes records to a file.

    Args:
      path: the file, which is made anew.
      options: `TFRecordOptions`, or a compression type.
    Raises: NotFoundError if there is no such directory.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "records")
    >>> with tf.python_io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(tf.python_io.tf_record_iterator(path))
    [b'one']
    """

    def __init__(self, path: Any, options: Any = None):
        self._kind = TFRecordOptions.get_compression_type_string(options)
        level = getattr(options, "compression_level", None)
        try:
            self._file: Any = open(path, "wb")  # noqa: SIM115  # closed by `close`
        except FileNotFoundError:
            raise NotFoundError(None, None, f"{path}; No such file or directory. Fix: make the directory") from None
        if self._kind == "GZIP":
            self._zip: Any = gzip.GzipFile(fileobj=self._file, mode="wb", compresslevel=9 if level is None else level)
        else:
            self._zip = zlib.compressobj(-1 if level is None else level) if self._kind == "ZLIB" else None

    def write(self, record: Any) -> None:
        """Appends a record, bytes or a string."""
        data = framed(record.encode() if isinstance(record, str) else bytes(record))
        if self._kind == "GZIP":
            self._zip.write(data)
        else:
            self._file.write(data if self._zip is None else self._zip.compress(data))

    def flush(self) -> None:
        """Writes what is kept back."""
        if self._kind == "GZIP":
            self._zip.flush()
        elif self._kind == "ZLIB":
            self._file.write(self._zip.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self._file.closed:
            return
        if self._kind == "GZIP":
            self._zip.close()
        elif self._kind == "ZLIB":
            self._file.write(self._zip.flush())
        self._file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file.

    Args:
      path: the file.
      options: `TFRecordOptions`, or a compression type.
    Returns: an iterator over bytes.
    Raises: NotFoundError if there is no such file; DataLossError where it is damaged.
    """
    kind = TFRecordOptions.get_compression_type_string(options)
    return _records(os.fspath(path), kind)


def _records(path: Any, kind: str) -> Iterator[bytes]:
    try:
        file: Any = gzip.open(path, "rb") if kind == "GZIP" else open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise NotFoundError(None, None, f"{path}; No such file or directory. Fix: check the path") from None
    with file:
        if kind == "ZLIB":
            import io

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


def summary_iterator(path: Any) -> Iterator[Any]:
    """The events of an event file.

    Args:
      path: the file.
    Returns: an iterator over `Event`s.
    Raises: NotFoundError if there is no such file; DataLossError where it is damaged.

    >>> import glob, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with tf.summary.FileWriter(folder) as writer:
    ...     writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), 7)
    >>> for event in tf.train.summary_iterator(glob.glob(folder + "/*")[0]):
    ...     for value in event.summary.value:
    ...         print(event.step, value.tag, value.simple_value)
    7 loss 0.5
    """
    for record in _records(os.fspath(path), ""):
        try:
            yield Event.FromString(record)
        except ValueError as e:
            raise InvalidArgumentError(None, None, f"{path} is no file of events: {e}. Fix: check the path") from None
