"""Decompositions in NumPy, computed by one thread unless they take long.

OpenBLAS deals matrices of a hundred rows out to all cores and lets its threads wait by spinning. With two of them on an
idle machine a Cholesky decomposition of 200 rows takes four times as long as with one, and on a busy machine more than
a thousand times.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.system.blas_threads import FewerThreads

_FEW = 96  # rows and columns up to which LAPACK uses one thread anyway
_LONG = 512  # from which on waiting for other work does not matter, and all threads solve systems sooner


def lapack(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a kernel use one thread where NumPy computes; its first operand consists of matrices.

    Args:
      kernel: a function of (xp, matrices, ...).
    """

    @functools.wraps(kernel)
    def limited(xp: Any, matrices: Any, *rest: Any, **attrs: Any) -> Any:
        if xp is np and matrices.ndim > 1 and _FEW < max(matrices.shape[-2:]) < _LONG:
            with FewerThreads(1):
                return kernel(xp, matrices, *rest, **attrs)
        return kernel(xp, matrices, *rest, **attrs)

    return limited
