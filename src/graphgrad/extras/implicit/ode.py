"""`implicit.odeint`.

One loop finds the steps and the solution; no gradient enters it. The gradient builds a second one, which makes the
accepted steps again, and differentiates it: so derivatives are exactly those of the numbers computed, of any order, and
step sizes count as constants but where a step ends at one of the times asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from graphgrad.frontend.control_flow.loop_memory import checkpointed_loops, reverse
from graphgrad.frontend.structure.structure_types import OneTensor, TensorsT
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, float64
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor as AnyTensor
from graphgrad.ir.values.indexed_slices import dense as as_dense

from . import krylov, traced
from .calling import Info, checked, function_given, staged
from .ode_adjoint import trajectory
from .ode_dense import DenseSolution, kept_of
from .ode_events import Events, TrajectoryEvent, located, scalar_of, watch_for
from .ode_loops import Control, Path, Steps, Watch, find_steps, repeated
from .ode_steps import METHODS, Equation, Method
from .solution import MARK, How
from .traced import Traced
from .vectors import Layout

_NAME = "tf.implicit.odeint"
_RESULTS = len(Path._fields)


@overload
def odeint(func: Callable[[Any, Any], Any], y0: OneTensor, t: Any, rtol: float = 1e-6, atol: float = 1e-12,
           method: str = "dopri5", step: Any = None, max_steps: int = 10_000, strict: str = "error",
           with_info: Literal[False] = False, event: None = None, gradient: str = "steps",
           dense: Literal[False] = False, name: str | None = None) -> AnyTensor: ...
@overload
def odeint(func: Callable[[Any, Any], Any], y0: TensorsT, t: Any, rtol: float = 1e-6, atol: float = 1e-12,
           method: str = "dopri5", step: Any = None, max_steps: int = 10_000, strict: str = "error",
           with_info: Literal[False] = False, event: None = None, gradient: str = "steps",
           dense: Literal[False] = False, name: str | None = None) -> TensorsT: ...
@overload
def odeint(func: Callable[[Any, Any], Any], y0: Any, t: Any, rtol: float = 1e-6, atol: float = 1e-12,
           method: str = "dopri5", step: Any = None, max_steps: int = 10_000, strict: str = "error",
           with_info: bool = False, event: Any = None, gradient: str = "steps", dense: bool = False,
           name: str | None = None) -> Any: ...
def odeint(func: Callable[[Any, Any], Any], y0: Any, t: Any, rtol: float = 1e-6, atol: float = 1e-12,
           method: str = "dopri5", step: Any = None, max_steps: int = 10_000, strict: str = "error",
           with_info: bool = False, event: Any = None, gradient: str = "steps", dense: bool = False,
           name: str | None = None) -> Any:
    """Integrates dy/dt = func(y, t); the result has derivatives of any order by y0, t and what func closes over.

    Derivatives are those of the steps that were made, exactly. They take one more pass through these, and keep what
    they need of each; inside of `tf.checkpointed_loops()` of a few only. With gradient='adjoint' they are those of the
    exact solution instead, as accurately as the tolerances ask for, and nothing of the steps is kept.

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
      gradient: 'steps'; or 'adjoint' to integrate a differential equation of the derivatives backwards in time, by the
        same method, between each two times asked for. It is an error if y, which is integrated with it, does not come
        back to what it was, as in problems that are stiff or chaotic. Not with `event` or `dense`.
      dense: whether to return a function of times, too, which gives y between those asked for. It keeps `max_steps`
        states.
    Returns: the structure of `y0` with one more axis (n, ...) in front; at times after a terminal event it is what it
      was then. With some of `event`, `dense` and `with_info`, a tuple of that and, in this order, `Events` with count,
      times and values; a function of a time, or of (m) times between t[0] and t[-1], that returns the structure of
      `y0`, or it with one more axis (m, ...) in front; info.
    Raises: InvalidArgumentError at run time, with what is left and a remedy, if the last time is not reached, steps
      become as small as the precision of t, or the times are not ordered; ValueError for other shapes or methods.
    Gradient: of any order, in reverse and forward mode.
    Reference: scipy.integrate.solve_ivp; `odeint_adjoint` of torchdiffeq; Hairer, Norsett and Wanner, "Solving Ordinary
      Differential Equations".

    >>> rate = tf.constant(2.0, tf.float64)
    >>> y = tf.implicit.odeint(lambda y, t: -rate * y, tf.constant(3.0, tf.float64), [0.0, 1.0])
    >>> np.round(sess.run([y[1], tf.gradients(y[1], rate)[0]]), 5)
    array([ 0.40601, -0.40601])
    """
    function_given(_NAME, func, "func")
    checked(_NAME, method=(method, tuple(METHODS)), strict=(strict, ("error", "warn", "nan")),
            gradient=(gradient, ("steps", "adjoint")))
    if step is None and not METHODS[method].adaptive:
        raise ValueError(f"{_NAME}: method='{method}' does not estimate its error.\n  Called at {user_source(2)}\n"
                         "  Fix: give step, the size of its steps, or use method='dopri5'")
    if isinstance(step, (int, float)) and not step > 0:
        raise ValueError(f"{_NAME}: step={step!r}.\n  Called at {user_source(2)}\n"
                         "  Fix: give a positive number; the order of t says the direction")
    if gradient == "adjoint" and (dense or event is not None):
        raise ValueError(f"{_NAME}: gradient='adjoint' with {'dense' if dense else 'event'}.\n"
                         f"  Called at {user_source(2)}\n  Fix: use gradient='steps', if memory matters inside of "
                         "tf.checkpointed_loops()")
    if not (rtol >= 0 and atol >= 0 and rtol + atol > 0):
        raise ValueError(f"{_NAME}: rtol={rtol!r}, atol={atol!r}.\n  Called at {user_source(2)}\n"
                         "  Fix: give numbers that are not negative, nor both zero")
    control = Control(rtol, atol, step, max_steps)

    def build(scope: str) -> Any:
        return integrate(func, y0, t, METHODS[method], control, strict, scope, event, gradient, dense)

    y, events, kept, info = staged(name, "odeint", build)
    between = DenseSolution(_NAME, func, y0, METHODS[method], strict, atol, kept) if dense else None
    asked_for = [(events, event is not None), (between, dense), (info, with_info)]
    more = [value for value, asked in asked_for if asked]
    return (y, *more) if more else y


def integrate(func: Callable[[Any, Any], Any], y0: Any, t: Any, method: Method, control: Control, strict: str,
              scope: str, event: Any = None, gradient: str = "steps",
              dense: bool = False) -> tuple[Any, Any, Any, Info]:
    """Builds `odeint` in the current graph; returns y, events, what is kept of the steps, and how it went."""
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
    if gradient == "adjoint":
        rows, info = trajectory(body, others, first, times, method, control, how)
        return layout.stacked(rows), None, None, info
    watch = None if event is None else _watch(watch_for(_NAME, event), layout, first, begin, scope)
    kept = control.most if dense else 0
    rule = _Trajectory(body, method, how, control.atol, kept)
    e = rule.equation(others)
    still = rule.equation(traced.constants(others))
    found, steps, seen, info = find_steps(still, method, first, times, control, how, watch, kept)
    path = rule.declared(found, first, times, steps, others)
    rows, happened, last = path.rows, None, None
    if watch is not None:
        rows, happened, last = _with_events(rows, e, method, watch, path, steps, seen, times, layout, scope)
    return layout.stacked(rows), happened, kept_of(path, steps, times, last) if dense else None, info


def _watch(event: TrajectoryEvent, layout: Layout, first: Tensor, begin: Tensor, scope: str) -> Watch:
    level, others = traced.trace(
        _NAME, lambda y, at: raw.ExpandDims(scalar_of(_NAME, event.function(layout.structure(y), at), layout), 0),
        first, f"{scope}/level", [begin])
    def scalar(others: list[Any]) -> Callable[[Any, Any], Any]:
        return lambda y, t: raw.Squeeze(level(y, [t, *others]), squeeze_dims=(0,))

    return Watch(scalar(others), scalar(traced.constants(others)), event.direction, event.limit, event.terminal)


def _with_events(rows: Tensor, e: Equation, method: Method, watch: Watch, path: Path, steps: Steps, seen: Tensor,
                 times: Tensor, layout: Layout, scope: str) -> tuple[Tensor, Events, Tensor | None]:
    """Returns the rows, after the end what the solution is there; the events; when they ended it, or NaN."""
    used = raw.Less(np.arange(watch.limit, dtype=np.int32), seen)
    number = raw.Maximum(steps.crossed, np.int32(0))
    sizes = raw.GatherV2(steps.sizes, number, 0)
    when, values = located(_NAME, e, method, watch, path, sizes, used, scope)
    last = None
    if watch.terminal:
        last = raw.GatherV2(when, np.int32(watch.limit - 1), 0)
        onward = raw.Sub(raw.GatherV2(times, raw.Sub(raw.Size(times), 1), 0), raw.GatherV2(times, 0, 0))
        late = raw.StopGradient(raw.Mul(raw.Sub(times, last), raw.Sign(onward)))  # NaN without an end
        late = raw.Greater(late, raw.ZerosLike(late))
        rows = raw.SelectV2(raw.ExpandDims(late, 1), raw.ExpandDims(raw.GatherV2(
            values, np.int32(watch.limit - 1), 0), 0), rows)
    return rows, Events(seen, when, layout.stacked(values)), last


class _Trajectory:
    """The gradient of the operation that returns a trajectory: its steps are made again, and differentiated.

    The results of the operation are those of a `Path`. Its further inputs are y0, the times, the steps, and what func
    uses.
    """

    n_results = _RESULTS  # for explain_gradient
    mark = MARK

    def __init__(self, body: Traced, method: Method, how: How, atol: float, kept: int):
        self._body, self._method, self._how, self._atol, self._kept = body, method, how, atol, kept
        self._memory = reverse.memory

    def equation(self, others: Any) -> Equation:
        """Returns the differential equation, with the tensors of the current graph that func uses."""
        return Equation(lambda y, t: self._body(y, [t, *others]), self._how, self._atol)

    def declared(self, path: Path, first: Tensor, times: Tensor, steps: Steps, others: Any) -> Path:
        """Returns a path that was found, with its derivatives."""
        results = raw.IdentityN([*path, first, times, *steps, *others], name="solution")
        results[0].op._gradient = self
        return Path(*results[:_RESULTS])

    def __call__(self, op: Operation, *dys: Any) -> list[Any]:
        first, times, *more = op.inputs[_RESULTS:]
        steps, others = Steps(*more[:4]), more[4:]
        places = traced.places_for([first, times, *others])
        with checkpointed_loops(self._memory):
            again = repeated(self.equation(places[2:]), self._method, places[0], places[1], steps, self._kept)
        pairs = [(y, as_dense(dy)) for y, dy in zip(again, dys, strict=False)
                 if dy is not None and y.shape[0] != 0]
        grads = traced.parameter_gradients([y for y, _ in pairs], places, [dy for _, dy in pairs])
        return [None] * _RESULTS + grads[:2] + [None] * 4 + grads[2:]


__all__ = ["odeint"]
