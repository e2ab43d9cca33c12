"""Max pooling whose window size is a tensor."""

from __future__ import annotations

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import REAL
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import compatible, shape_str, with_rank
from graphgrad.op_traits import Cost
from graphgrad.ops.common.rank_limits import limit_ranks

from .pool_ops import _pool_shape

_SIZES = ("ksize", "strides")


def _numbers(ksize, strides):
    return {"ksize": tuple(map(int, ksize)), "strides": tuple(map(int, strides))}


def _attrs(op):
    return {k: op._attr(k) for k in ("padding", "data_format")}


@op("MaxPoolV2", "input: T, ksize: int32, strides: int32 -> output: T",
    prefers={"T": "float32"}, T=REAL, host=_SIZES, cost=Cost.HEAVY)
def max_pool_v2(xp, x, ksize, strides, *, padding, data_format="NHWC"):
    """Computes the maximum of each window."""
    return raw.MaxPool.kernel(xp, x, **_numbers(ksize, strides), padding=padding, data_format=data_format)


@max_pool_v2.shape
def _max_pool_v2_shape(x, ksize, strides, padding, data_format):
    x = with_rank(x, 4, "input")
    known = [v is not None and None not in v for v in (ksize, strides)]
    if not all(known):
        return (x[0], None, None, x[3]) if data_format == "NHWC" else (x[0], x[1], None, None)
    return _pool_shape(2, True)(x, ksize, strides, padding, (), data_format)


@max_pool_v2.grad
def _max_pool_v2_grad(op, dy):
    return raw.MaxPoolGradV2(op.inputs[0], op.outputs[0], dy, *op.inputs[1:], **_attrs(op)), None, None


@op("MaxPoolGradV2", "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T", T=REAL,
    host=_SIZES, flags=("sized",), cost=Cost.HEAVY)
def max_pool_grad_v2(xp, x, y, dy, ksize, strides, *, padding, data_format="NHWC"):
    """Passes each window's gradient to its first maximum."""
    return raw.MaxPoolGrad.kernel(xp, x, y, dy, **_numbers(ksize, strides), padding=padding, data_format=data_format)


@max_pool_grad_v2.shape
def _max_pool_grad_v2_shape(x, y, dy, ksize, strides, padding, data_format):
    x = with_rank(x, 4, "orig_input")
    _check_output(y, _max_pool_v2_shape(x, ksize, strides, padding, data_format))
    return x


def _check_output(given, pooled):
    if not compatible(given, pooled):
        raise Complaint(f"orig_output has shape {shape_str(given)}, but pooling gives {shape_str(pooled)}",
                        "give what MaxPoolV2 gave for the same ksize and strides")


@max_pool_grad_v2.grad
def _max_pool_grad_v2_grad(op, ddx):
    x, y, _, *sizes = op.inputs
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPoolGradGradV2(x, y, ddx, *sizes, **_attrs(op)), None, None


@op("MaxPoolGradGradV2", "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T", T=REAL,
    host=_SIZES, flags=("sized",), cost=Cost.HEAVY)
def max_pool_grad_grad_v2(xp, x, y, ddx, ksize, strides, *, padding, data_format="NHWC"):
    """Picks, for each window, the element at its first maximum."""
    kernel = raw.MaxPoolGradGrad.kernel
    return kernel(xp, x, y, ddx, **_numbers(ksize, strides), padding=padding, data_format=data_format)


@max_pool_grad_grad_v2.shape
def _max_pool_grad_grad_v2_shape(x, y, ddx, ksize, strides, padding, data_format):
    y = with_rank(y, 4, "orig_output")
    _check_output(y, _max_pool_v2_shape(x, ksize, strides, padding, data_format))
    return y


@max_pool_grad_grad_v2.grad
def _max_pool_grad_grad_v2_grad(op, dy):
    x, y, _, *sizes = op.inputs
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPoolGradV2(x, y, dy, *sizes, **_attrs(op)), None, None


limit_ranks(vectors="MaxPoolV2.ksize MaxPoolV2.strides")
