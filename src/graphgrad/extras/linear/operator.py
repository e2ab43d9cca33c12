"""The base class of linear operators; falls back to dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.dispatch import register_kind
from graphgrad.ops.control import assertions
from graphgrad.ops.linalg import linalg_functions as functions
from graphgrad.ops.linalg.decompositions import diag_part
from graphgrad.ops.linalg.diag_functions import eye
from graphgrad.ops.linalg.matmul import matmul

from . import functions_of_operators, hints, parts
from .described import Described
from .parts import LAST, column, flat


class LinearOperator(Described):
    """A batch of matrices, defined by their products: the base of the operators.

    A subclass defines `_shape()`, `_shape_tensor()` and `_matmul(x, adjoint, adjoint_arg)`; it may define
    `_solve`, `_determinant`, `_to_dense` and so on, where it has a better way than its dense matrix.

    Args:
      dtype: of the matrices.
      graph_parents: accepted as TensorFlow does.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
      parameters: the arguments that made the operator, as a dict.
    Raises: ValueError for hints that contradict each other.
    """

    # -- products ------------------------------------------------------------------------

    def to_dense(self, name: str = "to_dense") -> Any:
        """Computes the matrices, (*B, m, n)."""
        with self._scope(name):
            return self._to_dense()

    def _to_dense(self) -> Any:
        batch = self._batch()
        return self.matmul(eye(self._columns(), batch_shape=batch, dtype=self.dtype))

    def _tensor(self, x: Any, axis: int, own_axis: int, name: str) -> Any:
        """Converts an argument to a tensor, and checks its dtype and the dimension that the product contracts."""
        x = self._of_dtype(x, name)
        self._dimension(own_axis).assert_is_compatible_with(x.shape.dims[axis] if x.shape.rank is not None else None)
        return x

    def _of_dtype(self, x: Any, name: str) -> Any:
        """Converts an argument to a tensor; raises TypeError if it has another dtype."""
        x = convert_to_tensor(x, name=name) if hasattr(x, "dtype") else convert_to_tensor(x, self.dtype, name=name)
        self._check_input_dtype(x)
        return x

    def _check_input_dtype(self, arg: Any) -> None:
        if arg.dtype is not self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype!r}.  Found: {arg.dtype!r} in tensor {arg}.\n"
                            f"  Fix: tf.cast(x, {self.dtype!r})")

    def _pair(self, x: Any, adjoint: bool, adjoint_arg: bool, what: str) -> tuple[Any, Any]:
        """Returns two operators to multiply, adjoint if requested; raises ValueError if sizes are incompatible."""
        left = self.adjoint() if adjoint else self
        right = x.adjoint() if adjoint_arg else x
        if not left.domain_dimension.is_compatible_with(right.range_dimension):
            raise ValueError(f"Operators are incompatible. Expected `{what}` to have dimension "
                             f"{left.domain_dimension} but got {right.range_dimension}.\n"
                             "  Fix: give an operator with as many rows as this one has columns")
        return left, right

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """Multiplies with matrices x, (*B, n, k) -> (*B, m, k), or with an operator; either one adjoint if requested.

        Args:
          x: a tensor of the operator's dtype, or a `LinearOperator`.
          adjoint: whether the adjoint of this operator is multiplied.
          adjoint_arg: whether the adjoint of x is.
          name: a name for the scope of the operations.
        Returns: a tensor, or a `LinearOperator` for one.
        Raises: ValueError if the sizes are incompatible, TypeError for another dtype.
        """
        if isinstance(x, LinearOperator):
            left, right = self._pair(x, adjoint, adjoint_arg, "x")
            with self._scope(name):
                return left._linop_matmul(left, right)
        with self._scope(name):
            x = self._tensor(x, -1 if adjoint_arg else -2, -2 if adjoint else -1, "x")
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if type(self)._to_dense is LinearOperator._to_dense:
            raise NotImplementedError(f"{self.name}: this operator has no product.\n  Fix: define _matmul()")
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        from .combined import LinearOperatorComposition
        from .multiples import LinearOperatorIdentity, LinearOperatorZeros

        if isinstance(right_operator, LinearOperatorIdentity):
            return left_operator
        if isinstance(right_operator, LinearOperatorZeros):
            if not right_operator.is_square or not left_operator.is_square:
                raise ValueError("Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not "
                                 "supported at this time.\n  Fix: multiply with to_dense()")
            return right_operator
        return LinearOperatorComposition([left_operator, right_operator],
                                         **hints.product(left_operator, right_operator))

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """Multiplies with vectors x, (*B, n) -> (*B, m)."""
        with self._scope(name):
            return self._matvec(self._tensor(x, -1, -2 if adjoint else -1, "x"), adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return flat(self.matmul(column(x), adjoint=adjoint))

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Any:
        """Adds the matrices to a tensor."""
        with self._scope(name):
            return self._add_to_tensor(self._of_dtype(x, "x"))

    def _add_to_tensor(self, x: Any) -> Any:
        return raw.AddV2(self.to_dense(), x)

    # -- solutions -----------------------------------------------------------------------

    def _can_use_cholesky(self) -> Any:
        return self.is_self_adjoint and self.is_positive_definite

    def _check_solvable(self) -> None:
        for known, why in ((self.is_non_singular, "be singular"), (self.is_square, "not be square")):
            if known is False:
                raise NotImplementedError(f"Exact solve not implemented for an operator that is expected to {why}.\n"
                                          "  Fix: tf.linalg.lstsq(operator.to_dense(), rhs)")

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """Solves systems of equations, (*B, n, k); for an operator as the right side, returns an operator.

        Args:
          rhs: a tensor of the operator's dtype, or a `LinearOperator`.
          adjoint: whether the systems are those of the adjoint.
          adjoint_arg: whether the right side is the adjoint of rhs.
          name: a name for the scope of the operations.
        Returns: a tensor, or a `LinearOperator` for one.
        Raises: NotImplementedError if the operator is known to be singular, or not to be square; ValueError if the
          sizes are incompatible.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            left, right = self._pair(rhs, adjoint, adjoint_arg, "rhs")
            with self._scope(name):
                return left._linop_solve(left, right)
        with self._scope(name):
            rhs = self._tensor(rhs, -1 if adjoint_arg else -2, -1 if adjoint else -2, "rhs")
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = functions.adjoint(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            factor, rhs = parts.with_same_batch([raw.Cholesky(self.to_dense()), rhs])
            return functions.cholesky_solve(factor, rhs)
        return raw.MatrixSolve(*parts.with_same_batch([self.to_dense(), rhs]), adjoint=bool(adjoint))

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        from .combined import LinearOperatorComposition, LinearOperatorInversion
        from .multiples import LinearOperatorIdentity

        if isinstance(right_operator, LinearOperatorIdentity):
            return left_operator.inverse()
        return LinearOperatorComposition([LinearOperatorInversion(left_operator), right_operator],
                                         **hints.product(left_operator, right_operator))

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """Solves systems of equations for vectors, (*B, n)."""
        with self._scope(name):
            return self._solvevec(self._tensor(rhs, -1, -1 if adjoint else -2, "rhs"), adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return flat(self.solve(column(rhs), adjoint=adjoint))

    # -- other operators -----------------------------------------------------------------

    @property
    def H(self) -> Any:
        """The adjoint operator."""
        return self.adjoint()

    def adjoint(self, name: str = "adjoint") -> Any:
        """Returns the operator of the adjoint matrices."""
        if self.is_self_adjoint is True:
            return self
        with self._scope(name):
            return self._linop_adjoint()

    def _linop_adjoint(self) -> Any:
        from .combined import LinearOperatorAdjoint

        return LinearOperatorAdjoint(self, **{**hints.own(self), "is_square": self.is_square})

    def inverse(self, name: str = "inverse") -> Any:
        """Returns the operator of the inverse matrices.

        Raises: ValueError if the operator is known to be singular, or not to be square.
        """
        for known, what in ((self.is_square, "a non square"), (self.is_non_singular, "a singular")):
            if known is False:
                raise ValueError(f"Cannot take the Inverse: This operator represents {what} matrix.\n"
                                 "  Fix: tf.linalg.pinv(operator.to_dense())")
        with self._scope(name):
            return self._linop_inverse()

    def _linop_inverse(self) -> Any:
        from .combined import LinearOperatorInversion

        return LinearOperatorInversion(self, **{**hints.own(self), "is_square": self.is_square})

    def cholesky(self, name: str = "cholesky") -> Any:
        """Returns the operator of the Cholesky factors.

        Raises: ValueError if the operator is not known to be positive definite and self-adjoint.
        """
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.\n"
                             "  Fix: say is_positive_definite=True, is_self_adjoint=True")
        with self._scope(name):
            return self._linop_cholesky()

    def _linop_cholesky(self) -> Any:
        from .simple import LinearOperatorLowerTriangular

        return LinearOperatorLowerTriangular(raw.Cholesky(self.to_dense()), is_non_singular=True, is_self_adjoint=False,
                                             is_square=True)

    # -- numbers -------------------------------------------------------------------------

    def determinant(self, name: str = "det") -> Any:
        """Computes the determinants, (*B)."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._determinant()

    def _check_square(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(f"{what} not implemented for an operator that is expected to not be square.\n"
                                      "  Fix: give a square operator")

    def _determinant(self) -> Any:
        if self._can_use_cholesky():
            return raw.Exp(self.log_abs_determinant())
        return raw.MatrixDeterminant(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Any:
        """Computes the logarithms of the magnitudes of the determinants, (*B)."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        if self._can_use_cholesky():
            return raw.Mul(2, parts.total(raw.Log(diag_part(raw.Cholesky(self.to_dense())))))
        return raw.LogMatrixDeterminant(self.to_dense())[1]

    def trace(self, name: str = "trace") -> Any:
        """Computes the sums of the main diagonals, (*B)."""
        with self._scope(name):
            return self._trace()

    def _trace(self) -> Any:
        return parts.total(self.diag_part())

    def diag_part(self, name: str = "diag_part") -> Any:
        """Computes the main diagonals."""
        with self._scope(name):
            return self._diag_part()

    def _diag_part(self) -> Any:
        return diag_part(self.to_dense())

    def eigvals(self, name: str = "eigvals") -> Any:
        """Computes the eigenvalues of self-adjoint operators, (*B, n).

        Raises: NotImplementedError if the operator is not known to be self-adjoint.
        """
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.\n  Fix: say is_self_adjoint=True")
        with self._scope(name):
            return self._eigvals()

    def _eigvals(self) -> Any:
        return raw.SelfAdjointEigV2(self.to_dense(), compute_v=False)[0]

    def cond(self, name: str = "cond") -> Any:
        """Computes the condition numbers, (*B): the largest over the smallest singular value."""
        with self._scope(name):
            return self._cond()

    def _cond(self) -> Any:
        if self.is_self_adjoint:
            return _spread(parts.magnitude(self._eigvals()))
        return _spread(functions.svd(self.to_dense(), compute_uv=False))

    # -- assertions ----------------------------------------------------------------------

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Fails, at run time, if a matrix is singular: if its condition number exceeds the dtype's precision.

        Returns: the operation, for `tf.control_dependencies`; None in eager mode.
        Raises: InvalidArgumentError at run time.
        """
        with self._scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        cond = _spread(functions.svd(self.to_dense(), compute_uv=False))
        size = raw.Max(raw.Cast(parts.as_vector(100, self._rows(), self._columns()), DstT=cond.dtype), [0])
        limit = raw.RealDiv(1.0 / np.finfo(self.dtype.np_dtype).eps, size)
        return assertions.assert_less(cond, limit, message="Singular matrix up to precision epsilon.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Fails, at run time, if a self-adjoint matrix is not positive definite.

        Returns: the operation, for `tf.control_dependencies`; None in eager mode.
        Raises: NotImplementedError if the operator is not known to be self-adjoint; InvalidArgumentError at run time.
        """
        with self._scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented for operators that are not known to "
                                      "be self-adjoint.\n  Fix: say is_self_adjoint=True")
        return parts.assert_positive(diag_part(raw.Cholesky(self.to_dense())), "Matrix was not positive definite.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Fails, at run time, if a matrix is not its own adjoint.

        Returns: the operation, for `tf.control_dependencies`; None in eager mode.
        Raises: InvalidArgumentError at run time.
        """
        with self._scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return assertions.assert_equal(dense, functions.adjoint(dense), message="Matrix was not equal to its adjoint.")

    # -- the batch -----------------------------------------------------------------------

    def __getitem__(self, slices: Any) -> Any:
        rank = self.batch_shape.rank
        if rank is None:
            raise ValueError("A linear operator of unknown rank cannot be sliced.\n  Fix: use set_shape")
        return self._of_slices(parts.spelled_out(slices, rank), rank)

    def _of_slices(self, slices: tuple[Any, ...], rank: int) -> Any:
        changed = dict(self._parameters)
        for name, ndims in self._sliced.items():
            value = changed.get(name)
            if isinstance(value, LinearOperator):
                changed[name] = value._broadcast_slices(slices, rank)
            elif isinstance(value, (list, tuple)) and value and isinstance(value[0], LinearOperator):
                changed[name] = [o._broadcast_slices(slices, rank) for o in value]
            elif value is not None:
                changed[name] = parts.sliced(value, ndims, rank, slices)
        return type(self)(**changed)

    def _broadcast_slices(self, slices: tuple[Any, ...], rank: int) -> Any:
        """Slices an operator that broadcasts with a batch of this rank."""
        return self[tuple(parts.broadcast_slices(self.batch_shape.as_list(), rank, slices))]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


register_kind(LinearOperator, functions_of_operators.call)


def _spread(s: Any) -> Any:
    """Computes the largest over the smallest element along the last axis."""
    return raw.RealDiv(raw.Max(s, LAST), raw.Min(s, LAST))


