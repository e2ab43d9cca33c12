"""Blocking operations within a run: waiting for queue elements or capacity.

A waiting operation has begun an *attempt*, which an action of another thread completes. A run may have several
operations that wait for each other; the executor then requests `WouldBlock` instead of waiting, lets the others act,
and resumes.

If every thread of the program waits like this, that is a deadlock and raises an error. (TensorFlow waits for ever.)
"""

from __future__ import annotations

import _thread
import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from graphgrad.errors import DeadlineExceededError, OpError
from graphgrad.system.log import Log

from .source import user_source

_log = Log("graphgrad")


class WouldBlock(Exception):
    """Raised instead of waiting, at the executor's request.

    Args:
      attempt: the begun attempt.
    """

    def __init__(self, attempt: Attempt):
        super().__init__()
        self.attempt = attempt


class _State(threading.local):
    deadline: float | None = None
    defers = False
    begun: Attempt | None = None
    operation: Any = None  # the operation whose kernel this thread runs, if it may wait


_state = _State()


class Attempt:
    """A pending action that another thread may have to complete.

    Attributes:
      done: whether it has finished.
      value: its result.
      error: why it failed, or None.
    """

    __slots__ = ("done", "value", "error", "_lock", "_bell", "_withdraw")

    def __init__(self, lock: Any, withdraw: Callable[[Attempt], None]):
        self.done = False
        self.value: Any = None
        self.error: OpError | None = None
        self._lock = lock
        self._bell: Any = None  # a plain lock, in C: an interrupt could leave an event's lock taken
        self._withdraw = withdraw

    def finish(self, error: OpError | None = None) -> None:
        """Ends it and wakes the waiting thread. The lock is held."""
        self.done, self.error = True, error
        if self._bell is not None:
            self._bell.release()

    def give_up(self) -> None:
        """Withdraws it, unless it has finished."""
        with self._lock:
            if not self.done:
                self._withdraw(self)

    def wait(self) -> Any:
        """Waits until it has finished.

        Returns: its value.
        Raises: its error; DeadlineExceededError at the run's deadline, or at a deadlock.
        """
        with self._lock:
            if not self.done:
                self._bell = _thread.allocate_lock()
                self._bell.acquire()
        if self._bell is not None:
            failure = None
            try:
                failure = self._sleep()
            finally:  # also after an interrupt
                self.give_up()
            if not self.done and failure is not None:
                problem, fix = failure
                raise located(DeadlineExceededError, f"{problem} ({self._wish()})", fix)
        if self.error is not None:
            raise self.error
        return self.value


    def _sleep(self) -> tuple[str, str] | None:
        """Waits; returns a problem and a remedy if the wait ended without an action."""
        thread, deadline = threading.get_ident(), _state.deadline
        wait = LongWait(self._what)
        if deadline is None:
            _asleep[thread] = self
        try:
            pause = _FIRST_LOOK
            while True:
                now = time.monotonic()
                if self._bell.acquire(timeout=pause if deadline is None else max(0.0, min(pause, deadline - now))):
                    return None
                if deadline is not None and time.monotonic() >= deadline:
                    return _LATE
                if deadline is None and _all_wait():
                    return _NOBODY
                wait.look()
                pause = _LOOK
        finally:
            _asleep.pop(thread, None)

    def _wish(self) -> str:
        whose = getattr(self._withdraw, "__self__", None)
        kind = type(self).__name__.strip("_").lower()
        return f"{kind} of {getattr(whose, 'kind', 'queue')} '{getattr(whose, 'name', '')}'"

    def _what(self) -> str:
        return f"{self._wish()}: another thread's move{built(_state.operation)}"


class LongWait:
    """Logs a long wait once, with the user's line that waits.

    Args:
      what: describes the awaited event.
    """

    def __init__(self, what: Callable[[], str]):
        self._what: Callable[[], str] | None = what
        self._began = time.monotonic()

    def look(self) -> None:
        """Logs a wait that has become long; called from time to time during it."""
        seconds = time.monotonic() - self._began
        if self._what is not None and seconds >= _LONG:
            caller = user_source(2)
            if caller is not None and caller.filename == threading.__file__:
                caller = None  # a thread of this package, such as a queue runner's
            called = "" if caller is None else f"\n  Called at {caller}"
            _log.warning("waiting for %.0f seconds: %s%s", seconds, self._what(), called)
            self._what = None


def built(operation: Any) -> str:
    """Describes an operation and where the user built it, as a separate line; "" for None."""
    if operation is None:
        return ""
    return f"\n  {operation.type} '{operation.name}', built at {operation.source or 'an unknown line'}"


def announced(operation: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a kernel that may wait, so that the log names its operation after a long wait.

    Args:
      operation: the operation.
      kernel: its kernel.
    """
    def call(*args: Any, **attrs: Any) -> Any:
        outer, _state.operation = _state.operation, operation
        try:
            return kernel(*args, **attrs)
        finally:
            _state.operation = outer

    return call


_LATE = ("Timed out waiting for notification",
         "let another thread make its move, or allow more time (operation_timeout_in_ms)")
_NOBODY = ("This wait can never end: no other thread of the program is left that could make the move it waits for",
           "start what fills or empties the queue first (tf.train.start_queue_runners(sess), or a thread of your own), "
           "close the queue when all is in it, or set a time-out (operation_timeout_in_ms)")
_FIRST_LOOK, _LOOK = 0.05, 1.0  # seconds before, and between, checks for a deadlock
_LONG = 60.0  # seconds after which the wait is logged
_asleep: dict[int, Attempt] = {}  # thread -> its attempt
bystanders: set[int] = set()  # threads of this package, which never act,
other_bystanders: list[set[int]] = []  # and sets of others


def _all_wait() -> bool:
    """Returns whether all threads of the program wait, with no deadline, for actions of others."""
    before = _threads()
    attempts = [_asleep.get(thread) for thread in before]
    # A thread that acts and then waits registers its wait after acting, so completion is checked last.
    if None in attempts or _threads() != before:
        return False
    return not any(a is None or a.done for a in attempts)


def _threads() -> set[int]:
    ours = {t.ident for t in threading.enumerate() if t.name.startswith("graphgrad-")}
    return sys._current_frames().keys() - ours.union(bystanders, *other_bystanders)


def located(cls: Callable[[Any, Any, str], OpError], problem: str, fix: str) -> OpError:
    """Makes an error for a kernel that does not know its operation; the executor adds it.

    Args:
      cls: TensorFlow's class.
      problem: the problem.
      fix: a remedy.
    """
    error = cls(None, None, f"{problem}\n  Fix: {fix}")
    error._unlocated = problem, fix
    return error


def settle(begin: Callable[..., Attempt], *args: Any) -> Any:
    """Begins an attempt, or resumes the one that the executor keeps, and waits for its end.

    Args:
      begin: begins the attempt and returns it.
      *args: its arguments.
    Returns: the value.
    Raises: WouldBlock at the executor's request; else as `Attempt.wait`.
    """
    attempt, _state.begun = _state.begun, None
    if attempt is None:
        attempt = begin(*args)
    if _state.defers and not attempt.done:
        raise WouldBlock(attempt)
    return attempt.wait()


def deadline() -> float | None:
    """Returns the deadline of this thread's run, by `time.monotonic`; None if there is none."""
    return _state.deadline


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limits the total time of this thread's waits and loops in a `with` block."""
    old = _state.deadline
    _state.deadline = time.monotonic() + seconds
    try:
        yield
    finally:
        _state.deadline = old


@contextlib.contextmanager
def untimed() -> Iterator[None]:
    """Excludes a `with` block, such as compiling, from this thread's deadline."""
    began = time.monotonic()
    try:
        yield
    finally:
        if _state.deadline is not None:
            _state.deadline += time.monotonic() - began


@contextlib.contextmanager
def deferring(begun: Attempt | None = None) -> Iterator[None]:
    """Makes operations that would wait in a `with` block raise `WouldBlock`.

    Args:
      begun: the attempts begun already.
    """
    _state.defers, _state.begun = True, begun
    try:
        yield
    finally:
        _state.defers, _state.begun = False, None


@contextlib.contextmanager
def resuming(begun: Attempt) -> Iterator[None]:
    """Resumes a begun attempt in a `with` block."""
    _state.begun = begun
    try:
        yield
    finally:
        _state.begun = None
