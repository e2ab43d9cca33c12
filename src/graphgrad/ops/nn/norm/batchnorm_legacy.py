"""Batch normalization ops of earlier versions of TensorFlow."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import IMAGE_FORMATS
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.rule_by_composition import pullback
from graphgrad.ir.shape import merged, with_rank
from graphgrad.op_traits import Cost
from graphgrad.ops.common.host_sums import sum_over

from .batchnorm import _fused_batch_norm_grad_grad, _fused_batch_norm_grad_shape, _fused_batch_norm_shape

# -- FusedBatchNorm and FusedBatchNormV2 -------------------------------------------------

_IN = "x: T, scale: {0}, offset: {0}, mean: {0}, variance: {0}"
_OUT = "y: T, batch_mean: {0}, batch_variance: {0}, reserve_space_1: {0}, reserve_space_2: {0}"
_SAVED = "reserve_space_1: {0}, reserve_space_2: {0}"
_BACK = "x_backprop: T, scale_backprop: {0}, offset_backprop: {0}, reserve_space_3: {0}, reserve_space_4: {0}"


def _forward(xp, x, scale, offset, mean, variance, *, epsilon=0.0001, exponential_avg_factor=1.0, data_format="NHWC",
             is_training=True):
    """Computes FusedBatchNormV3 without its last output."""
    kernel = raw.FusedBatchNormV3.kernel
    return kernel(xp, x, scale, offset, mean, variance, epsilon=epsilon, data_format=data_format,
                  exponential_avg_factor=exponential_avg_factor, is_training=is_training)[:5]


def _forward_shape(x, scale, offset, mean, variance, data_format, is_training):
    return _fused_batch_norm_shape(x, scale, offset, mean, variance, data_format, is_training)[:5]


def _backward(xp, dy, x, scale, mean, variance, *, epsilon=0.0001, data_format="NHWC", is_training=True):
    """Computes FusedBatchNormGradV3 without the reserved input."""
    return raw.FusedBatchNormGradV3.kernel(xp, dy, x, scale, mean, variance, None, epsilon=epsilon,
                                           data_format=data_format, is_training=is_training)


def _backward_shape(dy, x, scale, mean, variance, data_format):
    return _fused_batch_norm_grad_shape(dy, x, scale, mean, variance, None, data_format)


def _backward_grad(op, u, v, w, *unused):
    return _fused_batch_norm_grad_grad(op, u, v, w)[:5]


def _forward_grad(op, dy, *unused):
    training = op._attr("is_training")
    attrs = {k: op._attr(k) for k in ("epsilon", "data_format", "is_training")}
    saved = (op.outputs[3], op.outputs[4]) if training else (op.inputs[3], op.inputs[4])
    backward = raw.FusedBatchNormGrad if op.type == "FusedBatchNorm" else raw.FusedBatchNormGradV2
    return (*backward(dy, op.inputs[0], op.inputs[1], *saved, **attrs)[:3], None, None)


for _name, _kind, _types in (("FusedBatchNorm", "T", {}), ("FusedBatchNormV2", "U", {"U": FLOATING})):
    _signature = f"{_IN} -> {_OUT}".format(_kind)
    op(_name, _signature, T=FLOATING, shape=_forward_shape, cost=Cost.HEAVY, limits=IMAGE_FORMATS, **_types)(
        _forward).grad(_forward_grad)
for _name, _kind, _types in (("FusedBatchNormGrad", "T", {}), ("FusedBatchNormGradV2", "U", {"U": FLOATING})):
    _signature = f"y_backprop: T, x: T, scale: {{0}}, {_SAVED} -> {_BACK}".format(_kind)
    op(_name, _signature, T=FLOATING, shape=_backward_shape, cost=Cost.HEAVY, limits=IMAGE_FORMATS, **_types)(
        _backward).grad(_backward_grad)


# -- BatchNormWithGlobalNormalization ----------------------------------------------------


@op("BatchNormWithGlobalNormalization", "t: T, m: T, v: T, beta: T, gamma: T -> result: T", T=FLOATING, cost=Cost.HEAVY)
def global_norm(xp, t, m, v, beta, gamma, *, variance_epsilon, scale_after_normalization):
    """Normalizes each channel (the last dimension) to given moments."""
    factor = 1 / xp.sqrt(v + xp.asarray(variance_epsilon, v.dtype))
    if scale_after_normalization:
        factor = factor * gamma
    return ((t - m) * factor + beta).astype(t.dtype)


@global_norm.shape
def _global_norm_shape(t, m, v, beta, gamma):
    t = with_rank(t, 4, "t")
    (channels,) = t[3:]
    for name, shape in (("m", m), ("v", v), ("beta", beta), ("gamma", gamma)):
        (n,) = with_rank(shape, 1, name)
        if n is not None and channels is not None and n != channels:
            raise Complaint(f"{name} has {n} elements but t has {channels} channels", f"give one {name} a channel")
        channels = n if channels is None else channels
    return (*t[:3], channels)


def _attrs(op):
    return {k: op._attr(k) for k in ("variance_epsilon", "scale_after_normalization")}


@global_norm.grad
def _global_norm_grad(op, dy):
    t, m, v, _, gamma = op.inputs
    return raw.BatchNormWithGlobalNormalizationGrad(t, m, v, gamma, dy, **_attrs(op))


@op("BatchNormWithGlobalNormalizationGrad", "t: T, m: T, v: T, gamma: T, backprop: T -> dx: T, dm: T, dv: T, db: T, "
    "dg: T", T=FLOATING, cost=Cost.HEAVY)
def global_norm_backward(xp, t, m, v, gamma, dy, *, variance_epsilon, scale_after_normalization):
    """Computes the gradients of BatchNormWithGlobalNormalization for t, m, v, beta and gamma."""
    r = 1 / xp.sqrt(v + xp.asarray(variance_epsilon, v.dtype))
    factor = r * gamma if scale_after_normalization else r
    db, centred = [sum_over(xp, a, (0, 1, 2)) for a in (dy, dy * (t - m))]
    dg = centred * r if scale_after_normalization else xp.zeros_like(gamma)
    return tuple([g.astype(t.dtype) for g in (dy * factor, -db * factor, -centred * factor * r * r / 2, db, dg)])


@global_norm_backward.shape
def _global_norm_backward_shape(t, m, v, gamma, dy):
    t = merged(with_rank(t, 4, "t"), with_rank(dy, 4, "backprop"))
    vector = merged(merged(with_rank(m, 1, "m"), with_rank(v, 1, "v")), with_rank(gamma, 1, "gamma"))
    channels = merged(vector, t[3:])
    return [(*t[:3], *channels), channels, channels, channels, channels]


@global_norm_backward.grad
def _global_norm_backward_grad(op, *us):
    epsilon, scaled = _attrs(op).values()
    others = np.asarray([0, 1, 2], np.int32)

    def composed(t, m, v, gamma, dy):
        r = raw.Rsqrt(raw.AddV2(v, epsilon))
        factor = raw.Mul(r, gamma) if scaled else r
        db = raw.Sum(dy, others)
        centred = raw.Sum(raw.Mul(dy, raw.Sub(t, m)), others)
        dv = raw.Mul(raw.Mul(centred, factor), raw.Mul(raw.Square(r), -0.5))
        dg = raw.Mul(centred, r) if scaled else raw.ZerosLike(gamma)
        return [raw.Mul(dy, factor), raw.Neg(raw.Mul(db, factor)), dv, db, dg]

    return pullback(composed, op.inputs, us, range(5))
