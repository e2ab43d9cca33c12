"""Learning rates as functions of the training step."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from graphgrad.frontend.structure.structure_types import P, R
from graphgrad.ir import dtypes
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.random import random as random_ops


def _schedule(rule: Callable[P, R]) -> Callable[P, R]:
    """Makes a schedule return a function in eager mode, so that each step evaluates it again."""

    @functools.wraps(rule)
    def build(*args: Any, **kwargs: Any) -> Any:
        if current_graph() is None:
            return functools.partial(rule, *args, **kwargs)
        return rule(*args, **kwargs)

    return build


def _step(global_step: Any, function: str) -> Any:
    if global_step is None:
        raise ValueError(f"global_step is required for {function}.\n  Asked for at {user_source(3)}\n"
                         "  Fix: give tf.train.get_or_create_global_step()")
    return global_step


def _tensors(learning_rate: Any, global_step: Any, *others: Any) -> list[Any]:
    """Converts the initial rate to a tensor, and step and parameters to its dtype."""
    rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
    return [rate, *(_cast(t, rate.dtype) for t in (global_step, *others))]


def _cast(value: Any, dtype: Any) -> Any:
    if isinstance(value, (int, float)):
        return convert_to_tensor(float(value), dtype)
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype is dtype else raw.Cast(tensor, DstT=dtype)


def _fraction(step: Any, decay_steps: Any, staircase: bool) -> Any:
    p = step / decay_steps
    return raw.Floor(p) if staircase else p


@_schedule
def exponential_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                      name: str | None = None) -> Tensor | Any:
    """Computes learning_rate * decay_rate ** (global_step / decay_steps).

    Args:
      learning_rate: the initial rate.
      global_step: the step, a variable or tensor.
      decay_steps, decay_rate: numbers or tensors.
      staircase: whether to round the exponent down.
      name: a name for the operation.
    Returns: a scalar; in eager mode a function that gives it.
    Raises: ValueError without a step.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.exponential_decay`.

    >>> sess.run(tf.train.exponential_decay(0.5, tf.constant(20), 10, 0.5))
    np.float32(0.125)
    """
    _step(global_step, "exponential_decay")
    with name_scope(name, "ExponentialDecay") as scope:
        rate, step, steps, base = _tensors(learning_rate, global_step, decay_steps, decay_rate)
        return raw.Mul(rate, raw.Pow(base, _fraction(step, steps, staircase)), name=scope)


@_schedule
def natural_exp_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                      name: str | None = None) -> Tensor | Any:
    """Computes learning_rate * exp(-decay_rate * global_step / decay_steps); see `exponential_decay`."""
    _step(global_step, "natural_exp_decay")
    with name_scope(name, "ExponentialDecay") as scope:
        rate, step, steps, factor = _tensors(learning_rate, global_step, decay_steps, decay_rate)
        return raw.Mul(rate, raw.Exp(-factor * _fraction(step, steps, staircase)), name=scope)


@_schedule
def inverse_time_decay(learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
                       name: str | None = None) -> Tensor | Any:
    """Computes learning_rate / (1 + decay_rate * global_step / decay_steps); see `exponential_decay`."""
    _step(global_step, "inverse_time_decay")
    with name_scope(name, "InverseTimeDecay") as scope:
        rate, step, steps, factor = _tensors(learning_rate, global_step, decay_steps, decay_rate)
        return raw.RealDiv(rate, 1.0 + factor * _fraction(step, steps, staircase), name=scope)


@_schedule
def polynomial_decay(learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
                     power: Any = 1.0, cycle: bool = False, name: str | None = None) -> Tensor | Any:
    """Decays from `learning_rate` to `end_learning_rate` in `decay_steps`, by (1 - step / decay_steps) ** power.

    Args:
      learning_rate: the initial rate.
      global_step: the step, a variable or tensor.
      decay_steps, end_learning_rate, power: numbers or tensors.
      cycle: whether to begin again with a multiple of `decay_steps` when it is reached.
      name: a name for the operation.
    Returns: a scalar; in eager mode a function that gives it.
    Raises: ValueError without a step.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.polynomial_decay`.

    >>> sess.run(tf.train.polynomial_decay(1.0, tf.constant(5), 10, 0.0))
    np.float32(0.5)
    """
    _step(global_step, "polynomial_decay")
    with name_scope(name, "PolynomialDecay") as scope:
        rate, step, steps, end, exponent = _tensors(learning_rate, global_step, decay_steps, end_learning_rate, power)
        if cycle:
            zero = convert_to_tensor(0.0, rate.dtype)
            rounds = raw.SelectV2(raw.Equal(step, zero), convert_to_tensor(1.0, rate.dtype), raw.Ceil(step / steps))
            steps = raw.Mul(steps, rounds)
        else:
            step = raw.Minimum(step, steps)
        p = raw.RealDiv(step, steps, name="truediv")
        return raw.AddV2(raw.Mul(rate - end, raw.Pow(1.0 - p, exponent)), end, name=scope)


def _boundary(x: Any, boundary: Any) -> Any:
    b = convert_to_tensor(boundary)
    if b.dtype is x.dtype:
        return b
    if x.dtype is dtypes.int64 and b.dtype is dtypes.int32:
        return raw.Cast(b, DstT=dtypes.int64)
    raise ValueError(f"Boundaries ({b.dtype}) must have the same dtype as x ({x.dtype}).")


@_schedule
def piecewise_constant(x: TensorLike, boundaries: Any, values: TensorLike, name: str | None = None) -> Tensor | Any:
    """Selects values[i] where boundaries[i - 1] < x <= boundaries[i].

    Args:
      x: a scalar, usually the global step.
      boundaries: increasing numbers of x's dtype.
      values: one more number than there are boundaries, of one dtype.
      name: a name for the operation.
    Returns: a scalar; in eager mode a function that gives it.
    Raises: ValueError if lengths or dtypes do not fit.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.piecewise_constant`.

    >>> sess.run(tf.train.piecewise_constant(tf.constant(15), [10, 20], [1.0, 0.5, 0.1]))
    np.float32(0.5)
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name, "PiecewiseConstant"):
        x = convert_to_tensor(x)
        ends = [_boundary(x, b) for b in boundaries]
        levels = [convert_to_tensor(v) for v in values]
        if any(v.dtype is not levels[0].dtype for v in levels):
            raise ValueError("Values must have elements all with the same dtype.")
        result = levels[-1]
        for end, level in zip(reversed(ends), reversed(levels[:-1]), strict=True):
            result = raw.SelectV2(raw.LessEqual(x, end), level, result)
        return result


def _half_cosine(fraction: Any) -> Any:
    return 0.5 * (1.0 + raw.Cos(math.pi * fraction))


@_schedule
def cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0,
                 name: str | None = None) -> Tensor | Any:
    """Decays from `learning_rate` to `alpha` times it in `decay_steps`, by half a cosine.

    Args:
      learning_rate: the initial rate.
      global_step: the step, a variable or tensor.
      decay_steps: a number or tensor.
      alpha: the rate at the end, as a fraction.
      name: a name for the operation.
    Returns: a scalar; in eager mode a function that gives it.
    Raises: ValueError without a step.
    Reference: Loshchilov and Hutter, 2016; TensorFlow 2.21 `tf.compat.v1.train.cosine_decay`.

    >>> print(sess.run(tf.train.cosine_decay(1.0, tf.constant(10), 10)))
    0.0
    """
    _step(global_step, "cosine decay")
    with name_scope(name, "CosineDecay"):
        rate, step, steps = _tensors(learning_rate, global_step, decay_steps)
        fraction = raw.Minimum(step, steps) / steps
        return raw.Mul(rate, (1 - alpha) * _half_cosine(fraction) + alpha)


@_schedule
def cosine_decay_restarts(learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: Any = 2.0,
                          m_mul: Any = 1.0, alpha: Any = 0.0, name: str | None = None) -> Tensor | Any:
    """Repeats `cosine_decay`, each time `t_mul` times longer and from `m_mul` times the rate.

    Args:
      learning_rate: the first rate.
      global_step: the step.
      first_decay_steps: the number of steps of the first period.
      t_mul, m_mul: the factors of the length and of the rate from period to period.
      alpha: the least rate, as a fraction of `learning_rate`.
      name: a name for the scope.
    Returns: a scalar.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.cosine_decay_restarts`; Loshchilov and Hutter 2016, arXiv:1608.03983.
    """
    _step(global_step, "cosine decay restarts")
    with name_scope(name, "SGDRDecay"):
        rate, step, steps, longer, lower = _tensors(learning_rate, global_step, first_decay_steps, t_mul, m_mul)
        done = step / steps
        if t_mul == 1.0:
            restarts = raw.Floor(done)
            fraction = done - restarts
        else:
            restarts = raw.Floor(raw.Log(1.0 - done * (1.0 - longer)) / raw.Log(longer))
            passed = (1.0 - raw.Pow(longer, restarts)) / (1.0 - longer)
            fraction = (done - passed) / raw.Pow(longer, restarts)
        cosine = 0.5 * raw.Pow(lower, restarts) * (1.0 + raw.Cos(math.pi * fraction))
        return raw.Mul(rate, (1 - alpha) * cosine + alpha)


@_schedule
def linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: Any = 0.5,
                        alpha: Any = 0.0, beta: Any = 0.001, name: str | None = None) -> Tensor | Any:
    """Computes learning_rate * ((alpha + linear) * cosine + beta): linear from 1 to 0, `num_periods` of a cosine.

    Args:
      learning_rate: the first rate.
      global_step: the step.
      decay_steps: the number of steps.
      num_periods: the number of periods of the cosine.
      alpha, beta: as in the formula.
      name: a name for the scope.
    Returns: a scalar.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.linear_cosine_decay`; Bello et al. 2017, arXiv:1709.07417.
    """
    _step(global_step, "linear cosine decay")
    with name_scope(name, "LinearCosineDecay"):
        rate, step, steps, periods, a, b = _tensors(learning_rate, global_step, decay_steps, num_periods, alpha, beta)
        step = raw.Minimum(step, steps)
        linear = (steps - step) / steps
        cosine = _half_cosine(2.0 * periods * (step / steps))
        return raw.Mul(rate, (a + linear) * cosine + b)


@_schedule
def noisy_linear_cosine_decay(learning_rate: Any, global_step: Any, decay_steps: Any, initial_variance: Any = 1.0,
                              variance_decay: Any = 0.55, num_periods: Any = 0.5, alpha: Any = 0.0, beta: Any = 0.001,
                              name: str | None = None) -> Tensor | Any:
    """Adds noise of variance initial_variance / (1 + step) ** variance_decay to `linear_cosine_decay`.

    Args:
      learning_rate, global_step, decay_steps, num_periods, alpha, beta, name: as for `linear_cosine_decay`.
      initial_variance, variance_decay: as in the formula.
    Returns: a scalar.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.noisy_linear_cosine_decay`; Bello et al. 2017, arXiv:1709.07417.
    """
    _step(global_step, "noisy linear cosine decay")
    with name_scope(name, "NoisyLinearCosineDecay"):
        rate, step, steps, first, decay, periods, a, b = _tensors(
            learning_rate, global_step, decay_steps, initial_variance, variance_decay, num_periods, alpha,
            beta)
        step = raw.Minimum(step, steps)
        linear = (steps - step) / steps
        spread = raw.Sqrt(first / raw.Pow(1.0 + step, decay))
        noisy = linear + random_ops.random_normal(linear.shape, stddev=spread, dtype=rate.dtype)
        cosine = _half_cosine(2.0 * periods * (step / steps))
        return raw.Mul(rate, (a + noisy) * cosine + b)
