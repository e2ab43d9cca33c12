"""`implicit.fixed_point`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.structure.structure_types import OneTensor, TensorsT
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ops.linalg.solutions import CONVERGED, NOT_FINITE, RUNNING

from . import krylov, traced
from .calling import Info, checked, function_given, staged
from .root import checked_result, choose, largest
from .solution import How, method_for, solution_of
from .traced import Traced
from .vectors import Layout

_FIXED = "tf.implicit.fixed_point"


@overload
def fixed_point(f: Callable[[Any], Any], start: OneTensor, linear_solver: str | None = None, rtol: float | None = None,
                atol: float = 0.0, max_iterations: int = 1000, strict: str = "error", with_info: Literal[False] = False,
                anderson: int = 0, name: str | None = None) -> AnyTensor: ...
@overload
def fixed_point(f: Callable[[Any], Any], start: TensorsT, linear_solver: str | None = None, rtol: float | None = None,
                atol: float = 0.0, max_iterations: int = 1000, strict: str = "error", with_info: Literal[False] = False,
                anderson: int = 0, name: str | None = None) -> TensorsT: ...
@overload
def fixed_point(f: Callable[[Any], Any], start: Any, linear_solver: str | None = None, rtol: float | None = None,
                atol: float = 0.0, max_iterations: int = 1000, strict: str = "error", with_info: bool = False,
                anderson: int = 0, name: str | None = None) -> Any: ...
def fixed_point(f: Callable[[Any], Any], start: Any, linear_solver: str | None = None, rtol: float | None = None,
                atol: float = 0.0, max_iterations: int = 1000, strict: str = "error", with_info: bool = False,
                anderson: int = 0, name: str | None = None) -> Any:
    """Solves f(x) = x by repeating x <- f(x); x has derivatives of any order with respect to what f closes over.

    Args:
      f: as for `root`; it must be a contraction near the solution, unless `anderson` is given. Where it is none,
        `root(lambda x: f(x) - x, start)` finds a solution.
      start: as for `root`.
      linear_solver: for gradients, as for `root`.
      rtol, atol: it stops when a step is below rtol times the size of x, plus atol, or when rounding keeps steps from
        getting smaller. By default rtol is 1e-15 in float64 and 5e-7 in float32.
      max_iterations: the largest number of steps.
      strict, with_info: as for `root`; the residual is the largest element of f(x) - x.
      anderson: how many steps back Anderson's acceleration looks, 0 for none. The next x is a combination of what f
        made of the last ones, such that what is lacking is least. A slow contraction takes far fewer steps, at the cost
        of memory for twice as many x.
      name: a name scope.
    Returns: as `root`.
    Raises: as `root`.
    Gradient: of any order, in reverse and forward mode; none with respect to `start`.
    Reference: Christianson, "Reverse accumulation and attractive fixed points" (1994); Walker and Ni, "Anderson
      acceleration for fixed-point iterations" (2011).

    >>> a = tf.constant(0.5)
    >>> x = tf.implicit.fixed_point(lambda x: a * tf.cos(x), tf.constant(0.0))
    >>> np.round(sess.run([x, tf.gradients(x, a)[0]]), 5)
    array([0.45018, 0.73948], dtype=float32)
    """
    function_given(_FIXED, f)
    checked(_FIXED, linear_solver=(linear_solver, (None, "lu", *krylov.METHODS)),
            strict=(strict, ("error", "warn", "nan")))
    if not isinstance(anderson, int) or anderson < 0:
        raise ValueError(f"{_FIXED}: anderson={anderson!r}.\n  Called at {user_source(2)}\n"
                         "  Fix: give the number of steps to look back, e.g. 5, or 0")

    def build(scope: str) -> Any:
        layout = Layout(_FIXED, "start", start)
        first = raw.StopGradient(layout.vector())

        def lack(v: Any) -> Any:
            return raw.Sub(layout.vector_of("f", f(layout.structure(v))), v)

        body, others = traced.trace(_FIXED, lack, first, f"{scope}/f")
        how = How(f"{_FIXED} '{scope}'", method_for(linear_solver, layout.size), strict, krylov.Tolerances())
        x, info = _repeated(body, others, first, how, (rtol, atol, max_iterations), anderson)
        found = layout.structure(solution_of(body, x, others, how))
        return (found, info) if with_info else found

    return staged(name, "fixed_point", build)


def _repeated(lack: Traced, others: list[Any], start: Tensor, how: How, limits: tuple[float | None, float, int],
              memory: int) -> tuple[Tensor, Info]:
    """Repeats x <- x + lack(x), or with a memory what `_combined` makes of it; returns x, checked, and how it went."""
    rtol, atol, max_iterations = limits
    dtype, others = start.dtype.np_dtype, traced.constants(others)
    eps = float(np.finfo(dtype).eps)
    rtol = 4 * eps if rtol is None else rtol

    def bound(x: Tensor, relative: float) -> Any:
        return raw.AddV2(raw.Mul(np.asarray(relative, dtype), largest(x)), np.asarray(atol, dtype))

    def going_on(k: Any, x: Any, step: Any, size: Any, status: Any, *past: Any) -> Any:
        return raw.LogicalAnd(raw.Equal(status, RUNNING), raw.Less(k, max_iterations))

    def iterate(k: Any, x: Any, step: Any, size: Any, status: Any, *past: Any) -> Any:
        move = _combined(step, *past) if past else step
        x = raw.AddV2(x, move)
        before, step = step, lack(x, others)
        after = largest(step)
        # A slow contraction is still far away when its steps are small; rounding ends it at steps of a few units.
        rate = raw.DivNoNan(after, size)
        left = after if past else raw.Mul(after, raw.Maximum(
            raw.DivNoNan(rate, raw.Sub(np.asarray(1, dtype), rate)), np.asarray(1, dtype)))
        near = raw.LogicalAnd(raw.Less(rate, np.asarray(1, dtype)), raw.LessEqual(left, bound(x, rtol)))
        ended = raw.LogicalAnd(raw.GreaterEqual(rate, np.asarray(1, dtype)), raw.LessEqual(after, bound(x, 32 * eps)))
        done = raw.LogicalOr(raw.LogicalOr(near, ended), raw.Equal(after, np.asarray(0, dtype)))
        status = choose(raw.IsFinite(after), choose(done, CONVERGED, RUNNING), NOT_FINITE)
        if past:
            place = raw.Reshape(raw.FloorMod(k, np.int32(memory)), np.array([1, 1], np.int32))
            past = tuple(raw.TensorScatterUpdate(old, place, raw.ExpandDims(new, 0))
                         for old, new in zip(past, (move, raw.Sub(step, before)), strict=True))
        return k + 1, x, step, after, status, *past

    step = lack(start, others)
    size = largest(step)
    status = choose(raw.Equal(size, np.asarray(0, dtype)), CONVERGED, RUNNING)
    status = choose(raw.IsFinite(size), status, NOT_FINITE)
    none = raw.Mul(np.zeros((memory, 1), dtype), raw.ExpandDims(raw.ZerosLike(start), 0))
    start_at = (raw.Identity(np.int32(0)), start, step, size, status, *((none, none) if memory else ()))
    k, x, _, size, status, *_ = while_loop(going_on, iterate, start_at)
    return checked_result(x, size, k, status, how, "raise max_iterations if it approaches a solution slowly, "
                          + ("" if memory else "give anderson=5, ") + "or use "
                          "tf.implicit.root(lambda x: f(x) - x, start); if the solution is zero, give atol")


def _combined(step: Tensor, moves: Tensor, changes: Tensor) -> Tensor:
    """Returns the next move: after that combination of the last ones which leaves least of `step`.

    Args:
      step: what is lacking, (n).
      moves: (m, n), by how much x was changed; zeros where there was nothing yet.
      changes: (m, n), by how much what is lacking changed by that.
    """
    dtype = step.dtype.np_dtype
    # The weights are those of least squares, of changes scaled to length 1, with a ridge for those that are dependent.
    length = raw.Sqrt(raw.Sum(raw.Square(changes), np.array([1], np.int32), keep_dims=True))
    scale = raw.DivNoNan(raw.OnesLike(length), length)
    scaled = raw.Mul(changes, scale)
    column = raw.ExpandDims(step, 1)
    ridge = (np.finfo(dtype).eps ** 0.75 * np.eye(changes.shape[0])).astype(dtype)
    # What has no change yet has a zero row: it gets weight 0.
    gram = raw.AddV2(raw.MatMul(scaled, scaled, transpose_b=True), ridge)
    weights, _ = raw.LinearSolve(gram, raw.MatMul(scaled, column), strict="nan", what="the weights")
    weights = raw.Mul(raw.SelectV2(raw.IsFinite(weights), weights, raw.ZerosLike(weights)), scale)
    past = raw.MatMul(raw.AddV2(moves, changes), weights, transpose_a=True)
    found: Tensor = raw.Sub(step, raw.Squeeze(past, squeeze_dims=(1,)))
    return found


__all__ = ["fixed_point"]
