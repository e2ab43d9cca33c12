"""Declares what a value solves, and so gives it its derivatives.

Whatever loop computed x: if f(x, c) = 0, then for an incoming gradient dx that of c is -(df/dc)^T l, where l solves
(df/dx)^T l = dx. Both Jacobians are built at x itself, which depends on c, from copies of f; so the result has the
right derivatives of any order, in reverse mode and (two sweeps) in forward mode. No gradient enters the loop.

A linear system A x = b is the case in which the Jacobian is known: l is another solution, of the transposed system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.gradients.derived.higher import jacobian
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.indexed_slices import dense

from . import krylov, traced
from .traced import Traced

DENSE_UP_TO = 1000  # unknowns for which Jacobians are matrices unless users say otherwise


class How(NamedTuple):
    """How linear systems in gradients are solved.

    Attributes:
      what: who asks, for errors.
      method: 'lu' for Jacobians as matrices; else one of `krylov.METHODS`.
      strict: 'error', 'warn' or 'nan'.
      tolerances: those of `krylov`.
    """

    what: str
    method: str
    strict: str
    tolerances: krylov.Tolerances


def solution_of(f: Traced, x: Tensor, others: Sequence[Any], how: How, name: str = "solution") -> Tensor:
    """Returns x, with the derivatives of a solution of f(x, *others) = 0."""
    return _declared(_SolutionRule(f, how), x, others, name)


def solve_dense(matrix: Any, column: Any, what: str, strict: str, adjoint: bool = False) -> Any:
    """Solves a system with one right side, a vector."""
    found, _ = raw.LinearSolve(matrix, raw.ExpandDims(column, -1), adjoint=adjoint, strict=strict, what=what)
    return raw.Squeeze(found, squeeze_dims=(-1,))


def solve_with(a: Traced, transposed: Traced, b: Tensor, others: Sequence[Any], how: How, start: Any = None,
               name: str = "solution") -> tuple[Tensor, Tensor, Tensor]:
    """Solves A x = b by one of the methods that need products with A only.

    Args:
      a: (x, *others) -> A x.
      transposed: (u, *others) -> A^T u.
      b: a vector.
      others: the tensors that A depends on.
      how: the method; its tolerances apply to b.
      start: where to start; zeros by default.
      name: the name of the operation that declares the solution.
    Returns: the solution, with its derivatives; the norm of the residual; the number of products with A.
    """
    still = traced.constants(others)
    x, residual, count = krylov.solve(how, lambda v: a(v, still), raw.StopGradient(b), start)
    return _declared(_LinearRule(a, transposed, how), x, [b, *others], name), residual, count


def _declared(rule: Any, x: Tensor, others: Sequence[Any], name: str) -> Tensor:
    results = raw.IdentityN([x, *others], name=name)
    results[0].op._gradient = rule
    found: Tensor = results[0]
    return found


def passed_on(checked: Tensor, x: Tensor) -> Tensor:
    """Returns a checked value with the derivatives of the one that it was made of."""
    found: list[Tensor] = raw.IdentityN([checked, x], name="solution")
    found[0].op._gradient = _second_input
    return found[0]


def _second_input(op: Operation, *dys: Any) -> list[Any]:
    return [None, dys[0]]


# By this name files know that an operation has a gradient which they do not hold; asking for it is an error there.
MARK = "ImplicitSolution"
_second_input.mark = MARK  # type: ignore[attr-defined]  # functions take any attribute


class _SolutionRule:
    """The gradient of an operation whose first output solves f(x, *c) = 0; its other inputs are c."""

    n_results = 1  # for explain_gradient
    mark = MARK

    def __init__(self, f: Traced, how: How):
        self._f, self._how = f, how

    def __call__(self, op: Operation, *dys: Any) -> list[Any]:
        how, dx, x, others = self._how, dense(dys[0]), op.outputs[0], op.inputs[1:]
        at, *places = traced.places_for([x, *others])
        value = self._f(at, places)
        if how.method == "lu":
            slope = jacobian(value, at)
            if slope is None:
                raise ValueError(f"{how.what}: the function does not depend on the unknown.\n  Built at {op.source}\n"
                                 "  Fix: give a function of its argument")
            weight = _dense_solution(self._f, x, others, dx, slope, how, True)
        else:
            # Products with J^T, and for the derivative of the solution those with J.
            pull = traced.pulled_back(self._f, x, others)
            push = traced.transposed(how.what, pull, dx, [x, *others])
            weight, _, _ = solve_with(pull, push, dx, [x, *others], how)
        return [None, *traced.parameter_gradients([value], places, [raw.Neg(weight)])]


def _dense_solution(f: Traced, x: Tensor, others: Sequence[Any], b: Tensor, slope: Any, how: How,
                    adjoint: bool) -> Tensor:
    """Solves J u = b, or J^T u = b, for the Jacobian of f at x, which is given as a matrix without derivatives.

    Those of u are another solution, and products: so no gradient enters the computation of the matrix, which has a row
    for each equation.
    """
    slope = raw.StopGradient(slope)
    u = solve_dense(slope, raw.StopGradient(b), f"the Jacobian of {how.what}", how.strict, adjoint)
    return _declared(_DenseRule(f, how, adjoint), u, [b, slope, x, *others], "linear_solution")


class _DenseRule:
    """The gradient of an operation whose first output is a `_dense_solution`."""

    n_results = 1
    mark = MARK

    def __init__(self, f: Traced, how: How, adjoint: bool):
        self._f, self._how, self._adjoint = f, how, adjoint

    def __call__(self, op: Operation, *dys: Any) -> list[Any]:
        u, (slope, x, *others) = op.outputs[0], op.inputs[2:]
        weight = _dense_solution(self._f, x, others, dense(dys[0]), slope, self._how, not self._adjoint)
        # Both products are one bilinear form, u^T J^T w or w^T J u.
        left, right = (u, weight) if self._adjoint else (weight, u)
        at, *places = traced.places_for([x, *others])
        product = traced.vector_jacobian(self._f(at, places), at, left)
        return [None, weight, None, *traced.parameter_gradients([product], [at, *places], [raw.Neg(right)])]


class _LinearRule:
    """The gradient of an operation whose first output solves A x = b; its other inputs are b and what A depends on."""

    n_results = 1
    mark = MARK

    def __init__(self, a: Traced, transposed: Traced, how: How):
        self._a, self._transposed, self._how = a, transposed, how

    def __call__(self, op: Operation, *dys: Any) -> list[Any]:
        x, others = op.outputs[0], op.inputs[2:]
        weight, _, _ = solve_with(self._transposed, self._a, dense(dys[0]), others, self._how)
        places = traced.places_for(others)
        return [None, weight, *traced.parameter_gradients([self._a(x, places)], places, [raw.Neg(weight)])]


def size_of(x: Tensor) -> Any:
    """Returns the number of elements of a vector, known or at run time."""
    shape = x._spec.shape
    return np.int32(shape[0]) if shape and shape[0] is not None else raw.Size(x)


def method_for(method: str | None, size: int | None) -> str:
    """Returns the method for the Jacobians of so many unknowns: 'lu' or 'gmres', unless users say."""
    if method is not None:
        return method
    return "lu" if size is None or size <= DENSE_UP_TO else "gmres"
