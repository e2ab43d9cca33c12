"""Cholesky, eigen- and singular value decompositions, inverses and solvers."""

from __future__ import annotations

import contextlib

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import COMPLEX, float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import broadcast, with_rank_at_least
from graphgrad.op_traits import Cost
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.shape_values import join, shape_of

from .lapack_threads import lapack
from .matmul import matmul
from .triangular_solve import inverse, solve, solve_triangular

_T = COMPLEX | {float32, float64}


def square(shape, what="input"):
    """Checks and returns the shape of a stack of square matrices. For shape rules."""
    with_rank_at_least(shape, 2, what)
    if shape is None:
        return None
    m, n = shape[-2:]
    if m is not None and n is not None and m != n:
        raise Complaint(f"Dimensions must be equal, but are {m} and {n}: {what} must be square",
                        "give square matrices")
    n = m if n is None else n
    return shape[:-2] + (n, n)


def adjoint(x):
    """Computes the conjugate transpose of the last two dimensions."""
    shape = x._spec.shape
    if shape is None:
        rank = raw.Rank(x)
        perm = join(raw.Range(0, raw.Sub(rank, 2), 1), raw.Reshape(raw.Sub(rank, 1), [1]),
                    raw.Reshape(raw.Sub(rank, 2), [1]))
    else:
        n = len(shape)
        perm = np.asarray([*range(n - 2), n - 1, n - 2], np.int32)
    return raw.ConjugateTranspose(x, perm) if x.dtype.is_complex else raw.Transpose(x, perm)


def diag_part(x):
    """Returns the main diagonals."""
    return raw.MatrixDiagPartV3(x, 0, np.zeros((), x.dtype.np_dtype))


def diag(x):
    """Makes square matrices with these main diagonals."""
    return raw.MatrixDiagV3(x, 0, -1, -1, np.zeros((), x.dtype.np_dtype))


def set_diag(x, diagonal):
    """Replaces the main diagonals of x."""
    return raw.MatrixSetDiagV3(x, diagonal, 0)


def lower(x):
    """Returns the lower triangles, including the diagonals."""
    return raw.MatrixBandPart(x, np.int64(-1), np.int64(0))


def upper(x):
    """Returns the upper triangles, including the diagonals."""
    return raw.MatrixBandPart(x, np.int64(0), np.int64(-1))


def _adjoint_kernel(xp, x):
    return xp.conj(xp.swapaxes(x, -1, -2))


# -- Cholesky --------------------------------------------------------------------------


def _positive(shape):
    return square(shape)


@op("Cholesky", "input: T -> output: T", T=_T, shape=_positive, cost=Cost.FACTORIZATION, eager_seconds=5e-9)
def cholesky_op(xp, x):
    """Computes lower triangular matrices L with L L^H = x; only the lower triangles are read."""
    return xp.tril(lax_of(xp).linalg.cholesky(x, symmetrize_input=False))


@cholesky_op.on_host
@lapack
def _cholesky_host(xp, x):
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        if x.ndim == 2:
            return np.full_like(x, np.nan)
        return np.stack([_cholesky_host(xp, m) for m in x])


@cholesky_op.grad
def _cholesky_grad(op, dl):
    factor = op.outputs[0]
    middle = matmul(factor, dl, adjoint_a=True)
    middle = lower(set_diag(middle, raw.Mul(0.5, diag_part(middle))))
    # L^-H middle L^-1, by two solutions instead of inverting L.
    left = raw.MatrixTriangularSolve(factor, middle, adjoint=True)
    da = raw.MatrixTriangularSolve(factor, adjoint(left), adjoint=True)
    return raw.Mul(0.5, raw.AddV2(da, adjoint(da)))


# -- inverse and determinants ----------------------------------------------------------


def _numbers(function, *args, **kwargs):
    """Calls a NumPy function that complains of singular matrices."""
    with contextlib.suppress(np.linalg.LinAlgError):
        result = function(*args, **kwargs)
        if np.all(np.isfinite(result)):
            return result
    raise Complaint("Input matrix is not invertible", "add a small multiple of the identity to it")


def not_finite(xp, result, *more):
    """Rejects (see `OpDef.refuses`) non-finite results, which mean a singular matrix."""
    return [xp.logical_not(xp.isfinite(result))]


@op("MatrixInverse", "input: T -> output: T", T=_T, shape=square, cost=Cost.FACTORIZATION, eager_seconds=2e-8)
@lapack
def matrix_inverse_op(xp, x, *, adjoint=False):
    """Computes the inverses of square matrices, or of their adjoints."""
    if adjoint:
        x = _adjoint_kernel(xp, x)
    return _numbers(np.linalg.inv, x) if xp is np else inverse(xp, x)


matrix_inverse_op.refuses()(not_finite)


@matrix_inverse_op.grad
def _matrix_inverse_grad(op, dy):
    y = op.outputs[0]
    flipped = op._attr("adjoint")
    inner = matmul(dy, y, adjoint_a=flipped, adjoint_b=not flipped)
    if flipped:
        return raw.Neg(matmul(y, inner))
    return raw.Neg(matmul(y, inner, adjoint_a=True))


def _batch(shape):
    shape = square(shape)
    return None if shape is None else shape[:-2]


def _as_matrices(c):
    """Reshapes numbers, one for each matrix, to multiply matrices with."""
    return raw.ExpandDims(raw.ExpandDims(c, -1), -1)


@op("MatrixDeterminant", "input: T -> output: T", T=_T, shape=_batch, cost=Cost.FACTORIZATION)
@lapack
def matrix_determinant_op(xp, x):
    """Computes the determinants of square matrices."""
    return xp.linalg.det(x).astype(x.dtype) if x.shape[-1] else xp.ones(x.shape[:-2], x.dtype)


@matrix_determinant_op.grad
def _matrix_determinant_grad(op, dc):
    c = _as_matrices(raw.Mul(dc, conj(op.outputs[0])))
    return raw.Mul(c, raw.MatrixInverse(op.inputs[0], adjoint=True))


def _two_batches(shape):
    return [_batch(shape)] * 2


@op("LogMatrixDeterminant", "input: T -> sign: T, log_abs_determinant: T", T=_T, shape=_two_batches,
    cost=Cost.FACTORIZATION)
@lapack
def log_matrix_determinant_op(xp, x):
    """Computes the signs of the determinants and the logarithms of their magnitudes."""
    sign, log = xp.linalg.slogdet(x)
    return sign.astype(x.dtype), log.astype(x.dtype)


@log_matrix_determinant_op.grad
def _log_matrix_determinant_grad(op, unused, dlog):
    return raw.Mul(_as_matrices(dlog), raw.MatrixInverse(op.inputs[0], adjoint=True))


# -- linear systems --------------------------------------------------------------------


def _solve_shape(matrix, rhs):
    matrix = square(matrix, "matrix")
    with_rank_at_least(rhs, 2, "rhs")
    if matrix is None or rhs is None:
        return None
    n, m = matrix[-1], rhs[-2]
    if n is not None and m is not None and n != m:
        raise Complaint(f"Dimensions must be equal, but are {n} and {m}: matrix and rhs have different rows",
                        "give as many rows of rhs as the matrix has")
    return broadcast(matrix[:-2], rhs[:-2]) + (m if n is None else n, rhs[-1])


def _same_batch(matrix, rhs):
    if matrix is not None and rhs is not None and len(matrix) != len(rhs):
        raise Complaint(f"matrix has {len(matrix)} dimensions but rhs has {len(rhs)}",
                        "give them the same batch dimensions, e.g. with tf.broadcast_to")
    if matrix is None or rhs is None:
        matrix, rhs = square(matrix, "matrix"), with_rank_at_least(rhs, 2, "rhs")
        return rhs if matrix is None else (*matrix[:-1], None)
    return _solve_shape(matrix, rhs)


@op("MatrixSolve", "matrix: T, rhs: T -> output: T", T=_T, shape=_same_batch, cost=Cost.FACTORIZATION)
@lapack
def matrix_solve_op(xp, matrix, rhs, *, adjoint=False):
    """Solves matrix x = rhs, or systems with the adjoints of the matrices."""
    if adjoint:
        matrix = _adjoint_kernel(xp, matrix)
    return _numbers(np.linalg.solve, matrix, rhs) if xp is np else solve(xp, matrix, rhs)


matrix_solve_op.refuses()(not_finite)


@matrix_solve_op.grad
def _matrix_solve_grad(op, dx):
    flipped = op._attr("adjoint")
    db = raw.MatrixSolve(op.inputs[0], dx, adjoint=not flipped)
    return _grad_of_matrix(op.outputs[0], db, flipped), db


def _grad_of_matrix(x, db, flipped):
    return raw.Neg(matmul(x, db, adjoint_b=True) if flipped else matmul(db, x, adjoint_b=True))


@op("MatrixTriangularSolve", "matrix: T, rhs: T -> output: T", T=_T, shape=_solve_shape, cost=Cost.FACTORIZATION,
    eager_seconds=2e-8)
def matrix_triangular_solve_op(xp, matrix, rhs, *, lower=True, adjoint=False):
    """Solves triangular systems; the other triangle is not read."""
    batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    matrix = xp.broadcast_to(matrix, batch + matrix.shape[-2:])
    rhs = xp.broadcast_to(rhs, batch + rhs.shape[-2:])
    return solve_triangular(xp, matrix, rhs, lower, adjoint)


@matrix_triangular_solve_op.on_host
@lapack
def _triangular_solve_host(xp, matrix, rhs, *, lower=True, adjoint=False):
    matrix = np.tril(matrix) if lower else np.triu(matrix)
    if adjoint:
        matrix = _adjoint_kernel(np, matrix)
    batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    rhs = np.broadcast_to(rhs, batch + rhs.shape[-2:])
    return _substitute(matrix, rhs, lower != adjoint)


_SOLVED_AT_ONCE = 32  # rows; the rest is a product


def _substitute(matrix, rhs, forward):
    """Solves triangular systems by substitution, with 1/0 where the diagonal has a 0.

    A general solver would exchange rows, and lose small elements.
    """
    n = matrix.shape[-1]
    x = np.array(rhs)
    starts = range(0, n, _SOLVED_AT_ONCE)
    with np.errstate(all="ignore"):
        for start in starts if forward else reversed(starts):
            stop = min(start + _SOLVED_AT_ONCE, n)
            known = slice(0, start) if forward else slice(stop, n)
            x[..., start:stop, :] -= matrix[..., start:stop, known] @ x[..., known, :]
            for i in range(start, stop) if forward else reversed(range(start, stop)):
                done = slice(start, i) if forward else slice(i + 1, stop)
                rest = x[..., i, :] - (matrix[..., i, done, None] * x[..., done, :]).sum(-2)
                x[..., i, :] = rest / matrix[..., i, i, None]
    return x


@matrix_triangular_solve_op.grad
def _matrix_triangular_solve_grad(op, dx):
    a, b = op.inputs
    is_lower, flipped = op._attr("lower"), op._attr("adjoint")
    db = raw.MatrixTriangularSolve(a, dx, lower=is_lower, adjoint=not flipped)
    da = _grad_of_matrix(op.outputs[0], db, flipped)
    da = lower(da) if is_lower else upper(da)
    return to_batch(da, a), to_batch(db, b)


def to_batch(g, x):
    """Sums g over the batch dimensions along which x was repeated."""
    shape, goal = g._spec.shape, x._spec.shape
    if shape is not None and shape == goal and None not in shape[:-2]:
        return g
    sizes = raw.Shape(x)
    axes, _ = raw.BroadcastGradientArgs(_leading(sizes), _leading(raw.Shape(g)))
    return raw.Reshape(raw.Sum(g, axes), shape_of(x))


def _leading(shape):
    return raw.StridedSlice(shape, [0], [-2], [1], begin_mask=1)


# -- eigenvalues -----------------------------------------------------------------------


def _eigen_shape(shape, compute_v):
    shape = square(shape)
    if shape is None:
        return [None, None if compute_v else (0,)]
    return [shape[:-1], shape if compute_v else (0,)]


@op("SelfAdjointEigV2", "input: T -> e: T, v: T", T=_T, shape=_eigen_shape, cost=Cost.FACTORIZATION)
@lapack
def self_adjoint_eig_op(xp, x, *, compute_v=True):
    """Computes eigenvalues in ascending order and eigenvectors; only the lower triangles are read."""
    if xp is np and not np.all(np.isfinite(x)):
        raise Complaint("Self-adjoint eigen decomposition was not successful. The input might not be valid.",
                        "give matrices of finite numbers")
    kwargs = {"UPLO": "L"} if xp is np else {"UPLO": "L", "symmetrize_input": False}
    if not compute_v:
        full = xp.tril(x)
        full = full + _adjoint_kernel(xp, xp.tril(x, -1))
        return xp.linalg.eigvalsh(full).astype(x.dtype), xp.zeros((0,), x.dtype)
    e, v = xp.linalg.eigh(x, **kwargs)
    return e.astype(x.dtype), v


self_adjoint_eig_op.refuses()(not_finite)


def reciprocal_gaps(e, symmetric=False):
    """Computes 1 / (e_j - e_i), or of the squares; 0 on the diagonal and for equal values."""
    left, right = raw.ExpandDims(e, -2), raw.ExpandDims(e, -1)
    gaps = raw.Sub(left, right)
    zeros = raw.ZerosLike(gaps)
    equal = raw.Equal(gaps, zeros)
    if symmetric:  # a difference of equal squares may not be 0 when it is fused with the squares
        gaps = raw.Mul(gaps, raw.AddV2(left, right))
    return raw.SelectV2(equal, zeros, raw.Reciprocal(raw.SelectV2(equal, raw.OnesLike(gaps), gaps)))


@self_adjoint_eig_op.grad
def _self_adjoint_eig_grad(op, de, dv):
    if op._attr("compute_v"):
        e, v = op.outputs
    else:
        e, v = raw.SelfAdjointEigV2(op.inputs[0])
        dv = None
    inner = None if de is None else diag(de)
    if dv is not None:
        turn = raw.Mul(reciprocal_gaps(e), matmul(v, dv, adjoint_a=True))
        inner = turn if inner is None else raw.AddV2(inner, turn)
    da = matmul(v, matmul(inner, v, adjoint_b=True))
    # Only the lower triangle is read, so the gradient of the upper one is added to it.
    da = lower(raw.AddV2(da, adjoint(da)))
    return set_diag(da, raw.Mul(0.5, diag_part(da)))


# -- singular values -------------------------------------------------------------------


def _svd_shape(shape, compute_uv, full_matrices):
    with_rank_at_least(shape, 2, "input")
    if shape is None:
        return [None, None, None] if compute_uv else [None, (0,), (0,)]
    batch, (m, n) = shape[:-2], shape[-2:]
    k = None if m is None or n is None else min(m, n)
    if not compute_uv:
        return [(*batch, k), (0,), (0,)]
    if full_matrices:
        return [(*batch, k), (*batch, m, m), (*batch, n, n)]
    return [(*batch, k), (*batch, m, k), (*batch, n, k)]


@op("Svd", "input: T -> s: T, u: T, v: T", T=_T, shape=_svd_shape, cost=Cost.FACTORIZATION)
@lapack
def svd_op(xp, x, *, compute_uv=True, full_matrices=False):
    """Computes singular values in descending order, left and right singular vectors."""
    if xp is np and not np.all(np.isfinite(x)):  # NumPy raises, TensorFlow does not
        shapes = _svd_shape(x.shape, compute_uv, full_matrices)
        return tuple([np.full(shape, np.nan, x.dtype) for shape in shapes])
    if not compute_uv:
        none = xp.zeros((0,), x.dtype)
        return xp.linalg.svd(x, compute_uv=False).astype(x.dtype), none, none
    u, s, vh = xp.linalg.svd(x, full_matrices=full_matrices)
    return s.astype(x.dtype), u, _adjoint_kernel(xp, vh)


@svd_op.grad
def _svd_grad(op, ds, du, dv):
    a = op.inputs[0]
    if a.dtype.is_complex and ds is not None:  # singular values are real, whatever their dtype
        ds = raw.Cast(raw.Real(ds, Tout=a.dtype.real_dtype), DstT=a.dtype)
    if not op._attr("compute_uv"):
        _, u, v = raw.Svd(a)
        return matmul(u, matmul(diag(ds), v, adjoint_b=True))
    s, u, v = op.outputs
    if op._attr("full_matrices"):
        return _full_svd_grad(a, s, u, v, ds, du, dv)
    return _thin_svd_grad(a, s, u, v, ds, du, dv)


def columns_from(x, k, axis_from_end, first):
    """Returns the first k columns (axis_from_end = 1) of matrices, or the others; k is an int or a tensor."""
    rank = len(x._spec.shape)
    begin, size = np.zeros(rank, np.int32), np.full(rank, -1, np.int32)
    if isinstance(k, int):
        (size if first else begin)[rank - axis_from_end] = k
        return raw.Slice(x, begin, size)
    unit = np.zeros(rank, np.int32)
    unit[rank - axis_from_end] = 1
    if first:
        return raw.Slice(x, begin, raw.AddV2(size, raw.Mul(unit, raw.AddV2(k, 1))))
    return raw.Slice(x, raw.Mul(unit, k), size)


def _full_svd_grad(a, s, u, v, ds, du, dv):
    """Computes the gradient for square u and v: that of the thin decomposition, and the rotation of the other columns.

    Only the space that the other columns span is determined, so this holds for functions of that space.
    """
    if s._spec.shape is None:
        raise NotImplementedError("Svd: the gradient needs matrices of known rank.\n  Fix: use set_shape")
    k = s._spec.shape[-1]
    if k is None:
        k = raw.StridedSlice(raw.Shape(s), [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
    u1, v1 = columns_from(u, k, 1, True), columns_from(v, k, 1, True)
    first = [None if d is None else columns_from(d, k, 1, True) for d in (du, dv)]
    da = _thin_svd_grad(a, s, u1, v1, ds, *first)
    inverse = raw.ExpandDims(raw.Reciprocal(s), -2)
    if du is not None:
        u2 = columns_from(u, k, 1, False)
        turn = matmul(columns_from(du, k, 1, False), u1, adjoint_a=True)
        da = raw.Sub(da, matmul(matmul(u2, raw.Mul(turn, inverse)), v1, adjoint_b=True))
    if dv is not None:
        v2 = columns_from(v, k, 1, False)
        turn = matmul(columns_from(dv, k, 1, False), v1, adjoint_a=True)
        da = raw.Sub(da, matmul(u1, matmul(v2, raw.Mul(turn, inverse)), adjoint_b=True))
    return da


def _thin_svd_grad(a, s, u, v, ds, du, dv):
    gaps = reciprocal_gaps(s, symmetric=True)
    inverse = raw.Reciprocal(s)
    scale, scale_inverse = raw.ExpandDims(s, -2), raw.ExpandDims(inverse, -2)
    inner = None if ds is None else diag(ds)
    outside = []
    if du is not None:
        of_u = matmul(u, du, adjoint_a=True)
        turn = raw.Mul(gaps, of_u)
        inner = _plus(inner, raw.Mul(raw.AddV2(turn, adjoint(turn)), scale))
        rest = raw.Mul(raw.Sub(du, matmul(u, of_u)), scale_inverse)
        outside.append(matmul(rest, v, adjoint_b=True))
    if dv is not None:
        of_v = matmul(v, dv, adjoint_a=True)
        turn = raw.Mul(gaps, of_v)
        inner = _plus(inner, raw.Mul(raw.ExpandDims(s, -1), raw.AddV2(turn, adjoint(turn))))
        if a.dtype.is_complex:  # the remaining freedom to multiply both vectors of a value by one phase
            phase = diag_part(of_v)
            inner = raw.AddV2(inner, diag(raw.Mul(raw.Mul(0.5, inverse), raw.Sub(conj(phase), phase))))
        rest = raw.Mul(raw.Sub(dv, matmul(v, of_v)), scale_inverse)
        outside.append(matmul(u, rest, adjoint_b=True))
    da = matmul(u, matmul(inner, v, adjoint_b=True))
    for part in outside:
        da = raw.AddV2(da, part)
    return da


def _plus(a, b):
    return b if a is None else raw.AddV2(a, b)
