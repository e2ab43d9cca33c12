"""Softmax, its logarithm, and the cross entropies computed with them."""

from __future__ import annotations

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import FLOATING, INDEX
from ..ir.opdef import op, raw
from ..ir.shape import broadcast, with_rank, with_rank_at_least
from ..ir.static import constant_value
from .broadcast import unbroadcast

_LAST = np.asarray([-1], np.int32)


def _at_least_vector(logits):
    return with_rank_at_least(logits, 1, "logits")


def _shifted(xp, x):
    """x less its maximum along the last axis, in at least single precision."""
    if x.dtype.itemsize <= 2:
        x = x.astype(np.float32)
    if 0 in x.shape:
        return x
    return x - xp.max(x, axis=-1, keepdims=True)


@op("Softmax", "logits: T -> softmax: T", T=FLOATING, shape=_at_least_vector)
def softmax_op(xp, logits):
    """exp(x) / sum(exp(x)) along the last axis."""
    e = xp.exp(_shifted(xp, logits))
    return (e / xp.sum(e, axis=-1, keepdims=True)).astype(logits.dtype)


@softmax_op.grad
def _softmax_op_grad(op, dy):
    y = op.outputs[0]
    total = raw.Sum(raw.Mul(dy, y), _LAST, keep_dims=True)
    return raw.Mul(raw.Sub(dy, total), y)


@op("LogSoftmax", "logits: T -> logsoftmax: T", T=FLOATING, shape=_at_least_vector)
def log_softmax_op(xp, logits):
    """x - log(sum(exp(x))) along the last axis."""
    s = _shifted(xp, logits)
    return (s - xp.log(xp.sum(xp.exp(s), axis=-1, keepdims=True))).astype(logits.dtype)


@log_softmax_op.grad
def _log_softmax_op_grad(op, dy):
    total = raw.Sum(dy, _LAST, keep_dims=True)
    return raw.Sub(dy, raw.Mul(total, raw.Exp(op.outputs[0])))


# -- cross entropies -------------------------------------------------------------------


@op("SoftmaxCrossEntropyWithLogits", "features: T, labels: T -> loss: T, backprop: T", T=FLOATING)
def softmax_xent(xp, logits, labels):
    """The cross entropy of each row and its gradient, softmax(features) - labels."""
    dtype = logits.dtype
    logits, labels = xp.broadcast_arrays(logits, labels)
    s = _shifted(xp, logits)
    e = xp.exp(s)
    total = xp.sum(e, axis=-1, keepdims=True)
    loss = xp.sum(labels.astype(s.dtype) * (xp.log(total) - s), axis=-1)
    return loss.astype(dtype), (e / total - labels.astype(s.dtype)).astype(dtype)


@softmax_xent.shape
def _softmax_xent_shape(features, labels):
    both = with_rank(broadcast(features, labels), 2, "features")
    return [both[:1], both]


def is_zeros(t):
    """Whether a gradient is absent, or known to be zeros."""
    if t is None:
        return True
    if hasattr(t, "op"):
        if t.op.type == "ZerosLike":
            return True
        if t.op.type == "Fill":
            t = t.op.inputs[1]
        if t.op.type != "Const":
            return False
    value = constant_value(t)
    return value is not None and not value.any()


def _column(v):
    """A vector (or the stretched loss) as a column, to multiply rows with."""
    return raw.ExpandDims(v, -1)


def _through_softmax(logits, ddx):
    """The derivative of softmax(logits) in direction ddx, which is its gradient as well."""
    y = raw.Softmax(logits)
    total = raw.Sum(raw.Mul(ddx, y), _LAST, keep_dims=True)
    return raw.Mul(raw.Sub(ddx, total), y)


@softmax_xent.grad
def _softmax_xent_grad(op, dloss, dbackprop):
    logits, labels = op.inputs
    dlogits = dlabels = None
    if dloss is not None:
        rows = _column(dloss)
        dlogits = raw.Mul(rows, op.outputs[1])
        dlabels = raw.Mul(rows, raw.Neg(raw.LogSoftmax(logits)))
    if not is_zeros(dbackprop):
        more = _through_softmax(logits, dbackprop)
        dlogits = more if dlogits is None else raw.AddV2(dlogits, more)
        dlabels = raw.Neg(dbackprop) if dlabels is None else raw.Sub(dlabels, dbackprop)
    return unbroadcast(dlogits, dlabels, logits, labels)


@op("SparseSoftmaxCrossEntropyWithLogits", "features: T, labels: Tlabels -> loss: T, backprop: T", T=FLOATING,
    Tlabels=INDEX)  # fmt: skip
def sparse_softmax_xent(xp, logits, labels):
    """The cross entropy of each row with the class that its label names, and its gradient.

    A label out of range is an error on the host, NaN in its row on a device, as on TensorFlow's.
    """
    s = _shifted(xp, logits)
    n = logits.shape[-1]
    if xp is np:
        wrong = (labels < 0) | (labels >= n)
        if wrong.any():
            raise Complaint(f"Received a label value of {labels[wrong][0]} which is outside the valid range of [0, {n})",
                            "give labels in that range, or more logits")
    e = xp.exp(s)
    total = xp.sum(e, axis=-1, keepdims=True)
    hot = labels[:, None] == xp.arange(n, dtype=labels.dtype)
    loss = xp.sum(xp.where(hot, xp.log(total) - s, xp.asarray(0, s.dtype)), axis=-1)
    backprop = e / total - hot.astype(s.dtype)
    if xp is not np:
        valid = (labels >= 0) & (labels < n)
        nan = xp.asarray(np.nan, s.dtype)
        loss, backprop = xp.where(valid, loss, nan), xp.where(valid[:, None], backprop, nan)
    return loss.astype(logits.dtype), backprop.astype(logits.dtype)


@sparse_softmax_xent.shape
def _sparse_softmax_xent_shape(features, labels):
    n, classes = with_rank(features, 2, "features")
    (m,) = with_rank(labels, 1, "labels")
    if n is not None and m is not None and n != m:
        raise Complaint(f"there are {n} rows of features but {m} labels", "give one label for each row")
    rows = m if n is None else n
    return [(rows,), (rows, classes)]


@sparse_softmax_xent.grad
def _sparse_softmax_xent_grad(op, dloss, dbackprop):
    dlogits = None if dloss is None else raw.Mul(_column(dloss), op.outputs[1])
    if not is_zeros(dbackprop):
        more = _through_softmax(op.inputs[0], dbackprop)
        dlogits = more if dlogits is None else raw.AddV2(dlogits, more)
    return dlogits, None
