"""Low-rank updates of linear operators."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.shape_values import join
from graphgrad.ops.linalg import linalg_functions as functions
from graphgrad.ops.linalg.decompositions import diag_part
from graphgrad.ops.linalg.matmul import matmul

from . import hints, parts
from .multiples import LinearOperatorIdentity
from .operator import LinearOperator
from .parts import cast, given, kept, magnitude, with_same_batch
from .simple import LinearOperatorDiag


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H for an operator L and narrow U and V, solved by Woodbury's formula through matrices of their width.

    Args:
      base_operator: L, (*B, m, n).
      u: (*B, m, k).
      diag_update: (*B, k), the diagonal of D; ones by default.
      v: (*B, n, k); u by default.
      is_diag_update_positive: whether the diagonal of D is real and positive.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: known properties, or None.
      name: a name for the scopes of operations.
    Raises: ValueError for hints that contradict what follows from the parts, or incompatible sizes.

    >>> a = tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorIdentity(2), [[1.0], [2.0]])
    >>> sess.run(a.determinant()).round(4)
    np.float32(6.0)
    """

    _sliced = {"base_operator": 0, "u": 2, "diag_update": 1, "v": 2}

    def __init__(self, base_operator: Any, u: Any, diag_update: Any = None, v: Any = None,
                 is_diag_update_positive: Any = None, is_non_singular: Any = None, is_self_adjoint: Any = None,
                 is_positive_definite: Any = None, is_square: Any = None,
                 name: Any = "LinearOperatorLowRankUpdate"):
        parameters = given(locals())
        base = self._base_operator = base_operator
        if diag_update is None:
            is_diag_update_positive = hints.settled(
                True, is_diag_update_positive, "Default diagonal is the identity, which is positive.  However, user "
                "set 'is_diag_update_positive' to False.", "is_diag_update_positive")
        symmetric = v is None and base.is_self_adjoint and not base.dtype.is_complex
        is_self_adjoint = hints.implied(bool(symmetric), is_self_adjoint,
                                        "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is "
                                        "self-adjoint, this must be a self-adjoint operator.",
                                        "is_self_adjoint")
        self._use_cholesky = bool(base.is_positive_definite and base.is_self_adjoint and is_diag_update_positive
                                  and v is None)
        text = "Arguments imply this is self-adjoint positive-definite operator."
        is_positive_definite, is_self_adjoint, is_non_singular = (
            hints.implied(self._use_cholesky, value, text, what) for value, what in (
                (is_positive_definite, "is_positive_definite"), (is_self_adjoint, "is_self_adjoint"),
                (is_non_singular, "is_non_singular")))
        self._is_diag_update_positive = is_diag_update_positive
        self._u = kept(u, "u", base.dtype)
        self._v = self._u if v is None else kept(v, "v", base.dtype)
        for what, matrix in (("u", self._u), ("v", self._v)):
            if matrix.shape.rank in (0, 1):
                raise ValueError(f"{what} must be a matrix or a batch of them, not of shape {matrix.shape}. "
                                 "Fix: give (..., rows, columns)")
        self._diag_update = None if diag_update is None else kept(diag_update, "diag_update", base.dtype)
        super().__init__(base.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name,
                         parameters)
        if diag_update is None:
            self._diag_operator: Any = LinearOperatorIdentity(parts.one(parts.sizes(self._u), -1), dtype=self.dtype)
        else:
            self._diag_operator = LinearOperatorDiag(self._diag_update, is_positive_definite=is_diag_update_positive)
        self._check()

    def _check(self) -> None:
        if self._base_operator.shape.rank is not None and self._v.shape.rank is not None:
            for factor in (self._u, self._v):
                if factor.shape.rank is not None and factor.shape.rank < 2:
                    raise ValueError(f"A factor of a low-rank update must be a matrix, not of shape {factor.shape}. "
                                     "Fix: add an axis")
            self._base_operator.domain_dimension.assert_is_compatible_with(self._v.shape.as_list()[-2])
        if self._u.shape.rank is not None:
            self._diag_operator.domain_dimension.assert_is_compatible_with(self._u.shape.as_list()[-1])
        self._shape()

    @property
    def u(self) -> Any:
        """U."""
        return self._u

    @property
    def v(self) -> Any:
        """V, which is U if none was given."""
        return self._v

    @property
    def is_diag_update_positive(self) -> Any:
        """Whether D is real and positive; None if that is not known."""
        return self._is_diag_update_positive

    @property
    def diag_update(self) -> Any:
        """The diagonal of D; None for ones."""
        return self._diag_update

    @property
    def diag_operator(self) -> Any:
        """D."""
        return self._diag_operator

    @property
    def base_operator(self) -> Any:
        """L."""
        return self._base_operator

    def _shape(self) -> Any:
        batch = parts.common(self._base_operator.batch_shape, self._diag_operator.batch_shape, self._u.shape[:-2],
                             self._v.shape[:-2])
        return batch.concatenate(self._base_operator.shape[-2:])

    def _shape_tensor(self) -> Any:
        batches = [parts.without_matrix(parts.sizes(t)) for t in (self._u, self._v)]
        batch = parts.common_sizes(self._base_operator._batch(), self._diag_operator._batch(), *batches)
        return join(batch, parts.of_matrix(self._base_operator._sizes()))

    def _sides(self, adjoint: bool = False) -> tuple[Any, Any]:
        u, v = convert_to_tensor(self._u), convert_to_tensor(self._v)
        return (v, u) if adjoint else (u, v)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        u, v = self._sides(adjoint)
        inner = matmul(v, x, adjoint_a=True, adjoint_b=adjoint_arg)
        update = matmul(u, self._diag_operator.matmul(inner, adjoint=adjoint))
        return raw.AddV2(self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg), update)

    def _to_dense(self) -> Any:
        u, v = self._sides()
        scaled = u if self._diag_update is None else raw.Mul(u, raw.ExpandDims(self._diag_update, -2))
        return raw.AddV2(self._base_operator.to_dense(), matmul(scaled, v, adjoint_b=True))

    def _diag_part(self) -> Any:
        u, v = self._sides()
        pairs = raw.Mul(u, conj(v))
        if self._diag_update is not None:
            pairs = raw.Mul(pairs, raw.ExpandDims(self._diag_update, -2))
        return raw.AddV2(parts.total(pairs), self._base_operator.diag_part())

    def _capacitance(self) -> Any:
        """Computes D^-1 + V^H L^-1 U."""
        u, v = self._sides()
        inner = matmul(v, self._base_operator.solve(u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)

    def _determinant(self) -> Any:
        if self.is_positive_definite:
            return raw.Exp(self.log_abs_determinant())
        det = raw.Mul(raw.MatrixDeterminant(self._capacitance()), self._diag_operator.determinant())
        return raw.Mul(det, self._base_operator.determinant())

    def _log_abs_determinant(self) -> Any:
        capacitance = self._capacitance()
        if self._use_cholesky:
            own = raw.Mul(2, parts.total(raw.Log(diag_part(raw.Cholesky(capacitance)))))
        else:
            own = cast(raw.Log(magnitude(raw.MatrixDeterminant(capacitance))), self.dtype)
        others = (self._diag_operator.log_abs_determinant(), self._base_operator.log_abs_determinant())
        for other in others:
            own = raw.AddV2(own, cast(other, self.dtype))
        return own

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        base = self._base_operator
        if base.is_non_singular is False:
            raise ValueError("Solve not implemented unless this is a perturbation of a non-singular LinearOperator.\n"
                             "  Fix: solve with to_dense()")
        u, v = self._sides(adjoint)
        first = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner, capacitance = with_same_batch([matmul(v, first, adjoint_a=True), self._capacitance()])
        if self._use_cholesky:
            inner = functions.cholesky_solve(raw.Cholesky(capacitance), inner)
        else:
            inner = raw.MatrixSolve(capacitance, inner, adjoint=bool(adjoint))
        return raw.Sub(first, base.solve(matmul(u, inner), adjoint=adjoint))

    def _assert_self_adjoint(self) -> Any:
        if self._u is self._v and self._diag_update is None:
            return self._base_operator.assert_self_adjoint()
        return super()._assert_self_adjoint()
