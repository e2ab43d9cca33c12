"""Special functions: the error function, gamma, zeta, and related ones."""

from __future__ import annotations

import functools
import math

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import FLOATING, float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.elementwise import same, scalars_or_one_shape
from graphgrad.ops.common.lax_functions import lax_of, special_of

from . import special_numpy, special_parameter_gradients

_DOUBLE = frozenset({float32, float64})


def _declare(name, signature, host, device, doc, T=FLOATING, cost=Cost.LIGHT, single=None,
             eager_seconds=0.0):
    """Declares a special function.

    Args:
      name, signature: of the op.
      host: a function of `special_numpy`.
      device: a function, or the name of one in `jax.scipy.special`, or in `jax.lax` if it begins with "lax.".
      doc: the kernel's docstring.
      T: the dtypes.
      cost: what it costs in XLA.
      single: a function of `special_numpy` for float32, which half precision is computed in.
      eager_seconds: as for `op`.
    """

    def kernel(xp, *inputs):
        dtype = inputs[0].dtype
        if xp is np and single is not None and dtype != np.float64:
            return single(*(np.asarray(x, np.float32) for x in inputs)).astype(dtype, copy=False)
        if xp is np:
            return host(*(np.asarray(x, np.float64) for x in inputs)).astype(dtype)
        if callable(device):
            function = functools.partial(device, xp)
        else:
            function = getattr(lax_of(xp), device[4:]) if device.startswith("lax.") else (
                getattr(special_of(xp), device))
        if dtype.itemsize == 2:
            inputs = [x.astype(np.float32) for x in inputs]
        if len(inputs) > 1:
            inputs = xp.broadcast_arrays(*inputs)
        return function(*inputs).astype(dtype)

    kernel.__doc__ = doc
    shape = {1: same, 2: broadcast, 3: scalars_or_one_shape}[signature.count(",") + 1]
    return op(name, signature, T=T, shape=shape, cost=cost, eager_seconds=eager_seconds,
              elementwise=True)(kernel)


# -- the error function ------------------------------------------------------------

def _erfinv_on_device(xp, x):
    """Improves XLA's result with one step of Newton's method: near 1 it is off by 6e-6, in float64 by 1e-10."""
    special, number = special_of(xp), x.dtype.type
    y = special.erfinv(x)
    size, found = xp.abs(x), xp.abs(y)
    off = xp.where(size < number(0.5), special.erf(found) - size, (number(1) - size) - special.erfc(found))
    step = xp.sign(y) * off * number(math.sqrt(math.pi) / 2) * xp.exp(y * y)
    return xp.where(xp.isfinite(step), y - step, y)


_erf = _declare("Erf", "x: T -> y: T", special_numpy.erf, "erf", "Computes the error function.",
                single=special_numpy.erf_single, eager_seconds=2e-9)
_erfc = _declare("Erfc", "x: T -> y: T", special_numpy.erfc, "erfc", "Computes 1 - erf(x).",
                eager_seconds=1.3e-8)
_erfinv = _declare("Erfinv", "x: T -> y: T", special_numpy.erfinv, _erfinv_on_device, "Computes the inverse of erf.")
_ndtri = _declare("Ndtri", "x: T -> y: T", special_numpy.ndtri, "ndtri", "Computes the normal quantile function.")


def _bell(x, factor):
    """Computes factor * exp(-x**2)."""
    return raw.Mul(raw.Exp(raw.Neg(raw.Square(x))), factor)


@_erf.grad
def _erf_grad(op, dy):
    return raw.Mul(dy, _bell(op.inputs[0], 2 / math.sqrt(math.pi)))


@_erfc.grad
def _erfc_grad(op, dy):
    return raw.Mul(dy, _bell(op.inputs[0], -2 / math.sqrt(math.pi)))


@_erfinv.grad
def _erfinv_grad(op, dy):
    return raw.Mul(dy, raw.Mul(raw.Exp(raw.Square(op.outputs[0])), math.sqrt(math.pi) / 2))


@_ndtri.grad
def _ndtri_grad(op, dy):
    half_square = raw.Mul(raw.Square(op.outputs[0]), 0.5)
    return raw.Mul(dy, raw.Mul(raw.Exp(half_square), math.sqrt(2 * math.pi)))


def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the error function 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a tensor like x, in [-1, 1].
    Raises: TypeError for other dtypes.
    Gradient: dy 2 exp(-x**2) / sqrt(pi).
    Reference: TensorFlow 2.21 Erf.

    >>> sess.run(tf.math.erf([0.0, 1.0])).round(4)
    array([0.    , 0.8427], dtype=float32)
    """
    return raw.Erf(x, name=name)


def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes 1 - erf(x), elementwise; exact also for large x.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a tensor like x, in [0, 2].
    Raises: TypeError for other dtypes.
    Gradient: -dy 2 exp(-x**2) / sqrt(pi).
    Reference: TensorFlow 2.21 Erfc.

    >>> sess.run(tf.math.erfc([0.0, 1.0])).round(4)
    array([1.    , 0.1573], dtype=float32)
    """
    return raw.Erfc(x, name=name)


def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the error function, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; NaN outside [-1, 1].
    Raises: TypeError for other dtypes.
    Gradient: dy sqrt(pi) / 2 exp(erfinv(x)**2).
    Reference: TensorFlow 2.21 Erfinv.

    >>> sess.run(tf.math.erfinv([0.0, 0.5])).round(4)
    array([0.    , 0.4769], dtype=float32)
    """
    with name_scope(name, "erfinv"):
        return raw.Erfinv(x)


def ndtri(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the quantile function of the standard normal distribution, elementwise.

    Args:
      x: a float tensor of probabilities.
      name: a name for the operations.
    Returns: a tensor like x; NaN outside [0, 1].
    Raises: TypeError for other dtypes.
    Gradient: dy sqrt(2 pi) exp(ndtri(x)**2 / 2).
    Reference: TensorFlow 2.21 Ndtri.

    >>> sess.run(tf.math.ndtri([0.5, 0.975])).round(4)
    array([0.  , 1.96], dtype=float32)
    """
    with name_scope(name, "ndtri"):
        return raw.Ndtri(x)


def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of erfc, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; NaN outside [0, 2].
    Raises: TypeError for other dtypes.
    Gradient: that of -ndtri(x / 2) / sqrt(2).
    Reference: TensorFlow 2.21 `tf.math.erfcinv`.

    >>> sess.run(tf.math.erfcinv([1.0, 0.5])).round(4)
    array([-0.    ,  0.4769], dtype=float32)
    """
    with name_scope(name, "erfcinv"):
        x = convert_to_tensor(x, name="start")
        return raw.Mul(raw.Neg(ndtri(raw.Mul(x, 0.5, name="mul"))), math.sqrt(0.5), name="mul")


# -- gamma, its derivatives and zeta -----------------------------------------------

_series = functools.partial(_declare, cost=Cost.SERIES)
_lgamma = _series("Lgamma", "x: T -> y: T", special_numpy.lgamma, "gammaln", "Computes log(|gamma(x)|).",
                  eager_seconds=1.3e-8)
_digamma = _series("Digamma", "x: T -> y: T", special_numpy.digamma, "digamma", "Computes the derivative of Lgamma.",
                   eager_seconds=1.1e-8)
_polygamma = _series("Polygamma", "a: T, x: T -> z: T", special_numpy.polygamma, "lax.polygamma",
                     "Computes the a-th derivative of Digamma.", _DOUBLE, eager_seconds=2e-7)
_zeta = _series("Zeta", "x: T, q: T -> z: T", special_numpy.zeta, "zeta", "Computes Hurwitz's zeta function.", _DOUBLE)


def _from_infinity(record, least):
    """Makes the device kernel return 0, not XLA's NaN, where x is infinite and a is above `least`."""
    kernel = record.kernel

    def of_finite(xp, a, x):
        a, x = xp.broadcast_arrays(a, x)
        return xp.where((x == np.inf) & (a > least), xp.zeros((), x.dtype), kernel(xp, a, x))

    record.on_device(of_finite)


_from_infinity(_polygamma, 0)
_from_infinity(_zeta, 1)


@_lgamma.grad
def _lgamma_grad(op, dy):
    return raw.Mul(dy, raw.Digamma(op.inputs[0]))


@_digamma.grad
def _digamma_grad(op, dy):
    x = op.inputs[0]
    if x.dtype in _DOUBLE:
        return raw.Mul(dy, raw.Polygamma(x.dtype.np_dtype.type(1), x))
    slope = raw.Polygamma(np.float32(1), raw.Cast(x, DstT=float32))
    return raw.Mul(dy, raw.Cast(slope, DstT=x.dtype))


@_polygamma.grad
def _polygamma_grad(op, dz):
    """Computes the gradient for x alone: the order a is an integer."""
    a, x = op.inputs
    return None, unbroadcast(None, raw.Mul(raw.Polygamma(raw.AddV2(a, 1), x), dz), a, x)[1]


@_zeta.grad
def _zeta_grad(op, dz):
    return special_parameter_gradients.zeta_slopes(op, dz, 0)


def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes log(|gamma(x)|), elementwise.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a tensor like x; infinite at 0, -1, -2, ...
    Raises: TypeError for other dtypes.
    Gradient: dy digamma(x).
    Reference: TensorFlow 2.21 Lgamma.

    >>> sess.run(tf.math.lgamma([1.0, 4.0])).round(4)
    array([0.    , 1.7918], dtype=float32)
    """
    return raw.Lgamma(x, name=name)


def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the derivative of `lgamma`, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a tensor like x; NaN at 0, -1, -2, ...
    Raises: TypeError for other dtypes.
    Gradient: dy polygamma(1, x).
    Reference: TensorFlow 2.21 Digamma.

    >>> sess.run(tf.math.digamma([1.0, 4.0])).round(4)
    array([-0.5772,  1.2561], dtype=float32)
    """
    return raw.Digamma(x, name=name)


def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the a-th derivative of `digamma` at x, elementwise with broadcasting.

    Args:
      a: the orders, floats with integer values.
      x: a tensor of the same dtype, float32 or float64.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape; NaN for orders that are not integers.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: dz polygamma(a + 1, x) for x; None for a.
    Reference: TensorFlow 2.21 Polygamma.

    >>> sess.run(tf.math.polygamma(1.0, [1.0, 2.0])).round(4)
    array([1.6449, 0.6449], dtype=float32)
    """
    return raw.Polygamma(a, x, name=name)


def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """Computes Hurwitz's zeta function, the sum of (q + n)**-x over n >= 0, elementwise with broadcasting.

    Args:
      x: exponents above 1, float32 or float64.
      q: a tensor of the same dtype.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: -dz x zeta(x + 1, q) for q; for x a series like its own.
    Reference: TensorFlow 2.21 Zeta.

    >>> sess.run(tf.math.zeta(2.0, [1.0, 2.0])).round(4)
    array([1.6449, 0.6449], dtype=float32)
    """
    return raw.Zeta(x, q, name=name)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes log(|B(x)|) along the last axis: the sum of the lgammas less the lgamma of the sum.

    Args:
      x: (*B, n), a float tensor.
      name: a name for the operations.
    Returns: (*B).
    Raises: TypeError for other dtypes.
    Gradient: dy (digamma(x) - digamma(sum of x)).
    Reference: TensorFlow 2.21 `tf.math.lbeta`.

    >>> sess.run(tf.math.lbeta([2.0, 3.0])).round(4)
    np.float32(-2.4849)
    """
    with name_scope(name, "lbeta"):
        x = convert_to_tensor(x, name="x")
        return raw.Sub(raw.Sum(raw.Lgamma(x), [-1]), raw.Lgamma(raw.Sum(x, [-1])), name="sub")


# -- incomplete gamma and beta -----------------------------------------------------

_igamma = _series("Igamma", "a: T, x: T -> z: T", special_numpy.igamma, "lax.igamma", "Computes P(a, x).")
_igammac = _series("Igammac", "a: T, x: T -> z: T", special_numpy.igammac, "lax.igammac", "Computes 1 - P(a, x).")
_igamma_grad_a = _series("IgammaGradA", "a: T, x: T -> z: T", special_numpy.igamma_grad_a, "lax.igamma_grad_a",
                         "Computes the derivative of P(a, x) with respect to a.", _DOUBLE)
_betainc = _series("Betainc", "a: T, b: T, x: T -> z: T", special_numpy.betainc, "betainc",
                   "Computes the regularised incomplete beta function.", _DOUBLE)


def _igamma_slopes(op, dz):
    """Returns the gradients of P(a, x); that by x is x**(a-1) exp(-x) / gamma(a), taken of logarithms."""
    a, x = op.inputs
    if a.dtype in _DOUBLE:
        by_a = raw.IgammaGradA(a, x)
    else:
        by_a = raw.Cast(raw.IgammaGradA(raw.Cast(a, DstT=float32), raw.Cast(x, DstT=float32)), DstT=a.dtype)
    exponent = raw.Sub(raw.Sub(raw.Mul(raw.Sub(a, 1), raw.Log(x)), x), raw.Lgamma(a))
    return unbroadcast(raw.Mul(by_a, dz), raw.Mul(raw.Exp(exponent), dz), a, x)


_igamma.grad(_igamma_slopes)


@_igammac.grad
def _igammac_grad(op, dz):
    by_a, by_x = _igamma_slopes(op, dz)
    return raw.Neg(by_a), raw.Neg(by_x)


@_igamma_grad_a.grad
def _igamma_grad_a_grad(op, dz):
    return special_parameter_gradients.igamma_derivative_slopes(op, dz, 1)


@_betainc.grad
def _betainc_grad(op, dz):
    return special_parameter_gradients.betainc_slopes(op, dz, 0, 0)


def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the regularised lower incomplete gamma function P(a, x), elementwise with broadcasting.

    Args:
      a, x: float tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape, in [0, 1]; NaN for a <= 0 or x < 0.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: dz x**(a-1) exp(-x) / gamma(a) for x; IgammaGradA for a.
    Reference: TensorFlow 2.21 Igamma.

    >>> sess.run(tf.math.igamma(1.0, [0.0, 1.0])).round(4)
    array([0.    , 0.6321], dtype=float32)
    """
    return raw.Igamma(a, x, name=name)


def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the regularised upper incomplete gamma function 1 - P(a, x), elementwise with broadcasting.

    Args:
      a, x: float tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape, in [0, 1]; NaN for a <= 0 or x < 0.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: that of `igamma` with the other sign.
    Reference: TensorFlow 2.21 Igammac.

    >>> sess.run(tf.math.igammac(1.0, [0.0, 1.0])).round(4)
    array([1.    , 0.3679], dtype=float32)
    """
    return raw.Igammac(a, x, name=name)


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the regularised incomplete beta function, elementwise.

    Args:
      a, b, x: float32 or float64 tensors of one dtype, each of one shape or a scalar.
      name: a name for the operation.
    Returns: a tensor of that shape, in [0, 1].
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: dz x**(a-1) (1-x)**(b-1) / B(a, b) for x; integrals for a and b.
    Reference: TensorFlow 2.21 Betainc.

    >>> sess.run(tf.math.betainc(1.0, 1.0, [0.25, 0.5]))
    array([0.25, 0.5 ], dtype=float32)
    """
    return raw.Betainc(a, b, x, name=name)
