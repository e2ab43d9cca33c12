"""Special functions defined by integrals: Dawson, Fresnel, Spence, exponential integral."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.ops.common.elementwise import same
from graphgrad.system.late_imports import load


def _declare(name, function, part=None, positive=False, cost=Cost.LIGHT):
    """Declares an op.

    Args:
      name: of the op.
      function: its name in scipy.special and jax.scipy.special.
      part: which of the function's results it is, or None if there is one.
      positive: whether it is NaN for negative numbers, and minus infinity at 0.
      cost: what it costs in XLA.
    """

    def kernel(xp, x):
        if xp is np:
            special = load("scipy.special")

            wide = np.asarray(x, np.float64)
        else:
            from jax.scipy import special

            wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        y = getattr(special, function)(wide)
        y = y if part is None else y[part]
        if positive:
            y = xp.where(wide < 0, xp.full_like(y, math.nan), xp.where(wide == 0, xp.full_like(y, -math.inf), y))
        return y.astype(x.dtype)

    kernel.__doc__ = f"Computes {name}, elementwise."
    return op(name, "x: T -> y: T", T=FLOATING, shape=same, cost=cost, elementwise=True)(kernel)


_dawsn = _declare("Dawsn", "dawsn")
_expint = _declare("Expint", "expi", positive=True, cost=Cost.SERIES)
_fresnel_cos = _declare("FresnelCos", "fresnel", 1)
_fresnel_sin = _declare("FresnelSin", "fresnel", 0)
_spence = _declare("Spence", "spence")


@_dawsn.grad
def _dawsn_grad(op, dy):
    x, y = op.inputs[0], op.outputs[0]
    return raw.Mul(dy, raw.Sub(1, raw.Mul(2, raw.Mul(x, y))))


@_expint.grad
def _expint_grad(op, dy):
    x = op.inputs[0]
    return raw.Mul(dy, raw.RealDiv(raw.Exp(x), x))


def _phase(x):
    return raw.Mul(math.pi / 2, raw.Square(x))


@_fresnel_cos.grad
def _fresnel_cos_grad(op, dy):
    return raw.Mul(dy, raw.Cos(_phase(op.inputs[0])))


@_fresnel_sin.grad
def _fresnel_sin_grad(op, dy):
    return raw.Mul(dy, raw.Sin(_phase(op.inputs[0])))


@_spence.grad
def _spence_grad(op, dy):
    x = op.inputs[0]
    ones = raw.OnesLike(x)
    at_one = raw.Equal(x, ones)
    rest = raw.SelectV2(at_one, ones, raw.Sub(ones, x))
    return raw.Mul(dy, raw.SelectV2(at_one, raw.Neg(ones), raw.RealDiv(raw.Log(x), rest)))


# -- public functions ------------------------------------------------------------------------


def dawsn(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy (1 - 2 x dawsn(x)).
    Reference: TensorFlow 2.21 Dawsn.

    >>> sess.run(dawsn([0.5, 2.0])).round(4)
    array([0.4244, 0.3013], dtype=float32)
    """
    with name_scope(name, "dawsn"):
        return raw.Dawsn(x)


def expint(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the exponential integral Ei: the integral of exp(t) / t from minus infinity to x, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; NaN for x < 0, as in TensorFlow.
    Raises: TypeError for other dtypes.
    Gradient: dy (exp(x) / x).
    Reference: TensorFlow 2.21 Expint.

    >>> sess.run(expint([0.5, 2.0])).round(4)
    array([0.4542, 4.9542], dtype=float32)
    """
    with name_scope(name, "expint"):
        return raw.Expint(x)


def fresnel_cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes Fresnel's integral of cos(pi t^2 / 2) from 0 to x, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy (cos(pi x^2 / 2)).
    Reference: TensorFlow 2.21 FresnelCos.

    >>> sess.run(fresnel_cos([0.5, 2.0])).round(4)
    array([0.4923, 0.4883], dtype=float32)
    """
    with name_scope(name, "fresnel_cos"):
        return raw.FresnelCos(x)


def fresnel_sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes Fresnel's integral of sin(pi t^2 / 2) from 0 to x, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy (sin(pi x^2 / 2)).
    Reference: TensorFlow 2.21 FresnelSin.

    >>> sess.run(fresnel_sin([0.5, 2.0])).round(4)
    array([0.0647, 0.3434], dtype=float32)
    """
    with name_scope(name, "fresnel_sin"):
        return raw.FresnelSin(x)


def spence(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes Spence's function: the integral of log(t) / (1 - t) from 1 to x, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; NaN for x < 0.
    Raises: TypeError for other dtypes.
    Gradient: dy (log(x) / (1 - x), -1 at 1).
    Reference: TensorFlow 2.21 Spence.

    >>> sess.run(spence([0.5, 2.0])).round(4)
    array([ 0.5822, -0.8225], dtype=float32)
    """
    with name_scope(name, "spence"):
        return raw.Spence(x)
