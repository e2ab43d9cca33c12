"""Linear operators of blocks: along the diagonal, and below it. Arguments may also be lists of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.opdef import raw
from graphgrad.ops.common.shape_values import join
from graphgrad.ops.control.assertions import assert_proper_iterable
from graphgrad.ops.control.group import group
from graphgrad.ops.linalg import linalg_functions as functions

from . import hints, parts
from .combined import listed, product, total
from .multiples import LinearOperatorScaledIdentity
from .operator import LinearOperator
from .parts import as_vector, column, flat, given
from .simple import LinearOperatorFullMatrix


class _Blocks(LinearOperator):
    """The base of block operators: arguments in blocks."""

    _diagonal: list[Any]

    def _everyone(self) -> list[Any]:
        """Returns all operators that it is composed of."""
        return self._diagonal

    def _shape(self) -> Any:
        batch = parts.common(*(o.batch_shape for o in self._everyone()))
        sides = []
        for i in (-2, -1):
            own: list[Any] = [None if o.shape.rank is None else o.shape.as_list()[i] for o in self._diagonal]
            sides.append(None if None in own else sum(own))
        return batch.concatenate(sides)

    def _shape_tensor(self) -> Any:
        batch = parts.common_sizes(*(o._batch() for o in self._everyone()))
        rows = total([o.range_dimension_tensor() for o in self._diagonal])
        return join(batch, as_vector(rows, total([o.domain_dimension_tensor() for o in self._diagonal])))

    def _sides(self, rows: bool) -> list[Any]:
        return [o.range_dimension if rows else o.domain_dimension for o in self._diagonal]

    def _in_blocks(self, x: Any, axis: int, rows: bool, name: str) -> tuple[list[Any], bool]:
        """Splits an argument into a list of blocks; returns also whether it was given as one."""
        if self._is_blockwise(x, axis, rows):
            blocks = [b if isinstance(b, LinearOperator) else self._of_dtype(b, name) for b in x]
            for b, side in zip(blocks, self._sides(rows), strict=True):
                if not isinstance(b, LinearOperator) and b.shape.rank is not None:
                    side.assert_is_compatible_with(b.shape.as_list()[axis])
            return blocks, True
        x = self._tensor(x, axis, -2 if rows else -1, name)
        known = [side.value for side in self._sides(rows)]
        if None in known:
            sizes = join(*(as_vector(o._rows() if rows else o._columns()) for o in self._diagonal))
        else:
            sizes = np.asarray(known, np.int32)
        return list(raw.SplitV(x, sizes, np.int32(axis), num_split=len(known))), False

    def _is_blockwise(self, x: Any, axis: int, rows: bool) -> bool:
        if not isinstance(x, (list, tuple)) or len(x) != len(self._diagonal):
            return False
        if not any(isinstance(b, (list, tuple, dict)) for b in x):
            return not all(isinstance(b, (int, float, complex)) for b in x)
        found = [np.shape(b)[axis] for b in x]
        return all(side.value in (None, n) for side, n in zip(self._sides(rows), found, strict=True))

    def _joined(self, blocks: list[Any], blockwise: bool) -> Any:
        if blockwise:
            return blocks
        return raw.ConcatV2(parts.with_same_batch(blocks), -2)

    def _check_blocks(self, left: Any, right: Any) -> None:
        """Raises ValueError unless the blocks of two operators can be multiplied."""
        if len(left._diagonal) != len(right._diagonal):
            raise ValueError("Can not efficiently multiply two operators of blocks when number of blocks differ.\n"
                             "  Fix: give both the same blocks, or multiply with to_dense()")
        for a, b in zip(left._diagonal, right._diagonal, strict=True):
            if not a.domain_dimension.is_compatible_with(b.range_dimension):
                raise ValueError(f"Blocks are incompatible. Expected `x` to have dimension {a.domain_dimension} but "
                                 f"got {b.range_dimension}.\n  Fix: give both the same blocks")

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """Multiplies with matrices x, (*B, n, k) -> (*B, m, k), with a list of their blocks, or with an operator.

        Args:
          x: a tensor, a list of one tensor for each block, or a `LinearOperator`.
          adjoint: whether the adjoint of this operator is multiplied.
          adjoint_arg: whether the adjoint of x, or of each block, is.
          name: a name for the scope of the operations.
        Returns: a tensor, a list of tensors for a list, a `LinearOperator` for one.
        Raises: ValueError if the sizes are incompatible, TypeError for another dtype.
        """
        if isinstance(x, LinearOperator):
            left, right = self._pair(x, adjoint, adjoint_arg, "x")
            if isinstance(right, LinearOperatorBlockDiag) and isinstance(left, LinearOperatorBlockDiag):
                self._check_blocks(left, right)
            with self._scope(name):
                return left._linop_matmul(left, right)
        with self._scope(name):
            blocks, blockwise = self._in_blocks(x, -1 if adjoint_arg else -2, bool(adjoint), "x")
            return self._joined(self._times(blocks, adjoint, adjoint_arg), blockwise)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """Multiplies with vectors x, (*B, n) -> (*B, m), or with a list of their blocks."""
        with self._scope(name):
            blocks, blockwise = self._in_blocks(x, -1, bool(adjoint), "x")
            found = self._joined(self._times([column(b) for b in blocks], adjoint, False), blockwise)
            return [flat(b) for b in found] if blockwise else flat(found)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """Solves systems of equations, (*B, n, k), for a right side as a tensor, a list of blocks, or an operator.

        Args:
          rhs: a tensor, a list of one tensor for each block, or a `LinearOperator`.
          adjoint: whether the systems are those of the adjoint.
          adjoint_arg: whether the right side is the adjoint of rhs, or of each block.
          name: a name for the scope of the operations.
        Returns: a tensor, a list of tensors for a list, a `LinearOperator` for one.
        Raises: NotImplementedError if the operator is known to be singular; ValueError if the sizes are incompatible.
        """
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            left, right = self._pair(rhs, adjoint, adjoint_arg, "rhs")
            if isinstance(right, LinearOperatorBlockDiag) and isinstance(left, LinearOperatorBlockDiag):
                self._check_blocks(left, right)
            with self._scope(name):
                return left._linop_solve(left, right)
        with self._scope(name):
            blocks, blockwise = self._in_blocks(rhs, -1 if adjoint_arg else -2, not adjoint, "rhs")
            if adjoint_arg:
                blocks = [functions.adjoint(b) for b in blocks]
            return self._joined(self._solutions(blocks, adjoint), blockwise)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """Solves systems of equations for vectors, (*B, n), or for a list of their blocks."""
        with self._scope(name):
            blocks, blockwise = self._in_blocks(rhs, -1, not adjoint, "rhs")
            found = self._joined(self._solutions([column(b) for b in blocks], adjoint), blockwise)
            return [flat(b) for b in found] if blockwise else flat(found)

    def _times(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        raise NotImplementedError  # each subclass has its own

    def _solutions(self, blocks: list[Any], adjoint: bool) -> list[Any]:
        raise NotImplementedError  # each subclass has its own

    def _in_a_row(self, vectors: list[Any]) -> Any:
        """Concatenates the vectors of each block."""
        return flat(raw.ConcatV2(parts.with_same_batch([column(v) for v in vectors]), -2))

    def _diag_part(self) -> Any:
        if any(o.is_square is False for o in self._diagonal):
            return super()._diag_part()
        return self._in_a_row([o.diag_part() for o in self._diagonal])

    def _trace(self) -> Any:
        if any(o.is_square is False for o in self._diagonal):
            return super()._trace()
        return total([o.trace() for o in self._diagonal])

    def _eigvals(self) -> Any:
        return self._in_a_row([o.eigvals() for o in self._diagonal])

    def _determinant(self) -> Any:
        return product([o.determinant() for o in self._diagonal])

    def _log_abs_determinant(self) -> Any:
        return total([o.log_abs_determinant() for o in self._diagonal])

    def _assert_non_singular(self) -> Any:
        return group(*(o.assert_non_singular() for o in self._diagonal))

    def _dense_rows(self, rows: list[list[Any]]) -> Any:
        """Assembles rows of blocks to one matrix; None means zeros."""
        present = parts.with_same_batch([b for row in rows for b in row if b is not None])
        batch = parts.without_matrix(parts.sizes(present[0]))
        left = iter(present)
        lines = []
        for i, row in enumerate(rows):
            line = [next(left) if b is not None else parts.full(
                join(batch, as_vector(self._diagonal[i]._rows(), self._diagonal[j]._columns())), 0, self.dtype)
                for j, b in enumerate(row)]
            lines.append(raw.ConcatV2(line, -1))
        return raw.ConcatV2(lines, -2)


class LinearOperatorBlockDiag(_Blocks):
    """An operator with other operators along the diagonal, and zeros elsewhere.

    Args:
      operators: a list of `LinearOperator`s of one dtype.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations; the names of the operators with "_ds_" in between by default.
    Raises: ValueError for hints that contradict what follows from the operators; TypeError for different dtypes.

    >>> ones, twos = tf.linalg.LinearOperatorDiag([1.0]), tf.linalg.LinearOperatorDiag([2.0])
    >>> a = tf.linalg.LinearOperatorBlockDiag([ones, twos])
    >>> sess.run(a.matvec([3.0, 4.0]))
    array([3., 8.], dtype=float32)
    """

    _sliced = {"operators": 0}

    def __init__(self, operators: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = True, name: Any = None):
        parameters = given(locals())
        self._operators = self._diagonal = operators = listed(operators)
        text = "The direct sum of {} operators is always {}."
        found = {what: hints.implied(all(getattr(o, what) for o in operators), value, text.format(shown, shown), what)
                 for what, shown, value in (
                     ("is_non_singular", "non-singular", is_non_singular),
                     ("is_self_adjoint", "self-adjoint", is_self_adjoint),
                     ("is_positive_definite", "positive definite", is_positive_definite))}
        name = "_ds_".join(o.name for o in operators) if name is None else name
        super().__init__(operators[0].dtype, None, is_square=is_square, name=name, parameters=parameters, **found)

    @property
    def operators(self) -> Any:
        """The operators, from the upper left."""
        return self._operators

    def _times(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        return [o.matmul(b, adjoint=adjoint, adjoint_arg=adjoint_arg)
                for o, b in zip(self._diagonal, blocks, strict=True)]

    def _solutions(self, blocks: list[Any], adjoint: bool) -> list[Any]:
        return [o.solve(b, adjoint=adjoint) for o, b in zip(self._diagonal, blocks, strict=True)]

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        return self._blockwise(left_operator, right_operator, "matmul") or \
            super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        return self._blockwise(left_operator, right_operator, "solve") or \
            super()._linop_solve(left_operator, right_operator)

    def _blockwise(self, a: Any, b: Any, name: str) -> Any:
        if not isinstance(b, LinearOperatorBlockDiag):
            return None
        blocks = [getattr(x, name)(y) for x, y in zip(a.operators, b.operators, strict=True)]
        return LinearOperatorBlockDiag(blocks, is_non_singular=hints.non_singular(a, b), is_square=True)

    def _linop_adjoint(self) -> Any:
        return LinearOperatorBlockDiag([o.adjoint() for o in self._diagonal],
                                       **{**hints.own(self), "is_square": self.is_square})

    def _linop_inverse(self) -> Any:
        return LinearOperatorBlockDiag([o.inverse() for o in self._diagonal], **hints.own(self))

    def _linop_cholesky(self) -> Any:
        return LinearOperatorBlockDiag([o.cholesky() for o in self._diagonal], is_non_singular=True, is_square=True)

    def _to_dense(self) -> Any:
        n = len(self._diagonal)
        return self._dense_rows([[o.to_dense() if i == j else None for j in range(n)]
                                 for i, o in enumerate(self._diagonal)])


class LinearOperatorBlockLowerTriangular(_Blocks):
    """An operator with other operators on the diagonal and below it, and zeros above.

    Args:
      operators: a list of rows: one operator, two, three and so on; those at the ends of the rows are square.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
    Raises: ValueError for hints that contradict what follows from the operators, or incompatible sizes; TypeError
      for different dtypes.

    >>> one, two = tf.linalg.LinearOperatorDiag([1.0]), tf.linalg.LinearOperatorDiag([2.0])
    >>> sess.run(tf.linalg.LinearOperatorBlockLowerTriangular([[one], [two, one]]).to_dense())
    array([[1., 0.],
           [2., 1.]], dtype=float32)
    """

    def __init__(self, operators: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorBlockLowerTriangular"):
        parameters = given(locals())
        assert_proper_iterable(operators)
        self._operators = [list(row) for row in operators]
        everyone = listed([o for row in self._operators for o in row])
        self._diagonal = [row[-1] for row in self._operators]
        is_non_singular = self._non_singular(is_non_singular)
        self._check_rows()
        is_square = hints.settled(True, is_square, "`LinearOperatorBlockLowerTriangular` must be square.", "is_square")
        for i, o in enumerate(self._diagonal):
            if o.is_square is False:
                raise hints.refuse("Matrices on the diagonal (the final elements of each row-partition in the "
                                   "`operators` list) must be square. Expected argument "
                                   f"`operators[{i}][-1].is_square` to be True.", "give square ones")
        super().__init__(everyone[0].dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         name, parameters)

    def _non_singular(self, given: Any) -> Any:
        text = "A blockwise lower-triangular operator with {} on the main diagonal is always {}."
        if all(o.is_non_singular for o in self._diagonal):
            return hints.settled(True, given, text.format("non-singular operators", "non-singular"), "is_non_singular")
        if any(o.is_non_singular is False for o in self._diagonal):
            return hints.settled(False, given, text.format("a singular operator", "singular"), "is_non_singular")
        return given

    def _check_rows(self) -> None:
        rows = self._operators
        for i, row in enumerate(rows):
            if len(row) != i + 1:
                raise hints.refuse(f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: {len(row)} "
                                   "blocks.", "give one more in each row")
            for j in range(i):
                for axis, other, where in ((-1, rows[i - 1][j], f"{i - 1}][{j}"), (-2, row[j + 1], f"{i}][{j + 1}")):
                    kind = "domain_dimension" if axis == -1 else "range_dimension"
                    own, its = getattr(row[j], kind), getattr(other, kind)
                    if not own.is_compatible_with(its):
                        raise hints.refuse(f"Argument `operators[{i}][{j}].{kind}` ({own}) must be the same as "
                                           f"`operators[{where}].{kind}` ({its}).", "give blocks that fit")

    @property
    def operators(self) -> Any:
        """The rows of operators."""
        return self._operators

    def _everyone(self) -> list[Any]:
        return [o for row in self._operators for o in row]

    def _times(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        rows, n = self._operators, len(self._operators)
        along = [[(rows[j][i], j) for j in range(i, n)] if adjoint else [(rows[i][j], j) for j in range(i + 1)]
                 for i in range(n)]
        return [total([o.matmul(blocks[j], adjoint=adjoint, adjoint_arg=adjoint_arg) for o, j in row])
                for row in along]

    def _solutions(self, blocks: list[Any], adjoint: bool) -> list[Any]:
        """Solves for one block after the other, by substitution."""
        n = len(blocks)
        found: dict[int, Any] = {}
        for i in reversed(range(n)) if adjoint else range(n):
            rest = blocks[i]
            for j, x in found.items():
                o = self._operators[j][i] if adjoint else self._operators[i][j]
                rest = raw.Sub(rest, o.matmul(x, adjoint=adjoint))
            found[i] = self._diagonal[i].solve(rest, adjoint=adjoint)
        return [found[i] for i in range(n)]

    def _linop_inverse(self) -> Any:
        """Builds the inverse row by row: left of the diagonal it is -D^-1 (row) (inverse of the rows above)."""
        inverses: list[list[Any]] = []
        for row in self._operators:
            last = row[-1].inverse()
            left = []
            for i in range(len(row) - 1):
                terms = [row[j].matmul(inverses[j][i]) for j in range(i, len(row) - 1)]
                one = terms[0] if len(terms) == 1 else LinearOperatorFullMatrix(total([t.to_dense() for t in terms]))
                negative = LinearOperatorScaledIdentity(last._columns(), np.asarray(-1, self.dtype.np_dtype))
                left.append(negative.matmul(last.matmul(one)))
            inverses.append([*left, last])
        return LinearOperatorBlockLowerTriangular(inverses, **hints.own(self))

    def _to_dense(self) -> Any:
        n = len(self._operators)
        return self._dense_rows([[o.to_dense() for o in row] + [None] * (n - len(row)) for row in self._operators])

    def _of_slices(self, slices: tuple[Any, ...], rank: int) -> Any:
        rows = [[o._broadcast_slices(slices, rank) for o in row] for row in self._operators]
        return LinearOperatorBlockLowerTriangular(**{**self._parameters, "operators": rows})
