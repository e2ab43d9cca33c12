"""Broadcasting and its reversal in gradients."""

from __future__ import annotations

import numpy as np

from ..ir.dtypes import INDEX
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from ..ir.shape import is_fully_defined


def reduced_axes(shape, target):
    """The axes of `shape` to sum over so that a gradient of it gets the shape `target`."""
    lead = len(shape) - len(target)
    return tuple(range(lead)) + tuple(
        i + lead for i, d in enumerate(target) if d == 1 and shape[i + lead] != 1
    )


@op("BroadcastGradientArgs", "s0: T, s1: T -> r0: T, r1: T", T=INDEX, host=("s0", "s1"))
def broadcast_gradient_args(xp, s0, s1):
    """For two shapes, the axes of the broadcast result along which each of them was repeated."""
    result = np.broadcast_shapes(tuple(s0), tuple(s1))
    return tuple(np.asarray(_repeated(tuple(s), result), s0.dtype) for s in (s0, s1))


def _repeated(shape, result):
    lead = len(result) - len(shape)
    return [i for i in range(len(result)) if i < lead or shape[i - lead] == 1]


@broadcast_gradient_args.shape
def _broadcast_gradient_args_shape(s0, s1):
    return [(None,), (None,)]


broadcast_gradient_args.grad(NOT_DIFFERENTIABLE)


def unbroadcast(gx, gy, x, y):
    """Sums each gradient over the axes along which its operand was repeated.

    Args:
      gx, gy: gradients of the broadcast shape, or None.
      x, y: the operands.
    Returns: the pair, of the shapes of x and y.
    """
    sx, sy = x._spec.shape, y._spec.shape
    if sx == sy and is_fully_defined(sx):
        return gx, gy
    if is_fully_defined(sx) and is_fully_defined(sy):
        return _sum_to(gx, sx, sy), _sum_to(gy, sy, sx)
    shape_x, shape_y = raw.Shape(x), raw.Shape(y)
    axes_x, axes_y = raw.BroadcastGradientArgs(shape_x, shape_y)
    if gx is not None:
        gx = raw.Reshape(raw.Sum(gx, axes_x), shape_x)
    if gy is not None:
        gy = raw.Reshape(raw.Sum(gy, axes_y), shape_y)
    return gx, gy


def _sum_to(g, own, other):
    if g is None:
        return None
    result = np.broadcast_shapes(own, other)
    axes = reduced_axes(result, own)
    if not axes:
        return g
    g = raw.Sum(g, np.asarray(axes, np.int32))
    return g if len(own) + len(axes) == len(result) else raw.Reshape(g, np.asarray(own, np.int32))
