"""The line that announces long work: where it appears, what it says, and that it goes away."""

from __future__ import annotations

import _thread
import io
import os
import select
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.plan.announced import Compiling, Looping, Planning
from graphgrad.system import progress

signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts the tests may ignore it
_LONG = 60  # seconds, after which a wait is given up


class _Work(progress.Pending):
    def text(self) -> str:
        return f"working on {self.done} of {self.total} parts of something with a rather long description"


def _stderr(monkeypatch: Any, stream: Any) -> None:
    """Replaces the standard error for the module alone: pytest sets its own between set-up and test."""
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(
        stderr=stream, _getframe=sys._getframe, _current_frames=sys._current_frames))


@pytest.fixture
def terminal(monkeypatch: Any) -> Iterator[Any]:
    """The other end of a terminal that is the standard error; long work is announced at once."""
    pty = pytest.importorskip("pty")
    reads, writes = pty.openpty()
    stream = open(writes, "w")  # noqa: SIM115  # closed below
    _stderr(monkeypatch, stream)
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.001)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("GRAPHGRAD_PROGRESS", raising=False)
    yield reads
    stream.close()
    os.close(reads)


def _until(reads: int, text: str, seen: str = "") -> str:
    """Reads until a text has come."""
    while text not in seen:
        assert select.select([reads], [], [], _LONG)[0], f"{text!r} did not come after {seen!r}"
        seen += os.read(reads, 1000).decode()
    return seen


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + _LONG
    while not condition():
        assert time.monotonic() < end, "it did not happen"


def test_line(terminal: int) -> None:
    """It is written over, no wider than the terminal, and gone at the end."""
    with _Work(7) as work:
        _until(terminal, "0 of 7")
        work.done = 3
        seen = _until(terminal, "3 of 7")
    rest = _until(terminal, " " * 40 + "\r")
    assert progress._pending == []
    lines = [line for line in (seen + rest).split("\r") if line.strip()]
    assert lines and all(len(line) <= 59 and "\n" not in line for line in lines)


def test_errors_and_interrupts(terminal: int) -> None:
    """Whatever ends the work ends the line; one that an interrupt left behind is found to be over."""
    with pytest.raises(KeyError), _Work(1):
        _until(terminal, "0 of 1")
        raise KeyError
    with pytest.raises(KeyboardInterrupt), _Work(2):
        _until(terminal, "0 of 2")
        _thread.interrupt_main()
        _wait_for(lambda: False)
    _until(terminal, " " * 40 + "\r")
    assert progress._pending == []

    def interrupted() -> None:
        _Work(3).__enter__()  # and no `__exit__`

    interrupted()
    _wait_for(lambda: not progress._pending)


def test_thread_ends(terminal: int) -> None:
    """The thread ends when nothing is pending, and the next work starts another one."""
    for n in (4, 5):
        with _Work(n):
            _until(terminal, f"0 of {n}")
        _wait_for(lambda: not progress._watchers)


@pytest.mark.parametrize("set_up, shown", [
    ({}, True), ({"GRAPHGRAD_PROGRESS": "0"}, False), ({"GRAPHGRAD_PROGRESS": "off"}, False),
    ({"GRAPHGRAD_PROGRESS": "1"}, True), ({"TERM": "dumb"}, False)])
def test_switches(terminal: int, monkeypatch: Any, set_up: dict[str, str], shown: bool) -> None:
    """The environment and `show_progress` decide."""
    for name, value in set_up.items():
        monkeypatch.setenv(name, value)
    assert progress.is_shown() is shown
    try:
        tf.show_progress(not shown)
        assert progress.is_shown() is not shown
    finally:
        tf.show_progress(None)
    assert progress.is_shown() is shown


def test_without_terminal(monkeypatch: Any) -> None:
    """No terminal, no line, and no thread."""
    closed = io.StringIO()
    closed.close()
    for stream in (io.StringIO(), None, types.SimpleNamespace(), closed):
        _stderr(monkeypatch, stream)
        assert not progress.is_shown()
        with _Work(1):
            assert progress._pending == []


class _Bar:
    made: list[_Bar]

    def __init__(self, **options: Any) -> None:
        self.options, self.texts, self.closed, self.n = options, [], False, 0
        self.made.append(self)

    def set_description_str(self, text: str, refresh: bool) -> None:
        self.texts.append((self.n, text))

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_notebook(terminal: int, monkeypatch: Any, has_tqdm: bool) -> None:
    """A notebook gets tqdm's bar if it is there, else a line."""
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    _stderr(monkeypatch, stream)
    bars = type("Bars", (_Bar,), {"made": []})
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=bars) if has_tqdm else None)
    with _Work(9) as work:
        work.done = 2
        while not (stream.getvalue() or (bars.made and bars.made[0].texts)):
            pass
    if has_tqdm:
        (bar,) = bars.made
        assert bar.options == {"total": 9, "leave": False, "file": stream} and bar.closed
        assert bar.texts[0][0] == 2 and bar.texts[0][1].startswith("graphgrad: working on 2 of 9")
    else:
        assert "2 of 9" in stream.getvalue() and stream.getvalue().endswith(" \r")


def test_what_is_pending(graph: Any, monkeypatch: Any) -> None:
    """Compiling counts clusters and operations, a loop says where it was built, planning how large the graph is."""
    told: list[tuple[int, int, str]] = []

    class Noting(Compiling):
        def __exit__(self, *details: object) -> None:
            told.append((self.lowered, self.done, self.text()))
            super().__exit__(*details)

    monkeypatch.setattr("graphgrad.executor.runtime.run.Compiling", Noting)
    x = tf.placeholder(tf.float32, [4, 4])
    with tf.Session() as session:
        session.run(tf.tanh(x @ x) @ x, {x: np.ones((4, 4))}, tf.RunOptions(trace_level=1), tf.RunMetadata())
    assert told and all(lowered == done for lowered, done, _ in told)
    assert told[0][2].startswith("compiling ") and " operations, " in told[0][2]
    begun = Compiling([])
    begun.total = 1
    assert begun.text() == "tracing 1 cluster of 0 operations, 0 done"
    loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    (op,) = [op for op in graph.get_operations() if op.type == "While"]
    assert Looping(op).text().startswith(f"running loop '{op.name}', built at test_progress.py:") and loop is not None
    assert Planning(12345).text() == "planning a run on a graph of 12,345 operations"
