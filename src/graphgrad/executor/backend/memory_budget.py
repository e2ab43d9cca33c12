"""Checks that memory is available before a program runs, while a failure does no harm."""

from __future__ import annotations

import contextlib
import itertools
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

_EVERY = 64  # programs, of a dozen mappings each, until mappings are counted again,
_FEW = 0.8  # and the share in use from which they are counted for each program,
_NONE = 0.9  # and from which nothing is compiled: without mappings, LLVM ends the process
_programs = itertools.count()
_share = [0.0]  # of the mappings, in use when they were counted


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
    if mapped() > _NONE:
        raise MemoryError(f"this process has mapped nearly all of the {mappings()[1]} pieces of memory that the system "
                          "allows; each compiled program takes about a dozen of them. Close sessions and drop graphs "
                          "that are not needed, or let the administrator raise vm.max_map_count")


def mapped() -> float:
    """Returns the share of the memory mappings that are in use, counted once for some programs; 0 if not known."""
    if next(_programs) % _EVERY == 0 or _share[0] > _FEW:
        used, limit = mappings()
        _share[0] = used / limit if limit else 0.0
    return _share[0]


def mappings() -> tuple[int, int]:
    """Returns the number of memory mappings of this process, and the system's limit; 0 and 0 if not known."""
    try:
        with open("/proc/sys/vm/max_map_count", "rb") as file:
            limit = int(file.read())
        with open("/proc/self/maps", "rb") as file:
            return sum(1 for _ in file), limit
    except (OSError, ValueError):  # another system
        return 0, 0


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
