"""Writers of `tf.summary` of TensorFlow 2: which is the current one, at which step, and whether it records."""

from __future__ import annotations

import contextlib
import itertools
import os
import weakref
from collections.abc import Iterator
from typing import Any

from graphgrad.ir import context
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.context import Inherited
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import bool_
from graphgrad.ir.graph import Operation
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor

from .file_writer import FileWriter
from .summary_messages import Event, Summary, SummaryMetadata

_count = itertools.count()


class _State(Inherited):
    """The current state of this thread."""

    def __init__(self) -> None:
        self.writer: Any = None
        self.step: Any = None
        self.recording: Any = True
        self.tracing: tuple[bool, bool] | None = None


_state = _State()


class SummaryWriter:
    """Writes summaries to an event file; made by `create_file_writer`.

    Reference: TensorFlow 2.21 `tf.summary.SummaryWriter`.
    """

    def set_as_default(self, step: Any = None) -> None:
        """Lets summaries go to this writer from now on.

        Args:
          step: the step of summaries that do not give one.
        """
        raise NotImplementedError("SummaryWriter.set_as_default")

    def as_default(self, step: Any = None) -> Any:
        """Makes this the default writer in a `with` block.

        Args:
          step: the step of summaries that do not give one.
        """
        raise NotImplementedError("SummaryWriter.as_default")

    def init(self) -> Any:
        """Returns the operation that opens the file; None in eager mode."""
        raise NotImplementedError("SummaryWriter.init")

    def flush(self) -> Any:
        """Flushes the buffer; in a graph, returns the operation that does."""
        raise NotImplementedError("SummaryWriter.flush")

    def close(self) -> Any:
        """Closes the file; in a graph, the operation that does."""
        raise NotImplementedError("SummaryWriter.close")


class _Writer(SummaryWriter):
    """A writer of an event file, which is created on the first write."""

    def __init__(self, logdir: Any, max_queue: Any, flush_millis: Any, suffix: Any):
        suffix = ".v2" if suffix is None else suffix
        folder = os.fspath(logdir.numpy() if hasattr(logdir, "numpy") else logdir)
        self._folder = folder.decode() if isinstance(folder, bytes) else folder
        self._suffix = f".{os.getpid()}.{next(_count)}{suffix}"
        self._queue = 10 if max_queue is None else whole(max_queue)
        self._seconds = 120.0 if flush_millis is None else whole(flush_millis) / 1000
        self._closed = False
        self._events: FileWriter | None = None
        if context.executing_eagerly():
            self._opened()

    def _opened(self) -> FileWriter:
        if self._events is None:
            self._events = FileWriter(self._folder, None, self._queue, self._seconds, None, self._suffix)
            weakref.finalize(self, self._events.close)
        return self._events

    def _write_value(self, tag: str, step: int, made: tuple[Any, SummaryMetadata | None]) -> None:
        proto, metadata = made
        if self._closed:
            return
        value = Summary.Value(tag=tag, tensor=proto, metadata=metadata)
        self._opened()._add(Event(summary=Summary(value=[value])), step)

    def _flush_now(self) -> None:
        if not self._closed:
            self._opened().flush()

    def _close_now(self) -> None:
        if not self._closed:
            self._opened().close()
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed. Fix: create_file_writer makes another one")

    def set_as_default(self, step: Any = None) -> None:
        """Lets summaries go to this writer from now on."""
        self._check()
        _state.writer = self
        if step is not None:
            _state.step = step

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[Any]:
        """Makes this the default writer in a `with` block; flushes it at its end."""
        self._check()
        before = _state.writer, _state.step
        _state.writer = self
        if step is not None:
            _state.step = step
        try:
            yield self
            if context.executing_eagerly():
                self._flush_now()
        finally:
            _state.writer = before[0]
            if step is not None:
                _state.step = before[1]

    def init(self) -> Any:
        """Returns the operation that opens the file, as the first summary does; None in eager mode."""
        return None if context.executing_eagerly() else raw.FlushSummaryWriter(writer=self)

    def flush(self) -> Any:
        """Flushes the buffer; in a graph, returns the operation that does."""
        # Silenced: eagerly there is nothing to return.
        return self._flush_now() if context.executing_eagerly() else raw.FlushSummaryWriter(writer=self)

    def close(self) -> Any:
        """Closes the file; in a graph, the operation that does."""
        # Silenced: eagerly there is nothing to return.
        return self._close_now() if context.executing_eagerly() else raw.CloseSummaryWriter(writer=self)


class _Noop(SummaryWriter):
    """A writer that writes nothing."""

    def set_as_default(self, step: Any = None) -> None:
        """Discards summaries from now on."""
        _state.writer = None

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[Any]:
        """Discards summaries in a `with` block."""
        before, _state.writer = _state.writer, None
        try:
            yield self
        finally:
            _state.writer = before

    def init(self) -> None:
        """Does nothing."""

    def flush(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def create_file_writer(logdir: Any, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None,
                       name: str | None = None, experimental_trackable: bool = False,
                       experimental_mesh: Any = None) -> SummaryWriter:
    """Makes a writer of an event file, for `tf.summary` of TensorFlow 2.

    Args:
      logdir: the directory; it is made if necessary.
      max_queue: the largest number of buffered events; 10 by default.
      flush_millis: the longest time that events are buffered, in milliseconds; two minutes by default.
      filename_suffix: what the file's name ends with; `.v2` by default.
      name, experimental_trackable, experimental_mesh: accepted.
    Returns: a `SummaryWriter`.
    Reference: TensorFlow 2.21 `tf.summary.create_file_writer`.

    >>> import tempfile
    >>> with create_file_writer(tempfile.mkdtemp()).as_default(step=1):
    ...     written = tf.compat.v2.summary.scalar("loss", 0.5)
    >>> sess.run(written)
    np.True_
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None. Fix: give a directory, or use create_noop_writer()")
    return _Writer(logdir, max_queue, flush_millis, filename_suffix)


def create_noop_writer() -> SummaryWriter:
    """Makes a writer that writes nothing.

    Reference: TensorFlow 2.21 `tf.summary.create_noop_writer`.
    """
    return _Noop()


def flush(writer: Any = None, name: str | None = None) -> Operation | Any:
    """Flushes a writer's buffer.

    Args:
      writer: the writer; the current one by default.
      name: accepted.
    Returns: in a graph, the operation that does it.
    Reference: TensorFlow 2.21 `tf.summary.flush`.
    """
    writer = _state.writer if writer is None else writer
    return None if writer is None else writer.flush()


def get_step() -> Any:
    """Returns the default step of summaries, or None.

    Reference: TensorFlow 2.21 `tf.summary.experimental.get_step`.
    """
    return _state.step


def set_step(step: Any) -> None:
    """Sets the default step of summaries.

    Args:
      step: a number, a tensor or variable of one; None for no step.
    Reference: TensorFlow 2.21 `tf.summary.experimental.set_step`.
    """
    _state.step = step


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Writes summaries in a `with` block only if a condition holds.

    Args:
      condition: a bool, a tensor, or a function that gives one, called for each summary.
    Reference: TensorFlow 2.21 `tf.summary.record_if`.
    """
    before, _state.recording = _state.recording, condition
    try:
        yield
    finally:
        _state.recording = before


def _recording() -> Any:
    condition = _state.recording
    return condition() if callable(condition) else condition


def should_record_summaries() -> Tensor:
    """Returns whether a summary would be written now: there is a writer, and the condition of `record_if` holds.

    Returns: a bool scalar.
    Reference: TensorFlow 2.21 `tf.summary.should_record_summaries`.
    """
    return convert_to_tensor(False if _state.writer is None else _recording(), bool_)
