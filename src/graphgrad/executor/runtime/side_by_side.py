"""Several devices at the same time: each has a lane, a thread that calls the programs of its stages.

A stage begins as soon as the stages are done that give it values. The thread of the run hands stages out and waits; it
runs by itself what no other stage could run beside. Steps in Python, and programs with loops that signals may end, have
the run for themselves.
"""

from __future__ import annotations

import _thread
import queue
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphgrad.executor.backend.threads import pool_of
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
