"""Trigonometric and hyperbolic functions, their inverses, and the logistic function."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.dtypes import FLOATING, INEXACT
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common import host_arrays
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.elementwise import conj, first, same
from graphgrad.ops.common.lax_functions import lax_of

from .sine import wave


@op("Sin", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _sin(xp, x):
    """Computes the sine."""
    return xp.sin(x)


@_sin.on_device
def _sin_on_device(xp, x):
    return wave(xp, x, 0)


@_sin.grad
def _sin_grad(op, dy):
    return raw.Mul(dy, raw.Cos(conj(op.inputs[0])))


def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the sine, elementwise.

    Args:
      x: a float or complex tensor, in radians.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy cos(conj(x)).
    Reference: TensorFlow 2.21 Sin.

    >>> sess.run(tf.sin([0.0, 1.0])).round(4)
    array([0.    , 0.8415], dtype=float32)
    """
    return raw.Sin(x, name=name)


@op("Cos", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _cos(xp, x):
    """Computes the cosine."""
    return xp.cos(x)


@_cos.on_device
def _cos_on_device(xp, x):
    return wave(xp, x, 1)


@_cos.grad
def _cos_grad(op, dy):
    return raw.Neg(raw.Mul(dy, raw.Sin(conj(op.inputs[0]))))


def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the cosine, elementwise.

    Args:
      x: a float or complex tensor, in radians.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: -dy sin(conj(x)).
    Reference: TensorFlow 2.21 Cos.

    >>> sess.run(tf.cos([0.0, 1.0])).round(4)
    array([1.    , 0.5403], dtype=float32)
    """
    return raw.Cos(x, name=name)


@op("Tan", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _tan(xp, x):
    """Computes the tangent."""
    return xp.tan(x)


@_tan.grad
def _tan_grad(op, dy):
    return raw.RealDiv(dy, raw.Square(raw.Cos(conj(op.inputs[0]))))


def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the tangent, elementwise.

    Args:
      x: a float or complex tensor, in radians.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy / cos(conj(x))**2.
    Reference: TensorFlow 2.21 Tan.

    >>> sess.run(tf.tan([0.0, 1.0])).round(4)
    array([0.    , 1.5574], dtype=float32)
    """
    return raw.Tan(x, name=name)


@op("Asin", "x: T -> y: T", T=INEXACT, shape=same,
    finite_advice="keep its argument inside (-1, 1) with tf.clip_by_value", elementwise=True)
def _asin(xp, x):
    """Computes the inverse of the sine."""
    return xp.arcsin(x)


@_asin.grad
def _asin_grad(op, dy):
    return raw.RealDiv(dy, raw.Sqrt(raw.Sub(1, raw.Square(conj(op.inputs[0])))))


def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the sine, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x, in [-pi/2, pi/2]; NaN outside [-1, 1].
    Raises: TypeError for other dtypes.
    Gradient: dy / sqrt(1 - conj(x)**2).
    Reference: TensorFlow 2.21 Asin.

    >>> sess.run(tf.asin([0.0, 1.0])).round(4)
    array([0.    , 1.5708], dtype=float32)
    """
    return raw.Asin(x, name=name)


@op("Acos", "x: T -> y: T", T=INEXACT, shape=same,
    finite_advice="keep its argument inside (-1, 1) with tf.clip_by_value", elementwise=True)
def _acos(xp, x):
    """Computes the inverse of the cosine."""
    return xp.arccos(x)


@_acos.grad
def _acos_grad(op, dy):
    return raw.Neg(raw.RealDiv(dy, raw.Sqrt(raw.Sub(1, raw.Square(conj(op.inputs[0]))))))


def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the cosine, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x, in [0, pi]; NaN outside [-1, 1].
    Raises: TypeError for other dtypes.
    Gradient: -dy / sqrt(1 - conj(x)**2).
    Reference: TensorFlow 2.21 Acos.

    >>> sess.run(tf.acos([1.0, 0.0])).round(4)
    array([0.    , 1.5708], dtype=float32)
    """
    return raw.Acos(x, name=name)


@op("Atan", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _atan(xp, x):
    """Computes the inverse of the tangent."""
    return xp.arctan(x)


@_atan.grad
def _atan_grad(op, dy):
    return raw.RealDiv(dy, raw.AddV2(raw.Square(conj(op.inputs[0])), 1))


def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the tangent, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x, in [-pi/2, pi/2].
    Raises: TypeError for other dtypes.
    Gradient: dy / (1 + conj(x)**2).
    Reference: TensorFlow 2.21 Atan.

    >>> sess.run(tf.atan([0.0, 1.0])).round(4)
    array([0.    , 0.7854], dtype=float32)
    """
    return raw.Atan(x, name=name)


@op("Atan2", "y: T, x: T -> z: T", T=FLOATING, shape=broadcast, elementwise=True)
def _atan2(xp, y, x):
    """Computes the angle of the point (x, y)."""
    return xp.arctan2(y, x)


@_atan2.grad
def _atan2_grad(op, dz):
    y, x = op.inputs
    g = raw.RealDiv(dz, raw.AddV2(raw.Square(x), raw.Square(y)))
    return unbroadcast(raw.Mul(x, g), raw.Neg(raw.Mul(y, g)), y, x)


def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the angle of the point (x, y), elementwise with broadcasting.

    Args:
      y, x: float tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape, in [-pi, pi].
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: dz x / (x**2 + y**2) for y and -dz y / (x**2 + y**2) for x.
    Reference: TensorFlow 2.21 Atan2.

    >>> sess.run(tf.atan2([1.0, 0.0], [0.0, 1.0])).round(4)
    array([1.5708, 0.    ], dtype=float32)
    """
    return raw.Atan2(y, x, name=name)


# -- hyperbolic --------------------------------------------------------------------


@op("Sinh", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _sinh(xp, x):
    """Computes the hyperbolic sine."""
    return xp.sinh(x)


@_sinh.grad
def _sinh_grad(op, dy):
    return raw.Mul(dy, raw.Cosh(conj(op.inputs[0])))


def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the hyperbolic sine, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy cosh(conj(x)).
    Reference: TensorFlow 2.21 Sinh.

    >>> sess.run(tf.sinh([0.0, 1.0])).round(4)
    array([0.    , 1.1752], dtype=float32)
    """
    return raw.Sinh(x, name=name)


@op("Cosh", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _cosh(xp, x):
    """Computes the hyperbolic cosine."""
    return xp.cosh(x)


@_cosh.grad
def _cosh_grad(op, dy):
    return raw.Mul(dy, raw.Sinh(conj(op.inputs[0])))


def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the hyperbolic cosine, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy sinh(conj(x)).
    Reference: TensorFlow 2.21 Cosh.

    >>> sess.run(tf.cosh([0.0, 1.0])).round(4)
    array([1.    , 1.5431], dtype=float32)
    """
    return raw.Cosh(x, name=name)


@op("Tanh", "x: T -> y: T", T=INEXACT, shape=same, saves_result=True, elementwise=True)
def _tanh(xp, x):
    """Computes the hyperbolic tangent."""
    return xp.tanh(x)


@_tanh.grad
def _tanh_grad(op, dy):
    return raw.TanhGrad(conj(op.outputs[0]), dy)


@op("TanhGrad", "y: T, dy: T -> z: T", T=INEXACT, shape=first, elementwise=True, formula="dy * (1 - y ** 2)")
def _tanh_grad_op(xp, y, dy):
    """Computes the gradient of y = tanh(x): dy (1 - y**2)."""
    return dy * (xp.asarray(1, y.dtype) - y * y)


@_tanh_grad_op.grad
def _tanh_grad_grad(op, dz):
    y, dy = (conj(t) for t in op.inputs)
    return raw.Mul(raw.Mul(dz, -2), raw.Mul(dy, y)), raw.TanhGrad(y, dz)


def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the hyperbolic tangent, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x, in [-1, 1].
    Raises: TypeError for other dtypes.
    Gradient: dy (1 - conj(tanh(x))**2).
    Reference: TensorFlow 2.21 Tanh.

    >>> sess.run(tf.tanh([0.0, 1.0])).round(4)
    array([0.    , 0.7616], dtype=float32)
    """
    return raw.Tanh(x, name=name)


@op("Asinh", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _asinh(xp, x):
    """Computes the inverse of the hyperbolic sine."""
    return xp.arcsinh(x)


@_asinh.grad
def _asinh_grad(op, dy):
    return raw.RealDiv(dy, raw.Cosh(conj(op.outputs[0])))


def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the hyperbolic sine, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy / conj(cosh(asinh(x))).
    Reference: TensorFlow 2.21 Asinh.

    >>> sess.run(tf.asinh([0.0, 1.0])).round(4)
    array([0.    , 0.8814], dtype=float32)
    """
    return raw.Asinh(x, name=name)


@op("Acosh", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _acosh(xp, x):
    """Computes the inverse of the hyperbolic cosine."""
    return xp.arccosh(x)


@_acosh.grad
def _acosh_grad(op, dy):
    return raw.RealDiv(dy, raw.Sinh(conj(op.outputs[0])))


def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the hyperbolic cosine, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x; NaN for floats below 1.
    Raises: TypeError for other dtypes.
    Gradient: dy / conj(sinh(acosh(x))).
    Reference: TensorFlow 2.21 Acosh.

    >>> sess.run(tf.acosh([1.0, 2.0])).round(4)
    array([0.   , 1.317], dtype=float32)
    """
    return raw.Acosh(x, name=name)


@op("Atanh", "x: T -> y: T", T=INEXACT, shape=same, elementwise=True)
def _atanh(xp, x):
    """Computes the inverse of the hyperbolic tangent."""
    return xp.arctanh(x)


@_atanh.grad
def _atanh_grad(op, dy):
    return raw.RealDiv(dy, raw.Sub(1, raw.Square(conj(op.inputs[0]))))


def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the hyperbolic tangent, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x; NaN for floats outside [-1, 1].
    Raises: TypeError for other dtypes.
    Gradient: dy / (1 - conj(x)**2).
    Reference: TensorFlow 2.21 Atanh.

    >>> sess.run(tf.atanh([0.0, 0.5])).round(4)
    array([0.    , 0.5493], dtype=float32)
    """
    return raw.Atanh(x, name=name)


# -- the logistic function ---------------------------------------------------------


@op("Sigmoid", "x: T -> y: T", T=INEXACT, shape=same, saves_result=True, eager_seconds=1e-9, elementwise=True)
def _sigmoid(xp, x):
    """Computes 1 / (1 + exp(-x))."""
    if xp is np and x.dtype.kind == "f" and x.dtype.itemsize > 2:
        return host_arrays.elementwise(_sigmoid_steps, x)
    one = xp.asarray(1, x.dtype)
    return one / (one + xp.exp(-x))


def _sigmoid_steps(out, x):
    one = np.ones((), x.dtype)
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, one, out=out)
    np.divide(one, out, out=out)


@_sigmoid.on_device
def _sigmoid_on_device(xp, x):
    return lax_of(xp).logistic(x)


@_sigmoid.grad
def _sigmoid_grad(op, dy):
    return raw.SigmoidGrad(conj(op.outputs[0]), dy)


@op("SigmoidGrad", "y: T, dy: T -> z: T", T=INEXACT, shape=first, eager_seconds=1e-9, elementwise=True,
    formula="dy * y * (1 - y)")
def _sigmoid_grad_op(xp, y, dy):
    """Computes the gradient of y = sigmoid(x): dy y (1 - y)."""
    return dy * y * (xp.asarray(1, y.dtype) - y)


@_sigmoid_grad_op.grad
def _sigmoid_grad_grad(op, dz):
    y, dy = (conj(t) for t in op.inputs)
    g = raw.Mul(dz, dy)
    return raw.Sub(g, raw.Mul(raw.Mul(g, 2), y)), raw.SigmoidGrad(y, dz)


def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the logistic function 1 / (1 + exp(-x)), elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x, in [0, 1].
    Raises: TypeError for other dtypes.
    Gradient: dy s (1 - s) with s = conj(sigmoid(x)).
    Reference: TensorFlow 2.21 Sigmoid.

    >>> sess.run(tf.sigmoid([0.0, 1.0])).round(4)
    array([0.5   , 0.7311], dtype=float32)
    """
    return raw.Sigmoid(x, name=name)


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes log(sigmoid(x)), elementwise; does not underflow.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy sigmoid(-x).
    Reference: TensorFlow 2.21 `tf.math.log_sigmoid`.

    >>> sess.run(tf.math.log_sigmoid([0.0, -100.0])).round(4)
    array([  -0.6931, -100.    ], dtype=float32)
    """
    with name_scope(name, "LogSigmoid") as scope:
        return raw.Neg(raw.Softplus(raw.Neg(x)), name=scope)
