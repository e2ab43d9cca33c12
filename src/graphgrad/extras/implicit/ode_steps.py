"""Steps of solvers of ordinary differential equations, with an estimate of their errors.

Reference: Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations" I (1993), table II.5.2, and II (1996),
section IV.8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw

from . import ode_radau
from .solution import How


class Equation(NamedTuple):
    """dy/dt = f(y, t), for vectors y.

    Attributes:
      slope: takes y and t.
      how: how linear systems are solved, and who asks.
      atol: the absolute tolerance of y.
    """

    slope: Callable[[Tensor, Tensor], Tensor]
    how: How
    atol: float


class Method(NamedTuple):
    """A way to make a step.

    Attributes:
      step: takes an equation, t, y and h; returns y at t + h and an estimate of its error, None if there is none.
      order: one more than the order of the estimate; of a method without one, its own.
      adaptive: whether it estimates its error.
    """

    step: Callable[[Equation, Tensor, Tensor, Tensor], tuple[Tensor, Tensor | None]]
    order: int
    adaptive: bool


def _explicit(nodes: Sequence[float], stages: Sequence[Sequence[float]], weights: Sequence[float],
              errors: Sequence[float] = ()) -> Any:
    """Makes an explicit step from a Runge-Kutta method's table; `errors` may have the slope at its end as one more.

    Three stages and more are a loop: programs, above all those of second derivatives, have one copy of the equation in
    place of one for each stage, and are compiled in a fraction of the time.
    """
    if len(weights) > 2:
        return _looped(nodes, stages, weights, errors)

    def step(e: Equation, t: Tensor, y: Tensor, h: Tensor) -> tuple[Tensor, Tensor | None]:
        size = raw.Cast(h, DstT=y.dtype)
        slopes = [e.slope(y, t)]
        for node, row in zip(nodes, stages, strict=True):
            slopes.append(e.slope(_sum(y, size, row, slopes), _later(t, h, node)))
        return _sum(y, size, weights, slopes), None

    return step


def _looped(nodes: Sequence[float], stages: Sequence[Sequence[float]], weights: Sequence[float],
            errors: Sequence[float]) -> Any:
    rows = [(), *stages, *([weights] if len(errors) > len(weights) else [])]
    count = len(rows)
    table = np.array([[*row, *[0.0] * (count - len(row))] for row in rows])
    at = np.array([0.0, *nodes, 1.0])[:count]
    sums = np.array([[*row, *[0.0] * (count - len(row))] for row in ([weights, errors] if errors else [weights])])

    def step(e: Equation, t: Tensor, y: Tensor, h: Tensor) -> tuple[Tensor, Tensor | None]:
        dtype, size = y.dtype.np_dtype, raw.Cast(h, DstT=y.dtype)

        def stage(i: Any, slopes: Any) -> Any:
            row = raw.ExpandDims(raw.GatherV2(table.astype(dtype), i, 0), 0)
            change = raw.Squeeze(raw.MatMul(row, slopes), squeeze_dims=(0,))
            now = raw.AddV2(t, raw.Mul(h, raw.GatherV2(at.astype(t.dtype.np_dtype), i, 0)))
            slope = e.slope(raw.AddV2(y, raw.Mul(size, change)), now)
            return i + 1, raw.TensorScatterUpdate(slopes, raw.Reshape(i, np.array([1, 1], np.int32)),
                                                  raw.ExpandDims(slope, 0))

        none = raw.Mul(np.zeros((count, 1), dtype), raw.ExpandDims(raw.ZerosLike(y), 0))
        _, slopes = while_loop(lambda i, slopes: raw.Less(i, np.int32(count)), stage,
                               (raw.Identity(np.int32(0)), none))
        changes = raw.Mul(size, raw.MatMul(sums.astype(dtype), slopes))
        after = raw.AddV2(y, raw.GatherV2(changes, 0, 0))
        return after, raw.GatherV2(changes, 1, 0) if errors else None

    return step


def _sum(y: Tensor, h: Tensor, factors: Sequence[float], slopes: Sequence[Tensor]) -> Tensor:
    pairs = [(c, s) for c, s in zip(factors, slopes, strict=False) if c]
    terms = [raw.Mul(raw.Mul(h, np.asarray(c, h.dtype.np_dtype)), s) for c, s in pairs]
    found: Tensor = raw.AddN([y, *terms])
    return found


def _later(t: Tensor, h: Tensor, share: float) -> Tensor:
    found: Tensor = raw.AddV2(t, raw.Mul(h, np.asarray(share, t.dtype.np_dtype)))
    return found


_DOPRI5 = _explicit(
    (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    ((1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9),
     (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
     (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656)),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40))

METHODS = {
    "dopri5": Method(_DOPRI5, 5, True),
    "radau": Method(ode_radau.step, 4, True),
    "euler": Method(_explicit((), (), (1.0,)), 1, False),
    "midpoint": Method(_explicit((0.5,), ((0.5,),), (0.0, 1.0)), 2, False),
    "rk4": Method(_explicit((0.5, 0.5, 1.0), ((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)), 4,
                  False),
}
