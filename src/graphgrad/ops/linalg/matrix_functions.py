"""Eigenvalues of general matrices, square roots, logarithms and least squares, with gradients."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import COMPLEX, complex64, complex128, float32, float64, int32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import merged, with_rank_at_least
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.system.late_imports import load

from .decompositions import adjoint, diag, diag_part, reciprocal_gaps, square
from .lapack_threads import lapack
from .matmul import matmul

_T = COMPLEX | {float32, float64}



# -- eigenvalues of general matrices -------------------------------------------------------


def _eig_shape(shape, compute_v):
    shape = square(shape)
    if shape is None:
        return [None, None if compute_v else (0,)]
    return [shape[:-1], shape if compute_v else (0,)]


@op("Eig", "input: T -> e: Tout, v: Tout", T=_T, Tout=COMPLEX, shape=_eig_shape, flags=("host",),
    cost=Cost.FACTORIZATION)
@lapack
def eig_op(xp, x, *, compute_v=True, Tout):
    """Computes eigenvalues of square matrices in the order of their real parts, and eigenvectors of length 1."""
    dtype = Tout.np_dtype
    e, v = np.linalg.eig(x)
    order = np.argsort(e.real, axis=-1, kind="stable")
    e = np.take_along_axis(e, order, -1).astype(dtype)
    if not compute_v:
        return e, np.zeros((0,), dtype)
    return e, np.take_along_axis(v, order[..., None, :], -1).astype(dtype)


@eig_op.grad
def _eig_grad(op, de, dv):
    a = op.inputs[0]
    kind = op.outputs[0].dtype
    if op._attr("compute_v"):
        e, v = op.outputs
    else:
        e, v = raw.Eig(a, Tout=kind)
        dv = None
    inner = None if de is None else diag(de)
    if dv is not None:
        turn = matmul(v, dv, adjoint_a=True)
        # Eigenvectors keep their length.
        along = raw.Cast(raw.Real(diag_part(turn), Tout=kind.real_dtype), DstT=kind)
        turn = raw.Sub(turn, raw.Mul(matmul(v, v, adjoint_a=True), raw.ExpandDims(along, -2)))
        turn = raw.Mul(raw.Conj(reciprocal_gaps(e)), turn)
        inner = turn if inner is None else raw.AddV2(inner, turn)
    da = raw.MatrixSolve(v, matmul(inner, v, adjoint_b=True), adjoint=True)
    if not a.dtype.is_complex:
        return raw.Cast(raw.Real(da, Tout=kind.real_dtype), DstT=a.dtype)
    return da if kind is a.dtype else raw.Cast(da, DstT=a.dtype)


# -- square roots and logarithms -----------------------------------------------------------


def _of_each(function, x, dtype):
    """Lifts a function of matrices to stacks of them; NaN where it has no finite result of the dtype."""
    n = x.shape[-1]
    out = np.full((int(np.prod(x.shape[:-2])), n, n), np.nan, dtype)
    for result, matrix in zip(out, x.reshape((-1, n, n)), strict=True):
        if n and np.all(np.isfinite(matrix)):
            with np.errstate(all="ignore"):
                y = function(matrix)
            if y.dtype.kind != "c" or out.dtype.kind == "c" or np.all(y.imag == 0):
                result[...] = y if out.dtype.kind == "c" else y.real
    return out.reshape(x.shape)


def _square_root(matrix):
    import warnings

    linalg = load("scipy.linalg")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # singular matrices may have roots
        wide = matrix.astype(np.complex128 if matrix.dtype.kind == "c" else np.float64)
        return np.asarray(linalg.sqrtm(wide))


def _logarithm(matrix):
    import warnings

    linalg = load("scipy.linalg")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(linalg.logm(matrix.astype(np.complex128)))


@op("MatrixSquareRoot", "input: T -> output: T", T=_T, shape=square, flags=("host",), cost=Cost.FACTORIZATION)
def matrix_square_root_op(xp, x):
    """Computes matrix square roots; NaN where there are none of the dtype."""
    return _of_each(_square_root, x, x.dtype)


@op("MatrixLogarithm", "input: T -> output: T", T=COMPLEX, shape=square, flags=("host",), cost=Cost.FACTORIZATION)
def matrix_logarithm_op(xp, x):
    """Computes matrix logarithms."""
    return _of_each(_logarithm, x, x.dtype)


def _block_grad(op, a, dy):
    """Computes the upper right block of f([[A^H, dy], [0, A^H]]), for functions of matrices with f(A^H) = f(A)^H.

    That is the derivative of f at A^H in the direction dy, whose adjoint is that at A (Higham 2008, 3.6).
    """
    a = adjoint(a)
    shape = a._spec.shape
    if shape is None:
        raise NotImplementedError(f"{op.type}: the gradient needs matrices of known rank.\n  Fix: use set_shape")
    rank = len(shape)
    top = raw.ConcatV2([a, dy], rank - 1)
    bottom = raw.ConcatV2([raw.ZerosLike(a), a], rank - 1)
    both = getattr(raw, op.type)(raw.ConcatV2([top, bottom], rank - 2))
    upper_half = raw.Split(np.asarray(rank - 2, np.int32), both, num_split=2)[0]
    return raw.Split(np.asarray(rank - 1, np.int32), upper_half, num_split=2)[1]


@matrix_square_root_op.grad
def _matrix_square_root_grad(op, dy):
    root = op.outputs[0]
    return _block_grad(op, matmul(root, root), dy)


@matrix_logarithm_op.grad
def _matrix_logarithm_grad(op, dy):
    return _block_grad(op, op.inputs[0], dy)


# -- least squares -------------------------------------------------------------------------


def _least_squares_shape(matrix, rhs, l2_regularizer):
    with_rank_at_least(matrix, 2, "matrix")
    with_rank_at_least(rhs, 2, "rhs")
    if l2_regularizer:
        raise Complaint(f"l2_regularizer must be a scalar, not of shape {l2_regularizer}", "give one number")
    if matrix is None:
        return None if rhs is None else (*rhs[:-2], None, rhs[-1])
    if rhs is None:
        return (*matrix[:-2], matrix[-1], None)
    if len(matrix) != len(rhs):
        raise Complaint(f"matrix has {len(matrix)} dimensions but rhs has {len(rhs)}", "give them the same batch")
    m, k = matrix[-2], rhs[-2]
    if m is not None and k is not None and m != k:
        raise Complaint(f"Dimensions must be equal, but are {m} and {k}: matrix and rhs have different rows",
                        "give as many rows of rhs as the matrix has")
    return merged(matrix[:-2], rhs[:-2]) + (matrix[-1], rhs[-1])


def _adjoint(xp, x):
    return xp.conj(xp.swapaxes(x, -1, -2))


@op("MatrixSolveLs", "matrix: T, rhs: T, l2_regularizer: float64 -> output: T", T=_T, shape=_least_squares_shape,
    cost=Cost.FACTORIZATION)
@lapack
def matrix_solve_ls_op(xp, matrix, rhs, l2_regularizer, *, fast=True):
    """Solves least squares problems: by the normal equations if `fast`, else with least norm."""
    m, n = matrix.shape[-2:]
    turned = _adjoint(xp, matrix)
    if not fast:
        with np.errstate(all="ignore"):
            inverse = xp.linalg.pinv(matrix, rcond=max(m, n) * np.finfo(matrix.dtype).eps)
            return xp.matmul(inverse, rhs).astype(rhs.dtype)
    if xp is np and l2_regularizer < 0:
        raise Complaint("l2_regularizer must be >= 0", "give a number of at least 0")
    small = l2_regularizer.astype(matrix.real.dtype) * xp.eye(min(m, n), dtype=matrix.dtype)
    gram = (xp.matmul(turned, matrix) if m >= n else xp.matmul(matrix, turned)) + small
    right = xp.matmul(turned, rhs) if m >= n else rhs
    try:
        solution = xp.linalg.solve(gram, right)
    except np.linalg.LinAlgError:
        raise Complaint("Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a "
                        "larger l2_regularizer > 0", "set fast=False") from None
    return (solution if m >= n else xp.matmul(turned, solution)).astype(rhs.dtype)


@matrix_solve_ls_op.grad
def _matrix_solve_ls_grad(op, dx):
    if op._attr("fast"):
        return _fast_grad(op, dx)
    # Of the pseudo-inverse (Golub and Pereyra, 1973), where the rank is constant.
    a, b, weight = op.inputs
    x = op.outputs[0]

    def solved(matrix, rhs):
        return raw.MatrixSolveLs(matrix, rhs, weight, fast=False)

    turned = adjoint(a)
    z = solved(turned, dx)
    da = raw.Neg(matmul(z, x, adjoint_b=True))
    da = raw.AddV2(da, matmul(raw.Sub(b, matmul(a, x)), solved(a, z), adjoint_b=True))
    beside = raw.Sub(dx, matmul(a, z, adjoint_a=True))
    return raw.AddV2(da, matmul(solved(turned, x), beside, adjoint_b=True)), z, None


def _fast_grad(op, dx):
    a, b, weight = op.inputs
    x = op.outputs[0]
    shape = a._spec.shape
    if shape is None or None in shape[-2:]:
        return _unknown_fast_grad(a, b, weight, x, dx)
    m, n = shape[-2:]
    tall = m >= n
    gram = matmul(a, a, adjoint_a=tall, adjoint_b=not tall)
    kind = a.dtype.real_dtype
    ridge = raw.Cast(weight, DstT=kind) if kind is not weight.dtype else weight
    if a.dtype.is_complex:
        ridge = raw.Cast(ridge, DstT=a.dtype)
    gram = raw.AddV2(gram, raw.Mul(ridge, np.eye(min(m, n), dtype=a.dtype.np_dtype)))
    if tall:
        z = raw.MatrixSolve(gram, dx)
        db = matmul(a, z)
        da = raw.Sub(matmul(raw.Sub(b, matmul(a, x)), z, adjoint_b=True), matmul(db, x, adjoint_b=True))
        return da, db, None
    z = raw.MatrixSolve(gram, matmul(a, dx))
    w = raw.MatrixSolve(gram, b)
    beside = raw.Sub(dx, matmul(a, z, adjoint_a=True))
    return raw.Sub(matmul(w, beside, adjoint_b=True), matmul(z, x, adjoint_b=True)), z, None


def _unknown_fast_grad(a, b, weight, x, dx):
    """Computes `_fast_grad` for matrices of unknown size, from parts cut out of either of its two cases.

    Which case applies follows from shapes alone, so a run computes only what its case needs.
    """
    if a._spec.shape is None:
        raise NotImplementedError("MatrixSolveLs: the gradient needs matrices of known rank.\n  Fix: use set_shape")
    rank = len(a._spec.shape)
    sizes = raw.Shape(a)
    m, n = (raw.StridedSlice(sizes, [i], [i + 1], [1], shrink_axis_mask=1) for i in (rank - 2, rank - 1))
    p, tall = raw.Minimum(m, n), raw.GreaterEqual(m, n)

    def either(if_tall, if_wide):
        return raw.SelectV2(tall, if_tall, if_wide)

    def cut(first, second, take_second, count):
        """Returns the rows of one of two matrices, concatenated."""
        start = raw.Mul(raw.Cast(take_second, DstT=int32),
                        raw.StridedSlice(raw.Shape(first), [rank - 2], [rank - 1], [1], shrink_axis_mask=1))
        begin = raw.Pack([*([0] * (rank - 2)), start, 0], axis=0)
        size = raw.Pack([*([-1] * (rank - 2)), count, -1], axis=0)
        return raw.Slice(raw.ConcatV2([first, second], rank - 2), begin, size)

    wide = raw.LogicalNot(tall)
    perm = raw.Pack([*range(rank - 2), either(rank - 2, rank - 1), either(rank - 1, rank - 2)], axis=0)
    deep = raw.Transpose(a, perm)
    gram = matmul(deep, deep, adjoint_a=True)
    kind = a.dtype.real_dtype
    ridge = raw.Cast(weight, DstT=kind) if kind is not weight.dtype else weight
    if a.dtype.is_complex:
        sign = raw.Cast(either(1, -1), DstT=kind)
        gram = raw.Complex(raw.Real(gram, Tout=kind), raw.Mul(sign, raw.Imag(gram, Tout=kind)), Tout=a.dtype)
        ridge = raw.Cast(ridge, DstT=a.dtype)
    gram = raw.AddV2(gram, raw.Mul(ridge, diag(raw.Fill(raw.Reshape(p, [1]), a.dtype.np_dtype.type(1)))))
    v = raw.MatrixSolve(gram, cut(dx, matmul(a, dx), wide, p))
    z = cut(v, matmul(deep, v), tall, m)
    u = raw.MatrixSolve(gram, cut(b, matmul(a, b, adjoint_a=True), tall, p))
    left = cut(u, raw.Sub(b, matmul(a, x)), tall, m)
    right = cut(v, raw.Sub(dx, matmul(a, z, adjoint_a=True)), wide, n)
    return raw.Sub(matmul(left, right, adjoint_b=True), matmul(z, x, adjoint_b=True)), z, None


# -- public functions ----------------------------------------------------------------------


_COMPLEX_OF = {float32: complex64, float64: complex128}


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes eigenvalues and eigenvectors of square matrices.

    Args:
      tensor: (*B, n, n).
      name: a name for the operation.
    Returns: (e, v), complex: (*B, n) in the order of their real parts, and (*B, n, n) with eigenvectors of length 1 as
      columns; their phases are not defined.
    Raises: ValueError if the matrices are not square.
    Gradient: for distinct eigenvalues, of functions that do not depend on the undetermined phases.
    Reference: TensorFlow 2.21 Eig.

    >>> sess.run(eig([[2.0, 1.0], [0.0, 1.0]])[0])
    array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    tensor = convert_to_tensor(tensor)
    kind = _COMPLEX_OF.get(tensor.dtype, tensor.dtype)
    return raw.Eig(tensor, Tout=kind, compute_v=True, name=name)


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Computes eigenvalues of square matrices.

    Args:
      tensor: (*B, n, n).
      name: a name for the operation.
    Returns: (*B, n), complex, in the order of their real parts.
    Raises: ValueError if the matrices are not square.
    Gradient: for distinct eigenvalues.
    Reference: TensorFlow 2.21 Eig.

    >>> sess.run(eigvals([[0.0, 1.0], [0.0, 1.0]]))
    array([0.+0.j, 1.+0.j], dtype=complex64)
    """
    tensor = convert_to_tensor(tensor)
    kind = _COMPLEX_OF.get(tensor.dtype, tensor.dtype)
    return raw.Eig(tensor, Tout=kind, compute_v=False, name=name)[0]


def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the square roots of matrices.

    Args:
      input: (*B, n, n).
      name: a name for the operation.
    Returns: (*B, n, n), the principal roots; NaN where a real matrix has none that is real.
    Raises: ValueError if the matrices are not square.
    Gradient: by the root of a matrix of twice the size.
    Reference: TensorFlow 2.21 MatrixSquareRoot; Higham, Functions of Matrices (2008), 3.6.

    >>> sess.run(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]))
    array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    return raw.MatrixSquareRoot(input, name=name)


def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the logarithms of matrices.

    Args:
      input: (*B, n, n), complex64 or complex128.
      name: a name for the operation.
    Returns: (*B, n, n), the principal logarithms.
    Raises: ValueError if the matrices are not square.
    Gradient: by the logarithm of a matrix of twice the size.
    Reference: TensorFlow 2.21 MatrixLogarithm, which has no gradient there; Higham, Functions of Matrices (2008), 3.6.

    >>> sess.run(tf.linalg.logm(tf.eye(2, dtype=tf.complex64))).real
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    return raw.MatrixLogarithm(input, name=name)


@overload
def eigh_tridiagonal(alpha: TensorLike, beta: TensorLike, eigvals_only: Literal[True] = True, select: str = "a",
                     select_range: TensorLike = None, tol: TensorLike = None, name: str | None = None) -> Tensor: ...
@overload
def eigh_tridiagonal(alpha: TensorLike, beta: TensorLike, eigvals_only: Literal[False], select: str = "a",
                     select_range: TensorLike = None, tol: TensorLike = None,
                     name: str | None = None) -> tuple[Tensor, Tensor]: ...
@overload
def eigh_tridiagonal(alpha: TensorLike, beta: TensorLike, eigvals_only: bool = True, select: str = "a",
                     select_range: TensorLike = None, tol: TensorLike = None, name: str | None = None) -> Any: ...
def eigh_tridiagonal(alpha: TensorLike, beta: TensorLike, eigvals_only: bool = True, select: str = "a",
                     select_range: TensorLike = None, tol: TensorLike = None, name: str | None = None) -> Any:
    """Computes eigenvalues, and optionally eigenvectors, of Hermitian matrices with three diagonals.

    Args:
      alpha: (n,), the main diagonal.
      beta: (n - 1,), the diagonal above it, of the same dtype.
      eigvals_only: whether to omit eigenvectors.
      select: "a" for all eigenvalues, "i" for those with indices in `select_range`, the ends included, "v" for
        those in (first, second].
      select_range: two numbers.
      tol: accepted as TensorFlow does; results are exact to the dtype's precision.
      name: a name for the scope of the operations.
    Returns: the eigenvalues in ascending order, and (n, number) with eigenvectors as columns if requested.
    Raises: ValueError for different dtypes or another `select`.
    Gradient: that of SelfAdjointEigV2.
    Reference: TensorFlow 2.21 `tf.linalg.eigh_tridiagonal`.

    >>> sess.run(tf.linalg.eigh_tridiagonal([2.0, 1.0], [0.0]))
    array([1., 2.], dtype=float32)
    """
    with name_scope(name, "eigh_tridiagonal"):
        a, b = convert_to_tensor(alpha, name="alpha"), convert_to_tensor(beta, name="beta")
        if a.dtype is not b.dtype:
            raise ValueError("'alpha' and 'beta' must have the same type.\n  Fix: tf.cast one of them")
        if select not in ("a", "i", "v"):
            raise ValueError("select must have a value in {'a', 'i', 'v'}.\n  Fix: select='a'")
        if select != "a" and select_range is None:
            raise ValueError(f"select={select!r} needs a select_range.\n  Fix: select_range=(low, high)")
        if b.dtype.is_complex:
            b = raw.Conj(b)
        zero = np.zeros((), a.dtype.np_dtype)
        matrix = raw.MatrixSetDiagV3(raw.MatrixDiagV3(b, -1, -1, -1, zero), a, 0)
        e, v = raw.SelfAdjointEigV2(matrix, compute_v=not eigvals_only)
        if e.dtype.is_complex:
            e = raw.Real(e, Tout=e.dtype.real_dtype)
        if select != "a":
            if select == "i":
                chosen = raw.Range(select_range[0], raw.AddV2(select_range[1], 1), 1)
            else:
                inside = raw.LogicalAnd(raw.Greater(e, select_range[0]), raw.LessEqual(e, select_range[1]))
                chosen = raw.Squeeze(raw.Where(inside), squeeze_dims=(1,))
            e = raw.GatherV2(e, chosen, 0)
            v = v if eigvals_only else raw.GatherV2(v, chosen, 1)
        return e if eigvals_only else (e, v)


# -- the exponential ---------------------------------------------------------------

_PADE = (64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
         10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0)


def pade_13(a: Any) -> tuple[Any, Any]:
    """Returns the odd and the even part of the numerator."""
    b = _PADE
    shape = a._spec.shape
    if shape is None or shape[-1] is None:
        eye = raw.MatrixDiagV3(raw.OnesLike(diag_part(a)), 0, -1, -1, np.zeros((), a.dtype.np_dtype))
    else:
        eye = convert_to_tensor(np.eye(shape[-1], dtype=a.dtype.np_dtype))
    a2 = matmul(a, a)
    a4 = matmul(a2, a2)
    a6 = matmul(a4, a2)

    def combine(coefficients, powers):
        total = raw.Mul(coefficients[0], powers[0])
        for c, p in zip(coefficients[1:], powers[1:], strict=True):
            total = raw.AddV2(total, raw.Mul(c, p))
        return total

    high = matmul(a6, combine((b[13], b[11], b[9]), (a6, a4, a2)))
    u = matmul(a, raw.AddV2(high, combine((b[7], b[5], b[3], b[1]), (a6, a4, a2, eye))))
    high = matmul(a6, combine((b[12], b[10], b[8]), (a6, a4, a2)))
    return u, raw.AddV2(high, combine((b[6], b[4], b[2], b[0]), (a6, a4, a2, eye)))
