"""Exponentials, logarithms and powers."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INEXACT
from graphgrad.ir.opdef import op, raw, wants
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast, has_no_elements
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.elementwise import SIGNED, conj, same


@op("Exp", "x: T -> y: T", T=INEXACT, shape=same, saves_result=True,
    finite_advice="keep its argument below 88 (float32): subtract the maximum first, or use tf.clip_by_value",
    elementwise=True)
def _exp(xp, x):
    """Computes e to the power of x."""
    return xp.exp(x)


@_exp.grad
def _exp_grad(op, dy):
    return raw.Mul(dy, conj(op.outputs[0]))


def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes e to the power of x, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy conj(exp(x)).
    Reference: TensorFlow 2.21 Exp.

    >>> sess.run(tf.exp([0.0, 1.0])).round(4)
    array([1.    , 2.7183], dtype=float32)
    """
    return raw.Exp(x, name=name)


@op("Expm1", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _expm1(xp, x):
    """Computes exp(x) - 1."""
    return xp.expm1(x)


@_expm1.grad
def _expm1_grad(op, dy):
    return raw.Mul(dy, raw.Exp(conj(op.inputs[0])))


def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes exp(x) - 1, elementwise; exact also for small x.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy conj(exp(x)).
    Reference: TensorFlow 2.21 Expm1.

    >>> sess.run(tf.math.expm1([0.0, 1.0])).round(4)
    array([0.    , 1.7183], dtype=float32)
    """
    return raw.Expm1(x, name=name)


_LOG_OF_TINY = np.float32(-87.3366)  # a little below that of the least normal number


@op("Log", "x: T -> y: T", T=INEXACT, shape=same,
    finite_advice="keep its argument above 0: tf.math.log(tf.maximum(x, 1e-12))", elementwise=True)
def _log(xp, x):
    """Computes the natural logarithm."""
    if x.dtype != np.float32:
        return xp.log(x)
    if xp is np:
        y = np.log(x)
        if not np.any(y < _LOG_OF_TINY):
            return y
    # Arithmetic flushes subnormal numbers to zero; TensorFlow's logarithm of them is that of 2**-150.
    bits = x.view(np.uint32)
    below = (bits & np.uint32(0x7FFFFFFF)) - np.uint32(1) < np.uint32(0x007FFFFF)
    of_subnormal = xp.where(bits >> np.uint32(31) == 0, np.float32(-150 * math.log(2)), np.float32(np.nan))
    return xp.where(below, of_subnormal, xp.log(x))


@_log.grad
def _log_grad(op, dy):
    # Not dy / x: in the derivative of that, 0 / 0 would be a NaN where `where` has chosen another branch.
    return raw.Mul(dy, raw.Reciprocal(conj(op.inputs[0])))


def log(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the natural logarithm, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x; NaN for negative floats.
    Raises: TypeError for other dtypes.
    Gradient: dy / conj(x).
    Reference: TensorFlow 2.21 Log.

    >>> sess.run(tf.math.log([1.0, 4.0])).round(4)
    array([0.    , 1.3863], dtype=float32)
    """
    return raw.Log(x, name=name)


@op("Log1p", "x: T -> y: T", T=INEXACT, shape=same, finite_advice="keep its argument above -1", elementwise=True)
def _log1p(xp, x):
    """Computes log(1 + x)."""
    return xp.log1p(x)


@_log1p.grad
def _log1p_grad(op, dy):
    return raw.RealDiv(dy, raw.AddV2(conj(op.inputs[0]), 1))


def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes log(1 + x), elementwise; exact also for small x.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy / (1 + conj(x)).
    Reference: TensorFlow 2.21 Log1p.

    >>> sess.run(tf.math.log1p([0.0, 3.0])).round(4)
    array([0.    , 1.3863], dtype=float32)
    """
    return raw.Log1p(x, name=name)


# -- powers ------------------------------------------------------------------------


@op("Pow", "x: T, y: T -> z: T", T=SIGNED, shape=broadcast,
    finite_advice="keep the base above 0: its logarithm and its powers are part of the gradient", elementwise=True,
    formula="x ** y")
def _pow(xp, x, y):
    """Raises x to the power of y, elementwise with broadcasting."""
    if xp is np and x.dtype.kind in "iu" and x.size and np.any(y < 0):
        raise Complaint("Integers to negative integer powers are not allowed", "tf.cast x to a float dtype")
    return xp.power(x, y)


@_pow.refuses("y")
def _pow_refuses(xp, x, y):
    return [y < 0] if y.dtype.kind in "iu" and not has_no_elements(x.shape) else []


@_pow.grad
def _pow_grad(op, dz):
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gx = raw.Mul(raw.Mul(dz, cy), raw.Pow(cx, raw.Sub(cy, 1))) if wants(op, 0) else None
    if not wants(op, 1):
        return unbroadcast(gx, None, x, y)
    defined = raw.NotEqual(cx, 0) if x.dtype.is_complex else raw.Greater(x, 0)
    # The inner selection keeps log within its domain: 0 * nan is nan, also in further gradients.
    log_x = raw.SelectV2(defined, raw.Log(raw.SelectV2(defined, cx, 1)), 0)
    gy = raw.Mul(raw.Mul(dz, conj(op.outputs[0])), log_x)
    return unbroadcast(gx, gy, x, y)


def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Raises x to the power of y, elementwise with broadcasting.

    Args:
      x, y: signed numeric tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes;
      InvalidArgumentError for a negative power of integers.
    Gradient: dz y x**(y-1), and dz z log(x) for y, which is 0 where x is not positive.
    Reference: TensorFlow 2.21 Pow.

    >>> sess.run(tf.pow([2.0, 3.0], 2.0))
    array([4., 9.], dtype=float32)
    """
    return raw.Pow(x, y, name=name or "Pow")


# -- x f(y), which is 0 for x = 0, whatever f(y) is --------------------------------


def _guarded(xp, x, value):
    """Returns `value`; 0 where x is 0."""
    zero = xp.asarray(0, x.dtype)
    return xp.where(xp.equal(x, zero), zero, value)


def _not_zero(x):
    """Returns 1 where x is not 0, else 0."""
    return raw.Cast(raw.NotEqual(x, 0), DstT=x.dtype)


@op("Xlogy", "x: T, y: T -> z: T", T=INEXACT, shape=broadcast, elementwise=True, formula="where(x == 0, 0, x * log(y))")
def _xlogy(xp, x, y):
    """Computes x log(y); 0 where x is 0."""
    return _guarded(xp, x, x * xp.log(y))


@_xlogy.grad
def _xlogy_grad(op, dz):
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    return unbroadcast(raw.Mul(raw.Xlogy(_not_zero(x), cy), dz), raw.Mul(raw.Xdivy(cx, cy), dz), x, y)


def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x log(y), elementwise with broadcasting; 0 where x is 0.

    Args:
      x, y: float or complex tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: dz log(y) and dz x / y; 0 where x is 0.
    Reference: TensorFlow 2.21 Xlogy.

    >>> sess.run(tf.math.xlogy([0.0, 2.0], [0.0, 1.0]))
    array([0., 0.], dtype=float32)
    """
    return raw.Xlogy(x, y, name=name)


@op("Xlog1py", "x: T, y: T -> z: T", T=INEXACT, shape=broadcast, elementwise=True,
    formula="where(x == 0, 0, x * log1p(y))")
def _xlog1py(xp, x, y):
    """Computes x log(1 + y); 0 where x is 0."""
    return _guarded(xp, x, x * xp.log1p(y))


@_xlog1py.grad
def _xlog1py_grad(op, dz):
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gx = raw.Mul(raw.Xlog1py(_not_zero(x), cy), dz)
    return unbroadcast(gx, raw.Mul(raw.Xdivy(cx, raw.AddV2(cy, 1)), dz), x, y)


def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x log(1 + y), elementwise with broadcasting; 0 where x is 0.

    Args:
      x, y: float or complex tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: dz log(1 + y) and dz x / (1 + y); 0 where x is 0.
    Reference: TensorFlow 2.21 Xlog1py.

    >>> sess.run(tf.math.xlog1py([0.0, 2.0], [-1.0, 0.0]))
    array([0., 0.], dtype=float32)
    """
    with name_scope(name, "xlog1py"):
        return raw.Xlog1py(x, y)


@op("Xdivy", "x: T, y: T -> z: T", T=INEXACT, shape=broadcast, elementwise=True, formula="where(x == 0, 0, x / y)")
def _xdivy(xp, x, y):
    """Computes x / y; 0 where x is 0."""
    return _guarded(xp, x, x / y)


@_xdivy.grad
def _xdivy_grad(op, dz):
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gx = raw.Mul(raw.Xdivy(_not_zero(x), cy), dz)
    return unbroadcast(gx, raw.Mul(raw.Xdivy(raw.Neg(cx), raw.Square(cy)), dz), x, y)


def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x / y, elementwise with broadcasting; 0 where x is 0.

    Args:
      x, y: float or complex tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: dz / y and -dz x / y**2; 0 where x is 0.
    Reference: TensorFlow 2.21 Xdivy.

    >>> sess.run(tf.math.xdivy([0.0, 3.0], [0.0, 2.0]))
    array([0. , 1.5], dtype=float32)
    """
    with name_scope(name, "xdivy"):
        return raw.Xdivy(x, y)


def polyval(coeffs: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Evaluates a polynomial, by Horner's scheme.

    Args:
      coeffs: a list of the coefficients, that of the highest power first.
      x: a tensor.
      name: a name for the operations.
    Returns: a tensor like x; 0 for no coefficients.
    Raises: ValueError if `coeffs` is not a list.
    Gradient: of the sums and products.
    Reference: TensorFlow 2.21 `tf.math.polyval`.

    >>> sess.run(tf.math.polyval([1.0, 2.0, 3.0], 10.0))
    np.float32(123.0)
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}. Fix: list(coeffs)")
    with name_scope(name, "polyval"):
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return raw.ZerosLike(x, name="zeros_like")
        coeffs = [convert_to_tensor(c, x.dtype, name=f"coeff_{i}") for i, c in enumerate(coeffs)]
        value = coeffs[0]
        for c in coeffs[1:]:
            value = raw.AddV2(c, raw.Mul(value, x, name="mul"), name="add")
        return value
