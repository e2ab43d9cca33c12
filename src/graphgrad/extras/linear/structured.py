"""Linear operators of special structure: reflections, permutations, three diagonals, constant diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32
from graphgrad.ir.opdef import raw
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.shape_values import join
from graphgrad.ops.control import assertions
from graphgrad.ops.control.group import group
from graphgrad.ops.linalg import banded
from graphgrad.ops.linalg import linalg_functions as functions
from graphgrad.ops.linalg.decompositions import diag_part, set_diag
from graphgrad.ops.linalg.matmul import matmul
from graphgrad.ops.nn.norm.moments import l2_normalize

from . import hints, parts
from .operator import LinearOperator
from .parts import as_vector, column, full, given, kept
from .simple import _check_rank


class LinearOperatorHouseholder(LinearOperator):
    """Reflections: I - 2 v v^H for vectors v of length 1.

    Args:
      reflection_axis: (*B, n), the vectors to reflect along; they need not have length 1.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
    Raises: ValueError for hints that do not hold for reflections.

    >>> sess.run(tf.linalg.LinearOperatorHouseholder([2.0, 0.0]).matvec([3.0, 4.0]))
    array([-3.,  4.], dtype=float32)
    """

    _sliced = {"reflection_axis": 1}

    def __init__(self, reflection_axis: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorHouseholder"):
        parameters = given(locals())
        self._reflection_axis = kept(reflection_axis, "reflection_axis")
        _check_rank(self._reflection_axis, 1, "reflection_axis")
        text = "A Householder operator is always {}."
        is_self_adjoint = hints.settled(True, is_self_adjoint, text.format("self adjoint"), "is_self_adjoint")
        is_positive_definite = hints.settled(False, is_positive_definite, text.format("non-positive definite"),
                                             "is_positive_definite")
        is_square = hints.settled(True, is_square, text.format("square"), "is_square")
        super().__init__(self._reflection_axis.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name, parameters)

    @property
    def reflection_axis(self) -> Any:
        """The vectors as they were given."""
        return self._reflection_axis

    def _shape(self) -> Any:
        shape = self._reflection_axis.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        return parts.squared(raw.Shape(self._reflection_axis))

    def _axis(self) -> Any:
        return l2_normalize(convert_to_tensor(self._reflection_axis), axis=-1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = functions.adjoint(x) if adjoint_arg else x
        v = column(self._axis())
        return raw.Sub(x, raw.Mul(raw.Mul(2, v), matmul(v, x, adjoint_a=True)))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _linop_adjoint(self) -> Any:
        return self

    def _linop_inverse(self) -> Any:
        return self

    def _to_dense(self) -> Any:
        v = column(self._axis())
        matrix = raw.Mul(-2, matmul(v, v, adjoint_b=True))
        return set_diag(matrix, raw.AddV2(1, diag_part(matrix)))

    def _diag_part(self) -> Any:
        v = self._axis()
        return raw.Sub(1, raw.Mul(2, raw.Mul(v, conj(v))))

    def _trace(self) -> Any:
        n = self._columns()
        count = np.asarray(n - 2, self.dtype.np_dtype) if isinstance(n, int) else \
            raw.Cast(raw.Sub(n, 2), DstT=self.dtype)
        return raw.Fill(self._batch(), count)

    def _determinant(self) -> Any:
        return full(self._batch(), -1, self.dtype)

    def _log_abs_determinant(self) -> Any:
        return full(self._batch(), 0, self.dtype)

    def _eigvals(self) -> Any:
        n = self._columns()
        less = n - 1 if isinstance(n, int) else raw.Sub(n, 1)
        batch = self._batch()
        ones = full(join(batch, as_vector(less)), 1, self.dtype)
        return raw.ConcatV2([full(join(batch, [1]), -1, self.dtype), ones], -1)

    def _cond(self) -> Any:
        return full(self._batch(), 1, self.dtype)

    def _assert_non_singular(self) -> Any:
        return parts.nothing()

    _assert_self_adjoint = _assert_non_singular

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError(None, None, "Householder operators are always non-positive definite.\n"
                                   "  Fix: do not assert it")


class LinearOperatorPermutation(LinearOperator):
    """Permutations: row i of a product is row perm[i] of the matrix.

    Args:
      perm: (*B, n), integers; each row has all of 0, ..., n - 1.
      dtype: of the matrices.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
    Raises: ValueError if it is known not to be a permutation; TypeError if it is not of integers.

    >>> sess.run(tf.linalg.LinearOperatorPermutation([2, 0, 1]).matvec([10.0, 11.0, 12.0]))
    array([12., 10., 11.], dtype=float32)
    """

    _sliced = {"perm": 1}

    def __init__(self, perm: Any, dtype: Any = float32, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorPermutation"):
        parameters = given(locals())
        self._perm = kept(perm, "perm")
        _check_rank(self._perm, 1, "perm")
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {self._perm.dtype.name}.\n"
                            "  Fix: tf.cast(perm, tf.int32)")
        known = constant_value(self._perm)
        if known is not None and np.any(np.sort(known, -1) != np.arange(known.shape[-1])):
            raise hints.refuse("Argument `perm` must be a vector of unique integers from 0 to "
                               f"{known.shape[-1] - 1}.", "give each of them once")
        for what, value in (("is_non_singular", is_non_singular), ("is_square", is_square)):
            hints.settled(True, value, f"A Permutation operator is always {what[3:].replace('_', '-')}.", what)
        super().__init__(as_dtype(dtype), None, is_non_singular, is_self_adjoint, is_positive_definite, True, name,
                         parameters)

    @property
    def perm(self) -> Any:
        """The permutations."""
        return self._perm

    def _shape(self) -> Any:
        shape = self._perm.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        return parts.squared(raw.Shape(self._perm))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = functions.adjoint(x) if adjoint_arg else x
        perm = convert_to_tensor(self._perm)
        if adjoint and not self.is_self_adjoint:
            perm = self._inverse(perm)
        if perm._spec.shape is not None and len(perm._spec.shape) == 1:
            return raw.GatherV2(x, perm, -2)
        x, perm = parts.with_same_batch([x, column(perm)])
        own = parts.sizes(x)
        n, k = parts.one(own, -2), parts.one(own, -1)
        rows = raw.Reshape(perm, join([-1], as_vector(n)))
        y = raw.GatherV2(raw.Reshape(x, join([-1], as_vector(n, k))), rows, -2, batch_dims=1)
        return raw.Reshape(y, own)

    def _inverse(self, perm: Any) -> Any:
        """Returns the inverse permutation: the positions of the ones in the columns of the matrix."""
        ones = self._ones(perm)
        return raw.Cast(raw.ArgMax(raw.Cast(ones, DstT=float32), -2), DstT=perm.dtype)

    def _ones(self, perm: Any) -> Any:
        n = parts.one(parts.sizes(perm), -1)
        numbers = raw.Range(0, n, 1) if perm.dtype.name == "int32" else raw.Cast(raw.Range(0, n, 1), DstT=perm.dtype)
        return raw.Equal(numbers, column(perm))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Any:
        return raw.Cast(self._ones(convert_to_tensor(self._perm)), DstT=self.dtype)

    def _log_abs_determinant(self) -> Any:
        return full(self._batch(), 0, self.dtype)

    def _cond(self) -> Any:
        return full(self._batch(), 1, self.dtype)

    def _assert_non_singular(self) -> Any:
        return parts.nothing()


class LinearOperatorTridiag(LinearOperator):
    """Matrices of three diagonals.

    Args:
      diagonals: (*B, 3, n), above, on and below the main diagonal, of which the last element above and the first one
        below are not read; in other formats a sequence of three, or (*B, n, n).
      diagonals_format: "compact", "sequence" or "matrix".
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
    Raises: ValueError for another format.

    >>> a = tf.linalg.LinearOperatorTridiag([[5.0, 0.0], [1.0, 2.0], [0.0, 3.0]])
    >>> sess.run(a.matvec([1.0, 1.0]))
    array([6., 5.], dtype=float32)
    """

    def __init__(self, diagonals: Any, diagonals_format: Any = "compact", is_non_singular: Any = None,
                 is_self_adjoint: Any = None, is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorTridiag"):
        parameters = given(locals())
        if diagonals_format not in ("compact", "matrix", "sequence"):
            raise hints.refuse("Argument `diagonals_format` must be one of compact, matrix, or sequence. Received : "
                               f"{diagonals_format}.", "'compact'")
        if diagonals_format == "sequence":
            self._diagonals: Any = [kept(d, f"diag_{i}") for i, d in enumerate(diagonals)]
        else:
            self._diagonals = kept(diagonals, "diagonals")
        self._diagonals_format = diagonals_format
        dtype = self._diagonals[0].dtype if diagonals_format == "sequence" else self._diagonals.dtype
        super().__init__(dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name,
                         parameters)

    @property
    def diagonals(self) -> Any:
        """The diagonals as they were given."""
        return self._diagonals

    @property
    def diagonals_format(self) -> Any:
        """Their format."""
        return self._diagonals_format

    def _shape(self) -> Any:
        if self._diagonals_format == "matrix":
            return self._diagonals.shape
        if self._diagonals_format == "compact":
            shape = self._diagonals.shape
            return shape[:-2].concatenate(shape[-1:]).concatenate(shape[-1:])
        batch = parts.common(*(d.shape[:-1] for d in self._diagonals))
        n = self._diagonals[1].shape[-1:]
        return batch.concatenate(n).concatenate(n)

    def _shape_tensor(self) -> Any:
        return raw.Shape(self._to_dense())

    def _three(self, adjoint: bool = False) -> list[Any]:
        """Returns the diagonals above, on and below the main one, of one shape (*B, n); or those of the adjoint."""
        above, middle, below = banded._three(self._diagonals, self._diagonals_format, type(self).__name__)
        if self._diagonals_format == "sequence":
            above, middle, below = (parts.flat(d) for d in parts.with_same_batch([column(d) for d in
                                                                                   (above, middle, below)]))
        if adjoint:
            above, middle, below = (conj(d) for d in (banded._moved(below, 1), middle, banded._moved(above, -1)))
        return [above, middle, below]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = functions.adjoint(x) if adjoint_arg else x
        return banded.tridiagonal_matmul(raw.Pack(self._three(adjoint), axis=-2), x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = functions.adjoint(rhs) if adjoint_arg else rhs
        diagonals, rhs = parts.with_same_batch([raw.Pack(self._three(adjoint), axis=-2), rhs])
        return banded.tridiagonal_solve(diagonals, rhs)

    def _diag_part(self) -> Any:
        return self._three()[1]

    def _to_dense(self) -> Any:
        if self._diagonals_format == "matrix":
            return convert_to_tensor(self._diagonals)
        stacked = raw.Pack(self._three(), axis=-2)
        zero = np.zeros((), self.dtype.np_dtype)
        return raw.MatrixDiagV3(stacked, np.asarray([-1, 1], np.int32), -1, -1, zero, align="LEFT_RIGHT")

    def _assert_self_adjoint(self) -> Any:
        above, middle, _ = self._three()
        asserts = [parts.assert_real(middle, "This tridiagonal operator contained non-zero imaginary values on the "
                                     "diagonal.")]
        turned = self._three(adjoint=True)[0]
        asserts.append(assertions.assert_equal(_but_last(turned), _but_last(above),
                                           message="This tridiagonal operator has non-conjugate subdiagonal and "
                                           "superdiagonal."))
        return group(*(a for a in asserts if a is not None))

    def _of_slices(self, slices: tuple[Any, ...], rank: int) -> Any:
        changed = dict(self._parameters)
        if self._diagonals_format == "sequence":
            changed["diagonals"] = [parts.sliced(d, 1, rank, slices) for d in self._diagonals]
        else:
            changed["diagonals"] = parts.sliced(self._diagonals, 2, rank, slices)
        return LinearOperatorTridiag(**changed)


def _but_last(x: Any) -> Any:
    return x[..., :-1]


class LinearOperatorToeplitz(LinearOperator):
    """Matrices whose diagonals are constant, multiplied by Fourier transforms.

    Args:
      col: (*B, n), the first columns.
      row: (*B, n), the first rows, whose first element is not read.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
    Raises: ValueError for rows and columns of different length.

    >>> sess.run(tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]).to_dense())
    array([[1., 3.],
           [2., 1.]], dtype=float32)
    """

    _sliced = {"col": 1, "row": 1}

    def __init__(self, col: Any, row: Any, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorToeplitz"):
        parameters = given(locals())
        self._row, self._col = kept(row, "row"), kept(col, "col")
        _check_rank(self._row, 1, "row")
        _check_rank(self._col, 1, "col")
        sizes = [t.shape.as_list()[-1] for t in (self._row, self._col) if t.shape.rank is not None]
        if len({n for n in sizes if n is not None}) > 1:
            raise hints.refuse("Expected square matrix, got row and col with mismatched dimensions.",
                               "give a row and a column of the same length")
        is_square = hints.settled(True, is_square, "Only square Toeplitz operators currently supported.", "is_square")
        super().__init__(self._row.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                         name, parameters)

    @property
    def col(self) -> Any:
        """The first columns."""
        return self._col

    @property
    def row(self) -> Any:
        """The first rows."""
        return self._row

    def _shape(self) -> Any:
        shape = parts.common(self._row.shape, self._col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        return parts.squared(parts.common_sizes(parts.sizes(self._row), parts.sizes(self._col)))

    def _both(self) -> tuple[Any, Any]:
        """Returns columns and rows, of one batch."""
        col, row = parts.with_same_batch([column(self._col), column(self._row)])
        return parts.flat(col), parts.flat(row)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        from .circulant import LinearOperatorCirculant, spectrum_of

        x = functions.adjoint(x) if adjoint_arg else x
        col, row = self._both()
        around = raw.ConcatV2([col, raw.ZerosLike(col[..., :1]), raw.ReverseV2(row[..., 1:], [-1])], -1)
        circulant = LinearOperatorCirculant(spectrum_of(around), input_output_dtype=self.dtype)
        doubled = circulant.matmul(raw.ConcatV2([x, raw.ZerosLike(x)], -2), adjoint=adjoint)
        return doubled[..., : self._columns(), :]

    def _diag_part(self) -> Any:
        col, row = self._both()
        return raw.BroadcastTo(col[..., :1], parts.sizes(row))

    def _trace(self) -> Any:
        n = self._columns()
        count = np.asarray(n, self.dtype.np_dtype) if isinstance(n, int) else raw.Cast(n, DstT=self.dtype)
        return raw.Mul(count, self._both()[0][..., 0])

    def _to_dense(self) -> Any:
        col, row = self._both()
        elements = raw.ConcatV2([raw.ReverseV2(col, [-1]), row[..., 1:]], -1)
        n = self._columns()
        at = raw.AddV2(raw.Range(0, n, 1), column(raw.Sub(raw.Sub(n, 1), raw.Range(0, n, 1))))
        return raw.GatherV2(elements, at, -1)

    def _assert_self_adjoint(self) -> Any:
        message = "row and col are not the same, and so this operator is not self-adjoint."
        return assertions.assert_equal(self._row, self._col, message=message)
