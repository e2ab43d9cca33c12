"""What functions of matrices do with linear operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.ir.values.dispatch import Api
from graphgrad.ops.linalg.linalg_functions import adjoint


def _matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
            adjoint_b: bool = False, *rest: Any, name: Any = None, **more: Any) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported for linear operators.\n  Fix: adjoint_a=True or adjoint_b=True")
    if hasattr(a, "_linop_matmul"):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, **_named(name))
    return adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, **_named(name)))


def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: Any = None) -> Any:
    if not hasattr(matrix, "_linop_matmul"):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.\n"
                         "  Fix: rhs.to_dense(), or matrix as a LinearOperatorFullMatrix")
    return matrix.solve(rhs, adjoint=adjoint, **_named(name))


def _inv(input: Any, adjoint: bool = False, name: Any = None) -> Any:
    inverse = input.inverse(**_named(name))
    return inverse.adjoint() if adjoint else inverse


def _method(of: str) -> Callable[..., Any]:
    def call(operator: Any, name: Any = None) -> Any:
        return getattr(operator, of)(**_named(name))

    return call


def _diag_part(input: Any, name: Any = "diag_part", k: Any = 0, padding_value: Any = 0, align: Any = None) -> Any:
    return input.diag_part(name=name)


def _named(name: Any) -> dict[str, Any]:
    return {"name": name} if name else {}


_BY_FUNCTION: dict[str, Callable[..., Any]] = {
    "matmul": _matmul, "solve": _solve, "inv": _inv, "adjoint": _method("adjoint"), "cholesky": _method("cholesky"),
    "det": _method("determinant"), "logdet": _method("log_abs_determinant"), "trace": _method("trace"),
    "matrix_diag_part": _diag_part,
}


def call(api: Api, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls what a function of matrices does with linear operators; NotImplemented if there is none."""
    own = _BY_FUNCTION.get(api.function.__name__)
    return NotImplemented if own is None else own(*args, **kwargs)
