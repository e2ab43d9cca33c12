"""Ends compiled loops at Ctrl-C and at deadlines.

A compiled program cannot be interrupted. So the conditions of its loops also read a few bytes of host memory (a
parameter, which XLA takes without a copy), and an interrupt writes there to end the loops. The results of the program
are then discarded. Nothing is stored by then, see `value_checks.part`.

There are sixteen numbers, which iterations read in turn: XLA would load a single one once, before the loop.

While the main thread is inside of a program, Python runs no signal handlers. But it writes to a pipe at a signal
(`signal.set_wakeup_fd`), and a thread that reads the pipe ends the loops. If the handler raises nothing, the program
starts again.

An interrupt may come between any two steps of this code. So nothing depends on state left by an earlier run: Python is
asked for the present wake-up pipe, and numbers that were not reset cost one more start.
"""

from __future__ import annotations

import _thread
import collections
import contextlib
import os
import threading
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from graphgrad.errors import DeadlineExceededError, describe
from graphgrad.ir import blocking
from graphgrad.ir.graph import Operation

COUNT = 16
_SIGNALS = ("SIGINT", "SIGTERM", "SIGALRM")
_REPEATS = 3  # the most restarts of a program for signals whose handlers raise nothing


def wanted(stop: Any, step: Any) -> Any:
    """Returns whether a loop has to end, inside of its trace.

    Args:
      stop: the numbers, int32.
      step: the number of iterations so far.
    """
    return stop.at[step & (COUNT - 1)].get(mode="promise_in_bounds") != 0


# The error at a deadline, and a remedy.
LATE = ("Timed out: the time of the run was over before its loop ended",
        "allow more time (timeout_in_ms, operation_timeout_in_ms), or see that the loop ends")


def _late(op: Operation) -> DeadlineExceededError:
    problem, fix = LATE
    return DeadlineExceededError(op.node_def, op, describe(op.type, op.name, problem, "", str(op.source or ""), fix))


class Stop:
    """The interrupt numbers that the loops of one thread's runs read.

    A request to end may come too late, when another program runs already. So each call checks the reason for its loops
    to end; without one it starts again.

    Attributes:
      numbers: int32, all 0 unless the loops are to end.
    """

    def __init__(self) -> None:
        memory = np.zeros(4 * COUNT + 64, np.uint8)
        start = -memory.ctypes.data % 64  # aligned: otherwise XLA would copy
        self.numbers: Any = memory[start : start + 4 * COUNT].view(np.int32)
        self._buffers: dict[str, Any] = {}
        self._heard: collections.deque[int] = collections.deque()
        self._deaf_to: set[int] = set()  # signals that no longer end loops, since their handlers do not raise

    def buffer(self, device: Any) -> Any:
        """Returns the numbers as an argument of programs on a device."""
        found = self._buffers.get(device.name)
        if found is None:
            found = self._buffers[device.name] = device.put(self.numbers)
        return found

    def end(self) -> None:
        """Ends the loops; called by other threads."""
        self.numbers[:] = 1

    def hear(self, signals: Iterable[int]) -> None:
        """Ends the loops if one of the signals may require it; called by the thread that reads the pipe."""
        heard = [s for s in signals if s not in self._deaf_to]
        if heard:
            self._heard.extend(heard)
            self.end()

    def call(self, program: Any, args: list[Any], op: Operation) -> list[Any]:
        """Calls a program that has a loop, `op`.

        Raises: DeadlineExceededError at the deadline; the error of a signal's handler.
        """
        deadline, timer = blocking.deadline(), None
        late: list[None] = []
        self._deaf_to = set()
        self._heard.clear()
        repeats: dict[int, int] = {}
        if deadline is not None:
            timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._end_late, [late])
            timer.daemon = True
            timer.start()
        try:
            while True:
                results: list[Any] = program(args)
                if not self.numbers[0]:
                    return results
                self.numbers[:] = 0
                if late:
                    raise _late(op)
                time.sleep(0)  # taking Python's lock again runs the signal handlers, which may raise
                while self._heard:
                    number = self._heard.popleft()
                    repeats[number] = repeats.get(number, 0) + 1
                    if repeats[number] > _REPEATS:
                        self._deaf_to.add(number)
        finally:
            if timer is not None:
                timer.cancel()

    def _end_late(self, late: list[None]) -> None:
        late.append(None)
        self.end()


class _Local(threading.local):
    def __init__(self) -> None:
        self.stop = Stop()


_local = _Local()
_main: list[Stop] = []  # of the main thread
_pipe: list[int] = []  # its two ends: signals are written to the second
_ear: list[int] = []  # the thread that reads the first; an interrupt may leave several, which is harmless
_ours: set[int] = set()  # second ends, including those of parent processes
_elsewhere = [-1]  # the previous wake-up file descriptor


def begin() -> tuple[Stop, bool]:
    """Begins a run with loops, which signals end; also returns, for `finish`, whether it began listening."""
    stop = _local.stop
    return stop, threading.current_thread() is threading.main_thread() and _listen(stop)


def finish(listens: bool) -> None:
    """Ends a run with loops that `listens` to signals."""
    if listens:
        import signal

        signal.set_wakeup_fd(_elsewhere[0], warn_on_full_buffer=False)


def _listen(stop: Stop) -> bool:
    """Makes signals end the main thread's loops; returns False if that is impossible, or so already."""
    import signal  # not needed to import this package

    _main[:] = [stop]
    try:
        if not _pipe:
            _pipe[:] = os.pipe()
        reads, writes = _pipe
        if not _ear:
            os.set_blocking(writes, False)
            _ours.add(writes)
            _ear[:] = [_thread.start_new_thread(_hear, (reads,))]  # threading.Thread does not survive interrupts
        elsewhere = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    except (OSError, ValueError) as error:
        if _is_of_a_call(error):  # raised here by a signal's handler
            raise
        _forget()  # not the main interpreter, pipes of another kind, or a closed pipe
        return False
    if elsewhere in _ours:  # a nested run, or an earlier one was interrupted
        return False
    _elsewhere[0] = elsewhere
    return True


def _is_of_a_call(error: BaseException) -> bool:
    """Returns whether an error comes from a Python function called where it was caught, as handlers are."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is not None


def _hear(reads: int) -> None:
    import signal

    blocking.bystanders.add(threading.get_ident())
    ending = {getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)}
    while True:
        signals = os.read(reads, 64)
        if _elsewhere[0] != -1:
            with contextlib.suppress(OSError):
                os.write(_elsewhere[0], signals)
        if not ending.isdisjoint(signals):
            for stop in _main[:]:
                stop.hear(ending.intersection(signals))


def _forget() -> None:
    """Makes the next run create its own pipe: a forked process lacks the thread."""
    _ear.clear()
    _pipe.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
