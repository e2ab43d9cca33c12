"""Activations and bias, with the gradient ops that TensorFlow has for them."""

from __future__ import annotations

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import FLOATING, NUMERIC, REAL
from ..ir.opdef import op, raw
from ..ir.shape import merged, with_rank, with_rank_at_least

# -- relu and its relatives ------------------------------------------------------------


def _same(x):
    return x


@op("Relu", "features: T -> activations: T", T=REAL, shape=_same)
def relu_op(xp, x):
    """max(x, 0)."""
    return xp.maximum(x, xp.asarray(0, x.dtype))


@relu_op.grad
def _relu_op_grad(op, dy):
    return raw.ReluGrad(dy, op.outputs[0])


@op("ReluGrad", "gradients: T, features: T -> backprops: T", T=REAL, shape=merged)
def relu_grad(xp, dy, x):
    """The gradient where the feature (or the activation) is positive, else 0."""
    return xp.where(x > 0, dy, xp.asarray(0, dy.dtype))


@relu_grad.grad
def _relu_grad_grad(op, ddx):
    x = op.inputs[1]
    return raw.ReluGrad(ddx, x), raw.ZerosLike(x)


@op("Relu6", "features: T -> activations: T", T=REAL, shape=_same)
def relu6_op(xp, x):
    """min(max(x, 0), 6)."""
    return xp.minimum(xp.maximum(x, xp.asarray(0, x.dtype)), xp.asarray(6, x.dtype))


@relu6_op.grad
def _relu6_op_grad(op, dy):
    return raw.Relu6Grad(dy, op.outputs[0])


@op("Relu6Grad", "gradients: T, features: T -> backprops: T", T=REAL, shape=merged)
def relu6_grad(xp, dy, x):
    """The gradient where the feature lies strictly between 0 and 6, else 0."""
    return xp.where((x > 0) & (x < 6), dy, xp.asarray(0, dy.dtype))


@relu6_grad.grad
def _relu6_grad_grad(op, ddx):
    x = op.inputs[1]
    return raw.Relu6Grad(ddx, x), raw.ZerosLike(x)


@op("LeakyRelu", "features: T -> activations: T", T=FLOATING, shape=_same)
def leaky_relu_op(xp, x, *, alpha=0.2):
    """x where positive, alpha * x elsewhere."""
    return xp.where(x > 0, x, x * xp.asarray(alpha, x.dtype))


@leaky_relu_op.grad
def _leaky_relu_op_grad(op, dy):
    return raw.LeakyReluGrad(dy, op.inputs[0], alpha=op.get_attr("alpha"))


@op("LeakyReluGrad", "gradients: T, features: T -> backprops: T", T=FLOATING, shape=merged)
def leaky_relu_grad(xp, dy, x, *, alpha=0.2):
    """The gradient where the feature is positive, alpha times it elsewhere."""
    return xp.where(x > 0, dy, dy * xp.asarray(alpha, dy.dtype))


@leaky_relu_grad.grad
def _leaky_relu_grad_grad(op, ddx):
    x = op.inputs[1]
    return raw.LeakyReluGrad(ddx, x, alpha=op.get_attr("alpha")), raw.ZerosLike(x)


# -- exponential units -----------------------------------------------------------------


@op("Elu", "features: T -> activations: T", T=FLOATING, shape=_same)
def elu_op(xp, x):
    """exp(x) - 1 where negative, x elsewhere."""
    zero = xp.asarray(0, x.dtype)
    return xp.where(x < 0, xp.expm1(xp.minimum(x, zero)), x)


@elu_op.grad
def _elu_op_grad(op, dy):
    return raw.EluGrad(dy, op.outputs[0])


@op("EluGrad", "gradients: T, outputs: T -> backprops: T", T=FLOATING, shape=merged)
def elu_grad(xp, dy, y):
    """The gradient of Elu from its output: dy * (y + 1) where negative, dy elsewhere."""
    return xp.where(y < 0, dy * (y + xp.asarray(1, y.dtype)), dy)


@elu_grad.grad
def _elu_grad_grad(op, ddx):
    dy, y = op.inputs
    return raw.EluGrad(ddx, y), raw.Select(raw.Less(y, raw.ZerosLike(y)), raw.Mul(ddx, dy), raw.ZerosLike(y))


_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


@op("Selu", "features: T -> activations: T", T=FLOATING, shape=_same)
def selu_op(xp, x):
    """scale * alpha * (exp(x) - 1) where negative, scale * x elsewhere."""
    below = xp.expm1(xp.minimum(x, xp.asarray(0, x.dtype))) * xp.asarray(_SELU_SCALE_ALPHA, x.dtype)
    return xp.where(x < 0, below, x * xp.asarray(_SELU_SCALE, x.dtype))


@selu_op.grad
def _selu_op_grad(op, dy):
    return raw.SeluGrad(dy, op.outputs[0])


@op("SeluGrad", "gradients: T, outputs: T -> backprops: T", T=FLOATING, shape=merged)
def selu_grad(xp, dy, y):
    """The gradient of Selu from its output."""
    below = dy * (y + xp.asarray(_SELU_SCALE_ALPHA, y.dtype))
    return xp.where(y < 0, below, dy * xp.asarray(_SELU_SCALE, dy.dtype))


@selu_grad.grad
def _selu_grad_grad(op, ddx):
    dy, y = op.inputs
    return raw.SeluGrad(ddx, y), raw.Select(raw.Less(y, raw.ZerosLike(y)), raw.Mul(ddx, dy), raw.ZerosLike(y))


# -- softplus and softsign -------------------------------------------------------------


@op("Softplus", "features: T -> activations: T", T=FLOATING, shape=_same)
def softplus_op(xp, x):
    """log(exp(x) + 1), without overflow."""
    return xp.logaddexp(x, xp.asarray(0, x.dtype)) if x.dtype.itemsize > 2 else _softplus_half(xp, x)


def _softplus_half(xp, x):
    return (xp.maximum(x, xp.asarray(0, x.dtype)) + xp.log1p(xp.exp(-xp.abs(x)))).astype(x.dtype)


@softplus_op.grad
def _softplus_op_grad(op, dy):
    return raw.SoftplusGrad(dy, op.inputs[0])


@op("SoftplusGrad", "gradients: T, features: T -> backprops: T", T=FLOATING, shape=merged)
def softplus_grad(xp, dy, x):
    """dy * sigmoid(x)."""
    return dy / (xp.asarray(1, x.dtype) + xp.exp(-x))


@softplus_grad.grad
def _softplus_grad_grad(op, ddx):
    dy, x = op.inputs
    s = raw.Sigmoid(x)
    return raw.SoftplusGrad(ddx, x), raw.SigmoidGrad(s, raw.Mul(ddx, dy))


@op("Softsign", "features: T -> activations: T", T=FLOATING, shape=_same)
def softsign_op(xp, x):
    """x / (1 + |x|)."""
    return x / (xp.asarray(1, x.dtype) + xp.abs(x))


@softsign_op.grad
def _softsign_op_grad(op, dy):
    return raw.SoftsignGrad(dy, op.inputs[0])


@op("SoftsignGrad", "gradients: T, features: T -> backprops: T", T=FLOATING, shape=merged)
def softsign_grad(xp, dy, x):
    """dy / (1 + |x|)^2."""
    d = xp.asarray(1, x.dtype) + xp.abs(x)
    return dy / (d * d)


@softsign_grad.grad
def _softsign_grad_grad(op, ddx):
    dy, x = op.inputs
    d = raw.AddV2(raw.Abs(x), 1.0)
    slope = raw.Mul(raw.Sign(x), raw.RealDiv(-2.0, raw.Mul(d, raw.Square(d))))
    return raw.SoftsignGrad(ddx, x), raw.Mul(raw.Mul(ddx, dy), slope)


# -- bias ------------------------------------------------------------------------------


@op("BiasAdd", "value: T, bias: T -> output: T", T=NUMERIC)
def bias_add_op(xp, value, bias, *, data_format="NHWC"):
    """Adds a vector along the channels: the last dimension, or the second for NCHW."""
    if data_format == "NCHW":
        bias = bias.reshape((1, -1) + (1,) * (value.ndim - 2))
    return value + bias


@bias_add_op.shape
def _bias_add_op_shape(value, bias, data_format):
    (n,) = with_rank(bias, 1, "bias")
    with_rank_at_least(value, 2, "value")
    if value is None:
        return None
    axis = _channels(data_format, len(value))
    if n is not None and value[axis] is not None and n != value[axis]:
        raise Complaint(f"bias has {n} elements but value has {value[axis]} channels in dimension {axis}",
                        "give one bias for each channel, or another data_format")
    return value if value[axis] is not None else value[:axis] + (n,) + value[axis + 1 :]


def _channels(data_format, rank):
    return 1 if data_format == "NCHW" else rank - 1


@bias_add_op.grad
def _bias_add_op_grad(op, dy):
    return dy, raw.BiasAddGrad(dy, data_format=op.get_attr("data_format"))


@op("BiasAddGrad", "out_backprop: T -> output: T", T=NUMERIC)
def bias_add_grad(xp, dy, *, data_format="NHWC"):
    """The sum over everything but the channels."""
    keep = _channels(data_format, dy.ndim)
    return xp.sum(dy, axis=tuple(i for i in range(dy.ndim) if i != keep), dtype=dy.dtype)


@bias_add_grad.shape
def _bias_add_grad_shape(dy, data_format):
    with_rank_at_least(dy, 2, "out_backprop")
    return (None,) if dy is None else (dy[_channels(data_format, len(dy))],)


@bias_add_grad.grad
def _bias_add_grad_grad(op, db):
    dy = op.inputs[0]
    if op.get_attr("data_format") == "NCHW":
        rank = dy._spec.shape and len(dy._spec.shape)
        after = np.ones(rank - 2, np.int32) if rank else raw.OnesLike(raw.StridedSlice(raw.Shape(dy), [2], [0], [1],
                                                                                       end_mask=1))  # fmt: skip
        db = raw.Reshape(db, raw.ConcatV2([[-1], after], 0))
    return raw.BroadcastTo(db, raw.Shape(dy))


# -- L2Loss ----------------------------------------------------------------------------


@op("L2Loss", "t: T -> output: T", T=FLOATING)
def l2_loss_op(xp, t):
    """Half the sum of the squares."""
    return (xp.sum(t * t) * xp.asarray(0.5, t.dtype)).astype(t.dtype)


@l2_loss_op.shape
def _l2_loss_op_shape(t):
    return ()


@l2_loss_op.grad
def _l2_loss_op_grad(op, dy):
    return raw.Mul(op.inputs[0], dy)
