"""Banded triangular and tridiagonal solvers and products."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import COMPLEX, float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast, merged, with_rank_at_least
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.lax_functions import lax_of

from .decompositions import adjoint, diag_part, to_batch
from .lapack_threads import lapack
from .matmul import matmul

_T = COMPLEX | {float32, float64}


def _differ(m, n, what):
    raise Complaint(f"Dimensions must be equal, but are {m} and {n}: {what} have different sizes",
                    "give as many rows of rhs as the matrix has")


# -- triangular bands ----------------------------------------------------------------------


def _banded_shape(matrix, rhs):
    with_rank_at_least(matrix, 2, "matrix")
    with_rank_at_least(rhs, 2, "rhs")
    if matrix is None or rhs is None:
        return None
    n, m = matrix[-1], rhs[-2]
    if n is not None and m is not None and n != m:
        _differ(n, m, "bands and rhs")
    return broadcast(matrix[:-2], rhs[:-2]) + (m if n is None else n, rhs[-1])


def _full(xp, bands, lower):
    """Returns the triangular matrices of these bands: each element is in the column of its row's number."""
    count, n = bands.shape[-2:]
    rows, columns = np.arange(n)[:, None], np.arange(n)
    band = rows - columns if lower else columns - rows
    inside = (band >= 0) & (band < count)
    place = band if lower else count - 1 - band
    values = bands[..., np.where(inside, place, 0), np.broadcast_to(rows, (n, n))]
    return xp.where(inside, values, xp.zeros_like(values))


@op("BandedTriangularSolve", "matrix: T, rhs: T -> output: T", T=_T, shape=_banded_shape, cost=Cost.HEAVY)
def banded_triangular_solve_op(xp, matrix, rhs, *, lower=True, adjoint=False):
    """Solves triangular systems given only the diagonals next to the main one."""
    full = _full(xp, matrix, lower)
    batch = np.broadcast_shapes(full.shape[:-2], rhs.shape[:-2])
    full = xp.broadcast_to(full, batch + full.shape[-2:])
    rhs = xp.broadcast_to(rhs, batch + rhs.shape[-2:])
    return lax_of(xp).linalg.triangular_solve(full, rhs, left_side=True, lower=lower, transpose_a=adjoint,
                                              conjugate_a=adjoint)


@banded_triangular_solve_op.on_host
@lapack
def _banded_host(xp, matrix, rhs, *, lower=True, adjoint=False):
    if np.any(matrix[..., 0 if lower else -1, :] == 0):
        raise Complaint("Input matrix is not invertible", "give a main diagonal without zeros")
    full = _full(np, matrix, lower)
    if adjoint:
        full = np.conj(np.swapaxes(full, -1, -2))
    batch = np.broadcast_shapes(full.shape[:-2], rhs.shape[:-2])
    return np.linalg.solve(full, np.broadcast_to(rhs, batch + rhs.shape[-2:]))


@banded_triangular_solve_op.refuses("matrix")
def _banded_refuses(xp, matrix, rhs, lower=True):
    return [matrix[..., 0 if lower else -1, :] == 0]


@banded_triangular_solve_op.grad
def _banded_grad(op, dx):
    bands, rhs = op.inputs
    lower, flipped = op._attr("lower"), op._attr("adjoint")
    db = raw.BandedTriangularSolve(bands, dx, lower=lower, adjoint=not flipped)
    x = op.outputs[0]
    full = raw.Neg(matmul(x, db, adjoint_b=True) if flipped else matmul(db, x, adjoint_b=True))
    shape = bands._spec.shape
    if shape is None or shape[-2] is None:
        last = raw.Sub(raw.StridedSlice(raw.Shape(bands), [-2], [-1], [1], shrink_axis_mask=1), 1)
        k = raw.Pack([raw.Neg(last), 0] if lower else [0, last], axis=0)
    else:
        k = np.asarray([1 - shape[-2], 0] if lower else [0, shape[-2] - 1], np.int32)
    part = raw.MatrixDiagPartV3(full, k, np.zeros((), full.dtype.np_dtype), align="LEFT_RIGHT")
    if shape is None or shape[-2] in (None, 1):  # a single diagonal has no axis of its own
        ones = raw.ConcatV2([raw.StridedSlice(raw.Shape(full), [0], [-2], [1], begin_mask=1),
                             raw.StridedSlice(raw.Shape(bands), [-2], [0], [1], end_mask=1)], 0)
        part = raw.Reshape(part, ones)
    return to_batch(part, bands), to_batch(db, rhs)


def banded_triangular_solve(bands: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False,
                            name: str | None = None) -> Tensor:
    """Solves triangular systems of which only the diagonals next to the main one are not zero.

    Args:
      bands: (*B, k, n), the diagonals, each element in the column of its row's number; from the main diagonal
        downwards for lower triangular matrices, from the highest to the main one for upper ones.
      rhs: (*B, n, m), of the same dtype; the batches broadcast.
      lower: whether the matrices are lower triangular.
      adjoint: whether to solve with the adjoints of the matrices.
      name: a name for the scope of the operation.
    Returns: (*B, n, m).
    Raises: ValueError if the sizes are incompatible; InvalidArgumentError at run time, on the host, for a zero on the
      main diagonal (on a device the result is not finite).
    Gradient: the solution with the adjoints, and the diagonals of -db x^H.
    Reference: TensorFlow 2.21 BandedTriangularSolve.

    >>> sess.run(banded_triangular_solve([[2.0, 1.0], [0.0, 1.0]], [[2.0], [3.0]]))
    array([[1.],
           [2.]], dtype=float32)
    """
    with name_scope(name, "banded_triangular_solve"):
        return raw.BandedTriangularSolve(bands, rhs, lower=bool(lower), adjoint=bool(adjoint))


# -- three diagonals: products -------------------------------------------------------------


def _product_shape(superdiag, maindiag, subdiag, rhs):
    for name, d in (("superdiag", superdiag), ("maindiag", maindiag), ("subdiag", subdiag)):
        with_rank_at_least(d, 2, name)
    with_rank_at_least(rhs, 2, "rhs")
    if rhs is None:
        return None
    for name, d in (("superdiag", superdiag), ("maindiag", maindiag), ("subdiag", subdiag)):
        if d is not None and (d[-2] not in (None, 1) or (None not in (d[-1], rhs[-2]) and d[-1] != rhs[-2])):
            raise Complaint(f"{name} must have the shape (..., 1, {rhs[-2]}), not {d}",
                            "give each diagonal as many elements as rhs has rows")
    return rhs


@op("TridiagonalMatMul", "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T", T=_T, shape=_product_shape)
def tridiagonal_mat_mul_op(xp, superdiag, maindiag, subdiag, rhs):
    """Multiplies tridiagonal matrices with others."""
    above, middle, below = (xp.swapaxes(d, -1, -2) for d in (superdiag, maindiag, subdiag))
    edge = xp.zeros_like(rhs[..., :1, :])
    after = xp.concatenate([rhs[..., 1:, :], edge], -2) if rhs.shape[-2] else rhs
    before = xp.concatenate([edge, rhs[..., :-1, :]], -2) if rhs.shape[-2] else rhs
    return middle * rhs + above * after + below * before


def _shifted(x, by):
    """Moves the rows of x up (by = 1) or down (-1), and fills with zeros."""
    rank = len(x._spec.shape)
    others = (1 << rank) - 1 - (1 << (rank - 2))
    begin, end, ones = np.zeros(rank, np.int32), np.zeros(rank, np.int32), np.ones(rank, np.int32)
    paddings = np.zeros((rank, 2), np.int32)
    begin[-2], end[-2] = (1, 0) if by > 0 else (0, -1)
    paddings[-2] = (0, 1) if by > 0 else (1, 0)
    whole = 1 << (rank - 2)
    kept = raw.StridedSlice(x, begin, end, ones, begin_mask=others | (0 if by > 0 else whole),
                            end_mask=others | (whole if by > 0 else 0))
    return raw.Pad(kept, paddings)


def _row_sums(x):
    return raw.ExpandDims(raw.Sum(x, [-1]), -2)


@tridiagonal_mat_mul_op.grad
def _tridiagonal_mat_mul_grad(op, dy):
    above, middle, below, rhs = op.inputs
    if rhs._spec.shape is None:
        raise NotImplementedError("TridiagonalMatMul: the gradient needs a known rank.\n  Fix: use set_shape")
    turned = conj(rhs)
    d_rhs = raw.TridiagonalMatMul(
        _moved(conj(below), 1), conj(middle), _moved(conj(above), -1), dy)
    return (_row_sums(raw.Mul(_shifted(turned, 1), dy)), _row_sums(raw.Mul(turned, dy)),
            _row_sums(raw.Mul(_shifted(turned, -1), dy)), d_rhs)


def _moved(row, by):
    """Moves a diagonal by one position along the last axis, to its place in the adjoint."""
    return raw.Roll(row, np.asarray(-by, np.int32), np.asarray(-1, np.int32))


# -- three diagonals: systems --------------------------------------------------------------


def _system_shape(diagonals, rhs):
    with_rank_at_least(diagonals, 2, "diagonals")
    with_rank_at_least(rhs, 2, "rhs")
    if diagonals is not None and diagonals[-2] not in (None, 3):
        raise Complaint(f"Expected 3 diagonals got {diagonals[-2]}", "stack the diagonals above, on and below the main")
    if diagonals is None or rhs is None:
        return rhs
    if len(diagonals) != len(rhs):
        raise Complaint(f"diagonals has {len(diagonals)} dimensions but rhs has {len(rhs)}", "give them the same batch")
    n, m = diagonals[-1], rhs[-2]
    if n is not None and m is not None and n != m:
        _differ(n, m, "diagonals and rhs")
    return merged(diagonals[:-2], rhs[:-2]) + (m if n is None else n, rhs[-1])


def _eliminate(xp, pivoting):
    """Eliminates a row: from it and the next one, computes a row of the triangle and the new next one."""

    def step(row, following):
        (p, q, r, b), (below, middle, above, c) = row, following
        ratio = below / p
        straight = (p, q, r, b), (middle - ratio * q, above - ratio * r, xp.zeros_like(r), c - ratio[..., None] * b)
        if not pivoting:
            return straight[1], straight[0]
        ratio = p / xp.where(below == 0, xp.ones_like(below), below)
        swapped = (below, middle, above, c), (q - ratio * middle, r - ratio * above, xp.zeros_like(r),
                                              b - ratio[..., None] * c)
        swap = xp.abs(below) > xp.abs(p)
        swaps = swap, swap, swap, swap[..., None]
        done, carry = (tuple(xp.where(*each) for each in zip(swaps, b, a, strict=True))
                       for a, b in zip(straight, swapped, strict=True))
        return carry, done

    return step


def _substitute(xp):
    """Performs a step of back substitution: one more solution from the two below it."""

    def step(later, row):
        p, q, r, b = row
        x1, x2 = later
        x = (b - q[..., None] * x1 - r[..., None] * x2) / p[..., None]
        return (x, x1), x

    return step


def _tridiagonal(xp, diagonals, rhs, pivoting, scan):
    """Solves by one pass down and one up; `scan` is jax.lax.scan or an equivalent."""
    n = rhs.shape[-2]
    if n == 0:
        return rhs
    above, middle, below = (xp.moveaxis(diagonals[..., k, :], -1, 0) for k in range(3))
    columns = xp.moveaxis(rhs, -2, 0)
    above = xp.concatenate([above[:-1], xp.zeros_like(above[:1])])  # elements after the end are not read
    zeros = xp.zeros_like(middle[0])
    first = (middle[0], above[0], zeros, columns[0])
    last, rows = scan(_eliminate(xp, pivoting), first, (below[1:], middle[1:], above[1:], columns[1:]))
    nothing = xp.zeros_like(columns[0])
    bottom = last[3] / last[0][..., None]
    _, x = scan(_substitute(xp), (bottom, nothing), tuple(r[::-1] for r in rows))
    return xp.moveaxis(xp.concatenate([x[::-1], bottom[None]]), 0, -2)


def _loop(step, carry, rows):
    """Does the same as jax.lax.scan."""
    results = []
    for row in zip(*rows, strict=True):
        carry, result = step(carry, row)
        results.append(result)
    if not results:
        empty = tuple(r[:0] for r in rows)
        return carry, empty if len(rows) == 4 and isinstance(carry, tuple) and len(carry) == 4 else empty[3]
    if isinstance(results[0], tuple):
        return carry, tuple(np.stack(column) for column in zip(*results, strict=True))
    return carry, np.stack(results)


@op("TridiagonalSolve", "diagonals: T, rhs: T -> output: T", T=_T, shape=_system_shape, cost=Cost.HEAVY)
def tridiagonal_solve_op(xp, diagonals, rhs, *, partial_pivoting=True, perturb_singular=False):
    """Solves systems with three diagonals, by Gaussian elimination."""
    return _tridiagonal(xp, xp.asarray(diagonals), xp.asarray(rhs), partial_pivoting, lax_of(xp).scan)


@tridiagonal_solve_op.on_host
def _tridiagonal_solve_host(xp, diagonals, rhs, *, partial_pivoting=True, perturb_singular=False):
    with np.errstate(all="ignore"):
        return _tridiagonal(np, diagonals, rhs, partial_pivoting, _loop)


@tridiagonal_solve_op.grad
def _tridiagonal_solve_grad(op, dx):
    diagonals, x = op.inputs[0], op.outputs[0]
    if x._spec.shape is None:
        raise NotImplementedError("TridiagonalSolve: the gradient needs a known rank.\n  Fix: use set_shape")
    above, middle, below = raw.Unpack(diagonals, num=3, axis=-2)
    turned = raw.Pack([_moved(conj(below), 1), conj(middle), _moved(conj(above), -1)], axis=-2)
    db = raw.TridiagonalSolve(turned, dx, partial_pivoting=op._attr("partial_pivoting"))
    v = conj(x)
    parts = [raw.Sum(raw.Mul(db, side), [-1]) for side in (_shifted(v, 1), v, _shifted(v, -1))]
    return raw.Neg(raw.Pack(parts, axis=-2)), db


# -- public functions ----------------------------------------------------------------------


def _three(diagonals, diagonals_format, function):
    """Returns the diagonals above, on and below the main one, all of its length."""
    if diagonals_format == "compact":
        d = convert_to_tensor(diagonals, name="diagonals")
        shape = d._spec.shape
        if shape is not None and (len(shape) < 2 or shape[-2] not in (None, 3)):
            raise ValueError(f"{function}: Expected diagonals of the shape (..., 3, n), not {d.shape}.\n"
                             "  Fix: stack the diagonals above, on and below the main one along axis -2")
        return tuple(raw.Unpack(d, num=3, axis=-2))
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError(f"{function}: Expected diagonals to be a sequence of length 3.\n"
                             "  Fix: (superdiag, maindiag, subdiag)")
        middle = convert_to_tensor(diagonals[1], name="maindiag")
        above, below = (convert_to_tensor(d, dtype_hint=middle.dtype) for d in (diagonals[0], diagonals[2]))
        return _as_long(above, middle, after=True), middle, _as_long(below, middle, after=False)
    if diagonals_format == "matrix":
        d = convert_to_tensor(diagonals, name="diagonals")
        shape = d._spec.shape
        if shape is None or len(shape) < 2:
            raise ValueError(f"{function}: Expected matrices as diagonals, not {d.shape}.\n  Fix: use set_shape")
        zero = np.zeros((), d.dtype.np_dtype)
        band = raw.MatrixDiagPartV3(d, np.asarray([-1, 1], np.int32), zero, align="LEFT_RIGHT") if shape[-1] != 1 else \
            raw.Pack([raw.ZerosLike(diag_part(d)), diag_part(d), raw.ZerosLike(diag_part(d))], axis=-2)
        return tuple(raw.Unpack(band, num=3, axis=-2))
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}.\n"
                     "  Fix: 'compact', 'sequence' or 'matrix'")


def _as_long(side, middle, after):
    """Returns a diagonal beside the main one, with a zero where it has one element less."""
    have, want = side._spec.shape, middle._spec.shape
    if have is None or want is None or have[-1] is None or want[-1] is None:
        raise ValueError("The lengths of the diagonals must be known.\n  Fix: use set_shape, or format 'compact'")
    if have[-1] == want[-1]:
        return side
    paddings = np.zeros((len(have), 2), np.int32)
    paddings[-1] = (0, 1) if after else (1, 0)
    return raw.Pad(side, paddings)


def tridiagonal_matmul(diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact",
                       name: str | None = None) -> Tensor:
    """Multiplies matrices of three diagonals with others.

    Args:
      diagonals: (*B, 3, n), above, on and below the main diagonal, of which the last element above and the first one
        below are not read; in other formats a sequence of three, or (*B, n, n).
      rhs: (*B, n, m), of the same dtype.
      diagonals_format: "compact", "sequence" or "matrix".
      name: a name for the scope of the operations.
    Returns: (*B, n, m).
    Raises: ValueError for another format or incompatible sizes.
    Gradient: products of dy with the adjoint diagonals, and of its rows with those of rhs.
    Reference: TensorFlow 2.21 TridiagonalMatMul.

    >>> sess.run(tridiagonal_matmul([[5.0, 0.0], [1.0, 2.0], [0.0, 3.0]], [[1.0], [1.0]]))
    array([[6.],
           [5.]], dtype=float32)
    """
    with name_scope(name, "tridiagonal_matmul"):
        three = [raw.ExpandDims(d, -2) for d in _three(diagonals, diagonals_format, "tridiagonal_matmul")]
        return raw.TridiagonalMatMul(*three, rhs)


def tridiagonal_solve(diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact",
                      transpose_rhs: bool = False, conjugate_rhs: bool = False, name: str | None = None,
                      partial_pivoting: bool = True, perturb_singular: bool = False) -> Tensor:
    """Solves systems of equations whose matrices have three diagonals.

    Args:
      diagonals, diagonals_format: as in `tridiagonal_matmul`.
      rhs: (*B, n) or (*B, n, m), of the same dtype.
      transpose_rhs: whether rhs is (*B, m, n).
      conjugate_rhs: whether to solve with the conjugate of rhs.
      name: a name for the scope of the operations.
      partial_pivoting: whether rows are exchanged for stability.
      perturb_singular: accepted as TensorFlow does; not used.
    Returns: a tensor like rhs, (*B, n, m) if it was transposed.
    Raises: ValueError for another format or incompatible sizes; InvalidArgumentError at run time, on the host, if
      a matrix is singular (on a device the result is not finite).
    Gradient: the solution with the adjoints, and the diagonals of -db x^H.
    Reference: TensorFlow 2.21 TridiagonalSolve.

    >>> sess.run(tridiagonal_solve([[1.0, 0.0], [2.0, 2.0], [0.0, 1.0]], [3.0, 3.0]))
    array([1., 1.], dtype=float32)
    """
    with name_scope(name, "tridiagonal_solve"):
        three = _three(diagonals, diagonals_format, "tridiagonal_solve")
        stacked = raw.Pack(list(three), axis=-2)
        b = convert_to_tensor(rhs, dtype_hint=stacked.dtype, name="rhs")
        rank, own = (None if t._spec.shape is None else len(t._spec.shape) for t in (stacked, b))
        if rank is None or own is None:
            raise ValueError("tridiagonal_solve: the ranks must be known.\n  Fix: use set_shape")
        if own not in (rank - 1, rank):
            raise ValueError(f"tridiagonal_solve: Expected the rank of rhs to be {rank - 1} or {rank}, but got {own}.\n"
                             "  Fix: give rhs the batch dimensions of the diagonals")
        if conjugate_rhs:
            b = conj(b)
        vector = own == rank - 1
        if vector:
            b = raw.ExpandDims(b, -1)
        elif transpose_rhs:
            b = conj(adjoint(b))
        x = raw.TridiagonalSolve(stacked, b, partial_pivoting=bool(partial_pivoting),
                                 perturb_singular=bool(perturb_singular))
        return raw.Squeeze(x, squeeze_dims=(-1,)) if vector else x
