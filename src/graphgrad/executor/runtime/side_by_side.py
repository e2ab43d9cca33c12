"""What runs at the same time: stages of several devices, and calls that leave cores of a processor idle.

Each device has a lane, a thread that calls the programs of its stages.

A stage begins as soon as the stages are done that give it values. The thread of the run hands stages out and waits; it
runs by itself what no other stage could run beside. Steps in Python, and programs with loops that signals may end, have
the run for themselves.

On one device another thread calls what leaves cores idle (`Cluster.aside`), such as the gradients of a convolution's
filter, and the run goes on until it reads the result.
"""

from __future__ import annotations

import _thread
import functools
import queue
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from graphgrad.executor.backend.threads import Later, pool_of
from graphgrad.executor.plan.stages import DeviceLanes, Stage
from graphgrad.executor.program.plan_types import HostStep

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


_pools: dict[str, ThreadPoolExecutor] = {}
_making = _thread.allocate_lock()


def _pool(device: str) -> ThreadPoolExecutor:
    with _making:
        if device not in _pools:
            _pools[device] = pool_of(1, f"graphgrad-{device or 'default'}")
        return _pools[device]


def run(stages: Sequence[Stage | HostStep], lanes: DeviceLanes, call: Callable[[Any], None]) -> None:
    """Runs the stages of a plan, those of different devices at the same time.

    Args:
      stages: the stages.
      lanes: their lanes.
      call: runs one of them.
    Raises: the error of the first stage that failed, once no stage runs any more.
    """
    begin = 0
    for end in [i for i, device in enumerate(lanes.devices) if device is None] + [len(stages)]:
        _run_beside(stages, lanes, range(begin, end), call)
        if end < len(stages):
            call(stages[end])
        begin = end + 1


def _run_beside(stages: Sequence[Stage | HostStep], lanes: DeviceLanes, numbers: range,
                call: Callable[[Any], None]) -> None:
    """Runs neighbouring stages, none of which has the run for itself."""
    ended: queue.SimpleQueue[tuple[int, BaseException | None]] = queue.SimpleQueue()
    left = {i: {j for j in lanes.after[i] if j >= numbers.start} for i in numbers}
    busy: set[int] = set()
    failed: BaseException | None = None

    def work(number: int) -> None:
        error = None
        try:
            call(stages[number])
        except BaseException as e:
            error = e
        ended.put((number, error))

    while busy or (left and failed is None):
        ready = [i for i, waits in left.items() if not waits and failed is None]
        for i in ready:
            del left[i]
        if len(ready) == 1 and not busy:
            work(ready[0])
        else:
            for i in ready:
                _pool(lanes.devices[i] or "").submit(work, i)
        busy.update(ready)
        number, error = ended.get()
        busy.remove(number)
        failed = failed or error
        for waits in left.values():
            waits.discard(number)
    if failed is not None:
        raise failed


_MOST = 4  # calls that may be outstanding: their arguments stay in memory


class Asides:
    """The calls of a run that another thread makes.

    Args:
      slots: where their results go, once the run has asked for them.
    """

    def __init__(self, slots: list[Any]):
        self._slots = slots
        self._calls: dict[int, tuple[Later, Sequence[int]]] = {}  # slot of a result -> the call, slots of all of its

    def begin(self, program: Callable[[list[Any]], list[Any]], args: list[Any], outs: Sequence[int]) -> None:
        """Calls a program.

        Args:
          program: the program.
          args: its arguments.
          outs: the slots of its results.
        """
        if len(self._calls) >= _MOST:
            self._take(next(iter(self._calls)))
        try:
            call = Later(_pool("aside"), functools.partial(program, args), kept=False)
        except RuntimeError:  # no thread can be started
            self._fill(outs, program(args))
        else:
            self._calls.update(dict.fromkeys(outs, (call, outs)))

    def finish(self, slots: Collection[int] | None = None) -> None:
        """Waits for results, those that some slots hold or all, and fills the slots; raises the error of a call."""
        for s in list(self._calls):
            if s in self._calls and (slots is None or s in slots):
                self._take(s)

    def _take(self, slot: int) -> None:
        """Waits for the results of a call."""
        call, outs = self._calls[slot]
        call.wait()
        for s in outs:
            self._calls.pop(s, None)
        self._fill(outs, call.result())

    def _fill(self, outs: Sequence[int], results: Sequence[Any]) -> None:
        for s, value in zip(outs, results, strict=True):
            self._slots[s] = value

    def abandon(self) -> None:
        """Waits until nothing runs any more, whatever comes of it: a run ends without the results."""
        for call, _ in self._calls.values():
            call.wait()
