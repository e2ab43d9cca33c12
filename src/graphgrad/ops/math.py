"""Arithmetic on two or more tensors: sums, products, quotients, remainders, extrema."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Complaint
from ..ir.convert import constant
from ..ir.dtypes import FLOATING, INEXACT, NUMERIC, REAL
from ..ir.opdef import op, raw
from ..ir.shape import broadcast, merged
from .broadcast import unbroadcast
from .elementwise import conj


# -- sums and differences ----------------------------------------------------------


@op("Add", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast)
def _add(xp, x, y):
    """Elementwise sum with broadcasting."""
    return xp.add(x, y)


@_add.grad
def _add_grad(op, dz):
    x, y = op.inputs
    return unbroadcast(dz, dz, x, y)


@op("AddV2", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast)
def _add_v2(xp, x, y):
    """Elementwise sum with broadcasting."""
    return xp.add(x, y)


_add_v2.grad(_add_grad)


@op("Sub", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast)
def _sub(xp, x, y):
    """Elementwise difference with broadcasting."""
    return xp.subtract(x, y)


@_sub.grad
def _sub_grad(op, dz):
    x, y = op.inputs
    return unbroadcast(dz, raw.Neg(dz), x, y)


@op("AddN", "inputs: N*T -> sum: T", T=NUMERIC)
def _add_n(xp, inputs):
    """Sum of tensors of one shape."""
    total = inputs[0]
    for x in inputs[1:]:
        total = xp.add(total, x)
    return total


@_add_n.shape
def _add_n_shape(inputs):
    shape = inputs[0]
    for other in inputs[1:]:
        shape = merged(shape, other)
    return shape


@_add_n.grad
def _add_n_grad(op, dz):
    return [dz] * len(op.inputs)


@op("AccumulateNV2", "inputs: N*T -> sum: T", T=NUMERIC)
def _accumulate_n(xp, inputs, *, shape=None):
    """Sum of tensors of one shape, in any order."""
    total = inputs[0]
    for x in inputs[1:]:
        total = xp.add(total, x)
    return total


@_accumulate_n.shape
def _accumulate_n_shape(inputs, shape):
    result = None if shape is None else tuple(shape)
    for other in inputs:
        result = merged(result, other)
    return result


_accumulate_n.grad(_add_n_grad)


# -- products and quotients --------------------------------------------------------


@op("Mul", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast)
def _mul(xp, x, y):
    """Elementwise product with broadcasting."""
    return xp.multiply(x, y)


@_mul.grad
def _mul_grad(op, dz):
    x, y = op.inputs
    return unbroadcast(raw.Mul(dz, conj(y)), raw.Mul(conj(x), dz), x, y)


def _real_div(xp, x, y):
    """Elementwise quotient with broadcasting; of integers, rounded toward zero."""
    return xp.divide(x, y) if x.dtype.kind not in "iu" else _truncated(xp, x, y)


def _truncated(xp, x, y):
    """x / y rounded toward zero, in integers throughout."""
    if xp is np and not np.all(y):
        raise Complaint("Integer division by zero", "make sure that no divisor is 0")
    x, y = xp.asarray(x), xp.asarray(y)
    if xp is not np:
        from jax import lax

        x, y = xp.broadcast_arrays(x, y)
        return lax.div(x, y)
    quotient = np.floor_divide(x, y)
    return quotient + ((quotient * y != x) & ((x < 0) != (y < 0))).astype(x.dtype)


def _real_div_grad(op, dz):
    x, y = op.inputs
    y = conj(y)
    gx = raw.RealDiv(dz, y)
    # -x/y**2 * dz as -(dz/y) * (x/y): the quotient x/y is there already.
    gy = raw.Neg(raw.Mul(gx, conj(op.outputs[0])))
    return unbroadcast(gx, gy, x, op.inputs[1])


for _type in ("RealDiv", "Div"):
    op(_type, "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast)(_real_div).grad(_real_div_grad)


def _floored(xp, x, y):
    if xp is np and x.dtype.kind in "iu" and not np.all(y):
        raise Complaint("Integer division by zero", "make sure that no divisor is 0")


@op("FloorDiv", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast)
def _floor_div(xp, x, y):
    """Elementwise quotient rounded down, with broadcasting."""
    _floored(xp, x, y)
    if x.dtype.kind in "iu":
        return xp.floor_divide(x, y)
    return xp.floor(xp.divide(x, y))


@_floor_div.grad
def _floor_div_grad(op, dz):
    return None, None


@op("FloorMod", "x: T, y: T -> z: T", T=REAL, shape=broadcast)
def _floor_mod(xp, x, y):
    """Elementwise remainder of division rounded down: it has y's sign."""
    _floored(xp, x, y)
    return xp.mod(x, y)


@_floor_mod.grad
def _floor_mod_grad(op, dz):
    x, y = op.inputs
    return unbroadcast(dz, raw.Neg(raw.Mul(dz, raw.FloorDiv(x, y))), x, y)


@op("SquaredDifference", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast)
def _squared_difference(xp, x, y):
    """conj(x - y) * (x - y), elementwise with broadcasting."""
    d = xp.subtract(x, y)
    return xp.multiply(xp.conj(d), d) if d.dtype.kind == "c" else xp.multiply(d, d)


@_squared_difference.grad
def _squared_difference_grad(op, dz):
    x, y = op.inputs
    gx = raw.Mul(raw.Mul(dz, 2), raw.Sub(x, y))
    return unbroadcast(gx, raw.Neg(gx), x, y)


@op("Pow", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast)
def _pow(xp, x, y):
    """x to the power of y, elementwise with broadcasting."""
    if xp is np and x.dtype.kind in "iu" and np.any(y < 0):
        raise Complaint("Integers to negative integer powers are not allowed", "tf.cast x to a float type")
    return xp.power(x, y)


@_pow.grad
def _pow_grad(op, dz):
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gx = raw.Mul(dz, raw.Mul(cy, raw.Pow(cx, raw.Sub(cy, 1))))
    defined = raw.NotEqual(cx, 0) if x.dtype.is_complex else raw.Greater(x, 0)
    # The inner selection keeps log from ever seeing what it is not defined for: nan * 0 is nan.
    log = raw.SelectV2(defined, raw.Log(raw.SelectV2(defined, cx, 1)), 0)
    gy = raw.Mul(dz, raw.Mul(conj(op.outputs[0]), log))
    return unbroadcast(gx, gy, x, y)


# -- extrema -----------------------------------------------------------------------


@op("Maximum", "x: T, y: T -> z: T", T=REAL, shape=broadcast)
def _maximum(xp, x, y):
    """Elementwise maximum with broadcasting."""
    return xp.maximum(x, y)


@_maximum.grad
def _maximum_grad(op, dz):
    x, y = op.inputs
    return _to_winner(raw.GreaterEqual(x, y), dz, x, y)


def _to_winner(first, dz, x, y):
    """The gradient to x where `first`, else to y; x wins ties."""
    zero = constant(0, dz.dtype)
    return unbroadcast(raw.SelectV2(first, dz, zero), raw.SelectV2(first, zero, dz), x, y)


@op("Minimum", "x: T, y: T -> z: T", T=REAL, shape=broadcast)
def _minimum(xp, x, y):
    """Elementwise minimum with broadcasting."""
    return xp.minimum(x, y)


@_minimum.grad
def _minimum_grad(op, dz):
    x, y = op.inputs
    return _to_winner(raw.LessEqual(x, y), dz, x, y)
