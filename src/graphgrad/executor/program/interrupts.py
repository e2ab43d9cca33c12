"""Ends loops that XLA runs: at Ctrl-C and at deadlines.

A compiled program cannot be interrupted. So the conditions of its loops read, besides, a few bytes of the host's memory
(a parameter, which XLA takes without a copy), and whoever wants the loops to end writes there. What the program gives
then is thrown away. Nothing is stored by then, see `guards.part`.

There are sixteen numbers, which iterations read in turn: a single one would be loaded once, before the loop.

While the main thread is inside of a program, Python runs no handlers of signals. But it tells a pipe that there was one
(`signal.set_wakeup_fd`), and a thread that reads the pipe ends the loops. If the handler raises nothing, the program
begins anew.

An interrupt may come between any two steps of what is done here. So nothing depends on what an earlier run has left
behind: where signals are told is asked of Python, and numbers that nobody has set back cost one more beginning.
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
_REPEATS = 3  # so often is a program begun anew for a signal whose handler raises nothing


def wanted(stop: Any, step: Any) -> Any:
    """Whether a loop is to end, inside of its trace.

    Args:
      stop: the numbers, int32.
      step: how many iterations there have been.
    """
    return stop.at[step & (COUNT - 1)].get(mode="promise_in_bounds") != 0


# What went wrong where time was over, and a remedy.
LATE = ("Timed out: the time of the run was over before its loop ended",
        "allow more time (timeout_in_ms, operation_timeout_in_ms), or see that the loop ends")


def _late(op: Operation) -> DeadlineExceededError:
    problem, fix = LATE
    return DeadlineExceededError(op.node_def, op, describe(op.type, op.name, problem, "", str(op.source or ""), fix))


class Stop:
    """What the loops of one thread's runs look at.

    Whoever wants them to end may come too late, when another program runs already. So it is the call that knows why its
    loops should end; one that knows of nothing begins anew.

    Attributes:
      numbers: int32, all 0 unless the loops are to end.
    """

    def __init__(self) -> None:
        memory = np.zeros(4 * COUNT + 64, np.uint8)
        start = -memory.ctypes.data % 64  # aligned: else XLA would copy
        self.numbers: Any = memory[start : start + 4 * COUNT].view(np.int32)
        self._buffers: dict[str, Any] = {}
        self._heard: collections.deque[int] = collections.deque()
        self._deaf_to: set[int] = set()  # signals that end no more loops, because their handlers let the run go on

    def buffer(self, device: Any) -> Any:
        """The numbers as an argument of programs on a device."""
        found = self._buffers.get(device.name)
        if found is None:
            found = self._buffers[device.name] = device.put(self.numbers)
        return found

    def end(self) -> None:
        """Ends the loops; called by other threads."""
        self.numbers[:] = 1

    def hear(self, signals: Iterable[int]) -> None:
        """Ends the loops where one of the signals may want it; called by the thread that is told of signals."""
        heard = [s for s in signals if s not in self._deaf_to]
        if heard:
            self._heard.extend(heard)
            self.end()

    def call(self, program: Any, args: list[Any], op: Operation) -> list[Any]:
        """Calls a program that has a loop, `op`.

        Raises: DeadlineExceededError where time is over; what a signal's handler raises.
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
                time.sleep(0)  # what takes Python's lock anew runs the handlers of signals, which may raise
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
_main: list[Stop] = []  # that of the main thread
_pipe: list[int] = []  # its two ends: signals are told to the second
_ear: list[int] = []  # the thread that reads the first; an interrupt may leave more of them, which does no harm
_ours: set[int] = set()  # second ends, also of the processes that this one was forked from
_elsewhere = [-1]  # where signals are told otherwise


def begin() -> tuple[Stop, bool]:
    """Begins a run with loops, which signals end; for `finish`, says also whether it is the first to listen to them."""
    stop = _local.stop
    return stop, threading.current_thread() is threading.main_thread() and _listen(stop)


def finish(listens: bool) -> None:
    """Ends a run with loops that `listens` to signals."""
    if listens:
        import signal

        signal.set_wakeup_fd(_elsewhere[0], warn_on_full_buffer=False)


def _listen(stop: Stop) -> bool:
    """Has signals end the main thread's loops; False where that cannot be, or where it is so already."""
    import signal  # which the import of this package does without

    _main[:] = [stop]
    try:
        if not _pipe:
            _pipe[:] = os.pipe()
        reads, writes = _pipe
        if not _ear:
            os.set_blocking(writes, False)
            _ours.add(writes)
            _ear[:] = [_thread.start_new_thread(_hear, (reads,))]  # threading.Thread takes interrupts amiss
        elsewhere = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    except (OSError, ValueError) as error:
        if _is_of_a_call(error):  # a signal's handler has raised it here
            raise
        _forget()  # not the main interpreter, pipes of another kind, or somebody has closed ours
        return False
    if elsewhere in _ours:  # a run within a run, or one before was interrupted
        return False
    _elsewhere[0] = elsewhere
    return True


def _is_of_a_call(error: BaseException) -> bool:
    """Whether an error comes from a function of Python's that was called where it was caught, as handlers are."""
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
    """Has the next run make its own pipe: in a process that was forked, the thread is not there."""
    _ear.clear()
    _pipe.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
