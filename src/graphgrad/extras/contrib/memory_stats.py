"""`tf.contrib.memory_stats`: how much memory the process uses."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from graphgrad.ir.dtypes import int64
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.control.py_func import py_func


def _peak() -> Any:
    import resource

    return np.int64(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def _now() -> Any:
    try:
        with open("/proc/self/statm") as f:
            return np.int64(int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    except OSError:
        return _peak()


def _limit() -> Any:
    return np.int64(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _asked(function: Any) -> Any:
    value = py_func(function, [], int64)
    value.set_shape([])
    return value


def MaxBytesInUse() -> Tensor:
    """Returns the peak memory of the process, a scalar int64; TensorFlow's is that of one device.

    >>> bool(sess.run(MaxBytesInUse()) > 1e6)
    True
    """
    return _asked(_peak)


def BytesInUse() -> Tensor:
    """Returns the memory that the process uses, a scalar int64."""
    return _asked(_now)


def BytesLimit() -> Tensor:
    """Returns the memory of the machine, a scalar int64."""
    return _asked(_limit)
