"""`tf.profiler.experimental`: a trace of everything that runs between `start` and `stop`."""

from __future__ import annotations

import gzip
import os
import socket
import threading
import time
from typing import Any

from graphgrad.errors import AlreadyExistsError, UnavailableError
from graphgrad.executor.runtime import recording
from graphgrad.executor.runtime.step_stats import step_stats
from graphgrad.ir.files.atomic_files import make_folders, write_whole

from .timeline import ChromeTrace, add_steps

_HOST = 0  # the number of the process of `Trace` blocks and runs
_RUNS, _TRACES = 0, 1  # and of its threads: runs, and from here on the program's own


class _Recorder:
    """What is being recorded.

    Attributes:
      logdir: where to write it; None if nothing is being recorded.
      blocks: name, metadata, thread, start and end of each `Trace` block.
    """

    def __init__(self) -> None:
        self.logdir: str | None = None
        self.lock = threading.Lock()
        self.blocks: list[tuple[str, dict[str, Any], int, float, float]] = []


_recorder = _Recorder()


class ProfilerOptions:
    """Options of `start`; kept, and without effect: steps of runs and `Trace` blocks are what is recorded.

    Args:
      host_tracer_level, python_tracer_level, device_tracer_level, delay_ms: accepted.
    Reference: TensorFlow 2.21 `tf.profiler.experimental.ProfilerOptions`.
    """

    def __init__(self, host_tracer_level: int = 2, python_tracer_level: int = 0, device_tracer_level: int = 1,
                 delay_ms: int | None = None):
        self.host_tracer_level, self.python_tracer_level = host_tracer_level, python_tracer_level
        self.device_tracer_level, self.delay_ms = device_tracer_level, delay_ms


def start(logdir: str, options: Any = None) -> None:
    """Begins to record: the steps of all runs of sessions and functions, and `Trace` blocks.

    Recorded runs use XLA from the first one on. Single operations of eager mode are not recorded.

    Args:
      logdir: the directory that `stop` writes to.
      options: accepted.
    Raises: AlreadyExistsError if it records already.
    Reference: TensorFlow 2.21 `tf.profiler.experimental.start`.
    """
    with _recorder.lock:
        if _recorder.logdir is not None:
            raise AlreadyExistsError(None, None, "Another profiler is running. Fix: tf.profiler.experimental.stop()")
        _recorder.logdir = os.fspath(logdir)
        _recorder.blocks.clear()
        recording.start()


def stop(save: bool = True) -> None:
    """Ends what `start` began, and writes `plugins/profile/TIME/HOST.trace.json.gz`, which Perfetto opens.

    Args:
      save: whether to write.
    Raises: UnavailableError if nothing is being recorded.
    Reference: TensorFlow 2.21 `tf.profiler.experimental.stop`.
    """
    with _recorder.lock:
        logdir, _recorder.logdir = _recorder.logdir, None
        if logdir is None:
            raise UnavailableError(None, None, "Cannot export profiling results. No profiler is running. "
                                               "Fix: tf.profiler.experimental.start(logdir)")
        reports, blocks = recording.stop(), _recorder.blocks[:]
    if not save:
        return
    trace = ChromeTrace()
    trace.process(_HOST, "program")
    trace.thread(_HOST, _RUNS, "runs")
    threads: dict[int, int] = {}
    for name, metadata, thread, begun, ended in blocks:
        if thread not in threads:
            threads[thread] = _TRACES + len(threads)
            trace.thread(_HOST, threads[thread], f"thread {thread}")
        trace.span(_HOST, threads[thread], name, round(begun * 1e6), round((ended - begun) * 1e6), metadata, "Trace")
    pids: dict[str, int] = {"program": _HOST}
    for number, report in enumerate(reports):
        if report.steps:
            first, last = report.steps[0], report.steps[-1]
            trace.span(_HOST, _RUNS, f"run {number}", round(first.start * 1e6),
                       round((last.start + last.seconds - first.start) * 1e6),
                       {"steps": len(report.steps), "peak_bytes": report.peak_bytes}, "Run")
            add_steps(trace, step_stats(report), True, True, pids=pids)
    _write(logdir, trace)


def _write(logdir: str, trace: ChromeTrace) -> None:
    moment = time.time()
    stamp = time.strftime("%Y_%m_%d_%H_%M_%S", time.localtime(moment))
    folder = os.path.join(logdir, "plugins", "profile", stamp)
    number = 1
    while os.path.exists(folder):  # two in one second
        number += 1
        folder = os.path.join(logdir, "plugins", "profile", f"{stamp}_{number}")
    make_folders(folder)
    write_whole(os.path.abspath(os.path.join(folder, f"{socket.gethostname()}.trace.json.gz")),
                gzip.compress(trace.format_to_string().encode(), mtime=int(moment)))


class Profile:
    """A block that is recorded; see `start`.

    Args:
      logdir, options: as for `start`.
    Reference: TensorFlow 2.21 `tf.profiler.experimental.Profile`.
    """

    def __init__(self, logdir: str, options: Any = None):
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, *details: Any) -> None:
        stop()


class Trace:
    """A block of the program with a name, which is shown if it is recorded; see `start`.

    Args:
      name: the name.
      **kwargs: what is said of it, such as `step_num`.
    Reference: TensorFlow 2.21 `tf.profiler.experimental.Trace`.
    """

    def __init__(self, name: str, **kwargs: Any):
        self.name = name
        self._metadata = dict(kwargs)

    def __enter__(self) -> Trace:
        self._begun = time.time()
        return self

    def __exit__(self, *details: Any) -> None:
        if _recorder.logdir is not None:
            metadata = {name: value if isinstance(value, (bool, int, float)) else str(value)
                        for name, value in self._metadata.items()}
            _recorder.blocks.append((self.name, metadata, threading.get_ident(), self._begun, time.time()))

    def set_metadata(self, **kwargs: Any) -> None:
        """Says more of the block.

        Args:
          **kwargs: what is said.
        """
        self._metadata.update(kwargs)
