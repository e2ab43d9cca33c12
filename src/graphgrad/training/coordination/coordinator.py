"""`Coordinator` and `LooperThread`: threads that stop together."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

from graphgrad.errors import OutOfRangeError
from graphgrad.ir.blocking import LongWait


class Coordinator:
    """Stops threads together: each checks `should_stop`, any may `request_stop`, and `join` waits for all.

    Args:
      clean_stop_exception_types: exceptions that mean an orderly end; `OutOfRangeError` if not given.
    Reference: TensorFlow 2.21 `tf.train.Coordinator`.

    >>> coord = tf.train.Coordinator()
    >>> with coord.stop_on_exception():
    ...     raise tf.errors.OutOfRangeError(None, None, "the data are over")
    >>> coord.should_stop()
    True
    >>> coord.join()
    """

    def __init__(self, clean_stop_exception_types: Any = None):
        self._clean = (OutOfRangeError,) if clean_stop_exception_types is None else tuple(clean_stop_exception_types)
        self._lock = threading.RLock()
        self._event = threading.Event()
        self._error: BaseException | None = None
        self._threads: set[Any] = set()
        self._joined = False

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop.

        Args:
          ex: an exception (or `sys.exc_info()`) that is the reason; `join` raises it, unless it is of a clean kind.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
            if isinstance(error, self._clean):
                error = None
            if error is not None and self._joined:
                raise error
            if not self._event.is_set():
                self._error = error
                self._event.set()

    def clear_stop(self) -> None:
        """Withdraws the request."""
        with self._lock:
            self._joined = False
            self._error = None
            self._event.clear()

    def should_stop(self) -> bool:
        """Returns whether a stop was requested."""
        return self._event.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested, `timeout` seconds at most; returns whether it was."""
        return self._event.wait(timeout)

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Turns exceptions in a `with` block into requests to stop."""
        try:
            yield
        except Exception as e:
            self.request_stop(e)

    def register_thread(self, thread: Any) -> None:
        """Adds a thread to those that `join` waits for."""
        with self._lock:
            self._threads.add(thread)

    @property
    def joined(self) -> bool:
        """Whether `join` has returned."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the reason of the stop, if it is an exception."""
        with self._lock:
            if self._error is not None:
                raise self._error

    def join(self, threads: Any = None, stop_grace_period_secs: float = 120,
             ignore_live_threads: bool = False) -> None:
        """Waits until all threads have ended, then raises the reason of the stop, if it is an exception.

        Args:
          threads: threads to wait for besides the registered ones.
          stop_grace_period_secs: for how long they may go on after a stop was requested.
          ignore_live_threads: whether threads that go on are no error.
        Raises: RuntimeError if threads go on for longer.
        """
        waiting = [*self._threads, *(t for t in threads or () if t not in self._threads)]
        wait = LongWait(lambda: "Coordinator.join: a stop (request_stop), or the end of the threads "
                        + ", ".join(t.name for t in waiting if t.is_alive()))
        while any(t.is_alive() for t in waiting) and not self.wait_for_stop(1.0):
            wait.look()
        until = time.monotonic() + stop_grace_period_secs
        for thread in waiting:
            thread.join(max(0.0, until - time.monotonic()) if self.should_stop() else None)
        alive = [t.name for t in waiting if t.is_alive()]
        with self._lock:
            self._joined = True
            self._threads.clear()
            self.raise_requested_exception()
        if alive and not ignore_live_threads:
            raise RuntimeError("Coordinator stopped with threads still running: " + " ".join(alive) + ". Fix: let them "
                               "ask should_stop() more often")


class LooperThread(threading.Thread):
    """A thread that calls a function repeatedly, until its coordinator stops.

    An exception stops the coordinator.

    Args:
      coord: the `Coordinator`.
      timer_interval_secs: the interval of calls, in seconds; None for no pause.
      target: the function.
      args, kwargs: its arguments.
    Raises: ValueError if there is no coordinator.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.LooperThread`.

    >>> coord, calls = tf.train.Coordinator(), []
    >>> def work():
    ...     calls.append(len(calls))
    ...     if len(calls) == 3:
    ...         coord.request_stop()
    >>> thread = tf.train.LooperThread.loop(coord, None, work)
    >>> coord.join([thread])
    >>> calls
    [0, 1, 2]
    """

    def __init__(self, coord: Any, timer_interval_secs: float | None, target: Any = None, args: Any = None,
                 kwargs: Any = None):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__()
        self.daemon = True
        self._coord, self._interval, self._called = coord, timer_interval_secs, target
        if target:
            self._given, self._named = args or (), kwargs or {}
        elif args or kwargs:
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        coord.register_thread(self)

    @staticmethod
    def loop(coord: Any, timer_interval_secs: float | None, target: Any, args: Any = None,
             kwargs: Any = None) -> LooperThread:
        """Creates such a thread and starts it.

        Args:
          coord, timer_interval_secs, target, args, kwargs: as of the class.
        """
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """Runs the loop of the thread."""
        with self._coord.stop_on_exception():
            self.start_loop()
            due = time.time()
            while not self._coord.wait_for_stop(0 if self._interval is None else max(0.0, due - time.time())):
                due += self._interval or 0.0
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Runs once when the thread starts; for subclasses."""

    def stop_loop(self) -> None:
        """Runs once when the thread stops; for subclasses."""

    def run_loop(self) -> None:
        """Calls the function; called repeatedly."""
        if self._called:
            self._called(*self._given, **self._named)
