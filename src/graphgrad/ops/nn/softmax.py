"""Softmax and its logarithm."""

from __future__ import annotations

import operator

import numpy as np

from graphgrad.errors import InvalidArgumentError
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import with_rank_at_least
from graphgrad.ops.common.shape_values import axes, join, minus, plus, rank_of

LAST = np.asarray([-1], np.int32)


def _at_least_vector(logits):
    return with_rank_at_least(logits, 1, "logits")


def shifted(xp, x):
    """x less its maximum along the last axis, in at least single precision."""
    if x.dtype.itemsize <= 2:
        x = x.astype(np.float32)
    if 0 in x.shape:
        return x
    return x - xp.max(x, axis=-1, keepdims=True)


@op("Softmax", "logits: T -> softmax: T", T=FLOATING, shape=_at_least_vector)
def softmax_op(xp, logits):
    """exp(x) / sum(exp(x)) along the last axis."""
    e = xp.exp(shifted(xp, logits))
    return (e / xp.sum(e, axis=-1, keepdims=True)).astype(logits.dtype)


@softmax_op.grad
def _softmax_op_grad(op, dy):
    y = op.outputs[0]
    total = raw.Sum(raw.Mul(dy, y), LAST, keep_dims=True)
    return raw.Mul(raw.Sub(dy, total), y)


@op("LogSoftmax", "logits: T -> logsoftmax: T", T=FLOATING, shape=_at_least_vector)
def log_softmax_op(xp, logits):
    """x - log(sum(exp(x))) along the last axis."""
    s = shifted(xp, logits)
    return (s - xp.log(xp.sum(xp.exp(s), axis=-1, keepdims=True))).astype(logits.dtype)


@log_softmax_op.grad
def _log_softmax_op_grad(op, dy):
    total = raw.Sum(dy, LAST, keep_dims=True)
    return raw.Sub(dy, raw.Mul(total, raw.Exp(op.outputs[0])))


# -- the public functions --------------------------------------------------------------


def _axis_of(x, axis):
    """An axis counted from the front, and the rank of x, either of which may be a tensor; None for the last axis.

    Raises: InvalidArgumentError if the axis is out of range.
    """
    rank = rank_of(x)
    if axis == -1:
        return None
    if not isinstance(rank, int):
        return (axis if axis >= 0 else plus(rank, axis)), rank
    if not -rank <= axis < rank:
        raise InvalidArgumentError(None, None, f"axis {axis} is out of range for logits of rank {rank}.\n"
                                   f"  Fix: use an axis in [{-rank}, {rank})")
    return None if axis % rank == rank - 1 else (axis % rank, rank)


def _swapped_with_last(x, axis):
    """The permutation that exchanges an axis with the last one, or None if it is the last one."""
    found = _axis_of(x, axis)
    if found is None:
        return None
    at, rank = found
    if not isinstance(at, int) or not isinstance(rank, int):
        # Among the rank's numbers, the two change places; they may be the same.
        numbers = axes(0, rank)
        last = raw.Equal(numbers, minus(rank, 1))
        return raw.SelectV2(raw.Equal(numbers, at), minus(rank, 1), raw.SelectV2(last, at, numbers))
    last = rank - 1
    return join(axes(0, at), _vector(last), axes(plus(at, 1), last), _vector(at))


def moved_to_last(x, axis):
    """The permutation that moves an axis behind the others, or None if it is the last one.

    Raises: InvalidArgumentError if the axis is out of range.
    """
    found = _axis_of(x, axis)
    if found is None:
        return None
    at, rank = found
    return join(axes(0, at), axes(plus(at, 1), rank), _vector(at))


def _vector(n):
    return np.asarray([n], np.int32) if isinstance(n, int) else raw.Reshape(n, [1])


def _along(op_type, logits, axis, name, default):
    """Applies Softmax or LogSoftmax along an axis."""
    logits = convert_to_tensor(logits, name="logits")
    perm = _swapped_with_last(logits, -1 if axis is None else operator.index(axis))
    if perm is None:
        return getattr(raw, op_type)(logits, name=name or default)
    with name_scope(name, default) as scope:
        result = getattr(raw, op_type)(raw.Transpose(logits, perm))
        return raw.Transpose(result, perm, name=scope)


def softmax(logits, axis=None, name=None):
    """exp(x) / sum(exp(x)) along an axis.

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


def softmax_v1(logits, axis=None, name=None, dim=None):
    """exp(x) / sum(exp(x)) along an axis: `softmax` with TensorFlow 1's name `dim` for the axis.

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


def log_softmax(logits, axis=None, name=None):
    """x - log(sum(exp(x))) along an axis.

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


def log_softmax_v1(logits, axis=None, name=None, dim=None):
    """x - log(sum(exp(x))) along an axis: `log_softmax` with TensorFlow 1's name `dim` for the axis.

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


def either(new, value, old, other):
    """The one of two synonymous arguments that was given, or None; ValueError for both."""
    if other is None:
        return value
    if value is not None:
        raise ValueError(f"Cannot specify both '{old}' and '{new}'. Fix: drop '{old}', the older name")
    return other
