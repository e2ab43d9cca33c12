"""Products of many rows or of stacks of matrices in NumPy, in pieces that BLAS does not deal out to several cores.

OpenBLAS deals a product of 2**19 multiplications and more out to all cores and lets its threads wait by spinning: on a
machine that does other work each such call may take ten times as long. Below that it also needs no packed copies.
"""

from __future__ import annotations

import numpy as np

_UNDIVIDED = (1 << 19) - 1  # multiplications
_LEAST = 8  # rows; with fewer, the small matrix would be read too often
_PART = 1 << 24  # multiplications from which on a thread of our own pays, which does not wait by spinning


def by_matrix(rows, matrix, out):
    """Writes rows @ matrix to `out`.

    Args:
      rows: (n, k), an array of NumPy.
      matrix: (k, m).
      out: (n, m), contiguous.
    """
    n, (k, m) = rows.shape[0], matrix.shape
    at_once = _UNDIVIDED // max(1, k * m)
    if at_once < _LEAST or n <= at_once:
        np.matmul(rows, matrix, out=out)
        return
    whole = n - n % at_once
    _spread(_parted(rows, whole, at_once), matrix, _parted(out, whole, at_once))
    if whole < n:
        np.matmul(rows[whole:], matrix, out=out[whole:])


def of_columns(a, b):
    """Returns a.T @ b.

    Args:
      a: (n, k), an array of NumPy.
      b: (n, m), contiguous.
    """
    n, k, m = a.shape[0], a.shape[1], b.shape[1]
    at_once = _UNDIVIDED // max(1, k * m)
    if at_once < 4 * _LEAST or n <= at_once:
        return a.T @ b
    whole = n - n % at_once
    parts = np.empty((whole // at_once, k, m), np.result_type(a, b))
    _spread(np.swapaxes(_parted(a, whole, at_once), 1, 2), _parted(b, whole, at_once), parts)
    result = parts.sum(0)
    if whole < n:
        result += a[whole:].T @ b[whole:]
    return result


def stacks(a, b):
    """Returns the products of stacks of matrices, as `numpy.matmul` does.

    Args:
      a: (*A, n, k), an array of NumPy.
      b: (*B, k, m); the stacks broadcast.
    """
    if a.ndim < 3 and b.ndim < 3:
        return np.matmul(a, b)
    n, k, m = a.shape[-2], a.shape[-1], b.shape[-1]
    at_once = _UNDIVIDED // max(1, k * m)
    if a.dtype.kind not in "fc" or at_once < _LEAST or n <= at_once or b.shape[-2] != k:
        return np.matmul(a, b)
    result = np.empty((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), n, m), np.result_type(a, b))
    for start in range(0, n, at_once):
        rows = slice(start, start + at_once)
        _spread(a[..., rows, :], b, result[..., rows, :])
    return result


def _spread(a, b, out):
    """Writes the products of stacks of matrices to `out`, for some matrices in another thread where that pays."""
    if out.size * a.shape[-1] < 2 * _PART or out.ndim < 3:
        np.matmul(a, b, out=out)
        return
    from graphgrad.system import cores  # not needed by `import graphgrad`

    def part(start, stop):
        np.matmul(*[x[start:stop] if x.ndim == out.ndim and len(x) > 1 else x for x in (a, b)], out=out[start:stop])

    cores.spread(part, len(out), -(-_PART * len(out) // (out.size * a.shape[-1])))


def _parted(rows, whole, at_once):
    """Returns the first `whole` rows as a stack of matrices: a view."""
    step, inner = rows.strides
    shape = (whole // at_once, at_once, rows.shape[1])
    return np.lib.stride_tricks.as_strided(rows, shape, (at_once * step, step, inner))
