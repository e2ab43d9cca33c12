"""Broadcasting to a shape, and the shape that two shapes broadcast to."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import folded
from graphgrad.ir.dtypes import INDEX
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import TensorShape, as_shape, broadcast, is_fully_defined, shape_str
from graphgrad.ir.tensor import ShapeLike, Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.broadcast import reduced_axes
from graphgrad.ops.common.rank_limits import limit_ranks


@op("BroadcastTo", "input: T, shape: Tidx -> output: T", Tidx=INDEX, host=("shape",), data_movement=True,
    linear=Linear.JOINTLY, formula="broadcast_to(input, shape)")
def broadcast_to_op(xp, x, shape):
    """Repeats the input to a shape that it broadcasts to."""
    target = tuple(shape.tolist())
    _broadcast_to_shape(x.shape, target)
    return xp.broadcast_to(x, target)


@broadcast_to_op.shape
def _broadcast_to_shape(x, target):
    if target is None or x is None:
        return target
    if len(x) > len(target):
        raise Complaint(f"a tensor of rank {len(x)} cannot be broadcast to rank {len(target)}", "squeeze it first")
    for a, b in zip(reversed(x), reversed(target), strict=False):
        if a not in (1, None, b) and b is not None:
            raise Complaint(f"Incompatible shapes: {shape_str(x)} cannot be broadcast to {shape_str(target)}",
                            "each dimension must be 1 or equal, counted from the back")
    return tuple([n if d is None and n != 1 else d for n, d in zip((1,) * (len(target) - len(x)) + tuple(x), target)])


@broadcast_to_op.grad
def _broadcast_to_grad(op, dy):
    x, target = op.inputs
    own, result = x._spec.shape, op.outputs[0]._spec.shape
    if is_fully_defined(own) and is_fully_defined(result):
        repeated = reduced_axes(result, own)
        dx = raw.Sum(dy, np.asarray(repeated, np.int32)) if repeated else dy
        return dx if len(own) + len(repeated) == len(result) else raw.Reshape(dx, np.asarray(own, np.int32)), None
    shape = raw.Shape(x, out_type=target.dtype)
    _, repeated = raw.BroadcastGradientArgs(target, shape)
    return raw.Reshape(raw.Sum(dy, repeated), shape), None


@op("BroadcastArgs", "s0: T, s1: T -> r0: T", prefers={"T": "int32"}, T=INDEX, host=("s0", "s1"), partial_value=folded)
def broadcast_args_op(xp, s0, s1):
    """Returns the shape that two shapes broadcast to."""
    try:
        return np.asarray(np.broadcast_shapes(tuple(s0.tolist()), tuple(s1.tolist())), s0.dtype)
    except ValueError:
        raise Complaint(f"shapes {s0.tolist()} and {s1.tolist()} do not broadcast",
                        "each dimension must be 1 or equal, counted from the back") from None


@broadcast_args_op.shape
def _broadcast_args_shape(s0, s1):
    return (None,) if s0 is None or s1 is None else (max(len(s0), len(s1)),)


broadcast_args_op.grad(NOT_DIFFERENTIABLE)
limit_ranks(vectors="BroadcastArgs.s0 BroadcastArgs.s1 BroadcastTo.shape")


# -- functions ---------------------------------------------------------------------


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Repeats a tensor to a shape that it broadcasts to.

    Args:
      input: any dtype; each dimension 1 or that of `shape`, counted from the back.
      shape: an integer vector.
      name: a name for the operation.
    Returns: a tensor of that shape, dtype of `input`.
    Raises: ValueError, or InvalidArgumentError at run time, if it does not broadcast.
    Gradient: the sum over the repetitions; None for `shape`.
    Reference: TensorFlow 2.21 BroadcastTo.

    >>> sess.run(tf.broadcast_to([1, 2], [2, 2]))
    array([[1, 2],
           [1, 2]], dtype=int32)
    """
    return raw.BroadcastTo(input, shape, name=name)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Returns the static shape that two static shapes broadcast to.

    Args:
      shape_x, shape_y: `TensorShape`s.
    Returns: a `TensorShape`.
    Raises: ValueError if they do not broadcast.
    Gradient: none; nothing is built.
    Reference: TensorFlow 2.21 `tf.broadcast_static_shape`.

    >>> tf.broadcast_static_shape(tf.TensorShape([3, 1]), tf.TensorShape([2])).as_list()
    [3, 2]
    """
    try:
        return TensorShape(broadcast(as_shape(shape_x), as_shape(shape_y)))
    except Complaint as complaint:
        raise ValueError(f"Incompatible shapes for broadcasting: {shape_str(as_shape(shape_x))} and "
                         f"{shape_str(as_shape(shape_y))}: {complaint.problem}. Fix: {complaint.fix}") from None


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """Returns the shape that two shapes broadcast to, as a tensor.

    Args:
      shape_x, shape_y: integer vectors of one dtype.
    Returns: an integer vector.
    Raises: InvalidArgumentError at run time if they do not broadcast.
    Gradient: None.
    Reference: TensorFlow 2.21 BroadcastArgs.

    >>> sess.run(tf.broadcast_dynamic_shape([3, 1], [2]))
    array([3, 2], dtype=int32)
    """
    return raw.BroadcastArgs(shape_x, shape_y)
