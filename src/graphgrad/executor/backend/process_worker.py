"""The thread that makes calls which wait for other processes, so that whoever asked for one may stop waiting."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

from .exchanges.coordinator_process import LEAVING

_GIVES_UP = 32.0  # seconds: gloo's own limit for a call is 30


class ProcessWorker:
    """A thread that makes calls for others, which may stop waiting for it."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="graphgrad-processes", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, if it does not stand still in a call."""
        self._calls.put(None)
        self._thread.join(LEAVING)

    def end(self, exiting: bool) -> None:
        """Sees to it that the thread, which was to stop, has ended when Python does.

        Args:
          exiting: whether the process ends; then it does so here if the thread stands still, since Python cannot end
            beside a thread in the engine without a crash.
        """
        self._thread.join(LEAVING if exiting else 0.0)
        if not self._thread.is_alive():
            return
        if not exiting:
            atexit.register(self._thread.join, _GIVES_UP)
            return
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(1)

    def begin(self, call: Callable[[], Any]) -> tuple[Any, list[Any]]:
        """Lets the thread make a call; returns a lock that is free afterwards, and where result and error will be."""
        done, found = threading.Lock(), list[Any]()
        done.acquire()
        self._calls.put((call, done, found))
        return done, found

    def _work(self) -> None:
        while True:
            given = self._calls.get()
            if given is None:
                return
            call, done, found = given
            try:
                found += [call(), None]
            except BaseException as e:
                found += [None, e]
            done.release()
            del given, call, found  # what it holds, such as buffers, must not wait for the next call
