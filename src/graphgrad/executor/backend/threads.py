"""Thread pools that survive interrupts."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphgrad.system.late_imports import uninterrupted

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


def pool_of(count: int, name: str) -> ThreadPoolExecutor:
    """Makes a pool whose threads are all running already.

    Python starts threads when there is work. An interrupt would end a starting thread, and the pool would rely on it
    for ever.

    Args:
      count: the number of threads.
      name: the prefix of their names.
    Raises: RuntimeError if they cannot be started.
    """

    def make() -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # it imports logging

        pool = ThreadPoolExecutor(count, name)
        all_there = threading.Barrier(count)  # so that each task starts another thread
        try:
            for future in [pool.submit(all_there.wait) for _ in range(count)]:
                future.result()
        except RuntimeError:  # no more threads can be started
            all_there.abort()
            pool.shutdown()
            raise
        return pool

    pool: ThreadPoolExecutor = uninterrupted(make)
    return pool


class Later:
    """A result computed by a thread of a pool; unlike a `Future`, it survives an interrupt of a waiting thread.

    Args:
      pool: the pool.
      call: computes the value.
      kept: whether others wait for it even if an interrupt comes now; that takes a thread's start.
    """

    def __init__(self, pool: ThreadPoolExecutor, call: Callable[[], Any], kept: bool = True):
        self._call = call
        self._value: Any = None
        self._error: BaseException | None = None
        self._busy = _thread.allocate_lock()
        self._busy.acquire()
        if kept:
            uninterrupted(pool.submit, self._run)
        else:
            pool.submit(self._run)

    def _run(self) -> None:
        try:
            self._value = self._call()
        except BaseException as e:
            self._error = e
        self._busy.release()

    def wait(self) -> None:
        """Waits until the computation has ended, in whatever way."""
        with self._busy:
            pass

    def result(self) -> Any:
        """Waits for the value and returns it, or raises the error of its computation."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._value
