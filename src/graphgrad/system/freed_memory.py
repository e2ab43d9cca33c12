"""Memory that is freed and kept for the next run."""

from __future__ import annotations

import contextlib
import functools
import os

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


@functools.cache
def keep() -> None:
    """Keeps freed memory, up to 1 GiB, where glibc allocates it.

    glibc returns large blocks to the system at once, which then maps and clears their pages again in each step. That
    can take longer than the computation: NumPy allocates each result, XLA the temporary memory of a program as one
    block. Most runs find their blocks kept, not all: glibc's heaps belong to threads, and XLA's differ from run to run.
    If glibc's own environment variables are set, nothing is changed.
    """
    if any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ):
        return
    with contextlib.suppress(Exception):
        import ctypes

        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_MAX, 0)
        mallopt(_M_TRIM_THRESHOLD, 1 << 30)
