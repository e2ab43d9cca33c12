"""Linear operators composed of others: adjoints, inverses, products."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.opdef import raw
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.shape_values import join
from graphgrad.ops.control.assertions import assert_proper_iterable
from graphgrad.ops.control.group import group
from graphgrad.ops.linalg import linalg_functions as functions

from . import hints, parts
from .operator import LinearOperator
from .parts import as_vector, given
from .simple import LinearOperatorLowerTriangular


def listed(operators: Any) -> list[Any]:
    """Returns operators as a list, after checks that there is one and that dtypes agree."""
    assert_proper_iterable(operators)
    operators = list(operators)
    if not operators:
        raise hints.refuse(f"Expected a non-empty list of operators. Found: {operators}", "give at least one operator")
    if any(o.dtype is not operators[0].dtype for o in operators):
        found = "   ".join(str((o.name, o.dtype.name)) for o in operators)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {found}\n"
                        "  Fix: tf.cast what they are made of")
    return operators


class _OfOne(LinearOperator):
    """Operators derived from another one."""

    _sliced = {"operator": 0}
    _operator: Any
    _relation: str

    def _take(self, operator: Any, name: Any, is_non_singular: Any, is_self_adjoint: Any,
              is_positive_definite: Any, is_square: Any, parameters: dict[str, Any]) -> None:
        self._operator = operator
        text = f"An operator is {{}} if and only if its {self._relation} is {{}}."
        found = {f"is_{what}": hints.shared(operator, f"is_{what}", value, text.format(shown, shown))
                 for what, shown, value in (
                     ("non_singular", "non-singular", is_non_singular),
                     ("self_adjoint", "self-adjoint", is_self_adjoint),
                     ("positive_definite", "positive-definite", is_positive_definite),
                     ("square", "square", is_square))}
        LinearOperator.__init__(self, operator.dtype, None, name=name, parameters=parameters, **found)

    @property
    def operator(self) -> Any:
        """The operator that it is derived from."""
        return self._operator

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()

    def _cond(self) -> Any:
        return self._operator.cond()

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self._operator.assert_self_adjoint()


class LinearOperatorAdjoint(_OfOne):
    """The adjoint of an operator.

    Args:
      operator: a `LinearOperator`, (*B, m, n).
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints, or None for those of
        `operator`.
      name: a name for the scopes of operations.
    Raises: ValueError for hints that contradict those of `operator`.

    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.linalg.LinearOperatorAdjoint(a).to_dense())
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """

    _relation = "adjoint"

    def __init__(self, operator: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None, name: Any = None):
        self._take(operator, f"{operator.name}_adjoint" if name is None else name, is_non_singular, is_self_adjoint,
                   is_positive_definite, is_square, given(locals()))

    def _shape(self) -> Any:
        shape = self._operator.shape
        if shape.rank is None:
            return shape
        sizes = shape.as_list()
        return shape[:-2].concatenate([sizes[-1], sizes[-2]])

    def _shape_tensor(self) -> Any:
        o = self._operator
        return join(o._batch(), as_vector(o._columns(), o._rows()))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self._operator.solvevec(rhs, adjoint=not adjoint)

    def _linop_adjoint(self) -> Any:
        return self._operator

    def _to_dense(self) -> Any:
        dense = self._operator.to_dense()
        return dense if self.is_self_adjoint else functions.adjoint(dense)

    def _conjugated(self, value: Any) -> Any:
        return value if self.is_self_adjoint else conj(value)

    def _determinant(self) -> Any:
        return self._conjugated(self._operator.determinant())

    def _trace(self) -> Any:
        return self._conjugated(self._operator.trace())

    def _eigvals(self) -> Any:
        return self._operator.eigvals()


class LinearOperatorInversion(_OfOne):
    """The inverse of an operator, which is applied by solving.

    Args:
      operator: a square `LinearOperator`, (*B, n, n).
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints, or None for those of
        `operator`.
      name: a name for the scopes of operations.
    Raises: ValueError for hints that contradict those of `operator`, or if it is known to be singular.

    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 0.0], [0.0, 4.0]])
    >>> sess.run(tf.linalg.LinearOperatorInversion(a).matvec([1.0, 2.0]))
    array([1. , 0.5], dtype=float32)
    """

    _relation = "inverse"

    def __init__(self, operator: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None, name: Any = None):
        for what, value in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            if value is False or getattr(operator, what) is False:
                raise hints.refuse(f"Argument `{what}` or argument `operator` must have supplied hint `{what}` equal "
                                   f"to `True` or `None`. Found `operator.{what}`: {getattr(operator, what)}, "
                                   f"`{what}`: {value}.", "invert an operator that has an inverse")
        self._take(operator, f"{operator.name}_inv" if name is None else name, is_non_singular, is_self_adjoint,
                   is_positive_definite, is_square, given({k: v for k, v in locals().items()
                                                           if k not in ("what", "value")}))

    def _shape(self) -> Any:
        return self._operator.shape

    def _shape_tensor(self) -> Any:
        return self._operator._shape_tensor()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        return left_operator.operator.matmul(right_operator)

    def _linop_inverse(self) -> Any:
        return self._operator

    def _determinant(self) -> Any:
        return raw.Reciprocal(self._operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return raw.Neg(self._operator.log_abs_determinant())

    def _eigvals(self) -> Any:
        return raw.Reciprocal(self._operator.eigvals())


class LinearOperatorComposition(LinearOperator):
    """The product of operators, applied from right to left.

    Args:
      operators: a list of `LinearOperator`s of one dtype whose sizes fit.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations; the names of the operators with "_o_" in between by default.
    Raises: ValueError for hints that contradict what follows from the operators; TypeError for different dtypes.

    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.linalg.LinearOperatorComposition([a, a]).matvec([1.0, 0.0]))
    array([ 7., 15.], dtype=float32)
    """

    _sliced = {"operators": 0}

    def __init__(self, operators: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None, name: Any = None):
        parameters = given(locals())
        self._operators = operators = listed(operators)
        is_non_singular = hints.implied(all(o.is_non_singular for o in operators), is_non_singular,
                                        "The composition of non-singular operators is always non-singular.",
                                        "is_non_singular")
        alone = len(operators) == 1 and bool(operators[0].is_self_adjoint)
        own_square = hints.is_own_square(operators)
        form = "The composition was determined to have the form A @ A.H, hence it must be"
        is_self_adjoint = hints.implied(alone or own_square, is_self_adjoint,
                                        "The composition was determined to be self-adjoint but user provided "
                                        "incorrect `False` hint.", "is_self_adjoint")
        is_square = hints.implied(own_square, is_square, f"{form} square.", "is_square")
        is_positive_definite = hints.implied(own_square and bool(is_non_singular), is_positive_definite,
                                             f"{form} positive-definite.", "is_positive_definite")
        super().__init__(operators[0].dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         "_o_".join(o.name for o in operators) if name is None else name, parameters)

    @property
    def operators(self) -> Any:
        """The operators, from left to right."""
        return self._operators

    def _shape(self) -> Any:
        for left, right in zip(self._operators, self._operators[1:], strict=False):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        batch = parts.common(*(o.batch_shape for o in self._operators))
        return batch.concatenate([self._operators[0].range_dimension, self._operators[-1].domain_dimension])

    def _shape_tensor(self) -> Any:
        batch = parts.common_sizes(*(o._batch() for o in self._operators))
        return join(batch, as_vector(self._operators[0]._rows(), self._operators[-1]._columns()))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        for operator in self._operators if adjoint else reversed(self._operators):
            x = operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if any(o.is_square is False for o in self._operators):
            return super()._solve(rhs, adjoint, adjoint_arg)
        for operator in reversed(self._operators) if adjoint else self._operators:
            rhs = operator.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
            adjoint_arg = False
        return rhs

    def _linop_cholesky(self) -> Any:
        first = self._operators[0]
        if len(self._operators) != 2 or not isinstance(first, LinearOperatorLowerTriangular):
            return super()._linop_cholesky()
        if not hints.is_own_square(self._operators):
            return super()._linop_cholesky()
        if first.is_positive_definite:
            return first
        # A factor has a positive diagonal; columns of L can change their sign to have one.
        signs = raw.ExpandDims(raw.Sign(first.diag_part()), -2)
        return LinearOperatorLowerTriangular(raw.RealDiv(first.to_dense(), signs), first.is_non_singular,
                                             first.is_self_adjoint, None, True)

    def _determinant(self) -> Any:
        if any(o.is_square is False for o in self._operators):
            return super()._determinant()
        return product([o.determinant() for o in self._operators])

    def _log_abs_determinant(self) -> Any:
        if any(o.is_square is False for o in self._operators):
            return super()._log_abs_determinant()
        return total([o.log_abs_determinant() for o in self._operators])

    def _assert_non_singular(self) -> Any:
        if all(o.is_square for o in self._operators):
            return group(*(o.assert_non_singular() for o in self._operators))
        return super()._assert_non_singular()


def product(factors: list[Any]) -> Any:
    """Computes the product of tensors."""
    result = factors[0]
    for f in factors[1:]:
        result = raw.Mul(result, f)
    return result


def total(terms: list[Any]) -> Any:
    """Computes the sum of tensors, which broadcast."""
    result = terms[0]
    for t in terms[1:]:
        result = raw.AddV2(result, t)
    return result
