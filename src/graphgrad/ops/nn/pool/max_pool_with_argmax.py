"""Max pooling that also returns the indices of the maxima."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import INDEX, REAL, int64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import merged, with_rank
from graphgrad.op_traits import Cost
from graphgrad.ops.common.empty import zeros_for_empty

from .pool_ops import _argmax, _max, _pool_shape, _window_for


def _positions(xp, index, w, shape, with_batch):
    """Returns, for each window, the flattened position (y * width + x) * channels + c of its maximum."""
    b, _, _, c = (np.arange(n).reshape([-1 if i == k else 1 for k in range(4)]) for i, n in enumerate(index.shape))
    rows = np.arange(w.out[0]).reshape(1, -1, 1, 1) * w.strides[0] - w.pads[0][0]
    columns = np.arange(w.out[1]).reshape(1, 1, -1, 1) * w.strides[1] - w.pads[1][0]
    row, column = rows + index // w.kernel[1], columns + index % w.kernel[1]
    if with_batch:
        row = b * shape[1] + row
    return (row * shape[2] + column) * shape[3] + c


@op("MaxPoolWithArgmax", "input: T -> output: T, argmax: Targmax", T=REAL, Targmax=INDEX, cost=Cost.HEAVY)
def max_pool_with_argmax_op(xp, x, *, ksize, strides, padding, Targmax=int64, include_batch_in_index=False):
    """Computes the maximum of each window and its position."""
    w = _window_for(x.shape, ksize, strides, padding, (), "NHWC")
    if not x.size:
        raise Complaint("tensor_in must not be empty", "leave out batches without images")
    y = _max(xp, x, w, 1)
    index = _argmax(xp, x, y, w, 1)
    return y, _positions(xp, index, w, x.shape, include_batch_in_index).astype(Targmax.np_dtype)


@max_pool_with_argmax_op.shape
def _max_pool_with_argmax_shape(x, ksize, strides, padding):
    shape = _pool_shape(2)(x, ksize, strides, padding, (), "NHWC")
    return [shape, shape]


@max_pool_with_argmax_op.grad
def _max_pool_with_argmax_grad(op, dy, unused):
    attrs = {k: op._attr(k) for k in ("ksize", "strides", "padding", "include_batch_in_index")}
    return raw.MaxPoolGradWithArgmax(op.inputs[0], dy, op.outputs[1], **attrs)


def chosen_places(xp, x, argmax, include_batch_in_index):
    """Returns the positions in the flattened images x of the elements that argmax names."""
    n = argmax_limit(x, include_batch_in_index)
    if xp is np and argmax.size and not 0 <= argmax.min() <= argmax.max() < n:
        raise Complaint(f"argmax holds {argmax.min()} and {argmax.max()}, but positions lie in [0, {n})",
                        "give the argmax of tf.nn.max_pool_with_argmax, and its include_batch_in_index")
    return argmax if include_batch_in_index else argmax + np.arange(x.shape[0]).reshape(-1, 1, 1, 1) * n


def argmax_limit(x, include_batch_in_index):
    """Returns the number of positions that argmax can name."""
    return math.prod(x.shape if include_batch_in_index else x.shape[1:])


_PADDINGS = {"padding": frozenset({"SAME", "VALID"})}


@op("MaxPoolGradWithArgmax", "input: T, grad: T, argmax: Targmax -> output: T", T=REAL, Targmax=INDEX, cost=Cost.HEAVY,
    limits=_PADDINGS)
def max_pool_grad_with_argmax(xp, x, dy, argmax, *, ksize, strides, padding, include_batch_in_index=False):
    """Adds each window's gradient at the position that argmax gives."""
    flat = chosen_places(xp, x, argmax, include_batch_in_index).reshape(-1)
    if xp is np:
        total = np.zeros(x.size, dy.dtype)
        np.add.at(total, flat, dy.reshape(-1))
        return total.reshape(x.shape)
    return xp.zeros(x.size, dy.dtype).at[flat].add(dy.reshape(-1)).reshape(x.shape)


@max_pool_grad_with_argmax.refuses("argmax")
def _max_pool_grad_with_argmax_refuses(xp, x, dy, argmax, *, include_batch_in_index=False):
    return [(argmax, argmax_limit(x, include_batch_in_index))]


@max_pool_grad_with_argmax.shape
def _max_pool_grad_with_argmax_shape(x, dy, argmax):
    return with_rank(x, 4)


@max_pool_grad_with_argmax.grad
def _max_pool_grad_with_argmax_grad(op, ddx):
    x, _, argmax = op.inputs
    attrs = {k: op._attr(k) for k in ("ksize", "strides", "padding", "include_batch_in_index")}
    return raw.ZerosLike(x), raw.MaxPoolGradGradWithArgmax(x, ddx, argmax, **attrs), None


@op("MaxPoolGradGradWithArgmax", "input: T, grad: T, argmax: Targmax -> output: T", T=REAL, Targmax=INDEX,
    cost=Cost.HEAVY, limits=_PADDINGS)
def max_pool_grad_grad_with_argmax(xp, x, ddx, argmax, *, ksize, strides, padding, include_batch_in_index=False):
    """Picks, for each window, the element at the position that argmax gives."""
    return xp.take(ddx.reshape(-1), chosen_places(xp, x, argmax, include_batch_in_index))


@max_pool_grad_grad_with_argmax.refuses("argmax")
def _max_pool_grad_grad_with_argmax_refuses(xp, x, ddx, argmax, *, include_batch_in_index=False):
    return [(argmax, argmax_limit(x, include_batch_in_index))]


@max_pool_grad_grad_with_argmax.shape
def _max_pool_grad_grad_with_argmax_shape(x, ddx, argmax):
    merged(with_rank(x, 4, "input"), with_rank(ddx, 4, "grad"))
    return with_rank(argmax, 4, "argmax")


@max_pool_grad_grad_with_argmax.grad
def _max_pool_grad_grad_with_argmax_grad(op, dy):
    x, _, argmax = op.inputs
    attrs = {k: op._attr(k) for k in ("ksize", "strides", "padding", "include_batch_in_index")}
    return raw.ZerosLike(x), raw.MaxPoolGradWithArgmax(x, dy, argmax, **attrs), None


zeros_for_empty("MaxPoolGradWithArgmax")
