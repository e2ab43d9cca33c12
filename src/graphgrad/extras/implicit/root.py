"""`implicit.root`, and what solvers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.structure.structure_types import OneTensor, TensorsT
from graphgrad.gradients.derived.higher import jacobian
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ops.linalg.solutions import CONVERGED, MULTIPLE, NOT_FINITE, RUNNING, SINGULAR, STUCK

from . import krylov, traced
from .calling import Info, checked, function_given, staged
from .solution import How, method_for, solution_of
from .traced import Traced
from .vectors import Layout

_ROOT = "tf.implicit.root"
_STRICT = ("error", "warn", "nan")
_HALVINGS = 30
_SLOW = 6  # steps in a row that shrink by a constant factor


@overload
def root(f: Callable[[Any], Any], start: OneTensor, linear_solver: str | None = None, rtol: float | None = None,
         atol: float = 0.0, max_iterations: int = 100, strict: str = "error", with_info: Literal[False] = False,
         name: str | None = None) -> AnyTensor: ...
@overload
def root(f: Callable[[Any], Any], start: TensorsT, linear_solver: str | None = None, rtol: float | None = None,
         atol: float = 0.0, max_iterations: int = 100, strict: str = "error", with_info: Literal[False] = False,
         name: str | None = None) -> TensorsT: ...
@overload
def root(f: Callable[[Any], Any], start: Any, linear_solver: str | None = None, rtol: float | None = None,
         atol: float = 0.0, max_iterations: int = 100, strict: str = "error", with_info: bool = False,
         name: str | None = None) -> Any: ...
def root(f: Callable[[Any], Any], start: Any, linear_solver: str | None = None, rtol: float | None = None,
         atol: float = 0.0, max_iterations: int = 100, strict: str = "error", with_info: bool = False,
         name: str | None = None) -> Any:
    """Solves f(x) = 0 by Newton's method; x has derivatives of any order with respect to what f closes over.

    Each step is halved until it reduces the norm of f. Derivatives follow from the implicit function theorem, at the
    solution, so neither the steps nor `start` matter to them.

    Args:
      f: takes a tensor or a structure of tensors like `start`, and returns as many equations, of the same shapes. It
        may use tensors and variables from outside, which get gradients. It is traced once.
      start: where to start, a tensor or a structure of tensors of one dtype, float32 or float64.
      linear_solver: 'lu' (the default up to 1,000 unknowns) builds the Jacobian; 'gmres' (the default beyond),
        'bicgstab' and 'cg' (if the Jacobian is symmetric and positive definite) need products with it only.
      rtol, atol: it stops when a step is below rtol times the size of x, plus atol (largest elements count). By
        default rtol is 4e-11 in float64 and 2e-5 in float32: a step of this size leaves the error of rounding.
      max_iterations: the largest number of steps.
      strict: what happens if no solution is found: 'error', 'warn' (a RuntimeWarning) or 'nan'.
      with_info: whether to return a pair with `iterations` and `residual` (the largest element of f), too.
      name: a name scope.
    Returns: the structure of `start`; with `with_info`, the pair (x, info).
    Raises: InvalidArgumentError at run time, with residual and remedy, if the iteration does not converge, or, in
      gradients, if the Jacobian is singular at the solution; ValueError if f returns other shapes, has effects or draws
      random numbers.
    Gradient: of any order, in reverse and forward mode; none with respect to `start`.
    Reference: scipy.optimize.root; Griewank and Walther, "Evaluating Derivatives" (2008), chapter 15.

    >>> a = tf.constant(2.0)
    >>> x = tf.implicit.root(lambda x: x * x - a, tf.constant(1.0))
    >>> (slope,) = tf.gradients(x, a)
    >>> sess.run([x, slope, tf.gradients(slope, a)[0]])
    [np.float32(1.4142135), np.float32(0.35355338), np.float32(-0.088388346)]
    """
    function_given(_ROOT, f)
    checked(_ROOT, linear_solver=(linear_solver, (None, "lu", *krylov.METHODS)), strict=(strict, _STRICT))

    def build(scope: str) -> Any:
        layout = Layout(_ROOT, "start", start)
        first = raw.StopGradient(layout.vector())
        body, others = traced.trace(_ROOT, lambda v: layout.vector_of("f", f(layout.structure(v))), first, f"{scope}/f")
        how = How(f"{_ROOT} '{scope}'", method_for(linear_solver, layout.size), strict, krylov.Tolerances())
        x, info = newton(body, others, first, how, rtol, atol, max_iterations)
        found = layout.structure(solution_of(body, x, others, how))
        return (found, info) if with_info else found

    return staged(name, "root", build)


def newton(f: Traced, others: list[Any], start: Tensor, how: How, rtol: float | None, atol: float,
           max_iterations: int) -> tuple[Tensor, Info]:
    """Solves f(x, *others) = 0; returns x, without derivatives but checked, and how it went."""
    dtype, others = start.dtype.np_dtype, traced.constants(others)
    rtol = float(np.finfo(dtype).eps) ** (2 / 3) if rtol is None else rtol
    inner = how._replace(strict="nan", what=f"{how.what}: a step")

    def value(x: Tensor) -> Tensor:
        return f(x, others)

    def going_on(k: Any, x: Any, size: Any, last: Any, slow: Any, status: Any) -> Any:
        return raw.LogicalAnd(raw.Equal(status, RUNNING), raw.Less(k, max_iterations))

    def iterate(k: Any, x: Any, size: Any, last: Any, slow: Any, status: Any) -> Any:
        step, lost = _step(f, x, others, how, inner)
        length = largest(step)
        good = raw.IsFinite(length)
        step = raw.SelectV2(good, step, raw.ZerosLike(step))
        # Rounding in f keeps steps from getting smaller than the condition number allows.
        relative = raw.Maximum(np.asarray(rtol, dtype), raw.Mul(np.asarray(4, dtype), lost))
        small = raw.LessEqual(length, raw.AddV2(raw.Mul(relative, largest(x)), np.asarray(atol, dtype)))
        t, after, stuck = _shortened(value, x, step, size, small)
        x = raw.SelectV2(stuck, x, raw.AddV2(x, raw.Mul(t, step)))
        slow = too_slow(slow, length, last, t)
        done = choose(raw.Less(slow, _SLOW), CONVERGED, MULTIPLE)
        status = choose(raw.LogicalOr(small, raw.Equal(after, np.asarray(0, dtype))), done, RUNNING)
        status = choose(raw.IsFinite(after), status, NOT_FINITE)
        status = choose(stuck, STUCK, status)
        return k + 1, x, after, length, slow, choose(good, status, SINGULAR)

    size = norm(value(start))
    status = choose(raw.Equal(size, np.asarray(0, dtype)), CONVERGED, RUNNING)
    status = choose(raw.IsFinite(size), status, NOT_FINITE)
    zero = raw.Identity(np.int32(0))
    k, x, *_, status = while_loop(going_on, iterate, (zero, start, size, raw.ZerosLike(size), zero, status))
    return checked_result(x, largest(value(x)), k, status, how, "start elsewhere, or raise max_iterations; if the "
                          "solution is zero, give atol, the size of a step that is small enough")


def too_slow(slow: Tensor, length: Tensor, last: Tensor, t: Tensor) -> Any:
    """Returns how many whole steps in a row shrank by a constant factor: by 1/2 towards a double solution.

    Args:
      slow: how many before this step.
      length, last: the size of this step and of the one before.
      t: the share of it that is taken.
    """
    rate = raw.DivNoNan(length, last)
    low, high, one = (np.asarray(v, t.dtype.np_dtype) for v in (0.3, 0.95, 1))
    steady = raw.LogicalAnd(raw.Greater(rate, low), raw.Less(rate, high))
    return choose(raw.LogicalAnd(steady, raw.Equal(t, one)), raw.AddV2(slow, 1), 0)


def _step(f: Traced, x: Tensor, others: list[Any], how: How, inner: How) -> tuple[Tensor, Tensor]:
    """Returns Newton's step, and the relative error that rounding may have caused in it, as far as it is known."""
    at = raw.Identity(x)
    y = f(at, others)
    right = raw.Neg(y)
    if how.method == "lu":
        slope = jacobian(y, at)
        if slope is None:
            raise ValueError(f"{how.what}: the function does not depend on the unknown.\n"
                             "  Fix: give a function of its argument")
        column, lost = raw.LinearSolve(slope, raw.ExpandDims(right, -1), strict="nan", what=inner.what)
        return raw.Squeeze(column, squeeze_dims=(-1,)), raw.Cast(lost, DstT=x.dtype)
    pull = traced.pulled_back(f, x, others)
    push = traced.transposed(how.what, pull, x, [x, *others])
    step, _, _ = krylov.solve(inner, lambda v: push(v, [x, *others]), right)
    return step, np.asarray(0, x.dtype.np_dtype)  # type: ignore[return-value]  # a constant does


def _shortened(value: Callable[[Tensor], Tensor], x: Tensor, step: Tensor, size: Tensor,
               small: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Halves a step until the norm of f, which was `size`, is smaller.

    Returns: the factor; the new norm; whether no factor is small enough.
    """
    dtype = x.dtype.np_dtype
    least = np.asarray(0.5**_HALVINGS, dtype)

    def too_long(t: Any, after: Any) -> Any:
        allowed = raw.Mul(size, raw.Sub(np.asarray(1, dtype), raw.Mul(np.asarray(1e-4, dtype), t)))
        enough = raw.LogicalOr(raw.LessEqual(after, allowed), small)  # comparisons with NaN are false
        return raw.LogicalAnd(raw.LogicalNot(enough), raw.Greater(t, least))

    def halve(t: Any, after: Any) -> Any:
        t = raw.Mul(t, np.asarray(0.5, dtype))
        return t, norm(value(raw.AddV2(x, raw.Mul(t, step))))

    whole = raw.Identity(np.asarray(1, dtype))
    t, after = while_loop(too_long, halve, (whole, norm(value(raw.AddV2(x, step)))))
    return t, after, raw.LessEqual(t, least)


def checked_result(x: Tensor, residual: Tensor, k: Tensor, status: Tensor, how: How, advice: str,
                   bound: Any = None) -> tuple[Tensor, Info]:
    """Returns the result of an iteration, checked as `how.strict` says, and how it went."""
    most = np.asarray(np.inf if bound is None else bound, x.dtype.np_dtype)
    found = raw.Converged(x, residual, most, k, status, what=how.what, advice=advice, strict=how.strict)
    return found, Info(k, raw.StopGradient(residual))


def largest(x: Tensor) -> Any:
    """Returns the largest magnitude in a vector; 0 if it is empty."""
    return raw.Max(raw.ConcatV2([raw.Abs(x), np.zeros(1, x.dtype.np_dtype)], np.int32(0)), np.array([0], np.int32))


def norm(x: Tensor) -> Any:
    """Returns the Euclidean norm of a vector."""
    return raw.Sqrt(raw.Sum(raw.Square(x), np.array([0], np.int32)))


def choose(condition: Any, one: Any, other: Any) -> Any:
    """Returns one of two integers."""
    one, other = (np.int32(v) if isinstance(v, int) else v for v in (one, other))
    return raw.SelectV2(condition, one, other)


__all__ = ["root"]
