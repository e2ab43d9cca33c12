"""A thread whose failure is a test's."""

from __future__ import annotations

import threading
from typing import Any


class CheckedThread:
    """A thread that keeps its error; `join` fails the test with it.

    Args:
      testcase: the `unittest.TestCase`.
      target, args, kwargs: the function that it calls, and its arguments.
    """

    def __init__(self, testcase: Any, target: Any, args: Any = None, kwargs: Any = None):
        self._testcase = testcase
        self._call = target, args or (), kwargs or {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._error: BaseException | None = None

    def _run(self) -> None:
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except Exception as e:
            self._error = e

    def start(self) -> None:
        """Starts it."""
        self._thread.start()

    def join(self) -> None:
        """Waits for it; fails the test if it raised."""
        self._thread.join()
        if self._error is not None:
            self._testcase.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Returns whether it runs."""
        return self._thread.is_alive()
