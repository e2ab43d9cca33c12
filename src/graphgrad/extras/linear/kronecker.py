"""The Kronecker product of linear operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.opdef import raw
from graphgrad.ops.array.transpose import matrix_transpose
from graphgrad.ops.common.shape_values import join, times
from graphgrad.ops.control.group import group
from graphgrad.ops.linalg import linalg_functions as functions

from . import hints, parts
from .combined import listed, product, total
from .operator import LinearOperator
from .parts import as_vector, cast, given


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators.

    Args:
      operators: a list of `LinearOperator`s of one dtype.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations; the names of the operators with "_x_" in between by default.
    Raises: ValueError for hints that contradict what follows from the operators; TypeError for different dtypes.

    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> sess.run(tf.linalg.LinearOperatorKronecker([a, tf.linalg.LinearOperatorIdentity(2)]).trace())
    np.float32(10.0)
    """

    _sliced = {"operators": 0}

    def __init__(self, operators: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None, name: Any = None):
        parameters = given(locals())
        self._operators = operators = listed(operators)
        text = "The Kronecker product of {} operators is always {}."
        found = {what: hints.implied(all(getattr(o, what) for o in operators), value, text.format(shown, shown), what)
                 for what, shown, value in (
                     ("is_non_singular", "non-singular", is_non_singular),
                     ("is_self_adjoint", "self-adjoint", is_self_adjoint),
                     ("is_positive_definite", "positive-definite", is_positive_definite))}
        name = "_x_".join(o.name for o in operators) if name is None else name
        super().__init__(operators[0].dtype, None, is_square=is_square, name=name, parameters=parameters, **found)

    @property
    def operators(self) -> Any:
        """The operators, from left to right."""
        return self._operators

    def _shape(self) -> Any:
        batch = parts.common(*(o.batch_shape for o in self._operators))
        sides = []
        for i in (-2, -1):
            own: list[Any] = [None if o.shape.rank is None else o.shape.as_list()[i] for o in self._operators]
            sides.append(None if None in own else int(np.prod(own)))
        return batch.concatenate(sides)

    def _shape_tensor(self) -> Any:
        batch = parts.common_sizes(*(o._batch() for o in self._operators))
        rows = product([o.range_dimension_tensor() for o in self._operators])
        return join(batch, as_vector(rows, product([o.domain_dimension_tensor() for o in self._operators])))

    def _linop_adjoint(self) -> Any:
        return LinearOperatorKronecker([o.adjoint() for o in self._operators],
                                       **{**hints.own(self), "is_square": self.is_square})

    def _linop_inverse(self) -> Any:
        return LinearOperatorKronecker([o.inverse() for o in self._operators], **hints.own(self))

    def _linop_cholesky(self) -> Any:
        return LinearOperatorKronecker([o.cholesky() for o in self._operators], is_non_singular=True, is_square=True)

    def _applied(self, x: Any, name: str, adjoint: bool, adjoint_arg: bool) -> Any:
        """Applies one operator after the other, each along the first of the axes that the rows of x are split into.

        That axis is then moved behind the others, so that the next one is the first.
        """
        x = functions.adjoint(x) if adjoint_arg else x
        count = parts.one(parts.sizes(x), -1)
        for o in self._operators:
            n = o._columns() if (name == "matmul") is not bool(adjoint) else o._rows()
            x = raw.Reshape(x, join(parts.without_matrix(parts.sizes(x)), as_vector(n, -1)))
            x = matrix_transpose(getattr(o, name)(x, adjoint=adjoint))
        x = raw.Reshape(x, join(parts.without_matrix(parts.sizes(x)), as_vector(count, -1)))
        return matrix_transpose(x)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._applied(x, "matmul", adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._applied(rhs, "solve", adjoint, adjoint_arg)

    def _to_dense(self) -> Any:
        return self._pairwise([o.to_dense() for o in self._operators], 2)

    def _pairwise(self, factors: list[Any], ndims: int) -> Any:
        """Returns the products of all pairs of elements along the last axes, one after the other."""
        result = factors[0]
        for f in factors[1:]:
            for axis in range(ndims):  # (m, 1, n, 1) times (1, p, 1, q), or (m, 1) times (1, p)
                result, f = raw.ExpandDims(result, -1 - 2 * axis), raw.ExpandDims(f, -2 - 2 * axis)
            pairs = raw.Mul(result, f)
            own = parts.sizes(pairs)
            batch = own[: -2 * ndims] if isinstance(own, np.ndarray) else \
                raw.StridedSlice(own, [0], [-2 * ndims], [1], begin_mask=1)
            sides = [times(parts.one(own, i), parts.one(own, i + 1)) for i in range(-2 * ndims, 0, 2)]
            result = raw.Reshape(pairs, join(batch, as_vector(*sides)))
        return result

    def _diag_part(self) -> Any:
        if not all(o.is_square for o in self._operators):
            return super()._diag_part()
        return self._pairwise([o.diag_part() for o in self._operators], 1)

    def _eigvals(self) -> Any:
        return self._pairwise([o.eigvals() for o in self._operators], 1)

    def _trace(self) -> Any:
        if not all(o.is_square for o in self._operators):
            return super()._trace()
        return product([o.trace() for o in self._operators])

    def _times(self, operator: Any) -> Any:
        """Returns how often the eigenvalues of an operator are factors of the product's."""
        n, own = self._columns(), operator._columns()
        if isinstance(n, int) and isinstance(own, int):
            return np.asarray(n // max(own, 1), self.dtype.np_dtype)
        return raw.Cast(raw.FloorDiv(n, own), DstT=self.dtype)

    def _determinant(self) -> Any:
        return product([raw.Pow(o.determinant(), self._times(o)) for o in self._operators])

    def _log_abs_determinant(self) -> Any:
        return total([raw.Mul(cast(o.log_abs_determinant(), self.dtype), self._times(o)) for o in self._operators])

    def _all_square(self) -> None:
        if not all(o.is_square for o in self._operators):
            raise InvalidArgumentError(None, None, "All Kronecker factors must be square for the product to be "
                                       "invertible.\n  Fix: say is_square=True of each, if it is")

    def _assert_non_singular(self) -> Any:
        self._all_square()
        return group(*(o.assert_non_singular() for o in self._operators))

    def _assert_self_adjoint(self) -> Any:
        self._all_square()
        return group(*(o.assert_self_adjoint() for o in self._operators))
