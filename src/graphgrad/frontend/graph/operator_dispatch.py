"""Dispatches matrix functions to linear operators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from graphgrad.ops.linalg import diag_functions, linalg_functions
from graphgrad.ops.linalg import matmul as products

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _takes_operators(function: _Function, instead: Callable[..., Any]) -> _Function:
    """Calls `function`, or `instead` if an operand is a linear operator."""

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            if not any(hasattr(a, "_linop_matmul") for a in (*args, *kwargs.values())):
                raise
        return instead(*args, **kwargs)

    return either  # type: ignore[return-value]  # called as `function` is


def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
            adjoint_b: bool = False, *rest: Any, name: Any = None, **more: Any) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported for linear operators.\n  Fix: adjoint_a=True or adjoint_b=True")
    named = {"name": name} if name else {}
    if hasattr(a, "_linop_matmul"):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, **named)
    return linalg_functions.adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, **named))


def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: Any = None) -> Any:
    if not hasattr(matrix, "_linop_matmul"):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.\n"
                         "  Fix: rhs.to_dense(), or matrix as a LinearOperatorFullMatrix")
    return matrix.solve(rhs, adjoint=adjoint, **({"name": name} if name else {}))


def _inv(input: Any, adjoint: bool = False, name: Any = None) -> Any:
    inverse = input.inverse(**({"name": name} if name else {}))
    return inverse.adjoint() if adjoint else inverse


def _method(of: str) -> Callable[..., Any]:
    def call(operator: Any, name: Any = None) -> Any:
        return getattr(operator, of)(**({"name": name} if name else {}))

    return call


def _diag_part(input: Any, name: Any = "diag_part", k: Any = 0, padding_value: Any = 0, align: Any = None) -> Any:
    return input.diag_part(name=name)


matmul = _takes_operators(products.matmul, _matmul)
solve = _takes_operators(linalg_functions.solve, _solve)
inv = _takes_operators(linalg_functions.inv, _inv)
adjoint = _takes_operators(linalg_functions.adjoint, _method("adjoint"))
cholesky = _takes_operators(linalg_functions.cholesky, _method("cholesky"))
det = _takes_operators(linalg_functions.det, _method("determinant"))
logdet = _takes_operators(linalg_functions.logdet, _method("log_abs_determinant"))
trace = _takes_operators(linalg_functions.trace, _method("trace"))
matrix_diag_part = _takes_operators(diag_functions.matrix_diag_part, _diag_part)

__all__ = ["adjoint", "cholesky", "det", "inv", "logdet", "matmul", "matrix_diag_part", "solve", "trace"]
