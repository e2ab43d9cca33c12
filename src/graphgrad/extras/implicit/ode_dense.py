"""The solution of `implicit.odeint` between the times asked for.

What is kept is where each step begins. A value between is the result of a step of the same method from there, of the
size that ends at the time wanted: so it is as accurate as the steps are, agrees with them at their ends, and has
derivatives of any order, those of the steps that were made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.frontend.structure import nest
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source
from graphgrad.ops.linalg.solutions import CONVERGED, OUTSIDE

from . import krylov, traced
from .calling import staged
from .ode_events import each_row
from .ode_loops import Path, Steps
from .ode_steps import Equation, Method
from .root import choose
from .solution import How, passed_on
from .vectors import Layout


class Kept(NamedTuple):
    """What is kept of the steps.

    Attributes:
      starts: (most, size), y where each step begins.
      opened: (most), the times then; infinite, in the direction of time, where there is no step.
      last: the time from which on y stays what it is: the end's, or a terminal event's.
      ends: (2), the first and the last of the times asked for.
    """

    starts: Tensor
    opened: Tensor
    last: Tensor
    ends: Tensor


class DenseSolution:
    """A solution as a function of time."""

    def __init__(self, function: str, func: Callable[[Any, Any], Any], y0: Any, method: Method, strict: str,
                 atol: float, kept: Kept):
        self._function, self._func, self._y0, self._method = function, func, y0, method
        self._strict, self._atol, self._kept = strict, atol, kept

    def __call__(self, t: Any, name: str | None = None) -> Any:
        """Returns what y is at some times.

        Args:
          t: a time, or (m), several, in any order, between the first and the last of those that `odeint` was given.
          name: a name scope.
        Returns: the structure of `y0`, for several times with one more axis (m) in front; after a terminal event what y
          was then.
        Raises: InvalidArgumentError at run time for other times; ValueError for other shapes.
        Gradient: of any order, by t and all that the solution depends on.
        """
        def build(scope: str) -> Any:
            times = convert_to_tensor(t, None if hasattr(t, "dtype") else self._kept.opened.dtype)
            shape = times._spec.shape
            if times.dtype is not self._kept.opened.dtype or shape is None or len(shape) > 1:
                raise ValueError(f"{self._function}: the solution was asked for times of dtype {times.dtype.name} and "
                                 f"shape {shape_str(shape)}.\n  Called at {user_source(2)}\n"
                                 f"  Fix: give a scalar or a vector of dtype {self._kept.opened.dtype.name}")
            rows = self._at(raw.Reshape(times, np.array([-1], np.int32)), scope)
            layout = Layout(self._function, "y0", self._y0)
            found = layout.stacked(rows)
            return found if shape else nest.map_structure(lambda v: raw.GatherV2(v, np.int32(0), 0), found)

        return staged(name, "solution", build)

    def _at(self, times: Tensor, scope: str) -> Tensor:
        kept, layout = self._kept, Layout(self._function, "y0", self._y0)
        how = How(f"{self._function} '{scope}'", "lu", self._strict, krylov.Tolerances())
        body, others = traced.trace(
            self._function, lambda y, at: layout.vector_of("func", self._func(layout.structure(y), at)),
            layout.vector(), f"{scope}/func", [raw.GatherV2(times, 0, 0)])
        e = Equation(lambda y, at: body(y, [at, *others]), how, self._atol)
        first, end = (raw.GatherV2(kept.ends, np.int32(i), 0) for i in (0, 1))
        forwards = raw.StopGradient(raw.Sign(raw.Sub(end, first)))
        asked, zero = raw.StopGradient(times), np.zeros((), layout.dtype.np_dtype)
        late = raw.Greater(raw.Mul(raw.Sub(asked, kept.last), forwards), raw.ZerosLike(asked))
        times = raw.SelectV2(late, raw.AddV2(kept.last, raw.ZerosLike(times)), times)
        keys, sought = (raw.ExpandDims(raw.StopGradient(raw.Mul(v, forwards)), 0) for v in (kept.opened, times))
        number = raw.Sub(raw.Squeeze(raw.UpperBound(keys, sought), squeeze_dims=(0,)), np.int32(1))
        number = raw.Maximum(number, np.int32(0))
        begin = raw.GatherV2(kept.opened, number, 0)
        rows = each_row(lambda row: self._method.step(e, row[0], row[1], row[2])[0],
                        (begin, raw.GatherV2(kept.starts, number, 0), raw.Sub(times, begin)))
        outside = raw.Maximum(raw.Mul(raw.Sub(first, asked), forwards), raw.Mul(raw.Sub(asked, end), forwards))
        outside = raw.Max(raw.ConcatV2([outside, raw.ZerosLike(kept.ends)], np.int32(0)), np.array([0], np.int32))
        outside = raw.SelectV2(raw.All(raw.IsFinite(asked), [0]), raw.Cast(outside, DstT=rows.dtype), zero + np.nan)
        status = choose(raw.LessEqual(outside, zero), CONVERGED, OUTSIDE)
        checked = raw.Converged(raw.StopGradient(rows), raw.StopGradient(outside), zero, np.int32(0), status,
                                what=how.what, strict=self._strict, quantity="distance")
        return passed_on(checked, rows)


def kept_of(path: Path, steps: Steps, times: Tensor, last: Any = None) -> Kept:
    """Returns what is kept of a path; `last` is the time of the event that ended it, NaN if none did."""
    begin, end = raw.GatherV2(times, 0, 0), raw.GatherV2(times, raw.Sub(raw.Size(times), 1), 0)
    ends = raw.Pack([begin, end], axis=0)
    most: int = path.opened.shape[0]
    there = raw.Less(np.arange(most, dtype=np.int32), steps.number)
    never = raw.Mul(raw.Sign(raw.StopGradient(raw.Sub(end, begin))), np.asarray(np.inf, times.dtype.np_dtype))
    if last is None:
        last = end
    else:
        last = raw.SelectV2(raw.Equal(last, last), last, end)
    return Kept(path.starts, raw.SelectV2(there, path.opened, never), last, ends)
