"""Activations, with the gradient ops that TensorFlow has for them."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import FLOATING, REAL, float32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import compatible, merge, shape_str
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common import host_arrays
from graphgrad.ops.common.elementwise import same, times_mask
from graphgrad.ops.common.host_arrays import where


def _of_both(x, y):
    if not compatible(x, y):
        raise Complaint(f"shapes {shape_str(x)} and {shape_str(y)} must be equal",
                        "give a gradient of the shape of the features")
    return merge(x, y)


# -- relu and related ones ------------------------------------------------------------


@op("Relu", "features: T -> activations: T", T=REAL, shape=same, elementwise=True, formula="maximum(features, 0)")
def relu_op(xp, x):
    """Computes max(x, 0)."""
    return _positive(xp, x)


def _positive(xp, x):
    if xp is not np:
        return xp.maximum(x, xp.asarray(0, x.dtype))
    if _MANY <= x.size < host_arrays.BLOCK:
        zeros = np.zeros_like(x)
        return np.maximum(x, zeros, out=zeros)
    return host_arrays.extreme(np.maximum, x, np.zeros((), x.dtype))


_MANY = 2048  # numbers from which on NumPy's maximum of two arrays is quicker than that of an array and a number


@relu_op.grad
def _relu_op_grad(op, dy):
    return raw.ReluGrad(dy, op.outputs[0])


@op("ReluGrad", "gradients: T, features: T -> backprops: T", T=REAL, shape=_of_both, elementwise=True,
    formula="where(features > 0, gradients, 0)")
def relu_grad(xp, dy, x):
    """Computes dy where the feature (or the activation) is positive, else 0; a product, so that NaN and Inf stay."""
    return times_mask(xp, dy, x > 0)


@relu_grad.grad
def _relu_grad_grad(op, ddx):
    x = op.inputs[1]
    return raw.ReluGrad(ddx, x), raw.ZerosLike(x)


def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes max(x, 0), elementwise.

    Args:
      features: a real tensor.
      name: a name for the operation.
    Returns: a tensor like `features`.
    Raises: TypeError for other dtypes.
    Gradient: dy where the result is positive, else 0.
    Reference: TensorFlow 2.21 Relu.

    >>> sess.run(tf.nn.relu([-1.0, 2.0]))
    array([0., 2.], dtype=float32)
    """
    return raw.Relu(features, name=name)


@op("Relu6", "features: T -> activations: T", T=REAL, shape=same, elementwise=True)
def relu6_op(xp, x):
    """Computes min(max(x, 0), 6)."""
    return xp.minimum(_positive(xp, x), xp.asarray(6, x.dtype))


@relu6_op.grad
def _relu6_op_grad(op, dy):
    return raw.Relu6Grad(dy, op.outputs[0])


@op("Relu6Grad", "gradients: T, features: T -> backprops: T", T=REAL, shape=_of_both, elementwise=True)
def relu6_grad(xp, dy, x):
    """Computes dy where the feature lies strictly between 0 and 6, else 0; as a product."""
    return times_mask(xp, dy, (x > 0) & (x < 6))


@relu6_grad.grad
def _relu6_grad_grad(op, ddx):
    x = op.inputs[1]
    return raw.Relu6Grad(ddx, x), raw.ZerosLike(x)


def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes min(max(x, 0), 6), elementwise.

    Args:
      features: a real tensor.
      name: a name for the operation.
    Returns: a tensor like `features`.
    Raises: TypeError for other dtypes.
    Gradient: dy where the result lies strictly between 0 and 6, else 0.
    Reference: TensorFlow 2.21 Relu6.

    >>> sess.run(tf.nn.relu6([-1.0, 2.0, 8.0]))
    array([0., 2., 6.], dtype=float32)
    """
    return raw.Relu6(features, name=name)


@op("LeakyRelu", "features: T -> activations: T", T=FLOATING, shape=same, elementwise=True,
    formula="where(features > 0, features, alpha * features)")
def leaky_relu_op(xp, x, *, alpha=0.2):
    """Computes x where positive, alpha * x elsewhere."""
    alpha = np.float32(alpha)  # what the attribute holds
    scaled = x * xp.asarray(alpha, x.dtype)
    if xp is np and 0 < alpha <= 1:
        return np.maximum(x, scaled, out=scaled) if scaled.ndim else np.maximum(x, scaled)
    return xp.where(x > 0, x, scaled)


@leaky_relu_op.grad
def _leaky_relu_op_grad(op, dy):
    return raw.LeakyReluGrad(dy, op.inputs[0], alpha=op._attr("alpha"))


@op("LeakyReluGrad", "gradients: T, features: T -> backprops: T", T=FLOATING, shape=_of_both, elementwise=True,
    formula="where(features > 0, gradients, alpha * gradients)", eager_seconds=1e-9)
def leaky_relu_grad(xp, dy, x, *, alpha=0.2):
    """Computes dy where the feature is positive, alpha * dy elsewhere."""
    return where(xp, x > 0, dy, dy * xp.asarray(np.float32(alpha), dy.dtype))


@leaky_relu_grad.grad
def _leaky_relu_grad_grad(op, ddx):
    x = op.inputs[1]
    return raw.LeakyReluGrad(ddx, x, alpha=op._attr("alpha")), raw.ZerosLike(x)


def leaky_relu(features: TensorLike, alpha: TensorLike = 0.2, name: str | None = None) -> Tensor:
    """Computes x where positive, alpha * x elsewhere.

    Args:
      features: a real tensor; integers become float32.
      alpha: the slope for negative values, a Python number or a scalar tensor.
      name: a name for the operation.
    Returns: a float tensor of the same shape.
    Raises: TypeError for other dtypes.
    Gradient: dy where `features` is positive, alpha dy elsewhere.
    Reference: TensorFlow 2.21 LeakyRelu.

    >>> sess.run(tf.nn.leaky_relu([-1.0, 2.0]))
    array([-0.2,  2. ], dtype=float32)
    """
    features = convert_to_tensor(features, name="features")
    if features.dtype.is_integer:
        features = raw.Cast(features, DstT=float32)
    if hasattr(alpha, "_spec"):  # a tensor cannot be an attribute
        with name_scope(name, "LeakyRelu") as scope:
            return raw.Maximum(raw.Mul(alpha, features), features, name=scope)
    return raw.LeakyRelu(features, alpha=float(alpha), name=name)


def crelu(features: TensorLike, axis: TensorLike = -1, name: str | None = None) -> Tensor:
    """Concatenates the relu of x and that of -x along an axis.

    Args:
      features: a real tensor.
      axis: the axis that is doubled.
      name: a name for the operation.
    Returns: a tensor with twice the size along `axis`.
    Raises: ValueError if the axis is out of range.
    Gradient: dy of the half that is positive.
    Reference: TensorFlow 2.21 `tf.nn.crelu`.

    >>> sess.run(tf.nn.crelu([-1.0, 2.0]))
    array([0., 2., 1., 0.], dtype=float32)
    """
    with name_scope(name, "CRelu") as scope:
        features = convert_to_tensor(features, name="features")
        return raw.Relu(raw.ConcatV2([features, raw.Neg(features)], axis, name=scope))


def crelu_v1(features: TensorLike, name: str | None = None, axis: TensorLike = -1) -> Tensor:
    """Concatenates the relu of x and that of -x along an axis: `crelu` with TensorFlow 1's order of arguments.

    Args:
      features: a real tensor.
      name: a name for the operation.
      axis: the axis that is doubled.
    Returns: a tensor with twice the size along `axis`.
    Raises: ValueError if the axis is out of range.
    Gradient: dy of the half that is positive.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.crelu`.
    """
    return crelu(features, axis, name)


# -- exponential units -----------------------------------------------------------------


@op("Elu", "features: T -> activations: T", T=FLOATING, shape=same, elementwise=True, eager_seconds=9e-10,
    formula="where(features < 0, expm1(features), features)")
def elu_op(xp, x):
    """Computes exp(x) - 1 where negative, x elsewhere."""
    zero = xp.asarray(0, x.dtype)
    if xp is np and x.dtype.itemsize > 2:
        return host_arrays.elementwise(_elu_steps, x)
    return xp.where(x < 0, xp.expm1(xp.minimum(x, zero)), x)


def _elu_steps(out, x):
    np.minimum(x, host_arrays.constant_block(x.dtype.type(0))[: x.size], out=out)
    np.expm1(out, out=out)
    np.maximum(x, out, out=out)  # exp(x) - 1 >= x


@elu_op.grad
def _elu_op_grad(op, dy):
    return raw.EluGrad(dy, op.outputs[0])


@op("EluGrad", "gradients: T, outputs: T -> backprops: T", T=FLOATING, shape=_of_both, elementwise=True,
    formula="where(outputs < 0, gradients * (outputs + 1), gradients)", eager_seconds=6e-10)
def elu_grad(xp, dy, y):
    """Computes the gradient of Elu from its output: dy * (y + 1) where negative, dy elsewhere."""
    if xp is np:
        return dy * (np.fmin(y, np.zeros((), y.dtype)) + np.ones((), y.dtype))  # NaN counts as not negative
    return xp.where(y < 0, dy * (y + xp.asarray(1, y.dtype)), dy)


@elu_grad.grad
def _elu_grad_grad(op, ddx):
    dy, y = op.inputs
    return raw.EluGrad(ddx, y), raw.Select(raw.Less(y, raw.ZerosLike(y)), raw.Mul(ddx, dy), raw.ZerosLike(y))


def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes exp(x) - 1 where negative, x elsewhere.

    Args:
      features: a float tensor.
      name: a name for the operation.
    Returns: a tensor like `features`.
    Raises: TypeError for other dtypes.
    Gradient: dy (y + 1) where y is negative, dy elsewhere.
    Reference: TensorFlow 2.21 Elu.

    >>> sess.run(tf.nn.elu([-1.0, 2.0]))
    array([-0.63212055,  2.        ], dtype=float32)
    """
    return raw.Elu(features, name=name)


_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


@op("Selu", "features: T -> activations: T", T=FLOATING, shape=same, elementwise=True)
def selu_op(xp, x):
    """Computes scale * alpha * (exp(x) - 1) where negative, scale * x elsewhere."""
    below = xp.expm1(xp.minimum(x, xp.asarray(0, x.dtype))) * xp.asarray(_SELU_SCALE_ALPHA, x.dtype)
    return where(xp, x < 0, below, x * xp.asarray(_SELU_SCALE, x.dtype))


@selu_op.grad
def _selu_op_grad(op, dy):
    return raw.SeluGrad(dy, op.outputs[0])


@op("SeluGrad", "gradients: T, outputs: T -> backprops: T", T=FLOATING, shape=_of_both, elementwise=True)
def selu_grad(xp, dy, y):
    """Computes the gradient of Selu from its output."""
    below = dy * (y + xp.asarray(_SELU_SCALE_ALPHA, y.dtype))
    return where(xp, y < 0, below, dy * xp.asarray(_SELU_SCALE, dy.dtype))


@selu_grad.grad
def _selu_grad_grad(op, ddx):
    dy, y = op.inputs
    return raw.SeluGrad(ddx, y), raw.Select(raw.Less(y, raw.ZerosLike(y)), raw.Mul(ddx, dy), raw.ZerosLike(y))


def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes the scaled exponential linear unit: scale (alpha (exp(x) - 1)) where negative, scale x elsewhere.

    Args:
      features: a float tensor.
      name: a name for the operation.
    Returns: a tensor like `features`.
    Raises: TypeError for other dtypes.
    Gradient: dy (y + scale alpha) where y is negative, scale dy elsewhere.
    Reference: TensorFlow 2.21 Selu.

    >>> sess.run(tf.nn.selu([-1.0, 2.0]))
    array([-1.1113307,  2.101402 ], dtype=float32)
    """
    return raw.Selu(features, name=name)


# -- softplus and softsign -------------------------------------------------------------


@op("Softplus", "features: T -> activations: T", T=FLOATING, shape=same, elementwise=True)
def softplus_op(xp, x):
    """Computes log(exp(x) + 1), without overflow."""
    if x.dtype.itemsize <= 2:
        return _softplus_half(xp, x)
    if xp is np:
        return host_arrays.elementwise(_softplus_steps, x, scratch=1)
    return xp.logaddexp(x, xp.asarray(0, x.dtype))


def _softplus_steps(out, x, positive):
    np.abs(x, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    np.maximum(x, host_arrays.constant_block(x.dtype.type(0))[: x.size], out=positive)
    np.add(out, positive, out=out)


def _softplus_half(xp, x):
    return (xp.maximum(x, xp.asarray(0, x.dtype)) + xp.log1p(xp.exp(-xp.abs(x)))).astype(x.dtype)


@softplus_op.grad
def _softplus_op_grad(op, dy):
    return raw.SoftplusGrad(dy, op.inputs[0])


@op("SoftplusGrad", "gradients: T, features: T -> backprops: T", T=FLOATING, shape=_of_both, eager_seconds=1e-9,
    elementwise=True, formula="gradients * sigmoid(features)")
def softplus_grad(xp, dy, x):
    """Computes dy * sigmoid(x)."""
    if xp is np and x.dtype.itemsize > 2 and dy.shape == x.shape:
        return host_arrays.elementwise(_softplus_grad_steps, x, dy)
    return dy / (xp.asarray(1, x.dtype) + xp.exp(-x))


def _softplus_grad_steps(out, x, dy):
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, np.ones((), x.dtype), out=out)
    np.divide(dy, out, out=out)


@softplus_grad.grad
def _softplus_grad_grad(op, ddx):
    dy, x = op.inputs
    s = raw.Sigmoid(x)
    return raw.SoftplusGrad(ddx, x), raw.SigmoidGrad(s, raw.Mul(ddx, dy))


def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes log(exp(x) + 1), elementwise and without overflow.

    Args:
      features: a float tensor.
      name: a name for the operation.
    Returns: a tensor like `features`.
    Raises: TypeError for other dtypes.
    Gradient: dy sigmoid(x).
    Reference: TensorFlow 2.21 Softplus.

    >>> sess.run(tf.nn.softplus([0.0, 100.0]))
    array([  0.6931472, 100.       ], dtype=float32)
    """
    return raw.Softplus(features, name=name)


@op("Softsign", "features: T -> activations: T", T=FLOATING, shape=same, elementwise=True,
    formula="features / (1 + abs(features))")
def softsign_op(xp, x):
    """Computes x / (1 + |x|)."""
    return x / (xp.asarray(1, x.dtype) + xp.abs(x))


@softsign_op.grad
def _softsign_op_grad(op, dy):
    return raw.SoftsignGrad(dy, op.inputs[0])


@op("SoftsignGrad", "gradients: T, features: T -> backprops: T", T=FLOATING, shape=_of_both, elementwise=True,
    formula="gradients / (1 + abs(features)) ** 2")
def softsign_grad(xp, dy, x):
    """Computes dy / (1 + |x|)^2."""
    d = xp.asarray(1, x.dtype) + xp.abs(x)
    return dy / (d * d)


@softsign_grad.grad
def _softsign_grad_grad(op, ddx):
    dy, x = op.inputs
    d = raw.AddV2(raw.Abs(x), 1.0)
    slope = raw.Mul(raw.Sign(x), raw.RealDiv(-2.0, raw.Mul(d, raw.Square(d))))
    return raw.SoftsignGrad(ddx, x), raw.Mul(raw.Mul(ddx, dy), slope)


def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes x / (1 + abs(x)), elementwise.

    Args:
      features: a float tensor.
      name: a name for the operation.
    Returns: a tensor like `features`.
    Raises: TypeError for other dtypes.
    Gradient: dy / (1 + abs(x))**2.
    Reference: TensorFlow 2.21 Softsign.

    >>> sess.run(tf.nn.softsign([-1.0, 3.0]))
    array([-0.5 ,  0.75], dtype=float32)
    """
    return raw.Softsign(features, name=name)


# -- composed of other ops -----------------------------------------------------------------


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """Computes x times the normal distribution function of x.

    Args:
      features: a float tensor.
      approximate: whether to use tanh for the distribution function.
      name: a name for the operation.
    Returns: a tensor like `features`.
    Raises: ValueError for dtypes that are not floating.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.gelu`; Hendrycks and Gimpel 2016, arXiv:1606.08415.

    >>> import graphgrad
    >>> sess.run(graphgrad.nn.gelu([0.0, 1.0]))
    array([0.       , 0.8413447], dtype=float32)
    """
    with name_scope(name, "Gelu") as scope:
        x = convert_to_tensor(features, name="features")
        if not x.dtype.is_floating:
            raise ValueError(f"`features.dtype` must be a floating point tensor. Received: features.dtype={x.dtype}")
        half = raw.Mul(0.5, x)
        if not approximate:
            return raw.Mul(half, raw.Erfc(raw.Mul(raw.Neg(x), math.sqrt(0.5))), name=scope)
        inner = raw.AddV2(x, raw.Mul(0.044715, raw.Pow(x, 3.0)))
        return raw.Mul(half, raw.AddV2(1.0, raw.Tanh(raw.Mul(math.sqrt(2 / math.pi), inner))), name=scope)


def silu(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """Computes x sigmoid(beta x), elementwise.

    Args:
      features: a float tensor.
      beta: a number or a tensor that broadcasts.
    Returns: a tensor like `features`.
    Raises: TypeError for other dtypes.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.nn.silu`.

    >>> sess.run(tf.nn.silu([0.0, 1.0]))
    array([0.       , 0.7310586], dtype=float32)
    """
    x = convert_to_tensor(features, name="features")
    plain = isinstance(beta, (int, float)) and beta == 1
    return raw.Mul(x, raw.Sigmoid(x if plain else raw.Mul(beta, x)))
