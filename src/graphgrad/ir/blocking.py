"""Waiting inside of a run: for room in a queue, or for elements.

What an operation waits for is an *attempt*: it is begun, and somebody else's move completes it. A run may have
several operations that wait, each for the move of another one of the same run; the executor then asks for
`WouldBlock` instead of waiting, lets the others make their moves, and resumes.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import DeadlineExceededError, OpError


class WouldBlock(Exception):
    """Raised in the place of waiting, where the executor asked for it.

    Args:
      attempt: what was begun.
    """

    def __init__(self, attempt: Attempt):
        super().__init__()
        self.attempt = attempt


class _State(threading.local):
    deadline: float | None = None
    defers = False
    begun: Attempt | None = None


_state = _State()


class Attempt:
    """Something begun that another thread may have to complete.

    Attributes:
      done: whether it is over.
      value: what came of it.
      error: why it failed, or None.
    """

    __slots__ = ("done", "value", "error", "_lock", "_event", "_withdraw")

    def __init__(self, lock: Any, withdraw: Callable[[Attempt], None]):
        self.done = False
        self.value: Any = None
        self.error: OpError | None = None
        self._lock = lock
        self._event: threading.Event | None = None
        self._withdraw = withdraw

    def finish(self, error: OpError | None = None) -> None:
        """Ends it; whoever waits goes on. The lock is held."""
        self.done, self.error = True, error
        if self._event is not None:
            self._event.set()

    def give_up(self) -> None:
        """Takes it back, unless it is over."""
        with self._lock:
            if not self.done:
                self._withdraw(self)

    def wait(self) -> Any:
        """Waits until it is over.

        Returns: its value.
        Raises: its error; DeadlineExceededError where the run may not take any longer.
        """
        with self._lock:
            if not self.done:
                self._event = threading.Event()
        if self._event is not None:
            left = None if _state.deadline is None else max(0.0, _state.deadline - time.monotonic())
            try:
                self._event.wait(left)
            finally:  # an interrupt, too
                self.give_up()
            if not self.done:
                raise located(DeadlineExceededError, "Timed out waiting for notification",
                              "let another thread make its move, or allow more time (operation_timeout_in_ms)")
        if self.error is not None:
            raise self.error
        return self.value


def located(cls: Callable[[Any, Any, str], OpError], problem: str, fix: str) -> OpError:
    """An error of a kernel that does not know its operation; the executor adds it.

    Args:
      cls: TensorFlow's class.
      problem: what is wrong.
      fix: a remedy.
    """
    error = cls(None, None, f"{problem}\n  Fix: {fix}")
    error._unlocated = problem, fix
    return error


def settle(begin: Callable[..., Attempt], *args: Any) -> Any:
    """Begins an attempt, or resumes the one that the executor keeps, and waits for its end.

    Args:
      begin: gives the attempt.
      *args: its arguments.
    Returns: the value.
    Raises: WouldBlock where the executor asked for it; else as `Attempt.wait`.
    """
    attempt, _state.begun = _state.begun, None
    if attempt is None:
        attempt = begin(*args)
    if _state.defers and not attempt.done:
        raise WouldBlock(attempt)
    return attempt.wait()


def deadline() -> float | None:
    """When the time of this thread's run is over, by `time.monotonic`; None if it may take as long as it likes."""
    return _state.deadline


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """A `with` block in which what this thread waits for, and its loops, take no longer in all."""
    old = _state.deadline
    _state.deadline = time.monotonic() + seconds
    try:
        yield
    finally:
        _state.deadline = old


@contextlib.contextmanager
def untimed() -> Iterator[None]:
    """A `with` block, such as compiling, that does not count for this thread's deadline."""
    began = time.monotonic()
    try:
        yield
    finally:
        if _state.deadline is not None:
            _state.deadline += time.monotonic() - began


@contextlib.contextmanager
def deferring(begun: Attempt | None = None) -> Iterator[None]:
    """A `with` block in which what would wait raises `WouldBlock`.

    Args:
      begun: what was begun already.
    """
    _state.defers, _state.begun = True, begun
    try:
        yield
    finally:
        _state.defers, _state.begun = False, None


@contextlib.contextmanager
def resuming(begun: Attempt) -> Iterator[None]:
    """A `with` block that goes on with what was begun."""
    _state.begun = begun
    try:
        yield
    finally:
        _state.begun = None
