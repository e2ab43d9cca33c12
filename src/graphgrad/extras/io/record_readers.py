"""Reader ops: dequeue the names of files and return records."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, InvalidArgumentError, UnimplementedError
from graphgrad.ir.blocking import located, settle
from graphgrad.ir.files.tfrecord import opened, records
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op
from graphgrad.ir.proto.messages import Message
from graphgrad.ir.values.variable_store import kept
from graphgrad.ops.state.queue_storage import Queue

_HANDLE = ("stateful", "handle")
_READS = ("stateful", "host", "keeps", "waits")
_KEEPS = ("stateful", "host", "keeps")


class ReaderBaseState(Message):
    """The state of a reader, in TensorFlow's format."""

    FIELDS = {"work_started": (1, "int"), "work_finished": (2, "int"), "num_records_produced": (3, "int"),
              "current_work": (4, "bytes")}


class RecordReader:
    """A reader of files, record by record.

    Attributes:
      produced: the number of records read so far.
      finished: the number of files read to their end.
    """

    family = "reader"
    kind = "Reader"
    saves = False  # whether its state can be written

    def __init__(self) -> None:
        self.name = ""
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Resets the reader."""
        self.produced = self.finished = self.started = 0
        self.work = b""
        self._records: Iterator[tuple[bytes, bytes]] | None = None

    def read(self, queue: Any) -> tuple[bytes, bytes]:
        """Reads the next record: key and value."""
        with self.lock:
            return self._next(queue)

    def read_up_to(self, queue: Any, n: int) -> list[tuple[bytes, bytes]]:
        """Reads the next records, at most n, of one file."""
        with self.lock:
            found = [self._next(queue)] if n > 0 else []
            while len(found) < n and (record := self._within()) is not None:
                found.append(record)
            return found

    def _next(self, queue: Any) -> tuple[bytes, bytes]:
        while True:
            if self._records is None:
                self.work = b""
                (work,) = settle(queue.dequeue, 1, False, False)
                self.work = work.item()
                self.started += 1
                self._records = self.records(self.work)
            record = self._within()
            if record is not None:
                return record

    def _within(self) -> tuple[bytes, bytes] | None:
        """Reads the next record of the current file; None at its end."""
        assert self._records is not None
        try:
            record = next(self._records, None)
        except BaseException:
            self._records = None
            raise
        if record is None:
            self._over()
            return None
        self.produced += 1
        if self.saves:  # a file is one record
            self._over()
        return record

    def _over(self) -> None:
        self._records = None
        self.finished += 1

    def records(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yields the records of a file.

        Args:
          work: its name.
        """
        raise NotImplementedError  # each subclass has its own

    # -- state ----------------------------------------------------------------------

    def state(self) -> bytes:
        """Serializes its state."""
        if not self.saves:
            raise located(UnimplementedError, "Reader SerializeState", "only readers of whole files and the "
                          "IdentityReader can write their state")
        with self.lock:
            done: bytes = ReaderBaseState(work_started=self.started, work_finished=self.finished,
                                          num_records_produced=self.produced,
                                          current_work=self.work).SerializeToString()
            return done

    def restore(self, state: bytes) -> None:
        """Restores a serialized state."""
        if not self.saves:
            raise located(UnimplementedError, "Reader RestoreState", "only readers of whole files and the "
                          "IdentityReader can take a state over")
        try:
            message = ReaderBaseState.FromString(state)
        except (ValueError, IndexError):
            raise located(InvalidArgumentError, f"Could not parse state for {self.kind} '{self.name}': "
                          f"{state.decode(errors='replace')}", "give what serialize_state gave") from None
        with self.lock:
            self.started, self.finished = message.work_started, message.work_finished
            self.produced, self.work = message.num_records_produced, message.current_work

    def settings(self) -> dict[str, Any]:
        """Returns the properties in which all readers of a shared name must agree."""
        return {"type": self.kind}


class Lines(RecordReader):
    """A reader of text files, line by line.

    Args:
      skip: the number of lines to skip at the beginning of each file.
    """

    kind = "TextLineReader"

    def __init__(self, skip: int):
        super().__init__()
        self.skip = skip

    def records(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        with opened(work) as file:
            for number, line in enumerate(file, 1):
                if number > self.skip:
                    yield b"%s:%d" % (work, number), line.rstrip(b"\n").replace(b"\r", b"")


class Files(RecordReader):
    """A reader of whole files."""

    kind = "WholeFileReader"
    saves = True

    def records(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        with opened(work) as file:
            yield work, file.read()


class Identities(RecordReader):
    """A reader that returns the elements of the queue."""

    kind = "IdentityReader"
    saves = True

    def records(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        yield work, work


class Records(RecordReader):
    """A reader of record files.

    Args:
      compression: "", "ZLIB" or "GZIP".
    """

    kind = "TFRecordReader"

    def __init__(self, compression: str):
        super().__init__()
        self.compression = compression

    def records(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        at = 0
        for record in records(work.decode(), self.compression):
            yield b"%s:%d" % (work, at), record
            at += 16 + len(record)


class Blocks(RecordReader):
    """A reader of records of one length.

    Args:
      header, record, footer: their sizes, in bytes.
      hop: the distance from the beginning of one record to that of the next, in bytes; 0 for its length.
      encoding: "" or "ZLIB".
    """

    kind = "FixedLengthRecordReader"

    def __init__(self, header: int, record: int, footer: int, hop: int, encoding: str):
        super().__init__()
        self.header, self.record, self.footer, self.hop = header, record, footer, hop or record
        self.encoding = encoding

    def records(self, work: bytes) -> Iterator[tuple[bytes, bytes]]:
        with opened(work, self.encoding) as file:
            data = file.read()
        starts = range(self.header, len(data) - self.footer - self.record + 1, self.hop)
        for number, start in enumerate(starts):
            yield b"%s:%d" % (work, number), data[start : start + self.record]


# -- operations ------------------------------------------------------------------------


def _scalar():
    return ()


def _of_reader(reader_handle):
    return ()


def _reader(ref):
    return kept(ref, RecordReader, "a reader")


@op("TextLineReaderV2", "-> reader_handle: resource", flags=_HANDLE, shape=_scalar)
def text_line_reader(xp, *, skip_header_lines=0, container="", shared_name=""):
    """Makes a reader of lines."""
    return Lines(skip_header_lines)


@op("WholeFileReaderV2", "-> reader_handle: resource", flags=_HANDLE, shape=_scalar)
def whole_file_reader(xp, *, container="", shared_name=""):
    """Makes a reader of whole files."""
    return Files()


@op("IdentityReaderV2", "-> reader_handle: resource", flags=_HANDLE, shape=_scalar)
def identity_reader(xp, *, container="", shared_name=""):
    """Makes a reader that returns the names themselves."""
    return Identities()


@op("TFRecordReaderV2", "-> reader_handle: resource", flags=_HANDLE, shape=_scalar)
def tf_record_reader(xp, *, container="", shared_name="", compression_type=""):
    """Makes a reader of record files."""
    return Records(compression_type)


@op("FixedLengthRecordReaderV2", "-> reader_handle: resource", flags=_HANDLE, shape=_scalar)
def fixed_length_record_reader(xp, *, record_bytes, header_bytes=0, footer_bytes=0, hop_bytes=0, container="",
                               shared_name="", encoding=""):
    """Makes a reader of records of one length."""
    return Blocks(header_bytes, record_bytes, footer_bytes, hop_bytes, encoding)


@op("ReaderReadV2", "reader_handle: resource, queue_handle: resource -> key: string, value: string", flags=_READS)
def reader_read(xp, reader, queue):
    """Reads the next record."""
    return tuple(map(_string, _reader(reader).read(kept(queue, Queue, "a queue"))))


@reader_read.shape
def _read_shape(reader_handle, queue_handle):
    return [(), ()]


@op("ReaderReadUpToV2", "reader_handle: resource, queue_handle: resource, num_records: int64 -> keys: string, "
    "values: string", flags=_READS)
def reader_read_up_to(xp, reader, queue, num_records):
    """Reads the next records of one file."""
    found = _reader(reader).read_up_to(kept(queue, Queue, "a queue"), int(num_records))
    arrays = np.empty((2, len(found)), object)
    for i, record in enumerate(found):
        arrays[:, i] = record
    return arrays[0], arrays[1]


@reader_read_up_to.shape
def _read_up_to_shape(reader_handle, queue_handle, num_records):
    return [(None,), (None,)]


@op("ReaderNumRecordsProducedV2", "reader_handle: resource -> records_produced: int64", flags=_KEEPS,
    shape=_of_reader)
def reader_records(xp, reader):
    """Returns the number of records read so far."""
    return np.asarray(_reader(reader).produced, np.int64)


@op("ReaderNumWorkUnitsCompletedV2", "reader_handle: resource -> units_completed: int64", flags=_KEEPS,
    shape=_of_reader)
def reader_units(xp, reader):
    """Returns the number of files read to their end."""
    return np.asarray(_reader(reader).finished, np.int64)


@op("ReaderSerializeStateV2", "reader_handle: resource -> state: string", flags=_KEEPS, shape=_of_reader)
def reader_state(xp, reader):
    """Serializes the state of a reader."""
    return _string(_reader(reader).state())


@op("ReaderRestoreStateV2", "reader_handle: resource, state: string ->", flags=_KEEPS)
def reader_restore(xp, reader, state):
    """Restores the state of a reader."""
    _reader(reader).restore(state.item())


@op("ReaderResetV2", "reader_handle: resource ->", flags=_KEEPS)
def reader_reset(xp, reader):
    """Resets a reader."""
    resource = _reader(reader)
    with resource.lock:
        resource.reset()


@op("MatchingFiles", "pattern: string -> filenames: string", flags=("host", "stateful"), shape=lambda pattern: (None,))
def matching_files(xp, pattern):
    """Returns the names of the files that match a pattern."""
    if pattern.ndim > 1:
        raise Complaint(f"the patterns have rank {pattern.ndim}", "give a string, or a vector of them")
    found = []
    for one in filter(None, pattern.reshape(-1).tolist()):
        # As in TensorFlow, matches in the current directory keep its name.
        path = os.fsdecode(one)
        found += map(os.fsencode, glob.glob(path if os.path.dirname(path) else os.path.join(".", path)))
    result = np.empty(len(found), object)
    result[:] = sorted(found)
    return result


def _string(value: bytes) -> np.ndarray[Any, Any]:
    result = np.empty((), object)
    result[()] = value
    return result


for _record in (reader_read, reader_read_up_to, reader_records, reader_units, reader_state, reader_restore,
                reader_reset, matching_files):
    _record.grad(NOT_DIFFERENTIABLE)
