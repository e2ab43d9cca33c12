"""Functions on linear operators and batches of matrices of TensorFlow's inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.extras.linear.multiples import LinearOperatorIdentity, LinearOperatorScaledIdentity
from graphgrad.extras.linear.simple import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw


def add_operators(operators: Sequence[Any], operator_name: str | None = None, addition_tiers: Any = None,
                  name: str | None = None) -> list[Any]:
    """Adds linear operators.

    Args:
      operators: the operators.
      operator_name: the name of the sum.
      addition_tiers: accepted.
      name: accepted.
    Returns: a list of one operator: a diagonal or triangular one if all are, else one of dense matrices.
    """
    if len(operators) == 1:
        return list(operators)
    diagonal = (LinearOperatorDiag, LinearOperatorScaledIdentity, LinearOperatorIdentity)
    if all(isinstance(o, diagonal) for o in operators):
        return [LinearOperatorDiag(_sum([o.diag_part() for o in operators]), name=operator_name or "Sum")]
    triangular = all(isinstance(o, (*diagonal, LinearOperatorLowerTriangular)) for o in operators)
    kind: Any = LinearOperatorLowerTriangular if triangular else LinearOperatorFullMatrix
    return [kind(_sum([o.to_dense() for o in operators]), name=operator_name or "Sum")]


def _sum(terms: Sequence[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = raw.AddV2(total, term)
    return total


def matrix_triangular_solve_with_broadcast(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False,
                                           name: str | None = None) -> Any:
    """Solves triangular systems; batch dimensions broadcast.

    Args:
      matrix: (*B, n, n).
      rhs: (*C, n, k).
      lower: whether `matrix` is lower triangular.
      adjoint: whether to solve with the adjoint.
      name: a name for the operation.
    """
    matrix = convert_to_tensor(matrix)
    return raw.MatrixTriangularSolve(matrix, convert_to_tensor(rhs, matrix.dtype), lower=lower, adjoint=adjoint,
                                     name=name)
