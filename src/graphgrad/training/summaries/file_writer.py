"""`FileWriter`: writes event files, which TensorBoard reads."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from typing import Any

from graphgrad.errors import AlreadyExistsError, OpError
from graphgrad.ir.files.atomic_files import make_folders, system_errors
from graphgrad.ir.files.tfrecord import framed
from graphgrad.ir.graph import Graph
from graphgrad.ir.graphdef import graph_def as serialize
from graphgrad.ir.proto.wire import delimited

from .summary_messages import Event, Summary


class FileWriter:
    """Writes summaries and graphs to an event file in a directory.

    Args:
      logdir: the directory; it is made if necessary.
      graph: a graph to write first.
      max_queue: the largest number of buffered events.
      flush_secs: the longest time that events are buffered, in seconds.
      graph_def: accepted in place of `graph`: a serialized GraphDef.
      filename_suffix: what the file's name ends with.
      session: accepted; without effect.
    Raises: TypeError if `graph` is not a graph; ResourceExhaustedError, also later, if the disk is full.
    Reference: TensorFlow 2.21 `tf.compat.v1.summary.FileWriter`.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> writer = tf.summary.FileWriter(folder, tf.get_default_graph())
    >>> writer.add_summary(sess.run(tf.summary.scalar("loss", 0.5)), global_step=1)
    >>> writer.close()
    >>> os.listdir(folder)  # doctest: +ELLIPSIS
    ['events.out.tfevents...']
    """

    _stem = "events"  # how names of files begin

    def __init__(self, logdir: Any, graph: Any = None, max_queue: int = 10, flush_secs: float = 120,
                 graph_def: Any = None, filename_suffix: str | None = None, session: Any = None):
        self._logdir = os.fspath(logdir)
        self._suffix = filename_suffix or ""
        self._max_queue = max_queue
        self._flush_secs = flush_secs
        self._seen: set[str] = set()
        self._run_tags: set[str] = set()
        self._file: Any = None
        given = graph is not None or graph_def is not None
        first = _graph_def(graph, graph_def) if given else None
        make_folders(self._logdir)
        self._open()
        if first is not None:
            self.add_graph(None, graph_def=first)
            self.add_meta_graph(_meta_graph(graph, first))

    def _open(self) -> None:
        import socket

        now = time.time()
        name = f"{self._stem}.out.tfevents.{int(now):010d}.{socket.gethostname()}{self._suffix}"
        base = os.path.join(self._logdir, name)
        self._path, count = base, 0
        while self._file is None:
            try:
                with system_errors(self._path):
                    self._file = open(self._path, "xb")  # noqa: SIM115  # closed by `close`
            except AlreadyExistsError:  # another writer of this second
                count += 1
                self._path = f"{base}.{count}"
        self._kept_back = 0
        self._flushed = now
        first = Event(wall_time=float(int(now)), file_version="brain.Event:2")
        first.source_metadata.writer = "graphgrad"
        try:
            self._write(first)
            self.flush()
        except OpError:
            with contextlib.suppress(OpError):
                self.close()
            raise

    def _write(self, event: Event) -> None:
        if self._file is None:
            _warn_closed()
            return
        with system_errors(self._path):
            self._file.write(framed(event.SerializeToString()))
        self._kept_back += 1
        if self._kept_back >= self._max_queue or time.time() - self._flushed > self._flush_secs:
            self.flush()

    def get_logdir(self) -> str:
        """Returns the directory."""
        return self._logdir

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Writes a summary.

        Args:
          summary: what a run of a summary operation gave, or a `Summary`.
          global_step: the step, a number.
        """
        message = Summary.FromString(bytes(summary)) if isinstance(summary, bytes) else summary
        for value in message.value:  # TensorBoard needs the metadata of a tag only once
            if value.HasField("metadata"):
                if value.tag in self._seen:
                    value.ClearField("metadata")
                self._seen.add(value.tag)
        self._add(Event(summary=message), global_step)

    def add_event(self, event: Any) -> None:
        """Writes an `Event`."""
        self._write(event)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Writes the times of a run's steps, which TensorBoard shows beside the graph.

        Args:
          run_metadata: the `RunMetadata` of a run with a `trace_level`.
          tag: a name for it, used once.
          global_step: the step, a number.
        Raises: ValueError for a tag that was used before.
        """
        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type. Fix: give each step its own")
        self._run_tags.add(tag)
        stats = run_metadata.step_stats
        event = Event()
        event.tagged_run_metadata.tag = tag
        data = delimited(1, stats.SerializeToString()) if hasattr(type(stats), "SerializeToString") else b""
        event.tagged_run_metadata.run_metadata = data
        self._add(event, global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Writes a `SessionLog`."""
        self._add(Event(session_log=session_log), global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Writes a graph.

        Args:
          graph: a `Graph`.
          global_step: the step, a number.
          graph_def: a serialized GraphDef in its place.
        Raises: TypeError if `graph` is not a graph; ValueError if there are both, or none.
        """
        self._add(Event(graph_def=_graph_def(graph, graph_def)), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Writes a graph with its collections.

        Args:
          meta_graph_def: a `MetaGraphDef`.
          global_step: the step, a number.
        Raises: TypeError if it is none.
        """
        if not hasattr(meta_graph_def, "collection_def"):
            raise TypeError(f"meta_graph_def must be a MetaGraphDef, not {type(meta_graph_def).__name__}. "
                            "Fix: give what tf.train.export_meta_graph() returns")
        self._add(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def _add(self, event: Event, global_step: Any) -> None:
        event.wall_time = time.time()
        if global_step is not None:
            event.step = int(global_step)
        self._write(event)

    def flush(self) -> None:
        """Flushes the buffer to the file."""
        if self._file is None:
            _warn_closed()
            return
        with system_errors(self._path):
            self._file.flush()
        self._kept_back = 0
        self._flushed = time.time()

    def close(self) -> None:
        """Flushes the buffer, and closes the file."""
        if self._file is not None:
            file, self._file = self._file, None
            with system_errors(self._path):
                file.close()

    def reopen(self) -> None:
        """Continues in a new file, if this one was closed."""
        if self._file is None:
            self._open()

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()


def _graph_def(graph: Any, graph_def: Any) -> bytes:
    """Returns the serialized GraphDef of one of the two; ValueError or TypeError for invalid arguments."""
    if graph is not None and graph_def is not None:
        raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
    if graph is not None:
        if not isinstance(graph, Graph):
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`. "
                            "Fix: give session.graph")
        return serialize(graph)
    if not isinstance(graph_def, bytes):
        raise TypeError("graph_def must be a serialized GraphDef. Fix: give session.graph as graph")
    return graph_def


def _meta_graph(graph: Any, graph_def: bytes) -> Any:
    """Returns the `MetaGraphDef` of a graph, or of a serialized GraphDef where there is no graph."""
    from graphgrad.ir.graph_messages import GraphDef
    from graphgrad.training.checkpoints.meta_graph import export_meta_graph

    if graph is None:
        return export_meta_graph(graph_def=GraphDef.FromString(graph_def))
    return export_meta_graph(graph=graph, graph_def=graph.as_graph_def(add_shapes=True))


def _warn_closed() -> None:
    warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                  "explicitly reopened.", stacklevel=4)


class FileWriterCache:
    """One `FileWriter` for each directory."""

    _writers: dict[str, FileWriter] = {}

    @staticmethod
    def clear() -> None:
        """Closes all of them."""
        for writer in FileWriterCache._writers.values():
            writer.close()
        FileWriterCache._writers.clear()

    @staticmethod
    def get(logdir: Any) -> FileWriter:
        """Returns the writer for a directory."""
        folder = os.fspath(logdir)
        if folder not in FileWriterCache._writers:
            FileWriterCache._writers[folder] = FileWriter(folder)
        return FileWriterCache._writers[folder]
