"""Blocking operations within a run: waiting for queue elements or capacity.

What an operation waits for is an *attempt*: it is begun, and somebody else's move completes it. A run may have
several operations that wait, each for the move of another one of the same run; the executor then asks for
`WouldBlock` instead of waiting, lets the others make their moves, and resumes.

Where every thread of the program waits like this, nobody is left to make a move: that is an error. (TensorFlow waits
for ever.)
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
    operation: Any = None  # the one whose kernel this thread runs, if it may wait


_state = _State()


class Attempt:
    """Something begun that another thread may have to complete.

    Attributes:
      done: whether it is over.
      value: what came of it.
      error: why it failed, or None.
    """

    __slots__ = ("done", "value", "error", "_lock", "_bell", "_withdraw")

    def __init__(self, lock: Any, withdraw: Callable[[Attempt], None]):
        self.done = False
        self.value: Any = None
        self.error: OpError | None = None
        self._lock = lock
        self._bell: Any = None  # a lock of C code alone: an interrupt could leave an event's locked
        self._withdraw = withdraw

    def finish(self, error: OpError | None = None) -> None:
        """Ends it; whoever waits goes on. The lock is held."""
        self.done, self.error = True, error
        if self._bell is not None:
            self._bell.release()

    def give_up(self) -> None:
        """Takes it back, unless it is over."""
        with self._lock:
            if not self.done:
                self._withdraw(self)

    def wait(self) -> Any:
        """Waits until it is over.

        Returns: its value.
        Raises: its error; DeadlineExceededError where the run may not take any longer, or nobody could end the wait.
        """
        with self._lock:
            if not self.done:
                self._bell = _thread.allocate_lock()
                self._bell.acquire()
        if self._bell is not None:
            failure = None
            try:
                failure = self._sleep()
            finally:  # an interrupt, too
                self.give_up()
            if not self.done and failure is not None:
                problem, fix = failure
                raise located(DeadlineExceededError, f"{problem} ({self._wish()})", fix)
        if self.error is not None:
            raise self.error
        return self.value


    def _sleep(self) -> tuple[str, str] | None:
        """Waits; gives what went wrong and a remedy if that ended without a move."""
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
    """A wait of which the log tells once, when it has lasted long, with the user's line that waits.

    Args:
      what: gives what is waited for.
    """

    def __init__(self, what: Callable[[], str]):
        self._what: Callable[[], str] | None = what
        self._began = time.monotonic()

    def look(self) -> None:
        """Called now and then while it lasts."""
        seconds = time.monotonic() - self._began
        if self._what is not None and seconds >= _LONG:
            caller = user_source(2)
            if caller is not None and caller.filename == threading.__file__:
                caller = None  # a thread of ours, such as a queue runner's
            called = "" if caller is None else f"\n  Called at {caller}"
            _log.warning("waiting for %.0f seconds: %s%s", seconds, self._what(), called)
            self._what = None


def built(operation: Any) -> str:
    """Says of an operation what it is and where the user built it: a line of its own; "" for None."""
    if operation is None:
        return ""
    return f"\n  {operation.type} '{operation.name}', built at {operation.source or 'an unknown line'}"


def announced(operation: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that may wait, such that the log names its operation when it does for long.

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
_FIRST_LOOK, _LOOK = 0.05, 1.0  # seconds until one looks whether anybody is left, and from then on
_LONG = 60.0  # seconds after which the log says what is waited for
_asleep: dict[int, Attempt] = {}  # thread -> what it waits for
bystanders: set[int] = set()  # threads of our own, which make no moves


def _all_wait() -> bool:
    """Whether all threads of the program wait, with no deadline, for what another one would have to do."""
    before = _threads()
    attempts = [_asleep.get(thread) for thread in before]
    # Who makes a move and waits then is seen to wait after the move: so it is asked last who is done.
    if None in attempts or _threads() != before:
        return False
    return not any(a is None or a.done for a in attempts)


def _threads() -> set[int]:
    ours = {t.ident for t in threading.enumerate() if t.name.startswith("graphgrad-")}
    return sys._current_frames().keys() - ours - bystanders


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
