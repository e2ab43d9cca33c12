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
_REPEATS = 3  # so often is a program begun, if signals end it whose handlers raise nothing


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

    Attributes:
      numbers: int32, all 0 unless the loops are to end.
      is_deaf: whether signals end no more loops of this run, because their handlers let it go on.
      depth: how many runs with loops are under way, one inside of the other.
    """

    def __init__(self) -> None:
        memory = np.zeros(4 * COUNT + 64, np.uint8)
        start = -memory.ctypes.data % 64  # aligned: else XLA would copy
        self.numbers: Any = memory[start : start + 4 * COUNT].view(np.int32)
        self.depth = 0
        self.is_deaf = self._is_late = False
        self._buffers: dict[str, Any] = {}

    def end(self, is_late: bool = False) -> None:
        """Ends the loops; called by other threads."""
        self._is_late = self._is_late or is_late
        self.numbers[:] = 1

    def reset(self) -> None:
        """Lets loops run again."""
        self._is_late = self.is_deaf = False
        self.numbers[:] = 0

    def finish(self) -> None:
        """Ends what `begin` began."""
        self.depth -= 1
        if not self.depth:
            if _listening and _listening[0] is self:
                import signal

                _listening.clear()
                signal.set_wakeup_fd(_elsewhere[0], warn_on_full_buffer=False)
            if self.is_deaf or self.numbers[0]:
                self.reset()

    def buffer(self, device: Any) -> Any:
        """The numbers as an argument of programs on a device."""
        found = self._buffers.get(device.name)
        if found is None:
            found = self._buffers[device.name] = device.put(self.numbers)
        return found

    def call(self, program: Any, args: list[Any], op: Operation) -> list[Any]:
        """Calls a program that has a loop, `op`.

        Raises: DeadlineExceededError where time is over; what a signal's handler raises.
        """
        deadline, timer = blocking.deadline(), None
        if deadline is not None:
            timer = threading.Timer(max(0.0, deadline - time.monotonic()), self.end, [True])
            timer.daemon = True
            timer.start()
        try:
            for left in reversed(range(_REPEATS)):
                results: list[Any] = program(args)
                if not self.numbers[0]:
                    break
                if self._is_late:
                    raise _late(op)
                self.numbers[:] = 0
                self.is_deaf = left == 1
                _breathe()  # handlers run, and may raise
            return results
        finally:
            if timer is not None:
                timer.cancel()


def _breathe() -> None:
    """Does nothing: when a function is called, Python runs the handlers of signals."""


class _Local(threading.local):
    def __init__(self) -> None:
        self.stop = Stop()


_local = _Local()
_listening: list[Stop] = []  # that of the main thread, while it is inside of a run with loops
_pipe: list[int] = []  # where signals are told
_elsewhere = [-1]  # where they are told otherwise


def begin() -> Stop:
    """Begins a run with loops, which end when this thread's time is over or a signal comes; `Stop.finish` ends it."""
    stop = _local.stop
    stop.depth += 1
    if stop.depth == 1 and threading.current_thread() is threading.main_thread():
        _listen(stop)
    return stop


def _listen(stop: Stop) -> None:
    """Has signals end the main thread's loops, where that can be."""
    import signal  # which the import of this package does without

    try:
        if not _pipe:
            reads, writes = os.pipe()
            os.set_blocking(writes, False)
            threading.Thread(target=_hear, args=(reads,), name="graphgrad-signals", daemon=True).start()
            _pipe.append(writes)
        _elsewhere[0] = signal.set_wakeup_fd(_pipe[0], warn_on_full_buffer=False)
        _listening.append(stop)
    except (OSError, ValueError):  # not the main interpreter, or a system whose pipes are of another kind
        pass


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
    os.register_at_fork(after_in_child=_pipe.clear)  # the thread is not there
