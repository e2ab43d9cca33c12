"""Data sets of files: records, lines of text, pieces of a fixed length."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import DataLossError, InvalidArgumentError
from graphgrad.extras.pipelines.records import TFRecordOptions, tf_record_iterator
from graphgrad.ir.blocking import located
from graphgrad.ir.dtypes import string
from graphgrad.ir.files.inflate import read_up_to
from graphgrad.ir.files.tfrecord import opened
from graphgrad.ir.graph import Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.source import user_source

from .dataset import Dataset
from .elements import _now, _value, fixed, positive
from .graph_iterator import DatasetV1

_PIECE = 1 << 16  # bytes of a text to read at once


class _OfFiles(DatasetV1):
    """A data set of the contents of files; a subclass has `_read`."""

    def __init__(self, filenames: Any, compression_type: Any = None):
        self._compression = _value(compression_type if compression_type is not None else "")
        self._specs = Spec.of(string, ())
        if isinstance(filenames, Dataset):
            names = filenames
            self._captured = list(names._captured)
            self._passes = lambda given: self._all((e[0] for e in names._passes(given)), given)
        else:
            value = _value(filenames)
            self._captured = [value] if isinstance(value, Tensor) else []
            self._passes = lambda given: self._all(np.ravel(_now(value, given)).tolist(), given)

    def _all(self, names: Any, given: Any) -> Iterator[list[Any]]:
        kind = _text(_now(self._compression, given))
        for name in given.part_of(iter(names)):
            for content in self._read(_text(name), kind):
                element = np.empty((), object)
                element[()] = content
                yield [element]

    def _read(self, name: str, kind: str) -> Iterator[bytes]:
        raise NotImplementedError  # each subclass has its own


def _text(value: Any) -> str:
    value = np.asarray(value, object).reshape(-1)[0]
    return value.decode() if isinstance(value, bytes) else str(value)


class TFRecordDataset(_OfFiles):
    """A data set of the records of files, as strings.

    Args:
      filenames: names, as a string tensor or a data set of them.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size, num_parallel_reads, name: accepted; files are read one after the other.
    Raises: NotFoundError at run time for a file that does not exist; DataLossError for a damaged one.
    Reference: TensorFlow 2.21 `tf.data.TFRecordDataset`.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "records")
    >>> with tf.python_io.TFRecordWriter(path) as writer:
    ...     writer.write(b"first")
    >>> sess.run(tf.data.TFRecordDataset(path).make_one_shot_iterator().get_next())
    b'first'
    """

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None, name: str | None = None):
        super().__init__(filenames, compression_type)

    def _read(self, name: str, kind: str) -> Iterator[bytes]:
        return tf_record_iterator(name, TFRecordOptions(kind))


class TextLineDataset(_OfFiles):
    """A data set of the lines of files, as strings without line ends.

    Args:
      filenames: names, as a string tensor or a data set of them.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size, num_parallel_reads, name: accepted; files are read one after the other.
    Raises: NotFoundError at run time for a file that does not exist.
    Reference: TensorFlow 2.21 `tf.data.TextLineDataset`.
    """

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None, name: str | None = None):
        super().__init__(filenames, compression_type)

    def _read(self, name: str, kind: str) -> Iterator[bytes]:
        with opened(name, kind) as file:
            begun: list[bytes] = []  # of a line that may continue
            while piece := file.read(_PIECE):
                first, *others = piece.split(b"\n")
                begun.append(first)
                for line in others:
                    yield b"".join(begun).removesuffix(b"\r")
                    begun = [line]
        if last := b"".join(begun):
            yield last.removesuffix(b"\r")


class FixedLengthRecordDataset(_OfFiles):
    """A data set of the records of files, strings of one length.

    Args:
      filenames: names, as a string tensor or a data set of them.
      record_bytes: the length of a record.
      header_bytes, footer_bytes: the number of bytes to skip at the beginning and at the end.
      buffer_size, num_parallel_reads, name: accepted; files are read one after the other.
      compression_type: "", "GZIP" or "ZLIB".
    Raises: NotFoundError at run time for a file that does not exist; InvalidArgumentError for one whose length does not
      fit.
    Reference: TensorFlow 2.21 `tf.data.FixedLengthRecordDataset`.
    """

    def __init__(self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None,
                 buffer_size: Any = None, compression_type: Any = None, num_parallel_reads: Any = None,
                 name: str | None = None):
        super().__init__(filenames, compression_type)
        around = [fixed(n or 0, what) for n, what in ((header_bytes, "header_bytes"), (footer_bytes, "footer_bytes"))]
        if min(around) < 0:
            raise InvalidArgumentError(None, None, f"header_bytes and footer_bytes must be >= 0, not {around}.\n"
                                       f"  Asked for at {user_source(2)}\n  Fix: give numbers of bytes")
        self._sizes = positive(fixed(record_bytes, "record_bytes"), "record_bytes"), around[0], around[1]

    def _read(self, name: str, kind: str) -> Iterator[bytes]:
        size, header, footer = self._sizes
        with opened(name, kind) as file:
            if not kind:
                length = os.fstat(file.fileno()).st_size
                self._check(InvalidArgumentError, name, length - header - footer)
            found = len(read_up_to(file, header))
            held = read_up_to(file, footer)  # the rest may be the footer
            found += len(held)
            while piece := read_up_to(file, size):
                found += len(piece)
                if len(piece) < size:
                    self._check(DataLossError, name, found - header - footer)
                held += piece
                yield held[:size]
                held = held[size:]

    def _check(self, cls: Any, name: str, body: int) -> None:
        size, header, footer = self._sizes
        if body < 0 or body % size:
            raise located(cls, f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file "
                          f'"{name}" has body length {body} bytes, which is not an exact multiple of the record length '
                          f"({size} bytes)", "give the lengths that the file was written with")
