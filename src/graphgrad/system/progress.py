"""A line on the standard error while something takes long: compiling, or a loop on a device.

What may take long is registered in a list when it begins, and taken out when it ends. A thread looks at the list a few
times a second, and writes what has been in it for `AFTER` seconds; it ends when nothing has been there for a while. So
what is quick costs an entry of a list, and where nobody reads along, not even that.
"""

from __future__ import annotations

import _thread
import contextlib
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Self

AFTER = 2.0  # seconds after which the line appears
_PAUSE = 0.25  # seconds between two looks
_IDLE = 20  # looks at nothing after which the thread ends

_setting: list[bool | None] = [None]  # of `show_progress`
_pending: list[Pending] = []
_watchers: list[int] = []  # the thread that looks; an interrupt may leave several, which is harmless
_writing = _thread.allocate_lock()
threads: set[int] = set()  # those that look, or have looked


class Pending:
    """Something that may take long, in a `with` block.

    Args:
      total: the number of its parts; 0 if there are none to count.

    Attributes:
      done: the number of parts that are complete.
    """

    __slots__ = ("total", "done", "_since", "_line", "_frame", "_thread")

    def __init__(self, total: int = 0):
        self.total = total
        self.done = 0
        self._line: Any = None
        self._frame: Any = None

    def __enter__(self) -> Self:
        if is_shown():
            self._since, self._frame, self._thread = time.monotonic(), sys._getframe(1), threading.get_ident()
            _pending.append(self)
            if not _watchers:
                _watch()
        return self

    def __exit__(self, *details: object) -> None:
        self._frame = None
        with contextlib.suppress(ValueError):  # not shown
            _pending.remove(self)
        if self._line is not None and _writing.acquire(timeout=1.0):  # a terminal may stand still
            try:
                self._close()
            finally:
                _writing.release()

    def text(self) -> str:
        """Describes it, in a few words; called by another thread."""
        raise NotImplementedError  # each kind of work has its own words

    def seconds(self) -> float:
        """Returns for how long it has been pending."""
        return time.monotonic() - self._since

    def is_over(self) -> bool:
        """Returns whether its block has been left; an interrupt may come before `__exit__` says so."""
        frame: Any = sys._current_frames().get(self._thread)
        while frame is not None and frame is not self._frame:
            frame = frame.f_back
        return frame is None

    def _close(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()

    def show(self) -> None:
        """Writes the line; called by the thread that looks."""
        if self._line is None:
            self._line = _line_on(sys.stderr, self.total)
        self._line.write(self)


def is_shown() -> bool:
    """Returns whether long work is announced: as `show_progress` says, else in terminals and notebooks."""
    if _setting[0] is not None:
        return _setting[0]
    stream = sys.stderr
    if stream is None or os.environ.get("GRAPHGRAD_PROGRESS") in ("0", "off"):
        return False
    try:
        return _in_notebook(stream) or (stream.isatty() and os.environ.get("TERM") != "dumb")
    except (AttributeError, ValueError):  # closed, or no stream at all
        return False


def show_progress(shown: bool | None = True) -> None:
    """Says whether compiling and loops of more than two seconds are announced by a line on the standard error.

    By default they are in terminals and notebooks, unless the environment variable GRAPHGRAD_PROGRESS is 0.

    Args:
      shown: whether they are; None for the default.
    Gradient: none; it builds nothing.
    Reference: graphgrad's own.

    >>> tf.show_progress(False)
    >>> tf.show_progress(None)
    """
    _setting[0] = None if shown is None else bool(shown)


def _in_notebook(stream: Any) -> bool:
    return type(stream).__module__.partition(".")[0] == "ipykernel"


# -- lines -----------------------------------------------------------------------------


def _line_on(stream: Any, total: int) -> Any:
    if _in_notebook(stream):
        try:
            return _Bar(stream, total)
        except ImportError:
            return _Line(stream.write, stream.flush, lambda: 100)
    try:
        number = stream.fileno()
    except (OSError, AttributeError, ValueError):
        return _Line(stream.write, stream.flush, lambda: 100)
    # Past the stream's buffer, whose lock a thread must not hold when the program ends.
    return _Line(lambda text: os.write(number, text.encode("utf-8", "replace")), lambda: None,
                 _columns)


def _columns() -> int:
    import shutil  # it imports compressors

    return shutil.get_terminal_size().columns


class _Line:
    """A line of a terminal that is written over, and empty at the end."""

    def __init__(self, write: Callable[[str], Any], flush: Callable[[], Any], columns: Callable[[], int]):
        self._write, self._flush, self._columns = write, flush, columns
        self._text = ""

    def write(self, pending: Pending) -> None:
        text = f"graphgrad: {pending.text()}, {pending.seconds():.0f} s"
        text = text[:max(20, self._columns() - 1)]
        if text != self._text:
            self._put("\r" + text.ljust(len(self._text)))
            self._text = text

    def close(self) -> None:
        self._put("\r" + " " * len(self._text) + "\r")

    def _put(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal is gone
            self._write(text)
            self._flush()


class _Bar:
    """A bar of tqdm's, for notebooks; raises ImportError where there is no tqdm."""

    def __init__(self, stream: Any, total: int):
        try:
            importlib.import_module("ipywidgets")  # without it, the bar for notebooks only warns
            tqdm = importlib.import_module("tqdm.notebook")
        except ImportError:
            tqdm = importlib.import_module("tqdm")
        self._bar = tqdm.tqdm(total=total or None, leave=False, file=stream)

    def write(self, pending: Pending) -> None:
        self._bar.n = pending.done
        self._bar.set_description_str(f"graphgrad: {pending.text()}", refresh=True)

    def close(self) -> None:
        self._bar.close()


# -- the thread that looks -------------------------------------------------------------


def _watch() -> None:
    try:
        _watchers[:] = [_thread.start_new_thread(_look, ())]  # threading.Thread does not survive interrupts
    except RuntimeError:  # no thread can be started
        return


def _look() -> None:
    threads.add(threading.get_ident())
    idle = 0
    while idle < _IDLE:
        time.sleep(_PAUSE)
        idle = 0 if _pending else idle + 1
        with _writing, contextlib.suppress(Exception):  # a line is not worth an error
            for pending in _pending[:1]:  # the one that began first
                if pending.seconds() >= AFTER:
                    pending.show()
                    if pending.is_over():
                        pending._close()
                        _pending.remove(pending)
    _watchers.clear()
    if _pending:  # one came too late to see that this thread ends
        _watch()


def _forget() -> None:
    """Makes the next one start a thread: a forked process has none."""
    global _writing
    _watchers.clear()
    _pending.clear()
    _writing = _thread.allocate_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
