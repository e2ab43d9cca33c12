"""The threads of NumPy's matrix products, fewer while something else needs the processor's other cores.

Threads of OpenBLAS, which NumPy's distributions contain, wait for work by spinning: products of some microseconds keep
a core busy that a compiler in another process could use. Other libraries of products keep their number.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import threading
import weakref
from collections.abc import Callable

# Distributions rename OpenBLAS's functions so that several copies can be in one process.
_NAMES = [f"{prefix}openblas_{{}}_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "_64", "")]

_lock = threading.Lock()
_users: weakref.WeakSet[FewerThreads] = weakref.WeakSet()  # weak: an interrupt may keep one from its end
_normal: list[int] = []  # the number without users, while there are any


@functools.cache
def _functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Returns what gets and what sets the number of threads of the library that NumPy uses; None if unknown."""
    try:
        # Names are also looked up in what a module is linked with.
        library = ctypes.CDLL(importlib.import_module("numpy._core._multiarray_umath").__file__)
    except (ImportError, AttributeError, OSError):  # of a NumPy that is built otherwise
        return None
    for name in _NAMES:
        if hasattr(library, name.format("set")):
            get, put = getattr(library, name.format("get")), getattr(library, name.format("set"))
            put.restype = None
            return get, put
    return None


class FewerThreads:
    """A context in which NumPy's products use fewer threads, in the whole process.

    The number decides how sums are split, so it decides their last bits as well: enter it, or not, by a rule that gives
    the same answer each time.

    Args:
      most: so many at most; by default half of them.
    """

    __slots__ = ("_most", "__weakref__")

    def __init__(self, most: int | None = None):
        self._most = most

    def __enter__(self) -> None:
        if (functions := _functions()) is None:
            return
        get, put = functions
        with _lock:
            if not _users and not _normal:
                _normal.append(get())
            _users.add(self)
            put(_allowed())

    def __exit__(self, *raised: object) -> None:
        if (functions := _functions()) is None:
            return
        with _lock:
            _users.discard(self)
            if _normal:
                functions[1](_allowed() if _users else _normal.pop())


def _allowed() -> int:
    """Returns how many threads all users allow."""
    half = max(1, _normal[0] // 2)
    return min([half if user._most is None else user._most for user in _users], default=half)


class AllThreads:
    """A context, for users' functions, in which NumPy's products have the threads that they have outside of runs."""

    __slots__ = ()

    def __enter__(self) -> None:
        with _lock:
            if _normal and (functions := _functions()) is not None:
                functions[1](_normal[0])

    def __exit__(self, *raised: object) -> None:
        with _lock:
            if _normal and (functions := _functions()) is not None:
                functions[1](_allowed())


def _begin_anew() -> None:
    """Forgets, in a forked process, what threads that are not in it were doing."""
    global _lock
    _lock = threading.Lock()
    _users.clear()
    if _normal and (functions := _functions()) is not None:
        functions[1](_normal.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)

__all__ = ["AllThreads", "FewerThreads"]
