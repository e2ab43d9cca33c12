"""The loops of `implicit.odeint`: one finds the steps, one makes given steps again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.frontend.control_flow.cond_while import while_loop
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import bool_, int32
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ops.linalg.solutions import BAD_TIMES, CONVERGED, NOT_FINITE, NOT_REACHED, RUNNING, TINY_STEP

from .calling import Info
from .ode_steps import Equation, Method
from .root import choose
from .solution import How


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


class Watch(NamedTuple):
    """Zeros of a function that are looked for.

    Attributes:
      level: takes y and t, returns a scalar.
      still: the same without derivatives.
      direction: 1 for zeros at which it rises, -1 for those at which it falls, 0 for both.
      limit: how many are kept.
      terminal: whether the last of these ends the integration.
    """

    level: Callable[[Any, Any], Any]
    still: Callable[[Any, Any], Any]
    direction: int
    limit: int
    terminal: bool


class Steps(NamedTuple):
    """The steps that were accepted.

    Attributes:
      sizes: (most), the first `number` of which are meant.
      ends: for each, whether it ends at a time asked for.
      number: how many there are, int32.
      crossed: (limit), the steps within which what is watched became zero; empty if nothing is.
    """

    sizes: Tensor
    ends: Tensor
    number: Tensor
    crossed: Tensor


class Path(NamedTuple):
    """What a solution is at some times.

    Attributes:
      rows: (n, size), at the times asked for.
      before: (limit, size), at the beginning of the steps within which what is watched became zero.
      begin: (limit), the times then.
      starts: (most, size), at the beginning of all steps; empty if these are not kept.
      opened: (most), the times then.
    """

    rows: Tensor
    before: Tensor
    begin: Tensor
    starts: Tensor
    opened: Tensor


class _State(NamedTuple):
    """The variables of the loop that finds the steps: so many were tried (k) and accepted (n); next is time i."""

    k: Any
    n: Any
    i: Any
    t: Any
    y: Any
    h: Any
    rows: Any
    sizes: Any
    ends: Any
    status: Any
    level: Any
    seen: Any
    crossed: Any
    before: Any
    begin: Any
    starts: Any
    opened: Any


def _rows(first: Tensor, times: Tensor) -> Tensor:
    """Returns a matrix with the initial value in the first row, and a row for each other time."""
    later = raw.ZerosLike(raw.StridedSlice(times, [1], [0], [1], end_mask=1))
    zeros = raw.Mul(raw.ExpandDims(raw.Cast(later, DstT=first.dtype), 1), raw.ExpandDims(raw.ZerosLike(first), 0))
    found: Tensor = raw.ConcatV2([raw.ExpandDims(first, 0), zeros], np.int32(0))
    return found


def _put(values: Tensor, i: Tensor, value: Tensor) -> Tensor:
    """Returns an array with another element or row."""
    found: Tensor = raw.TensorScatterUpdate(values, raw.Reshape(i, np.array([1, 1], np.int32)),
                                            raw.ExpandDims(value, 0))
    return found


def repeated(e: Equation, method: Method, first: Tensor, times: Tensor, steps: Steps, kept: int = 0) -> Path:
    """Makes given steps; those that end at a time asked for depend on it.

    Args:
      e, method, first, times, steps: the equation, how steps are made, y at times[0], the times, the steps.
      kept: the number of rows of what is kept of all steps; 0 for nothing.
    """
    limit: int = steps.crossed.shape[0]
    begin = raw.GatherV2(times, 0, 0)

    def going_on(j: Any, *_: Any) -> Any:
        return raw.Less(j, steps.number)

    def iterate(j: Any, i: Any, t: Any, y: Any, rows: Any, *found: Any) -> Any:
        noted: list[Any] = []
        if limit:
            noted += _kept(raw.Equal(steps.crossed, j), y, t, *found[:2])
        if kept:
            noted += [_put(found[-2], j, y), _put(found[-1], j, t)]
        here = raw.GatherV2(steps.ends, j, 0)
        target = raw.GatherV2(times, i, 0)
        h = raw.SelectV2(here, raw.Sub(target, t), raw.GatherV2(steps.sizes, j, 0))
        y, _ = method.step(e, t, y, h)
        t = raw.SelectV2(here, target, raw.AddV2(t, h))
        return j + 1, raw.AddV2(i, raw.Cast(here, DstT=int32)), t, y, _put(rows, i, y), *noted

    seen, all_ = _none_before(first, times, limit), _none_before(first, times, kept)
    start = (_int(0), _int(1), begin, first, _rows(first, times), *(seen if limit else ()), *(all_ if kept else ()))
    found = while_loop(going_on, iterate, start)
    return Path(found[4], *(found[5:7] if limit else seen), *(found[-2:] if kept else all_))


def _kept(here: Tensor, y: Tensor, t: Tensor, before: Tensor, begin: Tensor) -> tuple[Tensor, Tensor]:
    """Returns values and times with y and t in the place where `here` is true."""
    return (raw.SelectV2(raw.ExpandDims(here, 1), raw.ExpandDims(y, 0), before), raw.SelectV2(here, t, begin))


def _none_before(first: Tensor, times: Tensor, limit: int) -> tuple[Tensor, Tensor]:
    """Returns values and times to be replaced where something is found."""
    before = raw.Mul(np.ones((limit, 1), first.dtype.np_dtype), raw.ExpandDims(first, 0))
    return before, raw.Mul(np.ones(limit, times.dtype.np_dtype), raw.GatherV2(times, 0, 0))


def find_steps(e: Equation, method: Method, first: Tensor, times: Tensor, control: Control, how: How,
               watch: Watch | None = None, kept: int = 0) -> tuple[Path, Steps, Tensor, Info]:
    """Integrates; returns what was found, the accepted steps, how many zeros were seen, and how it went."""
    first, times = raw.StopGradient(first), raw.StopGradient(times)
    dtype, real = first.dtype.np_dtype, times.dtype.np_dtype
    number = raw.Size(times)
    begin, end = raw.GatherV2(times, 0, 0), raw.GatherV2(times, raw.Sub(number, 1), 0)
    whole = raw.Sub(end, begin)
    later, sooner = raw.StridedSlice(times, [1], [0], [1], end_mask=1), raw.StridedSlice(times, [0], [-1], [1])
    ordered = raw.All(raw.Greater(raw.Mul(raw.Sub(later, sooner), raw.Sign(whole)), np.zeros((), real)), [0])
    limit = watch.limit if watch is not None else 0

    def going_on(s: _State) -> Any:
        found = raw.LogicalAnd(raw.LogicalAnd(raw.Less(s.i, number), raw.Less(s.k, control.most)),
                               raw.Equal(s.status, RUNNING))
        return raw.LogicalAnd(found, raw.Less(s.seen, limit)) if watch is not None and watch.terminal else found

    def iterate(s: _State) -> Any:
        target = raw.GatherV2(times, s.i, 0)
        left = raw.Sub(target, s.t)
        here = raw.GreaterEqual(raw.Mul(raw.Abs(s.h), np.asarray(1 + 1e-9, real)), raw.Abs(left))
        size = raw.SelectV2(here, left, s.h)
        after, error = method.step(e, s.t, s.y, size)
        fine, grown, status = _judged(s, after, error, size, here, method, control)
        y = raw.SelectV2(fine, after, s.y)
        t = raw.SelectV2(fine, raw.SelectV2(here, target, raw.AddV2(s.t, size)), s.t)
        watched = (s.level, s.seen, s.crossed, s.before, s.begin)
        if watch is not None:
            watched = _watched(s, watch, y, t, limit)
        noted = (_put(s.starts, s.n, s.y), _put(s.opened, s.n, s.t)) if kept else (s.starts, s.opened)
        i = raw.AddV2(s.i, raw.Cast(raw.LogicalAnd(fine, here), DstT=int32))
        return (_State(s.k + 1, raw.AddV2(s.n, raw.Cast(fine, DstT=int32)), i, t, y, grown, _put(s.rows, s.i, y),
                       _put(s.sizes, s.n, size), _put(s.ends, s.n, raw.Cast(here, DstT=int32)), status,
                       *watched, *noted),)

    size = raw.Mul(_first_step(e, method, begin, first, whole, control), raw.Sign(whole))
    status = choose(ordered, choose(raw.IsFinite(_largest(first)), RUNNING, NOT_FINITE), BAD_TIMES)
    level = raw.Identity(np.zeros((), dtype)) if watch is None else watch.still(first, begin)
    start = _State(_int(0), _int(0), _int(1), begin, first, size, _rows(first, times),
                   raw.Identity(np.zeros(control.most, real)), raw.Identity(np.zeros(control.most, np.int32)), status,
                   level, _int(0), raw.Identity(np.full(limit, -1, np.int32)), *_none_before(first, times, limit),
                   *_none_before(first, times, kept))
    (s,) = while_loop(going_on, iterate, (start,))
    reached = raw.Equal(s.i, number)
    if watch is not None and watch.terminal:
        reached = raw.LogicalOr(reached, raw.GreaterEqual(s.seen, np.int32(limit)))
    status = choose(raw.Equal(s.status, RUNNING), choose(reached, CONVERGED, NOT_REACHED), s.status)
    remaining = raw.Cast(raw.Abs(raw.Sub(end, s.t)), DstT=first.dtype)
    rows = raw.Converged(s.rows, remaining, np.asarray(np.inf, dtype), s.k, status, what=how.what, strict=how.strict,
                         quantity="time left")
    # The sizes are constants to derivatives of any order: those of second order begin in gradients that read them.
    steps = Steps(raw.StopGradient(s.sizes), raw.Cast(s.ends, DstT=bool_), s.n, s.crossed)
    return Path(rows, s.before, s.begin, s.starts, s.opened), steps, s.seen, Info(s.n, raw.StopGradient(remaining))


def _judged(s: _State, after: Any, error: Any, size: Any, here: Any, method: Method, control: Control) -> Any:
    """Returns whether a step is good enough, the size of the next one, and the status."""
    dtype, real = after.dtype.np_dtype, size.dtype.np_dtype
    if error is None:
        fine = raw.IsFinite(_largest(after))
        return fine, s.h, choose(fine, s.status, TINY_STEP)
    scale = raw.AddV2(np.asarray(control.atol, dtype), raw.Mul(
        np.asarray(control.rtol, dtype), raw.Maximum(raw.Abs(s.y), raw.Abs(after))))
    badness = _rms(raw.RealDiv(error, scale))
    fine = raw.LessEqual(badness, np.asarray(1, dtype))  # false for NaN
    known = raw.SelectV2(raw.IsFinite(badness), badness, np.asarray(1e30, dtype))
    factor = raw.Mul(np.asarray(control.safety, dtype), raw.Pow(
        raw.Maximum(known, np.asarray(1e-30, dtype)), np.asarray(-1 / method.order, dtype)))
    factor = raw.Minimum(raw.Maximum(factor, np.asarray(control.smallest, dtype)), np.asarray(control.largest, dtype))
    grown = raw.Mul(size, raw.Cast(factor, DstT=size.dtype))
    # A step that was cut short says little about longer ones.
    cut = raw.LogicalAnd(raw.LogicalAnd(here, fine), raw.Less(raw.Abs(grown), raw.Abs(s.h)))
    grown = raw.SelectV2(cut, s.h, grown)
    tiny = 16 * float(np.finfo(real).eps)
    small = raw.LessEqual(raw.Abs(grown), raw.Mul(np.asarray(tiny, real), raw.Abs(s.t)))
    return fine, grown, choose(raw.LogicalOr(fine, raw.LogicalNot(small)), s.status, TINY_STEP)


def _watched(s: _State, watch: Watch, y: Any, t: Any, limit: int) -> tuple[Any, ...]:
    """Returns what is watched at the end of a step, how many zeros were seen, in which steps, and these' beginnings."""
    level = watch.still(y, t)
    zero = raw.ZerosLike(level)
    rises = raw.LogicalAnd(raw.Less(s.level, zero), raw.GreaterEqual(level, zero))
    falls = raw.LogicalAnd(raw.Greater(s.level, zero), raw.LessEqual(level, zero))
    found = {1: rises, -1: falls, 0: raw.LogicalOr(rises, falls)}[watch.direction]
    kept = raw.LogicalAnd(found, raw.Less(s.seen, limit))
    place = raw.LogicalAnd(raw.Equal(np.arange(limit, dtype=np.int32), s.seen), kept)
    return (level, raw.AddV2(s.seen, raw.Cast(found, DstT=int32)), raw.SelectV2(place, s.n, s.crossed),
            *_kept(place, s.y, s.t, s.before, s.begin))


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
