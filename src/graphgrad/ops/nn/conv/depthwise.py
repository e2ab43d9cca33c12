"""Depthwise convolution and its backpropagation ops.

The lowering is a sum of shifted products, one for each cell of the kernel: XLA:CPU's grouped
convolution takes many times as long. For large kernels the rows are a loop, so that XLA does not recompute fused
operands for each cell.
"""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import IMAGE_FORMATS
from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op
from graphgrad.ir.shape import with_rank
from graphgrad.op_traits import Cost, Linear
from graphgrad.ops.common.empty import zeros_for_empty
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks

from .conv_gradients import declare_gradients
from .window_geometry import (
    assemble,
    cells,
    channel_axis,
    channels_first,
    check_result,
    count,
    dilated,
    pad_spatial,
    products_of,
    seen_by,
    seen_by_row,
    spatial,
    spatial_axes,
    to_channels_last,
    window,
)

_ONES = (1,) * 4
_UNROLLED = 49  # cells of the kernel up to which they are written out; a loop is compiled faster but runs slower


def _window_for(x, kernel, strides, padding, explicit_paddings, data_format, dilations):
    sizes = [x[i] for i in spatial_axes(data_format, 2)]
    return window(sizes, kernel, spatial(strides, data_format, 2), spatial(dilations, data_format, 2), padding,
                  explicit_paddings, data_format)


def _wide(x):
    return x.astype(np.float32) if x.dtype.itemsize <= 2 else x


def _first(data_format):
    return 2 if channels_first(data_format) else 1


def _per_channel(xp, cell_filter, data_format):
    """Reshapes one cell's filter [channels, multiplier] to multiply [*, channels, multiplier]."""
    if channels_first(data_format):
        return cell_filter[:, :, None, None]
    return cell_filter


def _split(xp, y, f, data_format):
    """Splits the output's channels into (channels, multiplier)."""
    axis = channel_axis(data_format, 2)
    return y.reshape(*y.shape[:axis], *f[-2:], *y.shape[axis + 1 :])


def _merge(xp, y, data_format):
    axis = channel_axis(data_format, 2)
    return y.reshape(*y.shape[:axis], y.shape[axis] * y.shape[axis + 1], *y.shape[axis + 2 :])


def _check(channels, f):
    if channels is not None and f[-2] is not None and channels != f[-2]:
        raise Complaint(f"the input has {channels} channels but the filter is for {f[-2]}",
                        "give a filter of shape [height, width, in_channels, channel_multiplier]")


# -- DepthwiseConv2dNative -------------------------------------------------------------


@op("DepthwiseConv2dNative", "input: T, filter: T -> output: T", T=FLOATING, cost=Cost.CONVOLUTION,
    limits=IMAGE_FORMATS, eager_seconds=5e-9, linear=Linear.SEPARATELY)
def depthwise_op(xp, x, f, *, strides, padding, explicit_paddings=(), data_format="NHWC", dilations=_ONES):
    """Convolves each channel with `channel_multiplier` filters of its own."""
    axis = channel_axis(data_format, 2)
    _check(x.shape[axis], f.shape)
    w = _window_for(x.shape, f.shape[:2], strides, padding, explicit_paddings, data_format, dilations)
    padded = xp.expand_dims(pad_spatial(xp, _wide(x), w, _first(data_format)), axis + 1)
    first = _first(data_format) + channels_first(data_format)  # the multiplier stands before them
    return _merge(xp, _weighted(xp, padded, _wide(f), w, first, data_format), data_format).astype(x.dtype)


def _weighted(xp, padded, f, w, first, data_format):
    """Sums, over the cells of the kernel, the inputs under each cell times its filter."""
    if xp is np or count(w) <= _UNROLLED:
        total = 0
        for cell in cells(w):
            total = total + seen_by(xp, padded, w, cell, first) * _per_channel(xp, f[cell], data_format)
        return total
    f = xp.asarray(f)

    def row(i, total):
        for j, seen in enumerate(seen_by_row(padded, w, i, first)):
            total = total + seen * _per_channel(xp, f[i, j], data_format)
        return total

    return lax_of(xp).fori_loop(1, w.kernel[0], row, row(0, 0))


@depthwise_op.on_host
def _depthwise_host(xp, x, f, *, strides, padding, explicit_paddings=(), data_format="NHWC", dilations=_ONES):
    _check(x.shape[channel_axis(data_format, 2)], f.shape)
    w = _window_for(x.shape, f.shape[:2], strides, padding, explicit_paddings, data_format, dilations)
    first = _first(data_format)
    padded, f = pad_spatial(np, _wide(x), w, first), _wide(f)
    shape = assemble(x.shape[0], w.out, f.shape[2], data_format)
    results = np.empty((f.shape[3], *shape), padded.dtype)
    term = np.empty(shape[1:], padded.dtype)
    for result, weights in _by_multiplier(results, f, data_format):
        for image, total in zip(padded, result, strict=True):  # one at a time: it stays within the cache
            for number, cell in enumerate(cells(w)):
                seen = seen_by(np, image, w, cell, first - 1)
                np.multiply(seen, weights[cell], out=term if number else total)
                if number:
                    np.add(total, term, out=total)
    return _side_by_side(results, data_format).astype(x.dtype, copy=False)


def _by_multiplier(parts, f, data_format):
    """Yields each part with those of a channel's filters that it is for, shaped to multiply an image's channels."""
    for m, part in enumerate(parts):
        weights = np.ascontiguousarray(f[..., m])
        yield part, weights[..., None, None] if channels_first(data_format) else weights


def _side_by_side(parts, data_format):
    """Joins the results of each channel's filters: those of one channel are neighbours."""
    if len(parts) == 1:
        return parts[0]
    return _merge(np, np.moveaxis(parts, 0, channel_axis(data_format, 2) + 1), data_format)


@depthwise_op.shape
def _depthwise_shape(x, f, strides, padding, explicit_paddings, data_format, dilations):
    x, f = with_rank(x, 4, "input"), with_rank(f, 4, "filter")
    channels = x[channel_axis(data_format, 2)]
    _check(channels, f)
    w = _window_for(x, f[:2], strides, padding, explicit_paddings, data_format, dilations)
    depth = f[2] if channels is None else channels
    out = None if depth is None or f[3] is None else depth * f[3]
    return assemble(x[0], w.out, out, data_format)


@depthwise_op.multiply_adds
def _depthwise_work(op, unknown):
    return products_of(op.outputs[0], op.inputs[1], 2, unknown)


# -- its backpropagation ---------------------------------------------------------------


@op("DepthwiseConv2dNativeBackpropInput", "input_sizes: int32, filter: T, out_backprop: T -> output: T", T=FLOATING,
    host=("input_sizes",), flags=("sized",), cost=Cost.CONVOLUTION, limits=IMAGE_FORMATS, eager_seconds=6e-9,
    linear=Linear.SEPARATELY)
def depthwise_input(xp, input_sizes, f, dy, *, strides, padding, explicit_paddings=(), data_format="NHWC",
                    dilations=_ONES):
    """Computes the gradient of DepthwiseConv2dNative with respect to its input."""
    shape = tuple(int(n) for n in input_sizes)
    axis = channel_axis(data_format, 2)
    _check(shape[axis], f.shape)
    w = _window_for(shape, f.shape[:2], strides, padding, explicit_paddings, data_format, dilations)
    check_result(shape, dy.shape, w, f.shape[2] * f.shape[3], data_format)
    grad, wide = _split(xp, _wide(dy), f.shape, data_format), _wide(f)

    sizes = [shape[i] for i in spatial_axes(data_format, 2)]
    if xp is not np:
        return _input_as_convolution(xp, grad, wide, w, sizes, data_format).astype(dy.dtype)
    first = _first(data_format)
    pads = [0] * 4
    for k, pair in enumerate(w.pads):
        pads[first + k] = sum(pair)
    total = np.zeros([n + more for n, more in zip(shape, pads, strict=True)], grad.dtype)
    for part, weights in _by_multiplier(np.moveaxis(grad, axis + 1, 0), wide, data_format):
        term = np.empty(part.shape[1:], grad.dtype)
        for image, spread_over in zip(part, total, strict=True):
            for cell in cells(w):
                into = seen_by(np, spread_over, w, cell, first - 1)
                np.multiply(image, weights[cell], out=term)
                np.add(into, term, out=into)
    inner = [slice(b, b + n) for n, (b, _) in zip(sizes, w.pads, strict=True)]
    return total[(slice(None),) * first + tuple(inner)].astype(dy.dtype, copy=False)


def _input_as_convolution(xp, grad, f, w, sizes, data_format):
    """Computes the gradient for the input by a convolution of the dilated gradient with the reversed filter."""
    first = _first(data_format) + channels_first(data_format)
    spread_apart, turned = dilated(grad, w, sizes, first)
    total = _weighted(xp, spread_apart, xp.flip(f, (0, 1)), turned, first, data_format)
    return xp.sum(total, axis=channel_axis(data_format, 2) + 1)


@depthwise_input.shape
def _depthwise_input_shape(input_sizes, f, dy):
    with_rank(f, 4, "filter")
    with_rank(dy, 4, "out_backprop")
    return (None,) * 4 if input_sizes is None else input_sizes


@depthwise_input.multiply_adds
def _depthwise_input_work(op, unknown):
    return products_of(op.inputs[2], op.inputs[1], 2, unknown)


@op("DepthwiseConv2dNativeBackpropFilter", "input: T, filter_sizes: int32, out_backprop: T -> output: T", T=FLOATING,
    host=("filter_sizes",), cost=Cost.CONVOLUTION, limits=IMAGE_FORMATS, linear=Linear.SEPARATELY,
    eager_seconds=2.5e-9, eager_where=lambda shape: shape[3] == 1)
def depthwise_filter(xp, x, filter_sizes, dy, *, strides, padding, explicit_paddings=(), data_format="NHWC",
                     dilations=_ONES):
    """Computes the gradient of DepthwiseConv2dNative with respect to its filter."""
    shape = tuple(int(n) for n in filter_sizes)
    axis = channel_axis(data_format, 2)
    _check(x.shape[axis], shape)
    w = _window_for(x.shape, shape[:2], strides, padding, explicit_paddings, data_format, dilations)
    check_result(x.shape, dy.shape, w, shape[2] * shape[3], data_format)
    if xp is not np:
        padded = pad_spatial(xp, to_channels_last(xp, _wide(x), data_format), w)
        grad = to_channels_last(xp, _wide(dy), data_format)
        return _filter_row_by_row(xp, padded, grad, w, shape).astype(dy.dtype)
    first = _first(data_format)
    padded = pad_spatial(np, _wide(x), w, first)
    grad = _split(np, _wide(dy), shape, data_format)
    # One of the filters that share a channel at a time.
    df = np.zeros(shape, grad.dtype)
    letters = "chw,chw->c" if channels_first(data_format) else "hwc,hwc->c"
    for k in range(shape[3]):
        for image, part in zip(padded, grad[(slice(None),) * (axis + 1) + (k,)], strict=True):
            for cell in cells(w):
                df[(*cell, slice(None), k)] += np.einsum(letters, seen_by(np, image, w, cell, first - 1), part)
    return df.astype(dy.dtype, copy=False)


def _filter_row_by_row(xp, x, dy, w, shape):
    """Adds up, for each column and channel, what the rows of the gradient contribute to each cell of the filter.

    The additions are elementwise, so XLA vectorises them, and the sums stay in the cache; reductions over all but the
    channels would take four to ten times as long.
    """
    lax = lax_of(xp)
    if 0 in dy.shape:
        return xp.zeros(shape, dy.dtype)
    (rows, columns), (channels, multiplier) = w.out, shape[2:]
    step, width = w.strides[1], (columns - 1) * w.strides[1] + 1
    # The multiplier goes before the channels: the last dimension should be long.
    dy = dy.reshape(*dy.shape[:3], channels, multiplier).swapaxes(3, 4)

    def add(t, total):
        n, row = t // rows, t % rows
        seen = lax.dynamic_slice(x, (n, row * w.strides[0], 0, 0), (1, w.extent[0], *x.shape[2:]))[0, :: w.dilations[0]]
        starts = range(0, shape[1] * w.dilations[1], w.dilations[1])
        parts = xp.stack([seen[:, start : start + width : step] for start in starts], 1)
        return total + parts[:, :, :, None] * lax.dynamic_slice(dy, (n, row, 0, 0, 0), (1, 1, *dy.shape[2:]))[0]

    start = xp.zeros((*shape[:2], columns, multiplier, channels), dy.dtype)
    total = lax.fori_loop(0, dy.shape[0] * rows, add, start)
    return xp.sum(total, 2).swapaxes(2, 3)


@depthwise_filter.shape
def _depthwise_filter_shape(x, filter_sizes, dy):
    with_rank(x, 4, "input")
    with_rank(dy, 4, "out_backprop")
    return (None,) * 4 if filter_sizes is None else filter_sizes


@depthwise_filter.multiply_adds
def _depthwise_filter_work(op, unknown):
    return products_of(op.inputs[2], op.outputs[0], 2, unknown)


declare_gradients(depthwise_op, depthwise_input, depthwise_filter)
limit_ranks(vectors="DepthwiseConv2dNativeBackpropFilter.filter_sizes DepthwiseConv2dNativeBackpropInput.input_sizes")
zeros_for_empty("DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput")
