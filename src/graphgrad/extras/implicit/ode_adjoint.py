"""Derivatives of trajectories by the continuous adjoint, which keeps nothing of the steps.

Between two times, what the result depends on y by, a, follows da/dt = -(df/dy)^T a, and what it depends on a parameter
c by grows by -(df/dc)^T a. Both are integrated backwards together with y, by the same method: as one more trajectory,
which has derivatives by the same rule.

Reference: Pontryagin; Chen et al., "Neural Ordinary Differential Equations" (2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.control_flow.vectorized_map import vectorized_map
from graphgrad.gradients.core.backprop import gradients_inside
from graphgrad.gradients.core.rules import carries_gradient
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.indexed_slices import dense
from graphgrad.ops.linalg.solutions import CONVERGED, NOT_BACK

from . import traced
from .calling import Info
from .ode_loops import Control, find_steps
from .ode_steps import Equation, Method
from .root import choose, largest
from .solution import MARK, How, passed_on
from .traced import Traced

_DRIFT = 1e3  # tolerances by which y may miss the values that it started from; without tolerances, a hundredth


def trajectory(body: Traced, others: Sequence[Any], first: Tensor, times: Tensor, method: Method, control: Control,
               how: How) -> tuple[Tensor, Info]:
    """Returns y at some times as rows, with derivatives by the adjoint, and how it went."""
    still = traced.constants(others)
    e = Equation(lambda y, t: body(y, [t, *still]), how, control.atol)
    path, _, _, info = find_steps(e, method, first, times, control, how)
    results = raw.IdentityN([path.rows, first, times, *others], name="solution")
    results[0].op._gradient = _AdjointRule(body, method, control, how)
    return results[0], info


class _AdjointRule:
    """The gradient of an operation whose first output is a trajectory; its other inputs are y0, times, what f uses."""

    n_results = 1  # for explain_gradient
    mark = MARK

    def __init__(self, body: Traced, method: Method, control: Control, how: How):
        self._body, self._method, self._control = body, method, control
        self._how = how._replace(what=f"{how.what}: the adjoint")

    def __call__(self, op: Operation, *dys: Any) -> list[Any]:
        rows, first, times, *others = op.outputs[0], *op.inputs[1:]
        seeds = dense(dys[0])
        chosen = [t for t in others if carries_gradient(t)]
        sizes = [raw.Size(t) for t in chosen]
        n = raw.Size(first)
        total = raw.AddN(sizes) if sizes else np.int32(0)
        zero = np.zeros((), first.dtype.np_dtype)

        def going_on(i: Any, a: Any, grown: Any) -> Any:
            return raw.Greater(i, np.int32(0))

        def interval(i: Any, a: Any, grown: Any) -> Any:
            y, before = raw.GatherV2(rows, i, 0), raw.Sub(i, np.int32(1))
            a = raw.AddV2(a, raw.GatherV2(seeds, i, 0))
            span = raw.GatherV2(times, raw.Pack([i, before], axis=0), 0)
            whole = raw.ConcatV2([y, a, grown], np.int32(0))
            backwards, given = traced.trace(self._how.what, lambda v, t: self._backwards(v, t, others, n), whole,
                                            "adjoint", [raw.GatherV2(span, 0, 0)])
            found, _ = trajectory(backwards, given, whole, span, self._method, self._control, self._how)
            end, a, grown = _parts(raw.GatherV2(found, np.int32(1), 0), n)
            return before, self._checked(a, end, raw.GatherV2(rows, before, 0), i), grown

        last = raw.Sub(raw.Size(times), np.int32(1))
        start = (last, raw.ZerosLike(first), raw.Fill(raw.ExpandDims(total, 0), zero))
        _, a, grown = while_loop(going_on, interval, start)
        found = iter(_split(grown, chosen, sizes))
        slopes = vectorized_map(lambda row: self._body(row[0], [row[1], *others]), (rows, times))
        by_times = raw.Sum(raw.Mul(seeds, slopes), np.array([1], np.int32))
        at_start = raw.Neg(raw.Sum(raw.Mul(a, raw.GatherV2(slopes, np.int32(0), 0)), np.array([0], np.int32)))
        by_times = raw.ConcatV2([raw.ExpandDims(at_start, 0), raw.StridedSlice(by_times, [1], [0], [1], end_mask=1)],
                                np.int32(0))
        return [None, raw.AddV2(a, raw.GatherV2(seeds, np.int32(0), 0)), raw.Cast(by_times, DstT=times.dtype),
                *(next(found) if carries_gradient(t) else None for t in others)]

    def _backwards(self, v: Tensor, t: Tensor, others: Sequence[Any], n: Any) -> Tensor:
        """Returns the slopes of y, of a and of the gradients, which are one vector."""
        y, a, _ = _parts(v, n)
        at, *places = traced.places_for([y, *others])
        slope = self._body(at, [t, *places])
        by = [at, *(p for p, t in zip(places, others, strict=True) if carries_gradient(t))]
        with none_allowed():
            found = gradients_inside([slope], by, [a])
        pulled = [raw.ZerosLike(x) if g is None else raw.Neg(dense(g)) for x, g in zip(by, found, strict=True)]
        flat: Tensor = raw.ConcatV2([slope, *(raw.Reshape(raw.Cast(g, DstT=slope.dtype), np.array([-1], np.int32))
                                              for g in pulled)], np.int32(0))
        return flat

    def _checked(self, a: Tensor, end: Tensor, wanted: Tensor, i: Tensor) -> Tensor:
        """Returns a, if y came back to what it was; else derivatives along another trajectory would be given."""
        dtype = end.dtype.np_dtype
        relative = _DRIFT * self._control.rtol if self._method.adaptive else 0.01
        bound = raw.AddV2(raw.Mul(np.asarray(min(relative, 0.01), dtype), largest(wanted)),
                          np.asarray(_DRIFT * self._control.atol, dtype))
        drift, bound = raw.StopGradient(largest(raw.Sub(end, wanted))), raw.StopGradient(bound)
        status = choose(raw.LessEqual(drift, bound), CONVERGED, NOT_BACK)
        return passed_on(raw.Converged(raw.StopGradient(a), drift, bound, i, status, what=self._how.what,
                                       strict=self._how.strict, quantity="deviation"), a)


def _parts(v: Tensor, n: Any) -> list[Any]:
    """Returns y, a and the gradients."""
    return list(raw.SplitV(v, raw.Pack([n, n, raw.Sub(raw.Size(v), raw.Mul(n, np.int32(2)))], axis=0), np.int32(0),
                           num_split=3))


def _split(grown: Tensor, like: Sequence[Tensor], sizes: Sequence[Any]) -> list[Any]:
    if not like:
        return []
    parts = [grown] if len(like) == 1 else raw.SplitV(grown, raw.Pack(sizes, axis=0), np.int32(0), num_split=len(like))
    return [raw.Cast(raw.Reshape(g, raw.Shape(t)), DstT=t.dtype) for g, t in zip(parts, like, strict=True)]
