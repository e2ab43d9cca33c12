"""Linear operators of full, triangular and diagonal matrices."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.linalg import linalg_functions as functions
from graphgrad.ops.linalg.decompositions import diag, diag_part, lower, set_diag

from . import hints, parts
from .operator import LinearOperator, _spread
from .parts import column, given, kept, magnitude, total


def on_diagonal(x: Any, diagonal: Any, shape: Any) -> Any:
    """Adds something to the main diagonals of x, after broadcasting."""
    if x.shape.is_fully_defined() and shape.is_fully_defined() and x.shape == shape:
        return set_diag(x, raw.AddV2(diagonal, diag_part(x)))
    return raw.AddV2(diag(diagonal), x)


class LinearOperatorFullMatrix(LinearOperator):
    """A batch of matrices, given in full.

    Args:
      matrix: (*B, m, n), a float or complex tensor.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 4.0]]).solvevec([2.0, 4.0]))
    array([1., 1.], dtype=float32)
    """

    _sliced = {"matrix": 2}

    def __init__(self, matrix: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorFullMatrix"):
        parameters = given(locals())
        self._matrix = kept(matrix, "matrix")
        _check_rank(self._matrix, 2, "matrix")
        super().__init__(self._matrix.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         name, parameters)

    @property
    def matrix(self) -> Any:
        """The matrices."""
        return self._matrix

    def _shape(self) -> Any:
        return self._matrix.shape

    def _shape_tensor(self) -> Any:
        return raw.Shape(self._matrix)

    def _to_dense(self) -> Any:
        return convert_to_tensor(self._matrix)


def _check_rank(x: Any, rank: int, name: str) -> None:
    if x.shape.rank is not None and x.shape.rank < rank:
        raise hints.refuse(f"Argument {name} must have at least {rank} dimension{'s' * (rank > 1)}.  Found: {x.shape}",
                           "see the class's documentation for the shape")


class LinearOperatorLowerTriangular(LinearOperator):
    """A batch of lower triangular matrices.

    Args:
      tril: (*B, n, n); what lies above the diagonals is not read.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]]).determinant())
    np.float32(8.0)
    """

    _sliced = {"tril": 2}

    def __init__(self, tril: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorLowerTriangular"):
        parameters = given(locals())
        is_square = hints.settled(True, is_square, "Only square lower triangular operators supported at this time.",
                                  "is_square")
        self._tril = kept(tril, "tril")
        _check_rank(self._tril, 2, "tril")
        super().__init__(self._tril.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         name, parameters)

    @property
    def tril(self) -> Any:
        """The matrices as they were given."""
        return self._tril

    def _shape(self) -> Any:
        return self._tril.shape

    def _shape_tensor(self) -> Any:
        return raw.Shape(self._tril)

    def _to_dense(self) -> Any:
        return lower(convert_to_tensor(self._tril))

    def _diag_part(self) -> Any:
        return diag_part(convert_to_tensor(self._tril))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        if isinstance(right_operator, LinearOperatorDiag):
            product = raw.Mul(left_operator.to_dense(), raw.ExpandDims(right_operator.diag, -2))
            return LinearOperatorLowerTriangular(product, **_triangular_hints(left_operator, right_operator))
        return super()._linop_matmul(left_operator, right_operator)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = functions.adjoint(rhs) if adjoint_arg else rhs
        return raw.MatrixTriangularSolve(self._to_dense(), rhs, lower=True, adjoint=bool(adjoint))

    def _determinant(self) -> Any:
        return raw.Prod(self._diag_part(), parts.LAST)

    def _log_abs_determinant(self) -> Any:
        return total(raw.Log(magnitude(self._diag_part())))

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _assert_non_singular(self) -> Any:
        return parts.assert_nonzero(self._diag_part(), "Singular operator:  Diagonal contained zero values.")


def _triangular_hints(a: Any, b: Any) -> dict[str, Any]:
    return {**hints.commuting(a, b), "is_positive_definite": None}


class LinearOperatorDiag(LinearOperator):
    """A batch of diagonal matrices.

    Args:
      diag: (*B, n), the diagonals.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorDiag([2.0, 4.0]).matvec([1.0, 1.0]))
    array([2., 4.], dtype=float32)
    """

    _sliced = {"diag": 1}

    def __init__(self, diag: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorDiag"):
        parameters = given(locals())
        self._diag = kept(diag, "diag")
        _check_rank(self._diag, 1, "diag")
        is_self_adjoint = hints.implied(not self._diag.dtype.is_complex, is_self_adjoint,
                                        "A real diagonal operator is always self adjoint.", "is_self_adjoint")
        is_square = hints.settled(True, is_square, "Only square diagonal operators currently supported.", "is_square")
        super().__init__(self._diag.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         name, parameters)

    @property
    def diag(self) -> Any:
        """The diagonals."""
        return self._diag

    def _shape(self) -> Any:
        shape = self._diag.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        return parts.squared(raw.Shape(self._diag))

    def _to_dense(self) -> Any:
        return diag(convert_to_tensor(self._diag))

    def _diag_part(self) -> Any:
        return convert_to_tensor(self._diag)

    def _factors(self, adjoint: bool) -> Any:
        own = self._diag_part()
        return conj(own) if adjoint else own

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return raw.Mul(column(self._factors(adjoint)), functions.adjoint(x) if adjoint_arg else x)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return raw.Mul(self._factors(adjoint), x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = functions.adjoint(rhs) if adjoint_arg else rhs
        return raw.Mul(rhs, column(raw.Reciprocal(self._factors(adjoint))))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        from .multiples import LinearOperatorScaledIdentity

        a, b = left_operator, right_operator
        if isinstance(b, LinearOperatorDiag):
            return LinearOperatorDiag(raw.Mul(a.diag, b.diag), **hints.commuting(a, b))
        if isinstance(b, LinearOperatorScaledIdentity):
            return LinearOperatorDiag(raw.Mul(a.diag, column(b.multiplier)), **hints.commuting(a, b))
        if isinstance(b, LinearOperatorLowerTriangular):
            return LinearOperatorLowerTriangular(raw.Mul(column(a.diag), b.to_dense()), **_triangular_hints(a, b))
        return super()._linop_matmul(a, b)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        from .multiples import LinearOperatorScaledIdentity

        a, b = left_operator, right_operator
        if isinstance(b, LinearOperatorDiag):
            return LinearOperatorDiag(raw.RealDiv(b.diag, a.diag), **hints.commuting(a, b))
        if isinstance(b, LinearOperatorScaledIdentity):
            return LinearOperatorDiag(raw.RealDiv(column(b.multiplier), a.diag), **hints.commuting(a, b))
        if isinstance(b, LinearOperatorLowerTriangular):
            return LinearOperatorLowerTriangular(raw.RealDiv(b.to_dense(), column(a.diag)), **_triangular_hints(a, b))
        return super()._linop_solve(a, b)

    def _linop_adjoint(self) -> Any:
        return LinearOperatorDiag(self._factors(True), **hints.own(self))

    def _linop_inverse(self) -> Any:
        return LinearOperatorDiag(raw.Reciprocal(self._diag_part()), **hints.own(self))

    def _linop_cholesky(self) -> Any:
        return LinearOperatorDiag(raw.Sqrt(self._diag_part()), is_non_singular=True, is_self_adjoint=True,
                                  is_positive_definite=True, is_square=True)

    def _determinant(self) -> Any:
        return raw.Prod(self._diag_part(), parts.LAST)

    def _log_abs_determinant(self) -> Any:
        return parts.cast(total(raw.Log(magnitude(self._diag))), self.dtype)

    def _add_to_tensor(self, x: Any) -> Any:
        return on_diagonal(x, self._diag_part(), self.shape)

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _cond(self) -> Any:
        return _spread(magnitude(self._diag))

    def _assert_non_singular(self) -> Any:
        return parts.assert_nonzero(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Any:
        return parts.assert_positive(self._diag, "Diagonal operator had diagonal entries with non-positive real part, "
                                     "thus was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return parts.assert_real(self._diag, "This diagonal operator contained non-zero imaginary values.   Thus it "
                                 "was not self-adjoint.")


