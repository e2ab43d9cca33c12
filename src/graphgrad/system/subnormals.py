"""Flushes subnormal numbers to zero in NumPy, as XLA and TensorFlow do on processors."""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
import threading
from typing import Any

# Of C's femode_t: its size, and the word and the bits in it for results and for operands.
_LAYOUTS = {("linux", "x86_64"): (2, 1, 0x8040), ("linux", "aarch64"): (1, 0, 1 << 24)}


@functools.cache
def _library() -> tuple[Any, Any, int, int, int] | None:
    """Returns C's `fegetmode` and `fesetmode`, and the layout of their argument; None on unknown machines."""
    layout = _LAYOUTS.get((sys.platform, platform.machine()))
    if layout is None:
        return None
    try:
        library = ctypes.PyDLL("libm.so.6")  # these take less time than to hand over Python's lock
        get, put = library.fegetmode, library.fesetmode
    except (OSError, AttributeError):
        return None
    get.restype = put.restype = None
    return (get, put, *layout)


def modes() -> tuple[Any, Any, Any, Any, int, int]:
    """Returns what changes the processor's modes: C's functions, memory and its address, the word and bits to set.

    On unknown machines the functions are None.
    """
    found = _library()
    if found is None:
        return None, None, None, None, 0, 0
    get, put, size, word, bits = found
    words = (ctypes.c_uint32 * size)()
    return get, put, words, ctypes.byref(words), word, bits


class _Modes(threading.local):
    """A thread's femode_t."""

    def __init__(self) -> None:
        _, _, self.words, self.address, _, _ = modes()


_modes = _Modes()


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
        words, address = _modes.words, _modes.address
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
        _modes.words[word] = self._before
        put(_modes.address)


def are_flushed() -> bool:
    """Returns whether this thread flushes subnormal numbers to zero."""
    found = _library()
    if found is None:
        return False
    get, _, _, word, bits = found
    get(_modes.address)
    return bool(_modes.words[word] & bits == bits)


__all__ = ["Subnormals", "are_flushed", "modes"]
