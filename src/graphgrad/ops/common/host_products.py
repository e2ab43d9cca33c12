"""Products of matrices in NumPy, which BLAS does not deal out to several cores but for very large ones.

OpenBLAS deals a product of 2**19 multiplications and more out to all cores and lets its threads wait by spinning: on a
machine that does other work such a call may take several hundred times as long. So many rows and stacks of matrices
are multiplied in pieces below that, for which it also needs no packed copies; what cannot be is left to one thread, in
blocks that threads of our own compute side by side, which wait without spinning. Which blocks depends on the sizes
alone: the bits are the same on any number of cores.
"""

from __future__ import annotations

import numpy as np

_UNDIVIDED = (1 << 19) - 1  # multiplications
_LEAST = 8  # rows; with fewer, the small matrix would be read too often
_PART = 1 << 23  # multiplications from which on a thread of our own pays
_LONG = 1 << 29  # multiplications that take so long that waiting for other work does not matter
_BLOCKS = 4  # of a product, at most


def by_matrix(rows, matrix, out):
    """Writes rows @ matrix to `out`.

    Args:
      rows: (n, k), an array of NumPy.
      matrix: (k, m).
      out: (n, m), contiguous.
    """
    n, (k, m) = rows.shape[0], matrix.shape
    at_once = _UNDIVIDED // max(1, k * m)
    if n <= at_once:
        np.matmul(rows, matrix, out=out)
        return
    if at_once < _LEAST:
        _product(rows, matrix, out)
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
        return stacks(a.T, b)
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
    if a.ndim < 2 or b.ndim < 2 or a.dtype.kind not in "fc" or b.shape[-2] != a.shape[-1]:
        return np.matmul(a, b)
    n, k, m = a.shape[-2], a.shape[-1], b.shape[-1]
    if a.ndim < 3 and b.ndim < 3:
        return np.matmul(a, b) if n * k * m <= _UNDIVIDED else _product(a, b, np.empty((n, m), np.result_type(a, b)))
    at_once = _UNDIVIDED // max(1, k * m)
    if n <= at_once and max(a.size * m, b.size * n) < 2 * _PART:
        return np.matmul(a, b)
    result = np.empty((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), n, m), np.result_type(a, b))
    if n <= at_once:
        _spread(a, b, result)
    elif at_once >= _LEAST:
        for start in range(0, n, at_once):
            rows = slice(start, start + at_once)
            _spread(a[..., rows, :], b, result[..., rows, :])
    elif result.size == n * m:
        _product(a.reshape(n, k), b.reshape(k, m), result.reshape(n, m))
    elif n * k * m >= _LONG:
        np.matmul(a, b, out=result)
    else:
        with _one_thread():
            _spread(a, b, result)
    return result


def _one_thread():
    """Returns a context in which BLAS computes in the calling thread."""
    from graphgrad.system.blas_threads import FewerThreads  # not needed by `import graphgrad`

    return FewerThreads(1)


def _product(a, b, out):
    """Writes the product of two matrices to `out`; it has more multiplications than BLAS leaves on one core."""
    (n, k), m = a.shape, b.shape[1]
    work, longer = n * k * m, max(n, m)
    if work >= _LONG:
        np.matmul(a, b, out=out)
        return out
    blocks = min(work // _PART, longer // (4 * _LEAST), _BLOCKS)
    with _one_thread():
        if blocks < 2:
            np.matmul(a, b, out=out)
            return out
        blocks = 1 << blocks.bit_length() - 1
        step = -(-longer // (2 * _LEAST * blocks)) * 2 * _LEAST  # BLAS computes so many at a time

        def part(start, stop):
            for i in range(start, stop):
                at = slice(i * step, (i + 1) * step)
                if n >= m:
                    np.matmul(a[at], b, out=out[at])
                else:
                    np.matmul(a, b[:, at], out=out[:, at])

        _side_by_side(part, blocks, 1)
    return out


def _side_by_side(part, count, least):
    from graphgrad.system import cores  # not needed by `import graphgrad`

    cores.spread(part, count, least)


def _spread(a, b, out):
    """Writes the products of stacks of matrices to `out`, for some matrices in another thread where that pays."""
    if out.size * a.shape[-1] < 2 * _PART or out.ndim < 3:
        np.matmul(a, b, out=out)
        return

    def part(start, stop):
        np.matmul(*[x[start:stop] if x.ndim == out.ndim and len(x) > 1 else x for x in (a, b)], out=out[start:stop])

    _side_by_side(part, len(out), -(-_PART * len(out) // (out.size * a.shape[-1])))


def _parted(rows, whole, at_once):
    """Returns the first `whole` rows as a stack of matrices: a view."""
    step, inner = rows.strides
    shape = (whole // at_once, at_once, rows.shape[1])
    return np.lib.stride_tricks.as_strided(rows, shape, (at_once * step, step, inner))
