"""Ending loops that XLA runs: at Ctrl-C, and where the time that a run may take is over.

A compiled program cannot be interrupted. So the conditions of its loops read, besides, a few bytes of the host's memory
(a parameter, which XLA takes without a copy), and whoever wants the loops to end writes there. What the program gives
then is thrown away. Nothing is stored by then, see `guards.part`.

There are sixteen numbers, which iterations read in turn: a single one would be loaded once, before the loop.

While the main thread is inside of a program, Python runs no handlers of signals. But it tells a pipe that there was one
(`signal.set_wakeup_fd`), and a thread that reads the pipe ends the loops.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from typing import Any

import numpy as np

from ..errors import DeadlineExceededError, describe
from ..ir import blocking
from ..ir.graph import Operation

COUNT = 16
_SIGNALS = ("SIGINT", "SIGTERM", "SIGALRM")
_REPEATS = 3  # so often is a program begun anew, if signals end it whose handlers raise nothing


def wanted(stop: Any, step: Any) -> Any:
    """Whether a loop is to end, inside of its trace.

    Args:
      stop: the numbers, int32.
      step: how many iterations there have been.
    """
    return stop.at[step & (COUNT - 1)].get(mode="promise_in_bounds") != 0


# What went wrong where time was over, and a remedy.
LATE = ("Timed out: the time of the run was over before its loop ended",
        "allow more time (timeout_in_ms, operation_timeout_in_ms), or see that the loop ends")  # fmt: skip


def _late(op: Operation) -> DeadlineExceededError:
    problem, fix = LATE
    return DeadlineExceededError(op.node_def, op, describe(op.type, op.name, problem, "", str(op.source or ""), fix))


class Stop:
    """What the loops of one thread's runs look at.

    Whoever wants them to end may come too late, when another program runs already. So it is the call that knows why its
    loops should end; one that knows of nothing begins anew.

    Attributes:
      numbers: int32, all 0 unless the loops are to end.
      is_deaf: whether signals end no more loops, because their handlers let the run go on.
    """

    def __init__(self) -> None:
        memory = np.zeros(4 * COUNT + 64, np.uint8)
        start = -memory.ctypes.data % 64  # aligned: else XLA would copy
        self.numbers: Any = memory[start : start + 4 * COUNT].view(np.int32)
        self.is_deaf = False
        self._buffers: dict[str, Any] = {}

    def buffer(self, device: Any) -> Any:
        """The numbers as an argument of programs on a device."""
        found = self._buffers.get(device.name)
        if found is None:
            found = self._buffers[device.name] = device.put(self.numbers)
        return found

    def end(self) -> None:
        """Ends the loops; called by other threads."""
        self.numbers[:] = 1

    def call(self, program: Any, args: list[Any], op: Operation) -> list[Any]:
        """Calls a program that has a loop, `op`.

        Raises: DeadlineExceededError where time is over; what a signal's handler raises.
        """
        deadline, timer = blocking.deadline(), None
        late: list[None] = []
        if deadline is not None:
            timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._end_late, [late])
            timer.daemon = True
            timer.start()
        try:
            for repeats in itertools.count():
                results: list[Any] = program(args)
                if not self.numbers[0]:
                    return results
                self.numbers[:] = 0
                if late:
                    raise _late(op)
                _breathe()  # handlers run, and may raise
                self.is_deaf = repeats >= _REPEATS
        finally:
            self.is_deaf = False
            if timer is not None:
                timer.cancel()
        raise AssertionError

    def _end_late(self, late: list[None]) -> None:
        late.append(None)
        self.end()


def _breathe() -> None:
    """Does nothing: when a function is called, Python runs the handlers of signals."""


class _Local(threading.local):
    def __init__(self) -> None:
        self.stop = Stop()


_local = _Local()
_listening: list[Stop] = []  # that of the main thread, while it is inside of a run with loops
_ear: list[threading.Thread] = []  # what reads the pipe
_pipe: list[int] = []  # where signals are told
_elsewhere = [-1]  # where they are told otherwise


def begin() -> tuple[Stop, bool]:
    """Begins a run with loops, which signals end; for `finish`, says also whether it is the first to listen to them."""
    stop = _local.stop
    return stop, not _listening and threading.current_thread() is threading.main_thread() and _listen(stop)


def finish(listens: bool) -> None:
    """Ends a run with loops that `listens` to signals."""
    if listens:
        import signal

        signal.set_wakeup_fd(_elsewhere[0], warn_on_full_buffer=False)
        _listening.clear()


def _listen(stop: Stop) -> bool:
    """Has signals end the main thread's loops; False where that cannot be. Interrupts may leave it half done."""
    import signal  # which the import of this package does without

    try:
        if not _ear or not _ear[0].is_alive():
            reads, writes = os.pipe()
            os.set_blocking(writes, False)
            thread = threading.Thread(target=_hear, args=(reads,), name="graphgrad-signals", daemon=True)
            thread.start()
            _pipe[:] = [writes]
            _ear[:] = [thread]
        elsewhere = signal.set_wakeup_fd(_pipe[0], warn_on_full_buffer=False)
    except (OSError, ValueError):  # not the main interpreter, or a system whose pipes are of another kind
        return False
    if elsewhere != _pipe[0]:
        _elsewhere[0] = elsewhere
    _listening[:] = [stop]
    return True


def _hear(reads: int) -> None:
    import signal

    ending = {getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)}
    while True:
        signals = os.read(reads, 64)
        if _elsewhere[0] != -1:
            with contextlib.suppress(OSError):
                os.write(_elsewhere[0], signals)
        if not ending.isdisjoint(signals):
            for stop in _listening[:]:
                if not stop.is_deaf:
                    stop.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ear.clear)  # it is not there
