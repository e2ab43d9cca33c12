"""Broadcasting and its reversal in gradients."""

from __future__ import annotations

import functools

import numpy as np

from graphgrad.ir.constant_value import folded
from graphgrad.ir.dtypes import INDEX
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import is_fully_defined

from .rank_limits import limit_ranks


def reduced_axes(shape, target):
    """Returns the axes of `shape` to sum over so that a gradient of it gets the shape `target`."""
    lead = len(shape) - len(target)
    return tuple(range(lead)) + tuple(
        i + lead for i, d in enumerate(target) if d == 1 and shape[i + lead] != 1
    )


@op("BroadcastGradientArgs", "s0: T, s1: T -> r0: T, r1: T",
    prefers={"T": "int32"}, T=INDEX, host=("s0", "s1"), partial_value=folded, formula="broadcast_axes(s0, s1)")
def broadcast_gradient_args(xp, s0, s1):
    """Returns, for two shapes, the axes of the broadcast result along which each was repeated."""
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
    if x is y or (sx == sy and is_fully_defined(sx)):
        return gx, gy
    repeated_x, repeated_y = _repeated_axes(sx, sy), _repeated_axes(sy, sx)
    if repeated_x is not None and repeated_y is not None:
        return _sum_over(gx, *repeated_x), _sum_over(gy, *repeated_y)
    shape_x, shape_y = raw.Shape(x), raw.Shape(y)
    axes_x, axes_y = raw.BroadcastGradientArgs(shape_x, shape_y)
    if gx is not None:
        gx = raw.Reshape(raw.Sum(gx, axes_x), shape_x)
    if gy is not None:
        gy = raw.Reshape(raw.Sum(gy, axes_y), shape_y)
    return gx, gy


@functools.lru_cache(maxsize=4096)
def _repeated_axes(own, other):
    """Returns along which axes an operand is repeated beside another one.

    Args:
      own, other: the static shapes of the two.
    Returns: the axes that it lacks, and those of its own of size 1; None if only the run knows.
    """
    if own is None or other is None:
        return None
    lead = len(other) - len(own)
    ones = []
    for i, d in enumerate(own):
        beside = other[i + lead] if i + lead >= 0 else 1
        if beside == 1:
            continue
        if d is None:
            return None
        if d == 1:  # should `beside` turn out to be 1, the sum is over one term
            ones.append(i)
    return _axes(range(lead)), _axes(ones)


def _axes(values):
    return np.asarray(values, np.int32) if len(values) else None


def _sum_over(g, lacking, ones):
    if g is None:
        return None
    if lacking is not None:
        g = raw.Sum(g, lacking)
    return g if ones is None else raw.Sum(g, ones, keep_dims=True)


limit_ranks(vectors="BroadcastGradientArgs.s0 BroadcastGradientArgs.s1")
