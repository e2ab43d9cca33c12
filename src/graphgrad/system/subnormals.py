"""Flushes subnormal numbers to zero in NumPy, as XLA and TensorFlow do on processors."""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
import threading
from typing import Any

# Of C's fenv_t: its size, and the word and the bits in it for results and for operands.
_LAYOUTS = {("linux", "x86_64"): (8, 7, 0x8040), ("linux", "aarch64"): (2, 0, 1 << 24)}


@functools.cache
def _library() -> tuple[Any, Any, int, int, int] | None:
    """Returns C's `fegetenv` and `fesetenv`, and the layout of their argument; None on unknown machines."""
    layout = _LAYOUTS.get((sys.platform, platform.machine()))
    if layout is None:
        return None
    try:
        library = ctypes.CDLL("libm.so.6")
        get, put = library.fegetenv, library.fesetenv
    except (OSError, AttributeError):
        return None
    get.argtypes = put.argtypes = [ctypes.c_void_p]
    return (get, put, *layout)


class _Environment(threading.local):
    """A thread's fenv_t."""

    def __init__(self) -> None:
        found = _library()
        self.words = (ctypes.c_uint32 * (found[2] if found else 0))()
        self.address = ctypes.addressof(self.words)


_environment = _Environment()


class Subnormals:
    """A context in which this thread flushes subnormal numbers to zero, or keeps them.

    Args:
      flushed: whether they are flushed.
    """

    __slots__ = ("_before", "_flushed")

    def __init__(self, flushed: bool):
        self._flushed = flushed
        self._before: int | None = None

    def __enter__(self) -> None:
        found = _library()
        if found is None:
            return
        get, put, _, word, bits = found
        words, address = _environment.words, _environment.address
        get(address)
        before = words[word]
        if (before & bits == bits) != self._flushed:
            words[word] = before | bits if self._flushed else before & ~bits
            put(address)
            self._before = before

    def __exit__(self, *raised: object) -> None:
        found = _library()
        if found is None or self._before is None:
            return
        _, put, _, word, _ = found
        _environment.words[word] = self._before
        put(_environment.address)


__all__ = ["Subnormals"]
