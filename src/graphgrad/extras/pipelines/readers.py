"""Readers of TensorFlow 1, which read the files whose names a queue holds, record by record.

Reference: TensorFlow 2.21 `tf.compat.v1.ReaderBase`.
"""

from __future__ import annotations

import collections
from typing import Any

from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import int64, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor

from .handles import make_handle
from .queues import QueueBase

ReaderRead = collections.namedtuple("ReaderRead", ["key", "value"])
ReaderReadUpToV2 = collections.namedtuple("ReaderReadUpToV2", ["keys", "values"])


class ReaderBase:
    """The base of all readers.

    Args:
      reader_ref: the handle.
      supports_serialize: whether the state can be written.
    Raises: RuntimeError in eager mode, as TensorFlow: `tf.data` reads files there.
    """

    def __init__(self, reader_ref: Any, supports_serialize: bool = False):
        if current_graph() is None:
            raise RuntimeError("Readers are not supported when eager execution is enabled. Instead, please use tf.data "
                               "to get data into your model. Fix: tf.data.TextLineDataset and the others")
        self._reader_ref, self._supports_serialize = reader_ref, supports_serialize

    @property
    def reader_ref(self) -> Any:
        """The handle, a tensor of dtype resource."""
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the state can be written."""
        return self._supports_serialize

    def read(self, queue: Any, name: str | None = None) -> Any:
        """Reads the next record; at the end of a file, the next name is dequeued.

        Args:
          queue: a queue of strings, or its handle.
          name: a name for the operation.
        Returns: two string scalars: a key that gives the position of the record, and the record.
        Raises: OutOfRangeError at run time if the queue is closed and empty; NotFoundError if there is no such file.
        """
        handle = queue.queue_ref if isinstance(queue, QueueBase) else queue
        return ReaderRead(*raw.ReaderReadV2(self._reader_ref, handle, name=name))

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """Reads the next records, all of one file.

        Args:
          queue: as for `read`.
          num_records: the largest number of records.
          name: a name for the operation.
        Returns: two string vectors: keys and records.
        Raises: as `read`.
        """
        handle = queue.queue_ref if isinstance(queue, QueueBase) else queue
        count = convert_to_tensor(num_records, int64, name="num_records")
        return ReaderReadUpToV2(*raw.ReaderReadUpToV2(self._reader_ref, handle, count, name=name))

    def num_records_produced(self, name: str | None = None) -> Any:
        """Returns the number of records read so far, an int64 scalar.

        Args:
          name: a name for the operation.
        """
        return raw.ReaderNumRecordsProducedV2(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """Returns the number of files read to their end, an int64 scalar.

        Args:
          name: a name for the operation.
        """
        return raw.ReaderNumWorkUnitsCompletedV2(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Any:
        """Serializes the reader's state, a string scalar.

        Args:
          name: a name for the operation.
        Raises: UnimplementedError at run time, except for readers of whole files and the `IdentityReader`.
        """
        return raw.ReaderSerializeStateV2(self._reader_ref, name=name)

    def restore_state(self, state: Any, name: str | None = None) -> Any:
        """Makes the operation that restores a serialized state.

        Args:
          state: the result of `serialize_state`.
          name: a name for the operation.
        """
        return raw.ReaderRestoreStateV2(self._reader_ref, convert_to_tensor(state, string, name="state"), name=name)

    def reset(self, name: str | None = None) -> Any:
        """Makes the operation that resets the reader.

        Args:
          name: a name for the operation.
        """
        return raw.ReaderResetV2(self._reader_ref, name=name)


def _make(reader: ReaderBase, op_type: str, name: str | None, saves: bool = False, **attrs: Any) -> None:
    handle = None if current_graph() is None else make_handle(op_type, name or op_type, **attrs)
    ReaderBase.__init__(reader, handle, saves)


class TextLineReader(ReaderBase):
    """A reader of text files, line by line; a key is the file's name and the line's number.

    Args:
      skip_header_lines: the number of lines to skip at the beginning of each file.
      name: a name for the operation.
    Reference: TensorFlow 2.21 TextLineReaderV2.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "f.csv")
    >>> with open(path, "w") as f:
    ...     _ = f.write("1,2\\n3,4\\n")
    >>> queue = tf.FIFOQueue(10, tf.string, [[]])
    >>> sess.run(queue.enqueue(path))
    >>> key, value = tf.TextLineReader().read(queue)
    >>> [sess.run(value), sess.run(value)]
    [b'1,2', b'3,4']
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None):
        _make(self, "TextLineReaderV2", name, skip_header_lines=skip_header_lines or 0)


class WholeFileReader(ReaderBase):
    """A reader of whole files; a key is the file's name.

    Args:
      name: a name for the operation.
    Reference: TensorFlow 2.21 WholeFileReaderV2.
    """

    def __init__(self, name: str | None = None):
        _make(self, "WholeFileReaderV2", name, True)


class IdentityReader(ReaderBase):
    """A reader that returns the elements of the queue, as key and as value.

    Args:
      name: a name for the operation.
    Reference: TensorFlow 2.21 IdentityReaderV2.
    """

    def __init__(self, name: str | None = None):
        _make(self, "IdentityReaderV2", name, True)


class TFRecordReader(ReaderBase):
    """A reader of record files; a key is the file's name and the offset of the record.

    Args:
      name: a name for the operation.
      options: `TFRecordOptions`, or a compression type.
    Reference: TensorFlow 2.21 TFRecordReaderV2.
    """

    def __init__(self, name: str | None = None, options: Any = None):
        kinds = {0: "", 1: "ZLIB", 2: "GZIP", None: ""}
        kind = getattr(options, "compression_type", options)
        _make(self, "TFRecordReaderV2", name, compression_type=kinds.get(kind, kind))


class FixedLengthRecordReader(ReaderBase):
    """A reader of records of one length; a key is the file's name and the record's number.

    Args:
      record_bytes: the length of a record.
      header_bytes, footer_bytes: the number of bytes to skip at the beginning and at the end of a file.
      hop_bytes: the distance from the beginning of one record to that of the next; their length by default.
      name: a name for the operation.
      encoding: "", or "ZLIB" for compressed files.
    Reference: TensorFlow 2.21 FixedLengthRecordReaderV2.
    """

    def __init__(self, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
                 hop_bytes: int | None = None, name: str | None = None, encoding: str | None = None):
        _make(self, "FixedLengthRecordReaderV2", name, record_bytes=record_bytes, header_bytes=header_bytes or 0,
              footer_bytes=footer_bytes or 0, hop_bytes=hop_bytes or 0, encoding=encoding or "")


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """Returns the names of the files that match a pattern.

    Args:
      pattern: a string, or a vector of them, with `*`, `?` and `[...]`.
      name: a name for the operation.
    Returns: a string vector, sorted.
    Gradient: none.
    Reference: TensorFlow 2.21 MatchingFiles.

    >>> sess.run(tf.matching_files("no/such/*.txt"))
    array([], dtype=object)
    """
    return raw.MatchingFiles(convert_to_tensor(pattern, string, name="pattern"), name=name)
