"""Constants, placeholders and filled tensors; ops that hand their input through."""

from __future__ import annotations

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import INDEX, INEXACT
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from ..ir.shape import merged
from .known import all_axes


@op("Const", "-> output: dtype")
def const(xp, *, value, dtype):
    """A value that is part of the graph."""
    return value


@const.shape
def _const_shape(value):
    return value.shape


const.grad(NOT_DIFFERENTIABLE)


@op("Placeholder", "-> output: dtype")
def placeholder_op(xp, *, dtype, shape=None):
    """A value that each run feeds."""
    raise Complaint("You must feed a value for placeholder tensor", "give it in feed_dict")


@placeholder_op.shape
def _placeholder_shape(shape):
    return shape


@op("PlaceholderWithDefault", "input: dtype -> output: dtype")
def placeholder_with_default_op(xp, x, *, shape=None):
    """The input, unless a run feeds another value."""
    return x


@placeholder_with_default_op.shape
def _placeholder_with_default_shape(x, shape):
    merged(x, shape)
    return shape


@placeholder_with_default_op.grad
def _same(op, dy):
    return dy


@op("Identity", "input: T -> output: T")
def identity_op(xp, x):
    """The input."""
    return x


@identity_op.shape
def _same_shape(x):
    return x


identity_op.grad(_same)


def _like_identity(name, doc):
    @op(name, "input: T -> output: T", shape=_same_shape)
    def kernel(xp, x):
        return x

    kernel.__doc__ = doc
    return kernel


snapshot = _like_identity("Snapshot", "The input.")
snapshot.grad(_same)
deep_copy = _like_identity("DeepCopy", "A copy of the input.")
guarantee_const_op = _like_identity("GuaranteeConst", "The input, which the user promises never changes.")
guarantee_const_op.grad(_same)
stop_gradient_op = _like_identity("StopGradient", "The input, through which no gradient flows.")
stop_gradient_op.grad(NOT_DIFFERENTIABLE)


@op("IdentityN", "input: list(T) -> output: list(T)")
def identity_n_op(xp, xs):
    """The inputs."""
    return xs


@identity_n_op.shape
def _identity_n_shape(xs):
    return list(xs)


@identity_n_op.grad
def _identity_n_grad(op, *dys):
    return dys


@op("PreventGradient", "input: T -> output: T", shape=_same_shape)
def prevent_gradient_op(xp, x, *, message=""):
    """The input; asking for a gradient through it is an error."""
    return x


@prevent_gradient_op.grad
def _prevent_gradient_grad(op, dy):
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.get_attr('message')}")


@op("Fill", "dims: index_type, value: T -> output: T", index_type=INDEX, host=("dims",))
def fill_op(xp, dims, value):
    """A tensor of one value."""
    return xp.full(tuple(dims.tolist()), value, dtype=value.dtype)


@fill_op.shape
def _fill_shape(dims, value):
    if value is not None and value != ():
        raise Complaint("value must be a scalar", "give one number, e.g. value[0]")
    return _sizes(dims)


def _sizes(dims):
    if dims is None:
        return None
    if not isinstance(dims, tuple):
        raise Complaint("dims must be a vector", "give a list of sizes, e.g. [3]")
    if any(d is not None and d < 0 for d in dims):
        raise Complaint(f"Dimension {min(d for d in dims if d is not None)} must be >= 0", "give sizes >= 0")
    return dims


@fill_op.grad
def _fill_grad(op, dy):
    return None, raw.Sum(dy, all_axes(op.outputs[0]))


@op("ZerosLike", "x: T -> y: T", shape=_same_shape)
def zeros_like_op(xp, x):
    """Zeros of the shape and dtype of `x`."""
    return np.full(x.shape, b"", object) if x.dtype == object else xp.zeros_like(x)


zeros_like_op.grad(NOT_DIFFERENTIABLE)


@op("OnesLike", "x: T -> y: T", shape=_same_shape)
def ones_like_op(xp, x):
    """Ones of the shape and dtype of `x`."""
    return xp.ones_like(x)


ones_like_op.grad(NOT_DIFFERENTIABLE)


@op("Empty", "shape: int32 -> output: dtype", host=("shape",))
def empty_op(xp, shape, *, dtype, init=False):
    """A tensor whose elements are not set (zeros here)."""
    return xp.zeros(tuple(shape.tolist()), dtype.np_dtype)


empty_op.shape(_sizes)
empty_op.grad(NOT_DIFFERENTIABLE)


@op("EnsureShape", "input: T -> output: T")
def ensure_shape_op(xp, x, *, shape):
    """The input; an error if its shape does not fit."""
    merged(x.shape, shape)
    return x


@ensure_shape_op.shape
def _ensure_shape_shape(x, shape):
    return merged(x, shape)


@ensure_shape_op.grad
def _ensure_shape_grad(op, dy):
    return dy


@op("CheckNumerics", "tensor: T -> output: T", T=INEXACT, shape=_same_shape)
def check_numerics_op(xp, x, *, message=""):
    """The input; an error if it holds an infinity or a NaN."""
    return x


@check_numerics_op.on_host
def _check_numerics(xp, x, *, message):
    found = [word for word, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(x))]
    if found:
        raise Complaint(f"{message} : Tensor had {' and '.join(found)} values")
    return x


@check_numerics_op.grad
def _check_numerics_grad(op, dy):
    message = op.get_attr("message")
    return raw.CheckNumerics(dy, message=f"Not a number (NaN) or infinity (Inf) values detected in gradient. {message}")
