"""Softmax and its logarithm."""

from __future__ import annotations

import operator

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank_at_least
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common import host_arrays
from graphgrad.ops.common.dependence import beside_last_axis, last_axis
from graphgrad.ops.common.host_sums import sum_over
from graphgrad.ops.common.shape_values import swapped_with_last
from graphgrad.ops.common.synonyms import either

LAST = np.asarray([-1], np.int32)


def _at_least_vector(logits):
    return with_rank_at_least(logits, 1, "logits")


def shifted(xp, x):
    """Subtracts the maximum along the last axis, in at least single precision."""
    if x.dtype.itemsize <= 2:
        x = x.astype(np.float32)
    if 0 in x.shape:
        return x
    return x - xp.max(x, axis=-1, keepdims=True)


@op("Softmax", "logits: T -> softmax: T", T=FLOATING, shape=_at_least_vector, saves_result=True, eager_seconds=1.7e-9,
    dependence=last_axis, rows=beside_last_axis)
def softmax_op(xp, logits):
    """Computes exp(x) / sum(exp(x)) along the last axis."""
    if xp is np and logits.dtype.itemsize > 2 and logits.size:
        return _by_rows(_softmax_steps, logits)
    e = xp.exp(shifted(xp, logits))
    return (e / xp.sum(e, axis=-1, keepdims=True)).astype(logits.dtype)


def _by_rows(steps, x):
    return host_arrays.rows(steps, x.reshape(-1, x.shape[-1])).reshape(x.shape)


def _softmax_steps(out, x):
    np.subtract(x, np.max(x, axis=-1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, sum_over(np, out, -1, True), out=out)


def _log_softmax_steps(out, x):
    np.subtract(x, np.max(x, axis=-1, keepdims=True), out=out)
    np.subtract(out, np.log(sum_over(np, np.exp(out), -1, True)), out=out)


@softmax_op.grad
def _softmax_op_grad(op, dy):
    y = op.outputs[0]
    total = raw.Sum(raw.Mul(dy, y), LAST, keep_dims=True)
    return raw.Mul(raw.Sub(dy, total), y)


@op("LogSoftmax", "logits: T -> logsoftmax: T", T=FLOATING, shape=_at_least_vector, eager_seconds=1.7e-9,
    dependence=last_axis, rows=beside_last_axis)
def log_softmax_op(xp, logits):
    """Computes x - log(sum(exp(x))) along the last axis."""
    if xp is np and logits.dtype.itemsize > 2 and logits.size:
        return _by_rows(_log_softmax_steps, logits)
    s = shifted(xp, logits)
    return (s - xp.log(xp.sum(xp.exp(s), axis=-1, keepdims=True))).astype(logits.dtype)


@log_softmax_op.grad
def _log_softmax_op_grad(op, dy):
    total = raw.Sum(dy, LAST, keep_dims=True)
    return raw.Sub(dy, raw.Mul(total, raw.Exp(op.outputs[0])))


# -- the public functions --------------------------------------------------------------


def _along(op_type, logits, axis, name, default):
    """Applies Softmax or LogSoftmax along an axis."""
    logits = convert_to_tensor(logits, name="logits")
    perm = swapped_with_last(logits, -1 if axis is None else operator.index(axis))
    if perm is None:
        return getattr(raw, op_type)(logits, name=name or default)
    with name_scope(name, default) as scope:
        result = getattr(raw, op_type)(raw.Transpose(logits, perm))
        return raw.Transpose(result, perm, name=scope)


def softmax(logits: TensorLike, axis: TensorLike = None, name: str | None = None) -> Tensor:
    """Computes exp(x) / sum(exp(x)) along an axis.

    Args:
      logits: a float tensor of rank 1 or more.
      axis: an axis; the last one by default.
      name: a name for the operation.
    Returns: a tensor like `logits`, whose slices along the axis sum to 1.
    Raises: InvalidArgumentError if the axis is out of range.
    Gradient: (dy - sum(dy y)) y.
    Reference: TensorFlow 2.21 Softmax.

    >>> sess.run(tf.nn.softmax([0.0, 0.0]))
    array([0.5, 0.5], dtype=float32)
    """
    return _along("Softmax", logits, axis, name, "Softmax")


def softmax_v1(logits: TensorLike, axis: TensorLike = None, name: str | None = None, dim: TensorLike = None) -> Tensor:
    """Computes exp(x) / sum(exp(x)) along an axis: `softmax`, with TensorFlow 1's name `dim` for the axis.

    Args:
      logits: a float tensor of rank 1 or more.
      axis, dim: an axis; the last one by default.
      name: a name for the operation.
    Returns: a tensor like `logits`.
    Raises: ValueError if both `axis` and `dim` are given.
    Gradient: (dy - sum(dy y)) y.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.softmax`.
    """
    return softmax(logits, either("axis", axis, "dim", dim), name)


def log_softmax(logits: TensorLike, axis: TensorLike = None, name: str | None = None) -> Tensor:
    """Computes x - log(sum(exp(x))) along an axis.

    Args:
      logits: a float tensor of rank 1 or more.
      axis: an axis; the last one by default.
      name: a name for the operation.
    Returns: a tensor like `logits`.
    Raises: InvalidArgumentError if the axis is out of range.
    Gradient: dy - sum(dy) exp(y).
    Reference: TensorFlow 2.21 LogSoftmax.

    >>> sess.run(tf.nn.log_softmax([0.0, 0.0]))
    array([-0.6931472, -0.6931472], dtype=float32)
    """
    return _along("LogSoftmax", logits, axis, name, "LogSoftmax")


def log_softmax_v1(logits: TensorLike, axis: TensorLike = None, name: str | None = None,
                   dim: TensorLike = None) -> Tensor:
    """Computes x - log(sum(exp(x))) along an axis: `log_softmax`, with TensorFlow 1's name `dim` for the axis.

    Args:
      logits: a float tensor of rank 1 or more.
      axis, dim: an axis; the last one by default.
      name: a name for the operation.
    Returns: a tensor like `logits`.
    Raises: ValueError if both `axis` and `dim` are given.
    Gradient: dy - sum(dy) exp(y).
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.log_softmax`.
    """
    return log_softmax(logits, either("axis", axis, "dim", dim), name)
