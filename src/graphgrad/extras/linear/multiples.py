"""Linear operators that are multiples of the identity, and zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32
from graphgrad.ir.opdef import raw
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.shape_values import join
from graphgrad.ops.control import assertions
from graphgrad.ops.linalg import linalg_functions as functions

from . import hints, parts
from .operator import LinearOperator
from .parts import batch_vector, column, full, given, kept, magnitude, number
from .simple import LinearOperatorDiag, on_diagonal


class _Sized(LinearOperator):
    """Operators that are given by their size."""

    _num_rows: Any
    _num_columns: Any
    _batch_given: Any
    _assert_proper_shapes: bool

    def _set_size(self, num_rows: Any, num_columns: Any, batch_shape: Any, assert_proper_shapes: Any) -> None:
        self._assert_proper_shapes = bool(assert_proper_shapes)
        self._num_rows = number(num_rows, "num_rows")
        self._num_columns = self._num_rows if num_columns is None else number(num_columns, "num_columns")
        self._batch_given = np.zeros(0, np.int32) if batch_shape is None else batch_vector(batch_shape)

    def _shape(self) -> Any:
        matrix = [n if isinstance(n, int) else None for n in (self._num_rows, self._num_columns)]
        return parts.static_shape(self._batch_given).concatenate(matrix)

    def _shape_tensor(self) -> Any:
        return convert_to_tensor(join(self._batch_given, parts.as_vector(self._num_rows, self._num_columns)))

    def _on_diagonal(self, value: Any) -> Any:
        """Returns the main diagonals, filled."""
        m, n = self._num_rows, self._num_columns
        size = m if m is n else min(m, n) if isinstance(m, int) and isinstance(n, int) else raw.Minimum(m, n)
        return full(join(self._batch(), parts.as_vector(size)), value, self.dtype)

    def _with_batch(self, x: Any) -> Any:
        """Repeats x along the batch."""
        batch = self._batch()
        if isinstance(batch, np.ndarray) and not batch.size:
            return x
        if parts.common(x.shape, [*self.batch_shape.as_list(), 1, 1]) == x.shape and x.shape.is_fully_defined():
            return x
        own = parts.sizes(x)
        return raw.BroadcastTo(x, parts.common_sizes(own, join(batch, [1, 1])))

    def _checked(self, x: Any) -> Any:
        """Returns x, if requested with an assertion that it has as many rows as the operator has columns."""
        if not self._assert_proper_shapes:
            return x
        rows, columns = parts.one(raw.Shape(x), -2), convert_to_tensor(self._columns())
        return assertions.after_check(x, raw.Equal(rows, columns), ["Dimensions are not compatible: ", rows, columns])

    def _batch_slices(self, slices: tuple[Any, ...]) -> Any:
        """Returns the batch shape after slicing."""
        batch = self.batch_shape
        if not batch.is_fully_defined():
            raise hints.refuse("A batch of unknown shape cannot be sliced.", "give batch_shape as a list of numbers")
        return list(np.empty(batch.as_list(), bool)[slices].shape)


class LinearOperatorIdentity(_Sized):
    """A batch of identity matrices.

    Args:
      num_rows: a scalar integer.
      batch_shape: an integer vector *B; none by default.
      dtype: the dtype, float32 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties.
      assert_proper_shapes: whether products check, when they run, that sizes fit.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorIdentity(2).to_dense())
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(self, num_rows: Any, batch_shape: Any = None, dtype: Any = None, is_non_singular: Any = True,
                 is_self_adjoint: Any = True, is_positive_definite: Any = True, is_square: Any = True,
                 assert_proper_shapes: bool = False, name: Any = "LinearOperatorIdentity"):
        parameters = given(locals())
        for known, what in ((is_self_adjoint, "self adjoint"), (is_non_singular, "non-singular"),
                            (is_positive_definite, "positive-definite"), (is_square, "square")):
            if not known:
                raise hints.refuse(f"An identity operator is always {what}.", "leave the hint out")
        super().__init__(as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name, parameters)
        self._set_size(num_rows, None, batch_shape, assert_proper_shapes)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._with_batch(self._checked(functions.adjoint(x) if adjoint_arg else x))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        return right_operator

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        return right_operator

    def _linop_adjoint(self) -> Any:
        return self

    def _linop_inverse(self) -> Any:
        return self

    def _linop_cholesky(self) -> Any:
        return LinearOperatorIdentity(self._num_rows, self._batch(), self.dtype)

    def _determinant(self) -> Any:
        return full(self._batch(), 1, self.dtype)

    def _log_abs_determinant(self) -> Any:
        return full(self._batch(), 0, self.dtype)

    def _trace(self) -> Any:
        n = self._num_rows
        count = np.asarray(n, self.dtype.np_dtype) if isinstance(n, int) else raw.Cast(n, DstT=self.dtype)
        return raw.Fill(self._batch(), count)

    def _diag_part(self) -> Any:
        return self._on_diagonal(1)

    def _eigvals(self) -> Any:
        return self._on_diagonal(1)

    def _cond(self) -> Any:
        return full(self._batch(), 1, self.dtype)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """Adds the matrices to a tensor."""
        with self._scope(name):
            mat = self._of_dtype(mat, "mat")
            shape = mat.shape if not self.batch_shape.rank else self.shape
            return on_diagonal(mat, self._on_diagonal(1), shape)

    def _assert_non_singular(self) -> Any:
        return parts.nothing()

    _assert_positive_definite = _assert_self_adjoint = _assert_non_singular

    def _of_slices(self, slices: tuple[Any, ...], rank: int) -> Any:
        return LinearOperatorIdentity(**{**self._parameters, "batch_shape": self._batch_slices(slices)})


class LinearOperatorScaledIdentity(_Sized):
    """A batch of multiples of the identity.

    Args:
      num_rows: a scalar integer.
      multiplier: (*B), the factors.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      assert_proper_shapes: whether products check, when they run, that sizes fit.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorScaledIdentity(2, 3.0).matvec([1.0, 2.0]))
    array([3., 6.], dtype=float32)
    """

    _sliced = {"multiplier": 0}

    def __init__(self, num_rows: Any, multiplier: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = True, assert_proper_shapes: bool = False,
                 name: Any = "LinearOperatorScaledIdentity"):
        parameters = given(locals())
        self._multiplier = kept(multiplier, "multiplier")
        is_self_adjoint = hints.implied(not self._multiplier.dtype.is_complex, is_self_adjoint,
                                        "A real diagonal operator is always self adjoint.", "is_self_adjoint")
        is_square = hints.settled(True, bool(is_square), "A ScaledIdentity operator is always square.", "is_square")
        super().__init__(self._multiplier.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name, parameters)
        self._set_size(num_rows, None, None, assert_proper_shapes)

    @property
    def multiplier(self) -> Any:
        """The factors."""
        return self._multiplier

    def _shape(self) -> Any:
        n = self._num_rows if isinstance(self._num_rows, int) else None
        return self._multiplier.shape.concatenate([n, n])

    def _shape_tensor(self) -> Any:
        return join(parts.sizes(self._multiplier), parts.as_vector(self._num_rows, self._num_rows))

    def _factors(self, adjoint: bool) -> Any:
        own = convert_to_tensor(self._multiplier)
        return column(column(conj(own) if adjoint else own))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return raw.Mul(self._checked(functions.adjoint(x) if adjoint_arg else x), self._factors(adjoint))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return raw.RealDiv(self._checked(functions.adjoint(rhs) if adjoint_arg else rhs), self._factors(adjoint))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        a, b = left_operator, right_operator
        if isinstance(b, LinearOperatorScaledIdentity):
            product = raw.Mul(a.multiplier, b.multiplier)
            return LinearOperatorScaledIdentity(a._num_rows, product, **hints.commuting(a, b))
        if isinstance(b, LinearOperatorDiag):
            return LinearOperatorDiag(raw.Mul(column(a.multiplier), b.diag), **hints.commuting(a, b))
        return super()._linop_matmul(a, b)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        a, b = left_operator, right_operator
        if isinstance(b, LinearOperatorScaledIdentity):
            quotient = raw.RealDiv(b.multiplier, a.multiplier)
            return LinearOperatorScaledIdentity(a._num_rows, quotient, **hints.commuting(a, b))
        if isinstance(b, LinearOperatorDiag):
            return LinearOperatorDiag(raw.RealDiv(b.diag, column(a.multiplier)), **hints.commuting(a, b))
        return super()._linop_solve(a, b)

    def _linop_adjoint(self) -> Any:
        return LinearOperatorScaledIdentity(self._num_rows, conj(convert_to_tensor(self._multiplier)),
                                            **hints.own(self))

    def _linop_inverse(self) -> Any:
        return LinearOperatorScaledIdentity(self._num_rows, raw.Reciprocal(self._multiplier), **hints.own(self))

    def _linop_cholesky(self) -> Any:
        return LinearOperatorScaledIdentity(self._num_rows, raw.Sqrt(self._multiplier), is_non_singular=True,
                                            is_self_adjoint=True, is_positive_definite=True)

    def _count(self, dtype: Any) -> Any:
        n = self._num_rows
        return np.asarray(n, dtype.np_dtype) if isinstance(n, int) else raw.Cast(n, DstT=dtype)

    def _determinant(self) -> Any:
        return raw.Pow(self._multiplier, self._count(self.dtype))

    def _log_abs_determinant(self) -> Any:
        return raw.Mul(self._count(self.dtype.real_dtype), raw.Log(magnitude(self._multiplier)))

    def _trace(self) -> Any:
        return raw.Mul(self._multiplier, self._count(self.dtype))

    def _diag_part(self) -> Any:
        return raw.Mul(self._on_diagonal(1), column(self._multiplier))

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _cond(self) -> Any:
        kind = self.dtype.np_dtype.type
        own = convert_to_tensor(self._multiplier)
        return raw.SelectV2(raw.Equal(own, kind(0)), kind(np.nan), kind(1))

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """Adds the matrices to a tensor."""
        with self._scope(name):
            mat = self._of_dtype(mat, "mat")
            return on_diagonal(mat, self._diag_part(), self.shape)

    def _assert_non_singular(self) -> Any:
        return parts.assert_positive(magnitude(self._multiplier), "LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        return parts.assert_positive(self._multiplier, "LinearOperator was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return parts.assert_real(self._multiplier, "LinearOperator was not self-adjoint")


class LinearOperatorZeros(_Sized):
    """A batch of zero matrices.

    Args:
      num_rows: a scalar integer.
      num_columns: another; `num_rows` by default.
      batch_shape: an integer vector *B; none by default.
      dtype: the dtype, float32 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties.
      assert_proper_shapes: whether products check, when they run, that sizes fit.
      name: a name for the scopes of operations.

    >>> sess.run(tf.linalg.LinearOperatorZeros(2).matvec([1.0, 2.0]))
    array([0., 0.], dtype=float32)
    """

    def __init__(self, num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = None,
                 is_non_singular: Any = False, is_self_adjoint: Any = True, is_positive_definite: Any = False,
                 is_square: Any = True, assert_proper_shapes: bool = False,
                 name: Any = "LinearOperatorZeros"):
        parameters = given(locals())
        for wrong, what in ((not is_self_adjoint and is_square, "self adjoint"), (is_non_singular, "singular"),
                            (is_positive_definite, "not positive-definite")):
            if wrong:
                raise hints.refuse(f"A zero operator is always {what}.", "leave the hint out")
        super().__init__(as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name, parameters)
        self._set_size(num_rows, num_columns, batch_shape, assert_proper_shapes)
        m, n = self._num_rows, self._num_columns
        if is_square and isinstance(m, int) and isinstance(n, int) and m != n:
            raise hints.refuse("LinearOperatorZeros initialized as is_square=True, but got "
                               f"num_rows({m}) != num_columns({n})",
                               "is_square=False, is_self_adjoint=False")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = self._checked(functions.adjoint(x) if adjoint_arg else x)
        rows = self._num_columns if adjoint else self._num_rows
        if rows is (self._num_rows if adjoint else self._num_columns):
            return self._with_batch(raw.ZerosLike(x))
        own = parts.sizes(x)
        size = join(parts.without_matrix(own), parts.as_vector(rows, parts.one(own, -1)))
        return self._with_batch(full(size, 0, self.dtype))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        if not left_operator.is_square or not right_operator.is_square:
            raise ValueError("Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not "
                             "supported at this time.\n  Fix: multiply with to_dense()")
        return left_operator

    def _to_dense(self) -> Any:
        return full(self._sizes(), 0, self.dtype)

    def _determinant(self) -> Any:
        return full(self._batch(), 0, self.dtype)

    _trace = _determinant

    def _diag_part(self) -> Any:
        return self._on_diagonal(0)

    _eigvals = _diag_part

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """Adds the matrices to a tensor."""
        with self._scope(name):
            return self._with_batch(self._of_dtype(mat, "mat"))

    def _assert_non_singular(self) -> Any:
        raise _never("Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise _never("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return parts.nothing()

    def _of_slices(self, slices: tuple[Any, ...], rank: int) -> Any:
        return LinearOperatorZeros(**{**self._parameters, "batch_shape": self._batch_slices(slices)})


def _never(problem: str) -> Any:
    from graphgrad.errors import InvalidArgumentError

    return InvalidArgumentError(None, None, f"{problem}\n  Fix: do not assert it")
