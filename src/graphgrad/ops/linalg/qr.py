"""QR decompositions and their gradients."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.dtypes import COMPLEX, float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank_at_least
from graphgrad.op_traits import Cost

from .decompositions import adjoint, columns_from, diag, diag_part, lower
from .lapack_threads import lapack
from .matmul import matmul

_T = COMPLEX | {float32, float64}



def _qr_shape(shape, full_matrices):
    with_rank_at_least(shape, 2, "input")
    if shape is None:
        return [None, None]
    batch, (m, n) = shape[:-2], shape[-2:]
    k = m if full_matrices else None if m is None or n is None else min(m, n)
    return [(*batch, m, k), (*batch, k, n)]


@op("Qr", "input: T -> q: T, r: T", T=_T, shape=_qr_shape, cost=Cost.FACTORIZATION)
@lapack
def qr_op(xp, x, *, full_matrices=False):
    """Computes orthogonal matrices q and upper triangular ones r with q r = x."""
    q, r = xp.linalg.qr(x, mode="complete" if full_matrices else "reduced")
    return q, r


def _solve_right(x, r):
    """Computes x r^-H for upper triangular r."""
    return adjoint(raw.MatrixTriangularSolve(r, adjoint(x), lower=False))


def _deep_qr_grad(q, r, dq, dr):
    """Returns the gradient of a QR decomposition of matrices with no more columns than rows."""
    of_q, of_r = matmul(q, dq, adjoint_a=True), matmul(r, dr, adjoint_b=True)
    turn = lower(raw.AddV2(raw.Sub(of_q, adjoint(of_q)), raw.Sub(of_r, adjoint(of_r))))
    inside = matmul(q, raw.AddV2(dr, _solve_right(turn, r)))
    da = raw.AddV2(inside, _solve_right(raw.Sub(dq, matmul(q, of_q)), r))
    if q.dtype.is_complex:  # the diagonal of r stays real, so only half of the imaginary part rotates q
        skew = diag_part(raw.Sub(of_q, adjoint(of_r)))
        turning = raw.Sub(skew, raw.Cast(raw.Real(skew, Tout=q.dtype.real_dtype), DstT=q.dtype))
        da = raw.Sub(da, _solve_right(matmul(q, diag(turning)), r))
    return da


def _full_qr_grad(q, r, dq, dr, n):
    """Computes the gradient for square q, more rows than columns: the thin one's, and the other columns' rotation.

    Only the space that these span is determined, so this holds for functions of that space.
    """
    q1, q2 = columns_from(q, n, 1, True), columns_from(q, n, 1, False)
    r1 = columns_from(r, n, 2, True)
    thin = _deep_qr_grad(q1, r1, columns_from(dq, n, 1, True), columns_from(dr, n, 2, True))
    turn = matmul(columns_from(dq, n, 1, False), q1, adjoint_a=True)
    return raw.Sub(thin, matmul(q2, _solve_right(turn, r1)))


@qr_op.grad
def _qr_grad(op, dq, dr):
    a = op.inputs[0]
    shape = a._spec.shape
    q, r = op.outputs
    dq = raw.ZerosLike(q) if dq is None else dq
    dr = raw.ZerosLike(r) if dr is None else dr
    if shape is None or None in shape[-2:]:
        return _unknown_qr_grad(a, q, r, dq, dr)
    m, n = shape[-2:]
    if op._attr("full_matrices") and m > n:
        return _full_qr_grad(q, r, dq, dr, n)
    if m >= n:
        return _deep_qr_grad(q, r, dq, dr)
    # The right columns are those of a, rotated by q^H, so they rotate q along with the left square.
    rank = len(shape)
    columns = _columns(rank, m)
    y = columns(a, False)
    dv = columns(dr, False)
    left = _deep_qr_grad(q, columns(r, True), raw.AddV2(dq, matmul(y, dv, adjoint_b=True)), columns(dr, True))
    return raw.ConcatV2([left, matmul(q, dv)], rank - 1)


def _unknown_qr_grad(a, q, r, dq, dr):
    """Computes the gradient for matrices of unknown size: the sum of the other cases, with parts that may be empty.

    With k = min(m, n), the first k columns of a are decomposed; the columns of q beyond k (of a full decomposition) and
    the other columns of a rotate with them.
    """
    sizes = raw.Shape(a)
    k = raw.Minimum(*(raw.StridedSlice(sizes, [i], [0], [1], end_mask=1, shrink_axis_mask=1) if i == -1 else
                      raw.StridedSlice(sizes, [i], [-1], [1], shrink_axis_mask=1) for i in (-2, -1)))
    q1, q2, dq1, dq2 = (_beside(t, k, first) for t in (q, dq) for first in (True, False))
    r1, dr1 = _above(r, k), _above(dr, k)
    square, y, dv = _beside(r1, k, True), _beside(a, k, False), _beside(dr1, k, False)
    left = _deep_qr_grad(q1, square, raw.AddV2(dq1, matmul(y, dv, adjoint_b=True)), _beside(dr1, k, True))
    turn = matmul(dq2, q1, adjoint_a=True)
    left = raw.Sub(left, matmul(q2, _solve_right(turn, square)))
    return raw.ConcatV2([left, matmul(q1, dv)], -1)


def _beside(x, k, first):
    """Returns the first k columns, or the others, of matrices of any rank."""
    at = raw.Pack([0, k], axis=0)
    if first:
        return raw.StridedSlice(x, [0, 0], at, [1, 1], begin_mask=2, ellipsis_mask=1)
    return raw.StridedSlice(x, at, [0, 0], [1, 1], end_mask=2, ellipsis_mask=1)


def _above(x, k):
    """Returns the first k rows of matrices of any rank."""
    return raw.StridedSlice(x, [0, 0, 0], raw.Pack([0, k, 0], axis=0), [1, 1, 1], begin_mask=6, end_mask=4,
                            ellipsis_mask=1)


def _columns(rank, m):
    """Returns a function that takes the first m columns, or the others."""
    zeros, ends, ones = np.zeros(rank, np.int32), np.zeros(rank, np.int32), np.ones(rank, np.int32)
    at = zeros.copy()
    at[-1] = m
    rest = (1 << (rank - 1)) - 1  # all of the other dimensions

    def take(x, first):
        if first:
            return raw.StridedSlice(x, zeros, at, ones, begin_mask=rest | (1 << (rank - 1)), end_mask=rest)
        return raw.StridedSlice(x, at, ends, ones, begin_mask=rest, end_mask=rest | (1 << (rank - 1)))

    return take
