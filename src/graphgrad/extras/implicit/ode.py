"""`implicit.odeint`.

One loop finds the steps and the solution; no gradient enters it. The gradient builds a second one, which makes the
accepted steps again, and differentiates it: so derivatives are exactly those of the numbers computed, of any order, and
step sizes count as constants but where a step ends at one of the times asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.frontend.control_flow.loop_memory import checkpointed_loops, reverse
from graphgrad.frontend.structure import nest
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, float64
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.values.indexed_slices import dense

from . import krylov, traced
from .calling import checked, function_given, staged
from .ode_events import Events, TrajectoryEvent, located, scalar_of, watch_for
from .ode_loops import Control, Path, Steps, Watch, find_steps, repeated
from .ode_steps import METHODS, Equation, Method
from .solution import How
from .traced import Traced
from .vectors import Layout, as_dtype

_NAME = "tf.implicit.odeint"


def odeint(func: Callable[[Any, Any], Any], y0: Any, t: Any, rtol: float = 1e-6, atol: float = 1e-12,
           method: str = "dopri5", step: Any = None, max_steps: int = 10_000, strict: str = "error",
           with_info: bool = False, event: Any = None, name: str | None = None) -> Any:
    """Integrates dy/dt = func(y, t); the result has derivatives of any order by y0, t and what func closes over.

    Derivatives are those of the steps that were made, exactly. They take one more pass through these, and keep what
    they need of each; inside of `tf.checkpointed_loops()` of a few only.

    Args:
      func: takes y, like `y0`, and the time, a scalar; returns the slope, like `y0`. It may use tensors and variables
        from outside, which get gradients. It is traced once.
      y0: the value at t[0], a tensor or a structure of tensors of one dtype, float32 or float64.
      t: (n), n > 0, the times at which y is wanted, strictly increasing or strictly decreasing; float32 or float64.
      rtol, atol: the error of a step, relative to the largest of y before and after, and absolute (root mean square of
        all elements); for methods that estimate it.
      method: 'dopri5' (Dormand and Prince, explicit, order 5); 'radau' (Radau IIA, implicit, order 5) for stiff
        problems: it solves systems of 3 times the number of unknowns; 'euler', 'midpoint' or 'rk4' with steps of one
        size.
      step: the size of the first step, for the last three methods of all steps; the steps before a time asked for are
        shortened to end there. By default it is chosen; the last three need it.
      max_steps: the largest number of steps, rejected ones included.
      strict, with_info, name: as for `root`; the residual is the time that is left.
      event: a `tf.implicit.Event`, or a function of y and t: the integration ends where that becomes zero.
    Returns: the structure of `y0` with one more axis (n, ...) in front. With `event`, the pair (y, events), an `Events`
      with count, times and values; at times after a terminal event, y is what it was then. With `with_info`, (y, info)
      or (y, events, info).
    Raises: InvalidArgumentError at run time, with what is left and a remedy, if the last time is not reached, steps
      become as small as the precision of t, or the times are not ordered; ValueError for other shapes or methods.
    Gradient: of any order, in reverse and forward mode.
    Reference: scipy.integrate.solve_ivp; Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations".

    >>> rate = tf.constant(2.0, tf.float64)
    >>> y = tf.implicit.odeint(lambda y, t: -rate * y, tf.constant(3.0, tf.float64), [0.0, 1.0])
    >>> np.round(sess.run([y[1], tf.gradients(y[1], rate)[0]]), 5)
    array([ 0.40601, -0.40601])
    """
    function_given(_NAME, func, "func")
    checked(_NAME, method=(method, tuple(METHODS)), strict=(strict, ("error", "warn", "nan")))
    if step is None and not METHODS[method].adaptive:
        raise ValueError(f"{_NAME}: method='{method}' does not estimate its error.\n  Called at {user_source(2)}\n"
                         "  Fix: give step, the size of its steps, or use method='dopri5'")
    control = Control(rtol, atol, step, max_steps)

    def build(scope: str) -> Any:
        return integrate(func, y0, t, METHODS[method], control, strict, with_info, scope, event)

    return staged(name, "odeint", build)


def integrate(func: Callable[[Any, Any], Any], y0: Any, t: Any, method: Method, control: Control, strict: str,
              with_info: bool, scope: str, event: Any = None) -> Any:
    """Builds `odeint` in the current graph."""
    layout = Layout(_NAME, "y0", y0)
    times = convert_to_tensor(t, None if hasattr(t, "dtype") else float64)
    shape = times._spec.shape
    if times.dtype not in (float32, float64) or (shape is not None and (len(shape) != 1 or shape[0] == 0)):
        raise ValueError(f"{_NAME}: t has dtype {times.dtype.name} and shape {shape_str(shape)}.\n"
                         f"  Called at {user_source(2)}\n  Fix: give a vector of times, float32 or float64")
    first, begin = layout.vector(), raw.GatherV2(times, 0, 0)
    how = How(f"{_NAME} '{scope}'", "lu", strict, krylov.Tolerances())
    body, others = traced.trace(
        _NAME, lambda y, at: layout.vector_of("func", func(layout.structure(y), at)), first, f"{scope}/func", [begin])
    watch = None if event is None else _watch(watch_for(_NAME, event), layout, first, begin, scope)
    rule = _Trajectory(body, method, how, control.atol)
    e = rule.equation(others)
    found, steps, seen, info = find_steps(e, method, first, times, control, how, watch)
    path = rule.declared(found, first, times, steps, others)
    rows = path.rows
    results: list[Any] = []
    if watch is not None:
        rows, happened = _with_events(rows, e, method, watch, path, steps, seen, times, layout, scope)
        results.append(happened)
    results = [stacked(layout, rows), *results, *([info] if with_info else [])]
    return tuple(results) if len(results) > 1 else results[0]


def _watch(event: TrajectoryEvent, layout: Layout, first: Tensor, begin: Tensor, scope: str) -> Watch:
    level, others = traced.trace(
        _NAME, lambda y, at: raw.ExpandDims(scalar_of(_NAME, event.function(layout.structure(y), at), layout), 0),
        first, f"{scope}/level", [begin])
    return Watch(lambda y, t: raw.Squeeze(level(y, [t, *others]), squeeze_dims=(0,)), event.direction, event.limit,
                 event.terminal)


def _with_events(rows: Tensor, e: Equation, method: Method, watch: Watch, path: Path, steps: Steps, seen: Tensor,
                 times: Tensor, layout: Layout, scope: str) -> tuple[Tensor, Events]:
    """Returns the rows, those after the end being what the solution is there, and the events."""
    used = raw.Less(np.arange(watch.limit, dtype=np.int32), seen)
    number = raw.Maximum(steps.crossed, np.int32(0))
    sizes = raw.GatherV2(steps.sizes, number, 0)
    when, values = located(_NAME, e, method, watch, path, sizes, used, scope)
    if watch.terminal:
        last = raw.GatherV2(when, np.int32(watch.limit - 1), 0)
        onward = raw.Sub(raw.GatherV2(times, raw.Sub(raw.Size(times), 1), 0), raw.GatherV2(times, 0, 0))
        late = raw.StopGradient(raw.Mul(raw.Sub(times, last), raw.Sign(onward)))  # NaN without an end
        late = raw.Greater(late, raw.ZerosLike(late))
        rows = raw.SelectV2(raw.ExpandDims(late, 1), raw.ExpandDims(raw.GatherV2(
            values, np.int32(watch.limit - 1), 0), 0), rows)
    return rows, Events(seen, when, stacked(layout, values))


def stacked(layout: Layout, rows: Tensor) -> Any:
    """Returns the structure whose tensors have one more axis in front, of vectors that are rows."""
    parts = layout.sizes()
    leaves = [rows] if len(parts) == 1 else raw.SplitV(rows, raw.Pack(parts, axis=0), np.int32(1), num_split=len(parts))
    found = []
    for leaf, like, shape, dtype in zip(leaves, layout.leaves, layout.shapes, layout.dtypes, strict=True):
        dims = raw.ConcatV2([raw.StridedSlice(raw.Shape(rows), [0], [1], [1]), raw.Shape(like)], np.int32(0))
        whole = raw.Reshape(leaf, dims)
        if shape is not None:
            whole.set_shape((rows._spec.shape[0] if rows._spec.shape else None, *shape))
        found.append(as_dtype(whole, dtype, 1))
    return nest.pack_sequence_as(layout.like, found)


class _Trajectory:
    """The gradient of the operation that returns a trajectory: its steps are made again, and differentiated.

    The results of the operation are those of a `Path`. Its further inputs are y0, the times, the steps, and what func
    uses.
    """

    n_results = 3  # for explain_gradient

    def __init__(self, body: Traced, method: Method, how: How, atol: float):
        self._body, self._method, self._how, self._atol = body, method, how, atol
        self._memory = reverse.memory

    def equation(self, others: Any) -> Equation:
        """Returns the differential equation, with the tensors of the current graph that func uses."""
        return Equation(lambda y, t: self._body(y, [t, *others]), self._how, self._atol)

    def declared(self, path: Path, first: Tensor, times: Tensor, steps: Steps, others: Any) -> Path:
        """Returns a path that was found, with its derivatives."""
        results = raw.IdentityN([*path, first, times, *steps, *others], name="solution")
        results[0].op._gradient = self
        return Path(*results[:3])

    def __call__(self, op: Operation, *dys: Any) -> list[Any]:
        first, times, *more = op.inputs[3:]
        steps, others = Steps(*more[:4]), more[4:]
        places = traced.places_for([first, times, *others])
        with checkpointed_loops(self._memory):
            again = repeated(self.equation(places[2:]), self._method, places[0], places[1], steps)
        watched = bool(steps.crossed._spec.shape[0])  # type: ignore[index]  # it is known
        pairs = [(y, dense(dy)) for y, dy in zip(again[: 3 if watched else 1], dys, strict=False) if dy is not None]
        grads = traced.parameter_gradients([y for y, _ in pairs], places, [dy for _, dy in pairs])
        return [None] * 3 + grads[:2] + [None] * 4 + grads[2:]


__all__ = ["odeint"]
