"""Triangular solves on a device, by blocks.

LAPACK, which XLA:CPU calls, solves triangular systems of a moderate size on several threads. For stacks of them,
synchronizing the threads takes longer than the arithmetic, a hundred times as long on a busy machine. Matrix products
do not have this problem.
"""

from __future__ import annotations

import numpy as np

from graphgrad.ops.common.lax_functions import lax_of, module_of

_THREADED = 1024  # elements of a right side from which on LAPACK uses threads, if the matrix has as many rows as this:
_ROWS = 16
_LARGEST = 256  # rows beyond which threads pay off
_BLOCK = 16
_MOST_BLOCKS = 8
_SMALL = 32  # rows up to which elimination of the right sides, too, takes no time worth mentioning
_ELIMINATED = 40_000  # elements of a matrix from which on elimination uses threads


def _by_blocks(rows, columns):
    return _ROWS <= rows <= _LARGEST and rows * columns >= _THREADED


def solve_triangular(xp, a, b, lower, adjoint=False, left=True):
    """Solves a x = b, or with the adjoint of `a`, for stacks of triangular matrices; reads one triangle only.

    Only the blocks on the diagonal are inverted; the rest is substitution.

    Args:
      xp: jax.numpy.
      a: (*B, n, n).
      b: (*B, n, m), or (*B, m, n).
      lower: whether the lower triangle of `a` is used, else the upper one.
      adjoint: whether the system has the adjoint of `a`.
      left: whether to solve a x = b, else x a = b.
    Returns: the shape of b.
    """
    lax = lax_of(xp)
    n = a.shape[-1]
    if not _by_blocks(n, b.shape[-1 if left else -2]):
        return lax.linalg.triangular_solve(a, b, left_side=left, lower=lower, transpose_a=adjoint, conjugate_a=adjoint)
    if adjoint:
        a, lower = xp.conj(xp.swapaxes(a, -1, -2)), not lower
    size = max(_BLOCK, -(-n // _MOST_BLOCKS))
    parts = [slice(start, min(start + size, n)) for start in range(0, n, size)]
    inverses = _inverses(xp, [a[..., p, p] for p in parts], size, lower)
    forwards, axis = lower == left, -2 if left else -1
    solved = []
    for k in range(len(parts)) if forwards else reversed(range(len(parts))):
        part = parts[k]
        rest = b[..., part, :] if left else b[..., part]
        if solved:
            known = slice(0, part.start) if forwards else slice(part.stop, n)
            x = xp.concatenate(solved if forwards else solved[::-1], axis)
            rest = rest - (_product(a[..., part, known], x) if left else _product(x, a[..., known, part]))
        inverse = inverses[k][..., : part.stop - part.start, : part.stop - part.start]
        solved.append(_product(inverse, rest) if left else _product(rest, inverse))
    return xp.concatenate(solved if forwards else solved[::-1], axis)


def _product(a, b):
    batch = tuple(range(a.ndim - 2))
    axes = ((a.ndim - 1,), (a.ndim - 2,)), (batch, batch)
    return lax_of(module_of(a)).dot_general(a, b, axes, precision="HIGHEST")


def _inverses(xp, blocks, size, lower):
    """Inverts triangular matrices of up to `size` rows, all at once, by substitution in a loop over rows."""
    lax = lax_of(xp)
    lack = size - blocks[-1].shape[-1]
    if lack:  # an identity below
        edges = [(0, 0, 0)] * (blocks[-1].ndim - 2) + [(0, lack, 0)] * 2
        zero = np.zeros((), blocks[-1].dtype)
        identity = xp.diag((xp.arange(size) >= size - lack).astype(zero.dtype))
        blocks = [*blocks[:-1], lax.pad(blocks[-1], zero, edges) + identity]
    a = xp.stack(blocks)
    if not lower:
        a = xp.swapaxes(a, -1, -2)
    rows, columns = a.ndim - 2, a.ndim - 1
    at = lax.broadcasted_iota(np.int32, a.shape, rows)

    def eliminate(i, inverse):
        column = lax.dynamic_slice_in_dim(a, i, 1, columns)
        row = lax.dynamic_slice_in_dim(inverse, i, 1, rows) / lax.dynamic_slice_in_dim(column, i, 1, rows)
        return xp.where(at == i, row, xp.where(at > i, inverse - column * row, inverse))

    identity = (at == lax.broadcasted_iota(np.int32, a.shape, columns)).astype(a.dtype)
    inverse = lax.fori_loop(0, size, eliminate, identity)
    return inverse if lower else xp.swapaxes(inverse, -1, -2)


def solve(xp, a, b):
    """Solves a x = b for stacks of square matrices (*B, n, n) and (*B, n, m). On a device."""
    n, m = b.shape[-2:]
    if (n > _SMALL and not _by_blocks(n, m)) or n * (n + m) >= _ELIMINATED:
        return xp.linalg.solve(a, b)
    # Eliminating in the matrix augmented by the right sides also solves the lower triangular system. Without the
    # permutation, which XLA computes in a loop of its own, small systems are compiled in less time, too.
    eliminated = _eliminate(xp.concatenate([a, b], -1))
    return solve_triangular(xp, eliminated[..., :n], eliminated[..., n:], lower=False)


def inverse(xp, a):
    """Inverts square matrices. On a device."""
    n = a.shape[-1]
    if not _by_blocks(n, n) or n * 2 * n >= _ELIMINATED:
        return xp.linalg.inv(a)
    identity = xp.broadcast_to(xp.eye(n, dtype=a.dtype), a.shape)
    # Of the transposes, since LAPACK stores matrices by columns: so nothing is copied.
    eliminated = xp.swapaxes(_eliminate(xp.swapaxes(xp.concatenate([a, identity], -2), -1, -2)), -1, -2)
    return solve_triangular(xp, eliminated[..., :n, :], eliminated[..., n:, :], lower=True, left=False)


def _eliminate(x):
    return lax_of(module_of(x)).linalg.lu(x)[0]


__all__ = ["inverse", "solve", "solve_triangular"]
