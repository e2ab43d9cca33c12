"""Checks that memory is available before a program runs, while a failure does no harm."""

from __future__ import annotations

import contextlib
import math
import mmap
import os

import numpy as np

from graphgrad.errors import bytes_str

_LARGE = 1 << 30  # bytes from which sizes are compared with the memory that the system reports,
_KEPT = 1 << 30  # and bytes that this process may have kept, see `xla._keep_memory`
_COMPILING = 96 << 20
_BEGINNING = 1 << 30  # bytes of addresses, with glibc's heaps for a dozen threads
_A_THREAD = 72 << 20


def reserve(*sizes: int) -> None:
    """Checks that there is memory for blocks of some sizes in bytes, all at once; raises MemoryError if not.

    The blocks are allocated and freed again, so that the next allocations of this thread find them. That costs next to
    nothing, since no page is touched. The system may overcommit and end the process later, so large sizes are also
    compared with the memory that it reports.
    """
    try:
        blocks = [np.empty(size, np.uint8) for size in sizes]
        del blocks
    except MemoryError:
        raise MemoryError(f"{bytes_str(sum(sizes))} are needed at once") from None
    if (size := sum(sizes)) >= _LARGE and size - _KEPT > (room := available()):
        raise MemoryError(f"{bytes_str(size)} are needed at once, the system has {bytes_str(room)}")


def reserve_to_compile() -> None:
    """Raises MemoryError unless there is memory for compiling, which otherwise ends the process."""
    _reserve_addresses(_COMPILING, "to compile")


def reserve_to_begin() -> None:
    """Raises MemoryError unless there is memory for XLA's threads, which otherwise end the process."""
    with contextlib.suppress(ImportError, OSError):
        import resource

        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            _reserve_addresses(_BEGINNING + _A_THREAD * 2 * (os.cpu_count() or 1), "to start XLA")


def _reserve_addresses(size: int, what: str) -> None:
    """Checks that so much can be mapped, besides memory kept for blocks."""
    flags = {}
    if hasattr(mmap, "MAP_PRIVATE"):
        flags["flags"] = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    try:
        mmap.mmap(-1, size, **flags).close()
    except (OSError, ValueError):
        raise MemoryError(f"{bytes_str(size)} are needed {what}") from None


def available() -> float:
    """Returns the bytes that the system can give this process; inf if not known."""
    least = math.inf
    try:
        with open("/proc/meminfo", "rb") as file:
            fields = {line.split()[0]: int(line.split()[1]) * 1024 for line in file}
        least = fields[b"MemAvailable:"] + fields[b"SwapFree:"]
        with open("/sys/fs/cgroup/memory.max", "rb") as file:
            limit = file.read().strip()
        if limit != b"max":
            with open("/sys/fs/cgroup/memory.current", "rb") as file:
                used = int(file.read())
            with open("/sys/fs/cgroup/memory.stat", "rb") as file:  # page cache can be reclaimed
                used -= sum(int(n) for name, n in map(bytes.split, file) if name in (b"inactive_file", b"active_file"))
            least = min(least, int(limit) - used)
    except (OSError, KeyError, ValueError, IndexError):  # another system or version
        pass
    return least
