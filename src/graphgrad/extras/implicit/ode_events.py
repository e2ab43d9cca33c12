"""Events of `implicit.odeint`: when something becomes zero, and what the solution is then.

A step within which it changes its sign is known from the loop. The time within that step is the root of
g(y(s), t + s) = 0, where y(s) is a step of size s of the same method: so times and values have derivatives of any
order, those of the steps that were made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.control_flow.vectorized_map import vectorized_map
from graphgrad.frontend.structure import nest
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source

from . import traced
from .ode_loops import Path, Watch
from .ode_steps import Equation, Method
from .solution import solution_of
from .vectors import Layout

_BISECTIONS = 200


class TrajectoryEvent(NamedTuple):
    """What `odeint` is to look for: where a function of y and t becomes zero.

    A zero is noticed if the function has different signs before and after a step.

    Attributes:
      function: takes y, like `y0`, and the time; returns a scalar. It may use tensors and variables from outside, which
        get gradients.
      terminal: whether the integration ends there (at the last one, if `limit` is larger than 1).
      direction: 1 for zeros at which the function rises, -1 for those at which it falls, 0 for both.
      limit: how many are found at most.

    Reference: scipy.integrate.solve_ivp.

    >>> fall = lambda y, t: tf.stack([y[1], -9.81])
    >>> y, landing = tf.implicit.odeint(fall, tf.constant([20.0, 0.0], tf.float64), [0.0, 5.0],
    ...                                 event=tf.implicit.Event(lambda y, t: y[0]))
    >>> np.round(sess.run([landing.times[0], landing.values[0, 1]]), 4)
    array([  2.0193, -19.8091])
    """

    function: Callable[[Any, Any], Any]
    terminal: bool = True
    direction: int = 0
    limit: int = 1


class Events(NamedTuple):
    """The events that were found.

    Attributes:
      count: their number, int32, those beyond the limit included.
      times: (limit), when they happened, in this order; NaN for those that did not.
      values: the structure of `y0` with one more axis (limit) in front: what y was then; NaN, too.
    """

    count: Any
    times: Any
    values: Any


def watch_for(function: str, event: Any) -> TrajectoryEvent:
    """Returns an event; TypeError or ValueError for what is none."""
    found = event if isinstance(event, TrajectoryEvent) else TrajectoryEvent(event)
    if not callable(found.function):
        raise TypeError(f"{function}: event must be a function of y and t, or an Event, not {event!r}.\n"
                        f"  Called at {user_source(2)}\n  Fix: e.g. tf.implicit.Event(lambda y, t: y[0])")
    if found.direction not in (-1, 0, 1) or not isinstance(found.limit, int) or found.limit < 1:
        raise ValueError(f"{function}: the event has direction={found.direction!r}, limit={found.limit!r}.\n"
                         f"  Called at {user_source(2)}\n  Fix: give a direction among -1, 0, 1, and limit > 0")
    return found


def scalar_of(function: str, value: Any, layout: Layout) -> Tensor:
    """Returns what an event's function returned; ValueError if that is no scalar."""
    t = convert_to_tensor(value, layout.dtype if isinstance(value, (int, float)) else None)
    shape = t._spec.shape
    if t.dtype is not layout.dtype or (shape is not None and any(n not in (None, 1) for n in shape)):
        raise ValueError(f"{function}: event returned dtype {t.dtype.name} and shape {shape_str(shape)}.\n"
                         f"  Called at {user_source(2)}\n  Fix: return a scalar of dtype {layout.dtype.name}")
    found: Tensor = raw.Reshape(t, np.array([], np.int32))
    return found


def located(function: str, e: Equation, method: Method, watch: Watch, path: Path, sizes: Tensor, used: Tensor,
            scope: str) -> tuple[Tensor, Tensor]:
    """Finds the events within the steps that have them.

    Args:
      function: the function that users called.
      e: the equation.
      method: the way to make steps.
      watch: what is looked for.
      path: what the solution was at the beginning of those steps.
      sizes: (limit), the sizes of these.
      used: (limit), whether there is a step.
      scope: the name scope.
    Returns: the times (limit) and the values (limit, size), with their derivatives; NaN where there is no step.
    """
    def after(s: Any, t: Any, y: Any) -> Any:
        return method.step(e, t, y, s)[0]

    def level(s: Any) -> Any:
        def one(row: Any) -> Any:
            size, t, y, real = row
            at = raw.AddV2(t, size)
            return raw.SelectV2(real, raw.Cast(watch.level(after(size, t, y), at), DstT=size.dtype), size)

        return each_row(one, (s, path.begin, path.before, used))

    sizes = raw.StopGradient(raw.SelectV2(used, sizes, raw.ZerosLike(sizes)))
    body, others = traced.trace(function, level, sizes, f"{scope}/event")
    still = traced.constants(others)
    how = e.how._replace(what=f"{e.how.what}: the event", method="lu")
    s = solution_of(body, _bracketed(lambda at: body(at, still), sizes), others, how, "event")
    nan = np.asarray(np.nan, path.begin.dtype.np_dtype)
    values = each_row(lambda row: after(*row), (s, path.begin, path.before))
    return (raw.SelectV2(used, raw.AddV2(path.begin, s), nan),
            raw.SelectV2(raw.ExpandDims(used, 1), values, np.asarray(np.nan, path.before.dtype.np_dtype)))


def each_row(one: Callable[[Any], Any], rows: tuple[Any, ...]) -> Any:
    """Applies a function to rows; without a map if there is only one."""
    if rows[0]._spec.shape == (1,):
        found = one(tuple(raw.Squeeze(r, squeeze_dims=(0,)) for r in rows))
        return nest.map_structure(lambda t: raw.ExpandDims(t, 0), found)
    return vectorized_map(one, rows)


def _bracketed(f: Callable[[Any], Any], end: Tensor) -> Tensor:
    """Finds zeros between 0 and `end`, all at once: by secants, by halving where these are slow."""
    dtype = end.dtype.np_dtype
    eps = np.asarray(np.finfo(dtype).eps, dtype)
    half = np.asarray(0.5, dtype)

    def wide(a: Any, b: Any, fa: Any, fb: Any) -> Any:
        open_ = raw.Greater(raw.Abs(raw.Sub(b, a)), raw.Mul(raw.Abs(end), eps))
        zero = raw.ZerosLike(fa)
        return raw.LogicalAnd(open_, raw.LogicalAnd(raw.NotEqual(fa, zero), raw.NotEqual(fb, zero)))

    def going_on(k: Any, a: Any, b: Any, fa: Any, fb: Any) -> Any:
        return raw.LogicalAnd(raw.Less(k, _BISECTIONS), raw.Any(wide(a, b, fa, fb), np.array([0], np.int32)))

    def iterate(k: Any, a: Any, b: Any, fa: Any, fb: Any) -> Any:
        # By turns a secant, a point a little beyond it, and the middle: two of them enclose a simple zero at once.
        secant = raw.Sub(b, raw.Mul(fb, raw.DivNoNan(raw.Sub(b, a), raw.Sub(fb, fa))))
        near_b = raw.Less(raw.Abs(fb), raw.Abs(fa))
        ahead = raw.Sub(raw.SelectV2(near_b, a, b), secant)
        beyond = raw.AddV2(secant, raw.Mul(raw.Sign(ahead), raw.Minimum(
            raw.Mul(raw.Abs(ahead), half), raw.Mul(raw.Abs(end), np.asarray(4, dtype) * eps))))
        turn = raw.FloorMod(k, np.int32(3))
        c = raw.SelectV2(raw.Equal(turn, 0), secant, raw.SelectV2(raw.Equal(turn, 1), beyond, raw.Mul(
            raw.AddV2(a, b), half)))
        inside = raw.Less(raw.Mul(raw.Sub(c, a), raw.Sub(c, b)), raw.ZerosLike(c))
        c = raw.SelectV2(inside, c, raw.Mul(raw.AddV2(a, b), half))
        fc = f(c)
        go = wide(a, b, fa, fb)
        same = raw.LogicalAnd(go, raw.Equal(raw.Sign(fc), raw.Sign(fa)))
        other = raw.LogicalAnd(go, raw.LogicalNot(same))
        return (k + 1, raw.SelectV2(same, c, a), raw.SelectV2(other, c, b), raw.SelectV2(same, fc, fa),
                raw.SelectV2(other, fc, fb))

    start = raw.ZerosLike(end)
    _, a, b, fa, fb = while_loop(going_on, iterate, (raw.Identity(np.int32(0)), start, end, f(start), f(end)))
    found: Tensor = raw.SelectV2(raw.Less(raw.Abs(fb), raw.Abs(fa)), b, a)
    return found


__all__ = ["TrajectoryEvent"]
