"""Shapes of tensors, and ops that change nothing but the shape."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import INDEX, int32
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from ..ir.shape import is_fully_defined, normalize_axis, num_elements, shape_str
from .broadcast import reduced_axes
from .known import reshape_like, shape_of

# The kernels of Shape, ShapeN, Rank and Size return NumPy arrays on the device too: shapes
# are concrete while a cluster is lowered, so that arithmetic on them stays on the host.


@op("Shape", "input: T -> output: out_type", out_type=INDEX)
def shape_op(xp, x, *, out_type=int32):
    """The shape of the input."""
    return np.asarray(x.shape, out_type.np_dtype)


@shape_op.shape
def _shape_shape(x):
    return (None,) if x is None else (len(x),)


shape_op.grad(NOT_DIFFERENTIABLE)


@op("ShapeN", "input: N*T -> output: N*out_type", out_type=INDEX)
def shape_n_op(xp, xs, *, out_type=int32):
    """The shapes of the inputs."""
    return [np.asarray(x.shape, out_type.np_dtype) for x in xs]


@shape_n_op.shape
def _shape_n_shape(xs):
    return [_shape_shape(x) for x in xs]


shape_n_op.grad(NOT_DIFFERENTIABLE)


def _scalar(x):
    return ()


@op("Rank", "input: T -> output: int32", shape=_scalar)
def rank_op(xp, x):
    """The number of dimensions of the input."""
    return np.asarray(len(x.shape), np.int32)


rank_op.grad(NOT_DIFFERENTIABLE)


@op("Size", "input: T -> output: out_type", out_type=INDEX, shape=_scalar)
def size_op(xp, x, *, out_type=int32):
    """The number of elements of the input."""
    return np.asarray(math.prod(x.shape), out_type.np_dtype)


size_op.grad(NOT_DIFFERENTIABLE)


@op("Reshape", "tensor: T, shape: Tshape -> output: T", Tshape=INDEX, host=("shape",))
def reshape_op(xp, x, shape):
    """The elements of the input in another shape."""
    target = tuple(shape.tolist())
    return xp.reshape(x, _filled_in(x.shape, target))


def _filled_in(shape, target):
    """The target shape with its -1 replaced; a Complaint if the sizes differ."""
    n = math.prod(shape)
    if -1 in target:
        rest = math.prod(d for d in target if d != -1)
        if target.count(-1) == 1 and min(target) >= -1 and (rest and n % rest == 0 or rest == n == 0):
            size = n // rest if rest else 0
            return tuple([size if d == -1 else d for d in target])
    elif math.prod(target) == n and (not target or min(target) >= 0):
        return target
    raise _misfit(shape, target)


def _misfit(shape, target):
    if target.count(-1) > 1:
        return Complaint(f"Only one input size may be -1, not {target.count(-1)} of {list(target)}",
                         "give all sizes but one")
    if target and min(target) < -1:
        return Complaint(f"Size {min(target)} must be non-negative or -1", "give sizes >= 0")
    n = num_elements(shape)
    rest = math.prod(d for d in target if d not in (-1, None))
    verb = "requires a multiple of" if -1 in target else "has"
    return Complaint(f"Cannot reshape a tensor with {n} elements to shape {list(target)} ({verb} {rest} elements)",
                     f"make the sizes multiply to {n}, or let one of them be -1")


@reshape_op.shape
def _reshape_shape(x, target):
    if target is None:
        return None
    if not isinstance(target, tuple) or any(isinstance(d, tuple) for d in target):
        raise Complaint("shape must be a vector", "give a list of sizes, e.g. [-1]")
    n = num_elements(x)
    if None in target:
        return tuple([None if d == -1 else d for d in target])
    if n is None:
        if target.count(-1) > 1 or (target and min(target) < -1):
            raise _misfit(x, target)
        return tuple([None if d == -1 else d for d in target])
    return _filled_in(x, target)


@reshape_op.grad
def _reshape_grad(op, dy):
    return reshape_like(dy, op.inputs[0]), None


@op("ExpandDims", "input: T, dim: Tdim -> output: T", Tdim=INDEX, host=("dim",))
def expand_dims_op(xp, x, dim):
    """The input with a dimension of size 1 put in."""
    at = normalize_axis(int(dim.reshape(())), len(x.shape) + 1)
    return xp.reshape(x, x.shape[:at] + (1,) + x.shape[at:])


@expand_dims_op.shape
def _expand_dims_shape(x, dim):
    if isinstance(dim, tuple):
        if len(dim) != 1:
            raise Complaint("'dim' must have exactly one element", "give one int")
        dim = dim[0]
    if x is None:
        return None
    if dim is None:
        return (None,) * (len(x) + 1)
    at = normalize_axis(dim, len(x) + 1)
    return x[:at] + (1,) + x[at:]


@expand_dims_op.grad
def _expand_dims_grad(op, dy):
    return reshape_like(dy, op.inputs[0]), None


@op("Squeeze", "input: T -> output: T")
def squeeze_op(xp, x, *, squeeze_dims=()):
    """The input without its dimensions of size 1 (or those of them that are named)."""
    return xp.reshape(x, _squeeze_shape(x.shape, squeeze_dims))


@squeeze_op.shape
def _squeeze_shape(x, squeeze_dims):
    if x is None:
        return None
    if not squeeze_dims:
        return None if None in x else tuple([d for d in x if d != 1])
    gone = {normalize_axis(a, len(x)) for a in squeeze_dims}
    for a in gone:
        if x[a] not in (1, None):
            raise Complaint(f"Can not squeeze dim[{a}], expected a dimension of 1, got {x[a]}",
                            "name only axes of size 1")
    return tuple([d for a, d in enumerate(x) if a not in gone])


@squeeze_op.grad
def _squeeze_grad(op, dy):
    return reshape_like(dy, op.inputs[0])


@op("BroadcastTo", "input: T, shape: Tidx -> output: T", Tidx=INDEX, host=("shape",))
def broadcast_to_op(xp, x, shape):
    """The input repeated to a shape that it broadcasts to."""
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
    return target


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


@op("BroadcastArgs", "s0: T, s1: T -> r0: T", T=INDEX, host=("s0", "s1"))
def broadcast_args_op(xp, s0, s1):
    """The shape that two shapes broadcast to."""
    try:
        return np.asarray(np.broadcast_shapes(tuple(s0.tolist()), tuple(s1.tolist())), s0.dtype)
    except ValueError:
        raise Complaint(f"shapes {s0.tolist()} and {s1.tolist()} do not broadcast",
                        "each dimension must be 1 or equal, counted from the back") from None


@broadcast_args_op.shape
def _broadcast_args_shape(s0, s1):
    return (None,) if s0 is None or s1 is None else (max(len(s0), len(s1)),)


broadcast_args_op.grad(NOT_DIFFERENTIABLE)
