"""Sums of rows by number, in NumPy: as a product with a sparse matrix of ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.system.late_imports import load

LARGE = 1 << 16  # numbers from which on NumPy's sums take longer than it is worth to import SciPy


def sums_by_row(values: Any, rows: Any, count: int) -> Any:
    """Adds up rows that have one number, in their order; `np.add.at` takes several times as long.

    Args:
      values: (n, *D), single or double precision, real or complex.
      rows: (n,), integers within [0, count).
      count: the number of sums.
    """
    sparse = load("scipy.sparse")
    n = len(rows)
    index = np.int32 if max(n, count) < 2**31 else np.int64
    matrix = sparse.csc_array((np.ones(n, values.dtype), rows.astype(index), np.arange(n + 1, dtype=index)), (count, n))
    return (matrix @ values.reshape(n, -1)).reshape(count, *values.shape[1:])
