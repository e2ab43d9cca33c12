"""`implicit.odeint`.

One loop finds the steps and the solution; no gradient enters it. The gradient builds a second one, which makes the
accepted steps again, and differentiates it: so derivatives are exactly those of the numbers computed, of any order, and
step sizes count as constants but where a step ends at one of the times asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.frontend.control_flow.loop_memory import checkpointed_loops, reverse
from graphgrad.frontend.structure import nest
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import bool_, float32, float64, int32
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.values.indexed_slices import dense
from graphgrad.ops.linalg.solutions import BAD_TIMES, CONVERGED, NOT_REACHED, RUNNING, TINY_STEP

from . import krylov, traced
from .calling import Info, checked, function_given, staged
from .ode_steps import METHODS, Equation, Method
from .root import choose
from .solution import How
from .traced import Traced
from .vectors import Layout, as_dtype

_NAME = "tf.implicit.odeint"


class Control(NamedTuple):
    """How steps are chosen.

    Attributes:
      rtol, atol: the error of a step, relative to y and absolute.
      first: the size of the first step, of all steps if the method does not estimate errors; None to choose it.
      most: the largest number of steps.
      safety, largest, smallest: the factor applied to the step that would just do, and the limits of the change.
    """

    rtol: float
    atol: float
    first: Any
    most: int
    safety: float = 0.9
    largest: float = 10.0
    smallest: float = 0.2


def odeint(func: Callable[[Any, Any], Any], y0: Any, t: Any, rtol: float = 1e-6, atol: float = 1e-12,
           method: str = "dopri5", step: Any = None, max_steps: int = 10_000, strict: str = "error",
           with_info: bool = False, name: str | None = None) -> Any:
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
    Returns: the structure of `y0` with one more axis (n, ...) in front; with `with_info`, the pair (y, info).
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
        return integrate(func, y0, t, METHODS[method], control, strict, with_info, scope)

    return staged(name, "odeint", build)


def integrate(func: Callable[[Any, Any], Any], y0: Any, t: Any, method: Method, control: Control, strict: str,
              with_info: bool, scope: str) -> Any:
    """Builds `odeint` in the current graph."""
    layout = Layout(_NAME, "y0", y0)
    times = convert_to_tensor(t, None if hasattr(t, "dtype") else float64)
    shape = times._spec.shape
    if times.dtype not in (float32, float64) or (shape is not None and (len(shape) != 1 or shape[0] == 0)):
        raise ValueError(f"{_NAME}: t has dtype {times.dtype.name} and shape {shape_str(shape)}.\n"
                         f"  Called at {user_source(2)}\n  Fix: give a vector of times, float32 or float64")
    first = layout.vector()
    how = How(f"{_NAME} '{scope}'", "lu", strict, krylov.Tolerances())
    body, others = traced.trace(
        _NAME, lambda y, at: layout.vector_of("func", func(layout.structure(y), at)), first, f"{scope}/func",
        [raw.GatherV2(times, 0, 0)])
    rule = _Trajectory(body, method, how, control.atol)
    found, steps, ends, count, info = _steps(rule.equation(others), method, first, times, control, how)
    results = raw.IdentityN([found, first, times, steps, ends, count, *others], name="solution")
    results[0].op._gradient = rule
    y = _stacked(layout, results[0])
    return (y, info) if with_info else y


def _stacked(layout: Layout, rows: Tensor) -> Any:
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

    The inputs of the operation are the trajectory, y0, the times, the steps, whether each ends at a time asked for,
    their number, and what func uses.
    """

    n_results = 1  # for explain_gradient

    def __init__(self, body: Traced, method: Method, how: How, atol: float):
        self._body, self._method, self._how, self._atol = body, method, how, atol
        self._memory = reverse.memory

    def equation(self, others: Any) -> Equation:
        """Returns the differential equation, with the tensors of the current graph that func uses."""
        return Equation(lambda y, t: self._body(y, [t, *others]), self._how, self._atol)

    def __call__(self, op: Operation, *dys: Any) -> list[Any]:
        _, first, times, steps, ends, count, *others = op.inputs
        places = traced.places_for([first, times, *others])
        with checkpointed_loops(self._memory):
            again = _repeated(self.equation(places[2:]), self._method, places[0], places[1], steps, ends, count)
        grads = traced.parameter_gradients(again, places, dense(dys[0]))
        return [None, *grads[:2], None, None, None, *grads[2:]]


def _rows(first: Tensor, times: Tensor) -> Tensor:
    """Returns a matrix with the initial value in the first row, and a row for each other time."""
    later = raw.ZerosLike(raw.StridedSlice(times, [1], [0], [1], end_mask=1))
    zeros = raw.Mul(raw.ExpandDims(raw.Cast(later, DstT=first.dtype), 1), raw.ExpandDims(raw.ZerosLike(first), 0))
    found: Tensor = raw.ConcatV2([raw.ExpandDims(first, 0), zeros], np.int32(0))
    return found


def _with_row(rows: Tensor, i: Tensor, y: Tensor) -> Tensor:
    found: Tensor = raw.TensorScatterUpdate(rows, raw.Reshape(i, np.array([1, 1], np.int32)), raw.ExpandDims(y, 0))
    return found


def _repeated(e: Equation, method: Method, first: Tensor, times: Tensor, steps: Tensor, ends: Tensor,
              count: Tensor) -> Tensor:
    """Makes given steps; those that end at a time asked for depend on it."""
    def going_on(j: Any, i: Any, t: Any, y: Any, rows: Any) -> Any:
        return raw.Less(j, count)

    def iterate(j: Any, i: Any, t: Any, y: Any, rows: Any) -> Any:
        here = raw.GatherV2(ends, j, 0)
        target = raw.GatherV2(times, i, 0)
        h = raw.SelectV2(here, raw.Sub(target, t), raw.GatherV2(steps, j, 0))
        y, _ = method.step(e, t, y, h)
        t = raw.SelectV2(here, target, raw.AddV2(t, h))
        return j + 1, raw.AddV2(i, raw.Cast(here, DstT=int32)), t, y, _with_row(rows, i, y)

    start = (_int(0), _int(1), raw.GatherV2(times, 0, 0), first, _rows(first, times))
    found: Tensor = while_loop(going_on, iterate, start)[-1]
    return found


def _steps(e: Equation, method: Method, first: Tensor, times: Tensor, control: Control,
           how: How) -> tuple[Tensor, Tensor, Tensor, Tensor, Info]:
    """Integrates; returns the rows, the accepted steps, whether each ends at a time, their number, and how it went."""
    first, times = raw.StopGradient(first), raw.StopGradient(times)
    dtype, real = first.dtype.np_dtype, times.dtype.np_dtype
    number = raw.Size(times)
    begin, end = raw.GatherV2(times, 0, 0), raw.GatherV2(times, raw.Sub(number, 1), 0)
    whole = raw.Sub(end, begin)
    later, sooner = raw.StridedSlice(times, [1], [0], [1], end_mask=1), raw.StridedSlice(times, [0], [-1], [1])
    ordered = raw.All(raw.Greater(raw.Mul(raw.Sub(later, sooner), raw.Sign(whole)), np.zeros((), real)), [0])
    tiny = 16 * float(np.finfo(real).eps)

    def going_on(k: Any, n: Any, i: Any, t: Any, y: Any, h: Any, rows: Any, steps: Any, ends: Any, status: Any) -> Any:
        return raw.LogicalAnd(raw.LogicalAnd(raw.Less(i, number), raw.Less(k, control.most)),
                              raw.Equal(status, RUNNING))

    def iterate(k: Any, n: Any, i: Any, t: Any, y: Any, h: Any, rows: Any, steps: Any, ends: Any, status: Any) -> Any:
        target = raw.GatherV2(times, i, 0)
        left = raw.Sub(target, t)
        here = raw.GreaterEqual(raw.Mul(raw.Abs(h), np.asarray(1 + 1e-9, real)), raw.Abs(left))
        size = raw.SelectV2(here, left, h)
        after, error = method.step(e, t, y, size)
        if error is None:
            fine = raw.IsFinite(_largest(after))
            status = choose(fine, status, TINY_STEP)
            grown = h
        else:
            scale = raw.AddV2(np.asarray(control.atol, dtype), raw.Mul(
                np.asarray(control.rtol, dtype), raw.Maximum(raw.Abs(y), raw.Abs(after))))
            badness = _rms(raw.RealDiv(error, scale))
            fine = raw.LessEqual(badness, np.asarray(1, dtype))  # false for NaN
            known = raw.SelectV2(raw.IsFinite(badness), badness, np.asarray(1e30, dtype))
            factor = raw.Mul(np.asarray(control.safety, dtype), raw.Pow(
                raw.Maximum(known, np.asarray(1e-30, dtype)), np.asarray(-1 / method.order, dtype)))
            factor = raw.Minimum(raw.Maximum(factor, np.asarray(control.smallest, dtype)),
                                 np.asarray(control.largest, dtype))
            grown = raw.Mul(size, raw.Cast(factor, DstT=times.dtype))
            # A step that was cut short says little about longer ones.
            cut = raw.LogicalAnd(raw.LogicalAnd(here, fine), raw.Less(raw.Abs(grown), raw.Abs(h)))
            grown = raw.SelectV2(cut, h, grown)
            small = raw.LessEqual(raw.Abs(grown), raw.Mul(np.asarray(tiny, real), raw.Abs(t)))
            status = choose(raw.LogicalOr(fine, raw.LogicalNot(small)), status, TINY_STEP)
        steps = raw.TensorScatterUpdate(steps, raw.Reshape(n, [1, 1]), raw.ExpandDims(size, 0))
        ends = raw.TensorScatterUpdate(ends, raw.Reshape(n, [1, 1]), raw.ExpandDims(raw.Cast(here, DstT=int32), 0))
        y = raw.SelectV2(fine, after, y)
        t = raw.SelectV2(fine, raw.SelectV2(here, target, raw.AddV2(t, size)), t)
        rows = _with_row(rows, i, y)
        i = raw.AddV2(i, raw.Cast(raw.LogicalAnd(fine, here), DstT=int32))
        return k + 1, raw.AddV2(n, raw.Cast(fine, DstT=int32)), i, t, y, grown, rows, steps, ends, status

    size = raw.Mul(_first_step(e, method, begin, first, whole, control), raw.Sign(whole))
    status = choose(ordered, RUNNING, BAD_TIMES)
    start = (_int(0), _int(0), _int(1), begin, first, size, _rows(first, times),
             raw.Identity(np.zeros(control.most, real)), raw.Identity(np.zeros(control.most, np.int32)), status)
    k, n, i, t, _, _, rows, steps, ends, status = while_loop(going_on, iterate, start)
    status = choose(raw.Equal(status, RUNNING), choose(raw.Equal(i, number), CONVERGED, NOT_REACHED), status)
    remaining = raw.Cast(raw.Abs(raw.Sub(end, t)), DstT=first.dtype)
    rows = raw.Converged(rows, remaining, np.asarray(np.inf, dtype), k, status, what=how.what, strict=how.strict,
                         quantity="time left")
    return rows, steps, raw.Cast(ends, DstT=bool_), n, Info(n, raw.StopGradient(remaining))


def _first_step(e: Equation, method: Method, t: Tensor, y: Tensor, whole: Tensor, control: Control) -> Tensor:
    """Returns the size of the first step: the one given, or one whose error is likely to be small."""
    span = raw.Abs(whole)
    if control.first is not None:
        found: Tensor = raw.Minimum(raw.Abs(convert_to_tensor(control.first, t.dtype)), span)
        return found
    dtype = y.dtype.np_dtype
    scale = raw.AddV2(np.asarray(control.atol, dtype), raw.Mul(np.asarray(control.rtol, dtype), raw.Abs(y)))
    slope = e.slope(y, t)
    here, speed = _rms(raw.RealDiv(y, scale)), _rms(raw.RealDiv(slope, scale))
    tiny = raw.LogicalOr(raw.Less(here, np.asarray(1e-5, dtype)), raw.Less(speed, np.asarray(1e-5, dtype)))
    guess = raw.SelectV2(tiny, np.asarray(1e-6, dtype), raw.Mul(np.asarray(0.01, dtype), raw.DivNoNan(here, speed)))
    guess = raw.Minimum(guess, raw.Cast(span, DstT=y.dtype))
    forward = raw.Mul(guess, raw.Cast(raw.Sign(whole), DstT=y.dtype))
    other = e.slope(raw.AddV2(y, raw.Mul(forward, slope)), raw.AddV2(t, raw.Cast(forward, DstT=t.dtype)))
    bend = raw.DivNoNan(_rms(raw.RealDiv(raw.Sub(other, slope), scale)), guess)
    most = raw.Maximum(raw.Maximum(speed, bend), np.asarray(1e-15, dtype))
    second = raw.Pow(raw.RealDiv(np.asarray(0.01, dtype), most), np.asarray(1 / method.order, dtype))
    size = raw.Minimum(raw.Mul(guess, np.asarray(100, dtype)), second)
    size = raw.SelectV2(raw.IsFinite(size), size, guess)
    found = raw.Minimum(raw.Cast(size, DstT=t.dtype), span)
    return found


def _rms(x: Tensor) -> Any:
    return raw.Sqrt(raw.Mean(raw.Square(x), np.array([0], np.int32)))


def _largest(x: Tensor) -> Any:
    return raw.Max(raw.Abs(x), np.array([0], np.int32))


def _int(value: int) -> Any:
    return raw.Identity(np.int32(value))


__all__ = ["odeint"]
