"""Record files (TFRecord): data of any length, each with checksums of its length and of its bytes.

Reference: TensorFlow 2.21 `tf.io.TFRecordWriter`.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from typing import Any

from graphgrad.errors import FailedPreconditionError
from graphgrad.ir.files.atomic_files import system_errors
from graphgrad.ir.files.tfrecord import framed, records
from graphgrad.ir.proto.messages import DecodeError
from graphgrad.training.summaries.summary_messages import Event

_BUFFER = 1 << 16  # bytes that are kept back


class TFRecordCompressionType:
    """Compression types of record files."""

    NONE, ZLIB, GZIP = range(3)


class TFRecordOptions:
    """The compression of a record file.

    Args:
      compression_type: "", "ZLIB" or "GZIP", or a member of `TFRecordCompressionType`.
      flush_mode, input_buffer_size, output_buffer_size, window_bits, compression_level, compression_method, mem_level,
        compression_strategy: accepted; without effect except for `compression_level`.
    Raises: ValueError for another compression.
    """

    compression_type_map = {TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP",
                            TFRecordCompressionType.NONE: ""}

    def __init__(self, compression_type: Any = None, flush_mode: Any = None, input_buffer_size: Any = None,
                 output_buffer_size: Any = None, window_bits: Any = None, compression_level: Any = None,
                 compression_method: Any = None, mem_level: Any = None, compression_strategy: Any = None):
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.compression_level = compression_level

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Returns "", "ZLIB" or "GZIP", for options or a compression type."""
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        kind = cls.compression_type_map.get(options, options) if isinstance(options, int) else options or ""
        if kind not in ("", "ZLIB", "GZIP"):
            raise ValueError(f"Not a valid compression_type: {kind!r}. Fix: use '', 'ZLIB' or 'GZIP'")
        return str(kind)


class TFRecordWriter:
    """A writer of record files.

    Args:
      path: the file, which is overwritten.
      options: `TFRecordOptions`, or a compression type.
    Raises: NotFoundError if there is no such directory; ResourceExhaustedError if the disk is full;
      FailedPreconditionError for writing after `close`.

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
        self._path = path
        with system_errors(path):
            self._file: Any = open(path, "wb", _BUFFER)  # noqa: SIM115  # closed by `close`
        bits = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS | 16}.get(self._kind)
        self._zip = bits and zlib.compressobj(-1 if level is None else level, zlib.DEFLATED, bits)

    def write(self, record: Any) -> None:
        """Appends a record, bytes or a string."""
        if type(record) is not bytes:
            if not isinstance(record, (str, bytes, bytearray)):
                raise TypeError(f"TFRecordWriter.write() takes bytes or a string, not {type(record).__name__}. "
                                "Fix: give what SerializeToString() gives")
            record = record.encode() if isinstance(record, str) else bytes(record)
        data = framed(record)
        try:
            self._file.write(self._zip.compress(data) if self._zip else data)
        except Exception as e:
            self._check()
            with system_errors(self._path):  # not entered for each record, since that takes time
                raise e

    def flush(self) -> None:
        """Flushes the buffer."""
        self._check()
        with system_errors(self._path):
            if self._zip:
                self._file.write(self._zip.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()

    def _check(self) -> None:
        if self._file.closed:
            raise FailedPreconditionError(None, None, "Writer is closed. Fix: write before close()")

    def close(self) -> None:
        """Closes the file."""
        if self._file.closed:
            return
        with system_errors(self._path), self._file:
            if self._zip:
                self._file.write(self._zip.flush())

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """Reads the records of a file.

    Args:
      path: the file.
      options: `TFRecordOptions`, or a compression type.
    Returns: an iterator over bytes.
    Raises: NotFoundError if there is no such file; DataLossError where it is damaged.
    """
    kind = TFRecordOptions.get_compression_type_string(options)
    return records(os.fspath(path), kind)


def summary_iterator(path: Any) -> Iterator[Any]:
    """Reads the events of an event file.

    Args:
      path: the file.
    Returns: an iterator over `Event`s.
    Raises: NotFoundError if there is no such file; DataLossError where it is damaged; DecodeError for records that
      are not events.

    >>> import glob, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with tf.summary.FileWriter(folder) as writer:
    ...     writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), 7)
    >>> for event in tf.train.summary_iterator(glob.glob(folder + "/*")[0]):
    ...     for value in event.summary.value:
    ...         print(event.step, value.tag, value.simple_value)
    7 loss 0.5
    """
    for record in records(os.fspath(path), ""):
        try:
            yield Event.FromString(record)
        except DecodeError as e:
            raise type(e)(f"{path} is no file of events: {e}. Fix: check the path") from None
