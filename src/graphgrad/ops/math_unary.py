"""Elementwise functions of one tensor: signs, powers, roots, exponentials, rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.dtypes import FLOATING, INEXACT, NUMERIC, REAL
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from .elementwise import SIGNED, conj, same


@op("Neg", "x: T -> y: T", T=SIGNED, shape=same)
def _neg(xp, x):
    """-x."""
    return xp.negative(x)


@_neg.grad
def _neg_grad(op, dy):
    return raw.Neg(dy)


@op("Square", "x: T -> y: T", T=NUMERIC, shape=same)
def _square(xp, x):
    """x * x."""
    return xp.multiply(x, x)


@_square.grad
def _square_grad(op, dy):
    return raw.Mul(dy, raw.Mul(conj(op.inputs[0]), 2))


@op("Sqrt", "x: T -> y: T", T=INEXACT, shape=same)
def _sqrt(xp, x):
    """The square root."""
    return xp.sqrt(x)


@_sqrt.grad
def _sqrt_grad(op, dy):
    return raw.SqrtGrad(conj(op.outputs[0]), dy)


@op("SqrtGrad", "y: T, dy: T -> z: T", T=INEXACT, shape=lambda y, dy: y)
def _sqrt_grad_op(xp, y, dy):
    """The gradient of y = sqrt(x): dy / (2 y)."""
    return dy * xp.asarray(0.5, y.dtype) / y


@_sqrt_grad_op.grad
def _sqrt_grad_grad(op, dz):
    y = op.inputs[0]
    g = raw.RealDiv(dz, conj(y))
    return raw.Neg(raw.Mul(g, conj(op.outputs[0]))), raw.Mul(g, 0.5)


@op("Rsqrt", "x: T -> y: T", T=INEXACT, shape=same)
def _rsqrt(xp, x):
    """1 / sqrt(x)."""
    return xp.asarray(1, x.dtype) / xp.sqrt(x)


@_rsqrt.on_device
def _rsqrt_on_device(xp, x):
    from jax import lax

    return lax.rsqrt(x)


@_rsqrt.grad
def _rsqrt_grad(op, dy):
    return raw.RsqrtGrad(conj(op.outputs[0]), dy)


@op("RsqrtGrad", "y: T, dy: T -> z: T", T=INEXACT, shape=lambda y, dy: y)
def _rsqrt_grad_op(xp, y, dy):
    """The gradient of y = 1 / sqrt(x): -dy y**3 / 2."""
    return dy * (xp.asarray(-0.5, y.dtype) * y * y * y)


@_rsqrt_grad_op.grad
def _rsqrt_grad_grad(op, dz):
    y, dy = op.inputs
    y = conj(y)
    return raw.Mul(dz, raw.Mul(raw.Mul(conj(dy), -1.5), raw.Square(y))), raw.RsqrtGrad(y, dz)


@op("Exp", "x: T -> y: T", T=INEXACT, shape=same)
def _exp(xp, x):
    """e to the power of x."""
    return xp.exp(x)


@_exp.grad
def _exp_grad(op, dy):
    return raw.Mul(dy, conj(op.outputs[0]))


@op("Log", "x: T -> y: T", T=INEXACT, shape=same)
def _log(xp, x):
    """The natural logarithm."""
    return xp.log(x)


@_log.grad
def _log_grad(op, dy):
    return raw.RealDiv(dy, conj(op.inputs[0]))


@op("Tanh", "x: T -> y: T", T=INEXACT, shape=same)
def _tanh(xp, x):
    """The hyperbolic tangent."""
    return xp.tanh(x)


@_tanh.grad
def _tanh_grad(op, dy):
    return raw.TanhGrad(conj(op.outputs[0]), dy)


@op("TanhGrad", "y: T, dy: T -> z: T", T=INEXACT, shape=lambda y, dy: y)
def _tanh_grad_op(xp, y, dy):
    """The gradient of y = tanh(x): dy (1 - y**2)."""
    return dy * (xp.asarray(1, y.dtype) - y * y)


@_tanh_grad_op.grad
def _tanh_grad_grad(op, dz):
    y, dy = (conj(t) for t in op.inputs)
    return raw.Mul(raw.Mul(dz, -2), raw.Mul(dy, y)), raw.TanhGrad(y, dz)


@op("Sigmoid", "x: T -> y: T", T=INEXACT, shape=same)
def _sigmoid(xp, x):
    """1 / (1 + exp(-x))."""
    one = xp.asarray(1, x.dtype)
    return one / (one + xp.exp(-x))


@_sigmoid.on_device
def _sigmoid_on_device(xp, x):
    from jax import lax

    return lax.logistic(x)


@_sigmoid.grad
def _sigmoid_grad(op, dy):
    return raw.SigmoidGrad(conj(op.outputs[0]), dy)


@op("SigmoidGrad", "y: T, dy: T -> z: T", T=INEXACT, shape=lambda y, dy: y)
def _sigmoid_grad_op(xp, y, dy):
    """The gradient of y = sigmoid(x): dy y (1 - y)."""
    return dy * y * (xp.asarray(1, y.dtype) - y)


@_sigmoid_grad_op.grad
def _sigmoid_grad_grad(op, dz):
    y, dy = (conj(t) for t in op.inputs)
    g = raw.Mul(dz, dy)
    return raw.Sub(g, raw.Mul(raw.Mul(g, 2), y)), raw.SigmoidGrad(y, dz)
