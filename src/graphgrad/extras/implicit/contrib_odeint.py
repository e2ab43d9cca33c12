"""`tf.contrib.integrate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, float64, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor

from . import krylov, traced
from .calling import function_given, staged
from .ode import integrate
from .ode_loops import Control, Steps, repeated
from .ode_steps import METHODS, Equation
from .solution import How
from .vectors import Layout

_NAME, _FIXED = "tf.contrib.integrate.odeint", "tf.contrib.integrate.odeint_fixed"
_OPTIONS = {"first_step": "first", "max_num_steps": "most", "safety": "safety", "ifactor": "largest",
            "dfactor": "smallest"}


def odeint(func: Callable[[Any, Any], Any], y0: Any, t: Any, rtol: float = 1e-6, atol: float = 1e-12,
           method: str | None = None, options: dict[str, Any] | None = None, full_output: bool = False,
           name: str | None = None) -> Tensor:
    """Integrates dy/dt = func(y, t); `tf.implicit.odeint` with the arguments of TensorFlow 1.

    Args:
      func: takes y and the time, returns the slope, of the shape of y.
      y0: the value at t[0], real or complex.
      t: (n), the times at which y is wanted, strictly increasing or decreasing.
      rtol, atol: the error of a step, relative and absolute.
      method: None or 'dopri5'.
      options: a dict with some of first_step, max_num_steps (1,000 by default), safety, ifactor, dfactor.
      full_output: True is not supported.
      name: a name scope.
    Returns: (n, *Y) for y0 of shape (*Y).
    Raises: ValueError for other methods or options; InvalidArgumentError at run time as `tf.implicit.odeint`;
      NotImplementedError for `full_output`.
    Gradient: of any order, by y0, t and what func closes over.
    Reference: TensorFlow 1.15 `tf.contrib.integrate.odeint`.

    >>> from graphgrad.compat import contrib
    >>> y = contrib.integrate.odeint(lambda y, t: -y, tf.constant(1.0, tf.float64), [0.0, 1.0])
    >>> np.round(sess.run(y), 5)
    array([1.     , 0.36788])
    """
    function_given(_NAME, func, "func")
    given = dict(options or {})
    unknown = sorted(set(given) - set(_OPTIONS))
    if method not in (None, "dopri5") or unknown:
        raise ValueError(f"{_NAME}: method={method!r}, options {unknown} are not known.\n  Called at {user_source(2)}\n"
                         f"  Fix: use method='dopri5' and options among {', '.join(_OPTIONS)}")
    if full_output:
        raise NotImplementedError(f"{_NAME}: full_output=True.\n  Called at {user_source(2)}\n"
                                  "  Fix: tf.implicit.odeint(..., with_info=True)")
    control = Control(**{"rtol": rtol, "atol": atol, "first": None, "most": 1000,
                         **{_OPTIONS[k]: v for k, v in given.items()}})

    def build(scope: str) -> Any:
        return integrate(func, y0, t, METHODS["dopri5"], control, "error", scope)[0]

    return staged(name, "odeint", build)


def odeint_fixed(func: Callable[[Any, Any], Any], y0: Any, t: Any, dt: Any = None, method: str | None = None,
                 name: str | None = None) -> Tensor:
    """Integrates dy/dt = func(y, t) with steps of given sizes.

    Args:
      func: takes y and the time, returns the slope, of the shape of y.
      y0: the value at t[0], real or complex.
      t: (n), the times at which y is wanted, float32 or float64.
      dt: the size of a step, a scalar or one for each interval, (n - 1). Steps are shortened so that a whole number of
        equal ones makes an interval. None: each interval is one step.
      method: 'rk4' (None) or 'midpoint'.
      name: a name scope.
    Returns: (n, *Y) for y0 of shape (*Y).
    Raises: ValueError for other methods and shapes.
    Gradient: of any order, by y0, t, dt and what func closes over: that of the steps.
    Reference: TensorFlow 1.15 `tf.contrib.integrate.odeint_fixed`.

    >>> from graphgrad.compat import contrib
    >>> y = contrib.integrate.odeint_fixed(lambda y, t: -y, tf.constant(1.0, tf.float64), [0.0, 1.0], dt=0.1)
    >>> np.round(sess.run(y), 5)
    array([1.     , 0.36788])
    """
    function_given(_FIXED, func, "func")
    if method not in (None, "rk4", "midpoint"):
        raise ValueError(f"{_FIXED}: method={method!r} is not known.\n  Called at {user_source(2)}\n"
                         "  Fix: use method='rk4' or method='midpoint'")

    def build(scope: str) -> Any:
        layout = Layout(_FIXED, "y0", y0)
        times = convert_to_tensor(t, None if hasattr(t, "dtype") else float64)
        shape = times._spec.shape
        if times.dtype not in (float32, float64) or (shape is not None and len(shape) != 1):
            raise ValueError(f"{_FIXED}: t has dtype {times.dtype.name} and shape {shape_str(shape)}.\n"
                             f"  Called at {user_source(2)}\n  Fix: give a vector of times, float32 or float64")
        first = layout.vector()
        body, others = traced.trace(
            _FIXED, lambda y, at: layout.vector_of("func", func(layout.structure(y), at)), first, f"{scope}/func",
            [raw.GatherV2(times, 0, 0)])
        how = How(f"{_FIXED} '{scope}'", "lu", "error", krylov.Tolerances())
        e = Equation(lambda y, at: body(y, [at, *others]), how, 0.0)
        return layout.stacked(repeated(e, METHODS[method or "rk4"], first, times, _equal_steps(times, dt)).rows)

    return staged(name, "odeint_fixed", build)


def _equal_steps(times: Any, dt: Any) -> Steps:
    """Divides intervals into equal steps."""
    real = times.dtype.np_dtype
    spans = raw.Sub(raw.StridedSlice(times, [1], [0], [1], end_mask=1), raw.StridedSlice(times, [0], [-1], [1]))
    counts = raw.OnesLike(raw.Cast(spans, DstT=int32))
    if dt is not None:
        # Rounding in the quotient is not to add a step.
        wanted = raw.Abs(raw.RealDiv(spans, convert_to_tensor(dt, times.dtype)))
        wanted = raw.Ceil(raw.Mul(raw.StopGradient(wanted), np.asarray(1 - 64 * np.finfo(real).eps, real)))
        counts = raw.Maximum(raw.Cast(wanted, DstT=int32), counts)
    ends = raw.Cumsum(counts, np.int32(0))  # numbers of steps when the intervals end
    total = raw.Sum(counts, np.array([0], np.int32))
    steps = raw.Range(np.int32(0), total, np.int32(1))
    later = raw.Cast(raw.GreaterEqual(raw.ExpandDims(steps, 1), raw.ExpandDims(ends, 0)), DstT=int32)
    interval = raw.Sum(later, np.array([1], np.int32))
    sizes = raw.GatherV2(raw.RealDiv(spans, raw.Cast(counts, DstT=times.dtype)), interval, 0)
    last = raw.Equal(raw.AddV2(steps, np.int32(1)), raw.GatherV2(ends, interval, 0))
    return Steps(sizes, last, total, raw.Identity(np.zeros(0, np.int32)))


__all__ = ["odeint", "odeint_fixed"]
