"""The processor's cores, and work of NumPy's kernels that is spread over them."""

from __future__ import annotations

import contextvars
import itertools
import os
import queue
import threading
from collections.abc import Callable

from .subnormals import Subnormals, are_flushed

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_MOST = 4  # threads: beyond it the memory is what limits

_lock = threading.Lock()
_jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
_members = 0  # threads that wait for jobs


class _Job:
    """Parts of some work, each done by whichever thread comes first: nobody waits for a thread that does not run."""

    def __init__(self, work: Callable[[int, int], None], count: int, parts: int):
        self._work: Callable[[int, int], None] | None = work
        self._count = count
        self._parts = parts
        self._begun = itertools.count()
        self._ended = itertools.count(1)
        self._all_ended = threading.Lock()
        self._all_ended.acquire()
        self._context = contextvars.copy_context()
        self._flushed = are_flushed()
        self._errors: list[BaseException] = []

    def do(self) -> None:
        """Does parts until all are begun, and waits for the others; raises what one of them has raised."""
        self._do_parts()
        self._all_ended.acquire()
        self._work = None  # a thread that comes too late must not keep its arrays
        if self._errors:
            raise self._errors[0]

    def help(self) -> None:
        """Does parts in another thread, in the caller's context and with its modes of arithmetic."""
        with Subnormals(self._flushed):
            self._context.copy().run(self._do_parts)

    def _do_parts(self) -> None:
        parts, count = self._parts, self._count
        while (number := next(self._begun)) < parts:
            try:
                assert self._work is not None
                self._work(count * number // parts, count * (number + 1) // parts)
            except BaseException as error:  # raised again by `do`
                self._errors.append(error)
            finally:
                if next(self._ended) == parts:
                    self._all_ended.release()


def spread(work: Callable[[int, int], None], count: int, least: int) -> None:
    """Does the parts of some work side by side, in this thread and others.

    NumPy lets other threads run while it computes on an array; between its calls only one can. So a part pays if it
    takes some tenths of a millisecond, in calls of at least some hundredths.

    Args:
      work: a function of (start, stop) that does what is between; the results must not depend on how it is parted.
      count: where the last part stops; the first one starts at 0.
      least: the shortest part.
    Raises: what `work` raises.
    """
    parts = min(CORES, _MOST, count // max(1, least))
    if parts < 2:
        work(0, count)
        return
    job = _Job(work, count, parts)
    _engage(parts - 1)
    for _ in range(parts - 1):
        _jobs.put(job)
    job.do()


def _engage(number: int) -> None:
    """Starts threads until so many wait for jobs."""
    global _members
    if _members >= number:
        return
    with _lock:
        while _members < number:
            try:
                threading.Thread(target=_help, args=(_jobs,), name="graphgrad", daemon=True).start()
            except RuntimeError:  # no more threads can be started
                return
            _members += 1


def _help(jobs: queue.SimpleQueue[_Job]) -> None:
    while True:
        jobs.get().help()


def _begin_anew() -> None:
    """Forgets threads that are not in a forked process."""
    global _lock, _jobs, _members
    _lock, _jobs, _members = threading.Lock(), queue.SimpleQueue(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
