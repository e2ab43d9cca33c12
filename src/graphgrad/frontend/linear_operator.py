"""Linear operators: matrices that are known by what they do; and solutions by conjugate gradients."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ..ir.convert import convert_to_tensor
from ..ir.dtypes import as_dtype, float32, int32
from ..ir.opdef import raw
from ..ir.scopes import name_scope
from ..ir.shape import TensorShape
from ..ops import linalg_functions as functions
from ..ops.elementwise import conj
from ..ops.linalg import diag_part, lower
from ..ops.matmul import matmul
from ..ops.matrices import eye
from . import control_flow


class LinearOperator:
    """A batch of matrices, by what they do: the base of the operators.

    A class of one's own defines `_dense()`, or overrides what it can do better.

    Args:
      dtype: of the matrices.
      graph_parents: accepted as TensorFlow does.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is known, or None.
      name: a name for the scopes of operations.
      parameters: accepted as TensorFlow does.
    """

    def __init__(self, dtype: Any, graph_parents: Any = None, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None, name: Any = None,
                 parameters: Any = None):  # fmt: skip
        if is_positive_definite and is_self_adjoint is None:
            is_self_adjoint = True
        self.dtype = as_dtype(dtype)
        self.is_non_singular = True if is_positive_definite else is_non_singular
        self.is_self_adjoint = is_self_adjoint
        self.is_positive_definite = is_positive_definite
        self.is_square = is_square
        self.name = name or type(self).__name__
        self.parameters = parameters or {}

    def _dense(self) -> Any:
        raise NotImplementedError(f"{self.name}: this operator has no dense matrix. Fix: define _dense()")

    @property
    def shape(self) -> Any:
        """The static shape (*B, m, n)."""
        return self._dense().shape

    @property
    def batch_shape(self) -> Any:
        """The static shape *B."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> Any:
        """The number of dimensions of the matrices, batch included."""
        return self.shape.rank

    @property
    def domain_dimension(self) -> Any:
        """The number of columns."""
        return self.shape[-1]

    @property
    def range_dimension(self) -> Any:
        """The number of rows."""
        return self.shape[-2]

    @property
    def H(self) -> Any:
        """The adjoint operator."""
        return self.adjoint()

    def shape_tensor(self, name: str = "shape_tensor") -> Any:
        """The shape as an integer vector."""
        with name_scope(name):
            return raw.Shape(self._dense())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """The shape *B as an integer vector."""
        with name_scope(name):
            return self.shape_tensor()[:-2]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Any:
        """The number of columns as a tensor."""
        with name_scope(name):
            return self.shape_tensor()[-1]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Any:
        """The number of rows as a tensor."""
        with name_scope(name):
            return self.shape_tensor()[-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Any:
        """The number of dimensions as a tensor."""
        with name_scope(name):
            return raw.Size(self.shape_tensor())

    def to_dense(self, name: str = "to_dense") -> Any:
        """The matrices, (*B, m, n)."""
        with name_scope(name):
            return self._dense()

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """The products with matrices x, (*B, n, k) -> (*B, m, k); either the adjoint first if asked for."""
        with name_scope(name):
            return self._matmul(self._operand(x), adjoint, adjoint_arg)

    def _operand(self, x: Any) -> Any:
        return x._dense() if isinstance(x, LinearOperator) else convert_to_tensor(x, self.dtype, name="x")

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return matmul(self._dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The products with vectors x, (*B, n) -> (*B, m)."""
        with name_scope(name):
            column = raw.ExpandDims(convert_to_tensor(x, self.dtype, name="x"), -1)
            return raw.Squeeze(self._matmul(column, adjoint, False), squeeze_dims=(-1,))

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """The solutions of systems of equations, (*B, n, k)."""
        with name_scope(name):
            rhs = self._operand(rhs)
            return self._solve(functions.adjoint(rhs) if adjoint_arg else rhs, adjoint)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        a = self._dense()
        if self.is_positive_definite and self.is_self_adjoint:
            return functions.cholesky_solve(raw.Cholesky(a), rhs)
        return raw.MatrixSolve(a, rhs, adjoint=bool(adjoint))

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The solutions for vectors, (*B, n)."""
        with name_scope(name):
            column = raw.ExpandDims(convert_to_tensor(rhs, self.dtype, name="rhs"), -1)
            return raw.Squeeze(self._solve(column, adjoint), squeeze_dims=(-1,))

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the adjoint matrices."""
        with name_scope(name):
            return self if self.is_self_adjoint else LinearOperatorFullMatrix(functions.adjoint(self._dense()))

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator of the inverse matrices."""
        with name_scope(name):
            return LinearOperatorFullMatrix(raw.MatrixInverse(self._dense()), is_non_singular=True)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The operator of the Cholesky factors.

        Raises: ValueError if the operator is not known to be positive definite and self-adjoint.
        """
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.\n"
                             "  Fix: say is_positive_definite=True, is_self_adjoint=True")  # fmt: skip
        with name_scope(name):
            return LinearOperatorLowerTriangular(raw.Cholesky(self._dense()), is_non_singular=True)

    def determinant(self, name: str = "det") -> Any:
        """The determinants, (*B)."""
        with name_scope(name):
            return raw.MatrixDeterminant(self._dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithms of the magnitudes of the determinants, (*B)."""
        with name_scope(name):
            return raw.LogMatrixDeterminant(self._dense())[1]

    def trace(self, name: str = "trace") -> Any:
        """The sums of the main diagonals, (*B)."""
        with name_scope(name):
            return raw.Sum(self._diag_part(), np.asarray([-1], np.int32))

    def diag_part(self, name: str = "diag_part") -> Any:
        """The main diagonals."""
        with name_scope(name):
            return self._diag_part()

    def _diag_part(self) -> Any:
        return diag_part(self._dense())

    def eigvals(self, name: str = "eigvals") -> Any:
        """The eigenvalues of self-adjoint operators, (*B, n).

        Raises: NotImplementedError if the operator is not known to be self-adjoint.
        """
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported. Fix: say is_self_adjoint=True")
        with name_scope(name):
            return raw.SelfAdjointEigV2(self._dense(), compute_v=False)[0]

    def cond(self, name: str = "cond") -> Any:
        """The condition numbers, (*B): the largest over the smallest singular value."""
        with name_scope(name):
            s = functions.svd(self._dense(), compute_uv=False)
            last = np.asarray([-1], np.int32)
            return raw.RealDiv(raw.Max(s, last), raw.Min(s, last))

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """The matrices added to a tensor."""
        with name_scope(name):
            return raw.AddV2(self._dense(), convert_to_tensor(x, self.dtype, name="x"))

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


class LinearOperatorFullMatrix(LinearOperator):
    """A batch of matrices, given in full.

    Args:
      matrix: (*B, m, n), a float or complex tensor.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is known, or None.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 4.0]]).solvevec([2.0, 4.0]))
    array([1., 1.], dtype=float32)
    """

    def __init__(self, matrix: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorFullMatrix"):  # fmt: skip
        self._matrix = convert_to_tensor(matrix, name="matrix")
        super().__init__(self._matrix.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         name)  # fmt: skip

    def _dense(self) -> Any:
        return self._matrix


class LinearOperatorLowerTriangular(LinearOperator):
    """A batch of lower triangular matrices.

    Args:
      tril: (*B, n, n); what lies above the diagonals is not read.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is known, or None.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]]).determinant())
    np.float32(8.0)
    """

    def __init__(self, tril: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorLowerTriangular"):  # fmt: skip
        self._tril = lower(convert_to_tensor(tril, name="tril"))
        super().__init__(self._tril.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    def _dense(self) -> Any:
        return self._tril

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return raw.MatrixTriangularSolve(self._tril, rhs, lower=True, adjoint=bool(adjoint))

    def determinant(self, name: str = "det") -> Any:
        """The determinants, (*B)."""
        with name_scope(name):
            return raw.Prod(self._diag_part(), np.asarray([-1], np.int32))

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithms of the magnitudes of the determinants, (*B)."""
        with name_scope(name):
            return raw.Sum(raw.Log(_size(self._diag_part())), np.asarray([-1], np.int32))


def _size(x: Any) -> Any:
    return raw.Cast(raw.ComplexAbs(x, Tout=x.dtype.real_dtype), DstT=x.dtype) if x.dtype.is_complex else raw.Abs(x)


class LinearOperatorDiag(LinearOperator):
    """A batch of diagonal matrices.

    Args:
      diag: (*B, n), the diagonals.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is known, or None.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorDiag([2.0, 4.0]).matvec([1.0, 1.0]))
    array([2., 4.], dtype=float32)
    """

    def __init__(self, diag: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorDiag"):  # fmt: skip
        self._diag = convert_to_tensor(diag, name="diag")
        if not self._diag.dtype.is_complex and is_self_adjoint is None:
            is_self_adjoint = True
        super().__init__(self._diag.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    @property
    def diag(self) -> Any:
        """The diagonals."""
        return self._diag

    @property
    def shape(self) -> Any:
        """The static shape (*B, n, n)."""
        known = self._diag.shape
        return TensorShape(None) if known.rank is None else TensorShape([*known.as_list(), known.as_list()[-1]])

    def _dense(self) -> Any:
        return raw.MatrixDiagV3(self._diag, 0, -1, -1, np.zeros((), self.dtype.np_dtype))

    def _diag_part(self) -> Any:
        return self._diag

    def _scales(self, adjoint: bool) -> Any:
        return raw.ExpandDims(conj(self._diag) if adjoint else self._diag, -1)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        return raw.Mul(self._scales(adjoint), functions.adjoint(x) if adjoint_arg else x)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return raw.RealDiv(rhs, self._scales(adjoint))

    def determinant(self, name: str = "det") -> Any:
        """The determinants, (*B)."""
        with name_scope(name):
            return raw.Prod(self._diag, np.asarray([-1], np.int32))

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """The logarithms of the magnitudes of the determinants, (*B)."""
        with name_scope(name):
            return raw.Sum(raw.Log(_size(self._diag)), np.asarray([-1], np.int32))


class _MultipleOfIdentity(LinearOperatorDiag):
    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """The matrices added to a tensor."""
        return super().add_to_tensor(mat, name)


class LinearOperatorScaledIdentity(_MultipleOfIdentity):
    """A batch of multiples of the identity.

    Args:
      num_rows: a scalar integer.
      multiplier: (*B), the factors.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is known, or None.
      assert_proper_shapes: accepted as TensorFlow does.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorScaledIdentity(2, 3.0).matvec([1.0, 2.0]))
    array([3., 6.], dtype=float32)
    """

    def __init__(self, num_rows: Any, multiplier: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = True, assert_proper_shapes: bool = False,
                 name: Any = "LinearOperatorScaledIdentity"):  # fmt: skip
        self.multiplier = convert_to_tensor(multiplier, name="multiplier")
        one = np.ones((), self.multiplier.dtype.np_dtype)
        ones = raw.Fill(raw.Reshape(convert_to_tensor(num_rows, int32), [1]), one)
        super().__init__(raw.Mul(raw.ExpandDims(self.multiplier, -1), ones), is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)  # fmt: skip


class LinearOperatorIdentity(_MultipleOfIdentity):
    """A batch of identity matrices.

    Args:
      num_rows: a scalar integer.
      batch_shape: an integer vector *B; none by default.
      dtype: the dtype, float32 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is known.
      assert_proper_shapes: accepted as TensorFlow does.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorIdentity(2).to_dense())
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(self, num_rows: Any, batch_shape: Any = None, dtype: Any = None, is_non_singular: Any = True,
                 is_self_adjoint: Any = True, is_positive_definite: Any = True, is_square: Any = True,
                 assert_proper_shapes: bool = False, name: Any = "LinearOperatorIdentity"):  # fmt: skip
        ones = diag_part(eye(num_rows, batch_shape=batch_shape, dtype=float32 if dtype is None else dtype))
        super().__init__(ones, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)


CGState = collections.namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def conjugate_gradient(operator: Any, rhs: Any, preconditioner: Any = None, x: Any = None, tol: float = 1e-5,
                       max_iter: int = 20, name: str = "conjugate_gradient") -> Any:  # fmt: skip
    """Solves A x = rhs for self-adjoint, positive definite A, by conjugate gradients.

    Args:
      operator: a `LinearOperator`, or what has its `matvec` and properties.
      rhs: (*B, n).
      preconditioner: an operator like it that approximates the inverse of A, or None.
      x: (*B, n), where to start; zeros by default.
      tol: it stops when the residual is so small, relative to rhs.
      max_iter: the largest number of steps.
      name: a name for the scope of the operations.
    Returns: a tuple of named fields: i (steps), x (the solution), r (the residual), p (the last direction), gamma.
    Raises: ValueError if the operator, or the preconditioner, is not known to be self-adjoint and positive definite.
    Gradient: that of its steps.
    Reference: TensorFlow 2.21 `tf.linalg.experimental.conjugate_gradient`; Hestenes and Stiefel (1952).

    >>> a = tf.linalg.LinearOperatorFullMatrix([[4.0, 1.0], [1.0, 3.0]], is_positive_definite=True)
    >>> sess.run(tf.linalg.experimental.conjugate_gradient(a, tf.constant([1.0, 2.0])).x).round(4)
    array([0.0909, 0.6364], dtype=float32)
    """
    for what, value in (("operator", operator), ("preconditioner", preconditioner)):
        if value is not None and not (value.is_self_adjoint and value.is_positive_definite):
            raise ValueError(f"Expected a self-adjoint, positive definite {what}.\n"
                             "  Fix: say is_self_adjoint=True, is_positive_definite=True")  # fmt: skip
    with name_scope(name, "conjugate_gradient"):
        rhs = convert_to_tensor(rhs, operator.dtype, name="rhs")
        if x is None:
            x, residual = raw.ZerosLike(rhs), rhs
        else:
            x = convert_to_tensor(x, operator.dtype, name="x")
            residual = raw.Sub(rhs, operator.matvec(x))
        first = residual if preconditioner is None else preconditioner.matvec(residual)
        bound = raw.Mul(_norm(rhs), np.asarray(tol, rhs.dtype.real_dtype.np_dtype))

        def going_on(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
            above = raw.Any(raw.Greater(_norm(r), bound), _all(bound))
            return raw.LogicalAnd(raw.Less(i, max_iter), above)

        def step(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
            z = operator.matvec(p)
            alpha = _over(gamma, _dot(p, z))
            x = raw.AddV2(x, raw.Mul(alpha, p))
            r = raw.Sub(r, raw.Mul(alpha, z))
            q = r if preconditioner is None else preconditioner.matvec(r)
            later = _dot(r, q)
            return i + 1, x, r, raw.AddV2(q, raw.Mul(_over(later, gamma), p)), later

        start = (convert_to_tensor(np.int32(0)), x, residual, first, _dot(residual, first))
        i, x, r, p, gamma = control_flow.while_loop(going_on, step, start)
        return CGState(i, x, r, p, raw.Squeeze(gamma, squeeze_dims=(-1,)))


def _dot(a: Any, b: Any) -> Any:
    """Inner products along the last axis, which stays."""
    return raw.Sum(raw.Mul(conj(a), b), np.asarray([-1], np.int32), keep_dims=True)


def _over(a: Any, b: Any) -> Any:
    """a / b, and 0 for systems of the batch that are solved already."""
    return raw.DivNoNan(a, b)


def _norm(x: Any) -> Any:
    square = _dot(x, x)
    return raw.Sqrt(raw.Real(square, Tout=x.dtype.real_dtype) if x.dtype.is_complex else square)


def _all(x: Any) -> Any:
    shape = x._spec.shape
    return raw.Range(0, raw.Rank(x), 1) if shape is None else np.arange(len(shape), dtype=np.int32)


