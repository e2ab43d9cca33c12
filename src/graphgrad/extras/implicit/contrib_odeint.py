"""`tf.contrib.integrate.odeint`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.ir.source import user_source

from .calling import function_given, staged
from .ode import Control, integrate
from .ode_steps import METHODS

_NAME = "tf.contrib.integrate.odeint"
_OPTIONS = {"first_step": "first", "max_num_steps": "most", "safety": "safety", "ifactor": "largest",
            "dfactor": "smallest"}


def odeint(func: Callable[[Any, Any], Any], y0: Any, t: Any, rtol: float = 1e-6, atol: float = 1e-12,
           method: str | None = None, options: dict[str, Any] | None = None, full_output: bool = False,
           name: str | None = None) -> Any:
    """Integrates dy/dt = func(y, t); `tf.implicit.odeint` with the arguments of TensorFlow 1.

    Args:
      func: takes y and the time, returns the slope, of the shape of y.
      y0: the value at t[0], float32 or float64.
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
        return integrate(func, y0, t, METHODS["dopri5"], control, "error", False, scope)

    return staged(name, "odeint", build)


__all__ = ["odeint"]
