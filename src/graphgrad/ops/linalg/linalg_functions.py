"""Public functions of `tf.linalg`."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float64, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike

from .decompositions import adjoint as _adjoint
from .decompositions import diag_part
from .matmul import matmul
from .matrix_functions import pade_13

# -- decompositions --------------------------------------------------------------------


def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Cholesky decomposition of positive definite matrices.

    Args:
      input: (*B, n, n), symmetric or Hermitian; only the lower triangle is read.
      name: a name for the operation.
    Returns: (*B, n, n), the lower triangular L with L L^H = input; NaN where there is none.
    Raises: ValueError if the matrices are not square.
    Gradient: Murray 2016, arXiv:1602.07527, for steps to symmetric matrices.
    Reference: TensorFlow 2.21 Cholesky.

    >>> sess.run(tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    return raw.Cholesky(input, name=name)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Solves A x = rhs, given the Cholesky decomposition of A.

    Args:
      chol: (*B, n, n), as `cholesky` returns it.
      rhs: (*B, n, m).
      name: a name for the scope of the operations.
    Returns: (*B, n, m).
    Raises: ValueError if the sizes are incompatible.
    Gradient: that of the two triangular systems.
    Reference: TensorFlow 2.21 `tf.linalg.cholesky_solve`.

    >>> sess.run(tf.linalg.cholesky_solve([[2.0]], [[8.0]]))
    array([[2.]], dtype=float32)
    """
    with name_scope(name, "cholesky_solve"):
        chol = convert_to_tensor(chol, name="chol")
        y = raw.MatrixTriangularSolve(chol, rhs, lower=True, adjoint=False)
        return raw.MatrixTriangularSolve(chol, y, lower=True, adjoint=True)


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Computes eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Args:
      tensor: (*B, n, n); only the lower triangle is read.
      name: a name for the operation.
    Returns: (e, v): (*B, n) in ascending order, and (*B, n, n) with eigenvectors as columns.
    Raises: ValueError if the matrices are not square.
    Gradient: for distinct eigenvalues.
    Reference: TensorFlow 2.21 SelfAdjointEigV2.

    >>> sess.run(tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])[0])
    array([1., 2.], dtype=float32)
    """
    return raw.SelfAdjointEigV2(tensor, compute_v=True, name=name)


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Computes eigenvalues of symmetric or Hermitian matrices.

    Args:
      tensor: (*B, n, n); only the lower triangle is read.
      name: a name for the operation.
    Returns: (*B, n), in ascending order.
    Raises: ValueError if the matrices are not square.
    Gradient: for distinct eigenvalues.
    Reference: TensorFlow 2.21 SelfAdjointEigV2.

    >>> sess.run(tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.], dtype=float32)
    """
    return raw.SelfAdjointEigV2(tensor, compute_v=False, name=name)[0]


@overload
def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: Literal[True] = True,
        name: str | None = None) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def svd(tensor: TensorLike, full_matrices: bool, compute_uv: Literal[False], name: str | None = None) -> Tensor: ...
@overload
def svd(tensor: TensorLike, full_matrices: bool = False, *, compute_uv: Literal[False],
        name: str | None = None) -> Tensor: ...
@overload
def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any: ...
def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """Computes the singular value decomposition u diag(s) v^H.

    Args:
      tensor: (*B, m, n).
      full_matrices: whether u and v are square.
      compute_uv: whether to compute singular vectors.
      name: a name for the operation.
    Returns: s (*B, k) in descending order, k = min(m, n), and if requested u (*B, m, k) and v (*B, n, k).
    Raises: ValueError if the rank is less than 2.
    Gradient: for distinct, positive singular values; of the vectors that full_matrices adds, for functions of the space
      that they span.
    Reference: TensorFlow 2.21 Svd.

    >>> sess.run(tf.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False))
    array([4., 3.], dtype=float32)
    """
    s, u, v = raw.Svd(tensor, compute_uv=bool(compute_uv), full_matrices=bool(full_matrices), name=name)
    if s.dtype.is_complex:
        s = raw.Real(s, Tout=s.dtype.real_dtype)
    return (s, u, v) if compute_uv else s


class Qr(NamedTuple):
    """The results of `qr`."""

    q: Tensor
    r: Tensor


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Computes the decomposition q r, with orthogonal q and upper triangular r.

    Args:
      input: (*B, m, n).
      full_matrices: whether q is square.
      name: a name for the operation.
    Returns: (q, r): (*B, m, k) and (*B, k, n), k = min(m, n).
    Raises: ValueError if the rank is less than 2.
    Gradient: for matrices of full rank and static size; of the columns of q that full_matrices adds, for functions of
      the space that they span.
    Reference: TensorFlow 2.21 Qr.

    >>> np.abs(sess.run(tf.linalg.qr([[3.0], [4.0]])[1]))
    array([[5.]], dtype=float32)
    """
    return Qr(*raw.Qr(input, full_matrices=bool(full_matrices), name=name))


# -- inverses and systems --------------------------------------------------------------


def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Computes the inverses of square matrices.

    Args:
      input: (*B, n, n).
      adjoint: whether to invert the adjoints.
      name: a name for the operation.
    Returns: (*B, n, n).
    Raises: ValueError if the matrices are not square; InvalidArgumentError at run time, on the
      host, if one is singular (on a device the result is not finite).
    Gradient: -y^H dy y^H.
    Reference: TensorFlow 2.21 MatrixInverse.

    >>> sess.run(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    return raw.MatrixInverse(input, adjoint=bool(adjoint), name=name)


def det(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the determinants of square matrices.

    Args:
      input: (*B, n, n).
      name: a name for the operation.
    Returns: (*B).
    Raises: ValueError if the matrices are not square.
    Gradient: dy conj(det) times the inverse of the adjoint.
    Reference: TensorFlow 2.21 MatrixDeterminant.

    >>> sess.run(tf.linalg.det([[2.0, 0.0], [0.0, 4.0]]))
    np.float32(8.0)
    """
    return raw.MatrixDeterminant(input, name=name)


class LogMatrixDeterminant(NamedTuple):
    """The results of `slogdet`."""

    sign: Tensor
    log_abs_determinant: Tensor


def slogdet(input: TensorLike, name: str | None = None) -> LogMatrixDeterminant:
    """Computes the sign and the logarithm of the magnitude of determinants.

    Args:
      input: (*B, n, n).
      name: a name for the operation.
    Returns: (sign, log_abs_determinant), each (*B).
    Raises: ValueError if the matrices are not square.
    Gradient: of the logarithm: dy times the inverse of the adjoint.
    Reference: TensorFlow 2.21 LogMatrixDeterminant.

    >>> sess.run(tf.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]]))
    LogMatrixDeterminant(sign=np.float32(-1.0), log_abs_determinant=np.float32(0.0))
    """
    return LogMatrixDeterminant(*raw.LogMatrixDeterminant(input, name=name))


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Computes the logarithm of the determinant of positive definite matrices.

    Args:
      matrix: (*B, n, n).
      name: a name for the scope of the operations.
    Returns: (*B).
    Raises: ValueError if the matrices are not square.
    Gradient: that of the Cholesky decomposition.
    Reference: TensorFlow 2.21 `tf.linalg.logdet`.

    >>> sess.run(tf.linalg.logdet([[1.0, 0.0], [0.0, 1.0]]))
    np.float32(0.0)
    """
    with name_scope(name, "logdet"):
        diagonal = diag_part(raw.Cholesky(matrix))
        if diagonal.dtype.is_complex:
            diagonal = raw.Real(diagonal, Tout=diagonal.dtype.real_dtype)
        return raw.Mul(2.0, raw.Sum(raw.Log(diagonal), np.asarray([-1], np.int32)))


def solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves systems of linear equations.

    Args:
      matrix: (*B, n, n).
      rhs: (*B, n, m), of the same dtype.
      adjoint: whether to solve with the adjoints of the matrices.
      name: a name for the operation.
    Returns: (*B, n, m).
    Raises: ValueError if the sizes are incompatible; InvalidArgumentError at run time, on the host, if
      a matrix is singular (on a device the result is not finite).
    Gradient: the solution with the adjoints, and -db x^H.
    Reference: TensorFlow 2.21 MatrixSolve.

    >>> sess.run(tf.linalg.solve([[2.0]], [[8.0]]))
    array([[4.]], dtype=float32)
    """
    return raw.MatrixSolve(matrix, rhs, adjoint=bool(adjoint), name=name)


def triangular_solve(matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False,
                     name: str | None = None) -> Tensor:
    """Solves triangular systems of linear equations.

    Args:
      matrix: (*B, n, n); the other triangle is not read.
      rhs: (*B, n, m), of the same dtype; the batches broadcast.
      lower: whether the matrices are lower triangular.
      adjoint: whether to solve with the adjoints of the matrices.
      name: a name for the operation.
    Returns: (*B, n, m).
    Raises: ValueError if the sizes are incompatible.
    Gradient: the solution with the adjoints, and the triangle of -db x^H.
    Reference: TensorFlow 2.21 MatrixTriangularSolve.

    >>> sess.run(tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[2.0], [3.0]]))
    array([[1.],
           [2.]], dtype=float32)
    """
    return raw.MatrixTriangularSolve(matrix, rhs, lower=bool(lower), adjoint=bool(adjoint), name=name)


def lstsq(matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike = 0.0, fast: bool = True,
          name: str | None = None) -> Tensor:
    """Solves least squares problems.

    Args:
      matrix: (*B, m, n).
      rhs: (*B, m, k).
      l2_regularizer: the weight of the squares of the solution; not used if not `fast`.
      fast: whether to solve the normal equations, for matrices of full rank that are not ill-conditioned.
      name: a name for the scope of the operations.
    Returns: (*B, n, k), the least squares solution; that of least norm if m < n or if not `fast`.
    Raises: ValueError if the sizes are incompatible.
    Gradient: that of its ops; if not `fast`, of the pseudo-inverse, for a constant rank.
    Reference: TensorFlow 2.21 `tf.linalg.lstsq`, MatrixSolveLs.

    >>> sess.run(tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]]))
    array([[2.]], dtype=float32)
    """
    if not fast:
        weight = convert_to_tensor(l2_regularizer, float64)
        return raw.MatrixSolveLs(matrix, rhs, weight, fast=False, name=name)
    with name_scope(name, "matrix_solve_ls"):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, dtype_hint=matrix.dtype, name="rhs")
        shape = matrix._spec.shape
        if shape is None or None in shape[-2:]:
            weight = convert_to_tensor(l2_regularizer)
            weight = weight if weight.dtype is float64 else raw.Cast(weight, DstT=float64)
            return raw.MatrixSolveLs(matrix, rhs, weight, fast=True)
        over = shape[-2] >= shape[-1]
        gram = matmul(matrix, matrix, adjoint_a=over, adjoint_b=not over)
        if not isinstance(l2_regularizer, (int, float)) or l2_regularizer:
            small = np.eye(min(shape[-2:]), dtype=matrix.dtype.np_dtype)
            gram = raw.AddV2(gram, raw.Mul(l2_regularizer, small) if hasattr(l2_regularizer, "_spec")
                             else (l2_regularizer * small).astype(small.dtype))
        chol = raw.Cholesky(gram)
        if over:
            return cholesky_solve(chol, matmul(matrix, rhs, adjoint_a=True))
        return matmul(matrix, cholesky_solve(chol, rhs), adjoint_a=True)


def _larger_size(a, factor, dtype):
    """Returns the larger one of the sizes of matrices, times a factor."""
    shape = a._spec.shape
    if shape is not None and None not in shape[-2:]:
        return factor * max(shape[-2:])
    sizes = raw.StridedSlice(raw.Shape(a), [-2], [0], [1], end_mask=1)
    return raw.Mul(raw.Cast(raw.Max(sizes, 0), DstT=dtype), np.asarray(factor, dtype.np_dtype))


def pinv(a: TensorLike, rcond: TensorLike = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Computes the Moore-Penrose pseudo-inverses of matrices.

    Args:
      a: (*B, m, n).
      rcond: singular values below rcond times the largest count as zero.
      validate_args: accepted as TensorFlow does; not used.
      name: a name for the scope of the operations.
    Returns: (*B, n, m).
    Raises: ValueError if the rank is less than 2.
    Gradient: that of Svd.
    Reference: TensorFlow 2.21 `tf.linalg.pinv`.

    >>> sess.run(tf.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    with name_scope(name, "pinv"):
        a = convert_to_tensor(a, name="a")
        real = a.dtype.real_dtype
        if rcond is None:
            rcond = _larger_size(a, 10.0 * float(np.finfo(real.np_dtype).eps), real)
        s, u, v = svd(a)
        last = np.asarray([-1], np.int32)
        bound = raw.Mul(raw.Max(s, last, keep_dims=True), convert_to_tensor(rcond, real))
        large = raw.Greater(s, bound)
        inverse = raw.SelectV2(large, raw.Reciprocal(raw.SelectV2(large, s, raw.OnesLike(s))), raw.ZerosLike(s))
        if a.dtype.is_complex:
            inverse = raw.Cast(inverse, DstT=a.dtype)
        return matmul(raw.Mul(v, raw.ExpandDims(inverse, -2)), u, adjoint_b=True)


# -- parts and ranks -------------------------------------------------------------------


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Computes the conjugate transposes of matrices.

    Args:
      matrix: (*B, m, n).
      name: a name for the scope of the operations.
    Returns: (*B, n, m).
    Raises: ValueError if the rank is less than 2.
    Gradient: the adjoint of dy.
    Reference: TensorFlow 2.21 `tf.linalg.adjoint`.

    >>> sess.run(tf.linalg.adjoint([[1 + 2j]]))
    array([[1.-2.j]])
    """
    with name_scope(name, "adjoint"):
        matrix = convert_to_tensor(matrix, name="matrix")
        if matrix._spec.shape is not None and len(matrix._spec.shape) < 2:
            raise ValueError("Argument `a` should be a (batch) matrix with rank >= 2. "
                             f"Received `a` = {matrix} with shape: {matrix.shape}")
        return _adjoint(matrix)


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the sums of the main diagonals of matrices.

    Args:
      x: (*B, m, n).
      name: a name for the operation.
    Returns: (*B).
    Raises: ValueError if the rank is less than 2.
    Gradient: dy on the diagonal.
    Reference: TensorFlow 2.21 `tf.linalg.trace`.

    >>> sess.run(tf.linalg.trace([[1.0, 2.0], [3.0, 4.0]]))
    np.float32(5.0)
    """
    with name_scope(name, "Trace") as scope:
        return raw.Sum(diag_part(convert_to_tensor(x, name="x")), np.asarray([-1], np.int32), name=scope or None)


def matrix_rank(a: TensorLike, tol: TensorLike = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """Counts the singular values that are not negligible.

    Args:
      a: (*B, m, n).
      tol: the bound below which values count as zero; by default a few units in the last place of the largest.
      validate_args: accepted as TensorFlow does; not used.
      name: a name for the scope of the operations.
    Returns: (*B), int32.
    Raises: ValueError if the rank is less than 2.
    Gradient: none; it is constant between jumps.
    Reference: TensorFlow 2.21 `tf.linalg.matrix_rank`.

    >>> sess.run(tf.linalg.matrix_rank([[1.0, 0.0], [0.0, 0.0]]))
    np.int32(1)
    """
    with name_scope(name, "matrix_rank"):
        a = convert_to_tensor(a, name="a")
        s = svd(a, compute_uv=False)
        last = np.asarray([-1], np.int32)
        if tol is None:
            eps = _larger_size(a, float(np.finfo(s.dtype.np_dtype).eps), s.dtype)
            tol = raw.Mul(eps, raw.Max(s, last, keep_dims=True))
        return raw.Sum(raw.Cast(raw.Greater(s, tol), DstT=int32), last)


# -- the matrix exponential ------------------------------------------------------------

_BOUND = 5.371920351148152  # the 1-norm up to which the approximation is exact to double precision
_SQUARINGS = 8


def _magnitude(x):
    return raw.ComplexAbs(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else raw.Abs(x)


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the matrix exponential, by scaling, a Pade approximation of degree 13 and squaring.

    The number of squarings is fixed at 8: good for matrices of a 1-norm up to about 1300.

    Args:
      input: (*B, n, n).
      name: a name for the scope of the operations.
    Returns: (*B, n, n).
    Raises: ValueError if the matrices are not square.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.linalg.expm`; Higham 2005.

    >>> sess.run(tf.linalg.expm([[0.0, 0.0], [0.0, 0.0]]))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    with name_scope(name, "matrix_exponential"):
        a = convert_to_tensor(input, name="matrix")
        # Halved until the approximation is exact to double precision; each matrix as often as it needs.
        size = raw.Max(raw.Sum(_magnitude(a), np.asarray([-2], np.int32), keep_dims=True), np.asarray([-1], np.int32),
                       keep_dims=True)
        size = raw.StopGradient(size)
        halvings = [raw.Greater(size, _BOUND * 2.0**k) for k in range(_SQUARINGS)]
        for needed in halvings:
            half = raw.SelectV2(needed, raw.Mul(0.5, raw.OnesLike(size)), raw.OnesLike(size))
            a = raw.Mul(a, raw.Cast(half, DstT=a.dtype) if a.dtype.is_complex else half)
        u, v = pade_13(a)
        result = raw.MatrixSolve(raw.Sub(v, u), raw.AddV2(u, v))
        for needed in halvings:
            result = raw.SelectV2(needed, matmul(result, result), result)
        return result
