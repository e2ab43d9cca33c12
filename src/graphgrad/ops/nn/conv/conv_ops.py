"""Convolutions in two and three dimensions, depthwise ones, and their backpropagation ops.

NumPy computes them as matrix products of patches (`conv_numpy`); XLA through its own
convolution, whose gradients are convolutions again.
"""

from __future__ import annotations

import math

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING, INDEX, int32
from graphgrad.ir.opdef import op
from graphgrad.ir.shape import with_rank
from graphgrad.op_traits import BatchSplit, Cost, Dependence, Linear
from graphgrad.ops.common.dependence import WindowElements, along
from graphgrad.ops.common.empty import zeros_for_empty
from graphgrad.ops.common.rank_limits import limit_ranks

from . import conv_library, conv_numpy
from .conv_gradients import declare_gradients
from .conv_xla import LAYOUT, device_filter, device_forward, device_input
from .window_geometry import (
    assemble,
    channel_axis,
    check_result,
    products_of,
    spatial,
    spatial_axes,
    window,
)

_T = FLOATING | {int32}



def _window_for(x, kernel, strides, padding, explicit_paddings, data_format, dilations):
    nd = len(x) - 2
    if data_format not in LAYOUT or len(data_format) != len(x):
        raise Complaint(f"unknown data_format {data_format!r}", "use one of " + ", ".join(sorted(LAYOUT)))
    sizes = [x[i] for i in spatial_axes(data_format, nd)]
    return window(sizes, kernel, spatial(strides, data_format, nd), spatial(dilations, data_format, nd), padding,
                  explicit_paddings, data_format)


# -- shared by the op records ----------------------------------------------------------


def _check_depths(in_depth, f, what="filter"):
    depth, out = f[-2:]
    if in_depth is None or depth is None:
        return
    if depth == 0 or in_depth % depth:
        raise Complaint(f"Depth of input ({in_depth}) is not a multiple of input depth of {what} ({depth})",
                        "give a filter of shape [height, width, in_channels, out_channels]")
    if in_depth == 0:
        raise Complaint(f"the input has no channels, and the {what} {depth}: there would be 0 groups",
                        "give an input with channels")
    if out is not None and out % (in_depth // depth):
        raise Complaint(f"Depth of output ({out}) is not a multiple of the number of groups ({in_depth // depth})",
                        "make the filter's last dimension a multiple of the groups")


def _forward_shape(nd):
    def shape(x, f, strides, padding, explicit_paddings, data_format, dilations):
        x, f = with_rank(x, nd + 2, "input"), with_rank(f, nd + 2, "filter")
        _check_depths(x[channel_axis(data_format, nd)], f)
        w = _window_for(x, f[:nd], strides, padding, explicit_paddings, data_format, dilations)
        return assemble(x[0], w.out, f[-1], data_format)

    return shape


def _known(sizes, rank):
    return (None,) * rank if sizes is None else tuple(sizes)


def _input_shape(nd):
    def shape(input_sizes, f, dy, strides, padding, explicit_paddings, data_format, dilations):
        dy, f = with_rank(dy, nd + 2, "out_backprop"), with_rank(f, nd + 2, "filter")
        sizes = _known(input_sizes, nd + 2)
        if len(sizes) == nd:  # the spatial sizes alone
            sizes = assemble(dy[0], sizes, f[-2], data_format)
        if len(sizes) != nd + 2:
            raise Complaint(f"input_sizes must have {nd + 2} elements but has {len(sizes)}",
                            "give the full shape of the input")
        sizes = (dy[0] if sizes[0] is None else sizes[0], *sizes[1:])
        _check_depths(sizes[channel_axis(data_format, nd)], f)
        w = _window_for(sizes, f[:nd], strides, padding, explicit_paddings, data_format, dilations)
        check_result(sizes, dy, w, f[-1], data_format)
        return sizes

    return shape


def _filter_shape(nd):
    def shape(x, filter_sizes, dy, strides, padding, explicit_paddings, data_format, dilations):
        x, dy = with_rank(x, nd + 2, "input"), with_rank(dy, nd + 2, "out_backprop")
        f = _known(filter_sizes, nd + 2)
        if len(f) != nd + 2:
            raise Complaint(f"filter_sizes must have {nd + 2} elements but has {len(f)}",
                            "give the full shape of the filter")
        _check_depths(x[channel_axis(data_format, nd)], f)
        w = _window_for(x, f[:nd], strides, padding, explicit_paddings, data_format, dilations)
        check_result(x, dy, w, f[-1], data_format)
        return f

    return shape


def _sizes(input_sizes, f, dy, data_format):
    """Returns the full shape of the input as plain numbers."""
    sizes = tuple(int(n) for n in input_sizes)
    if len(sizes) == f.ndim - 2:
        sizes = assemble(dy.shape[0], sizes, f.shape[-2], data_format)
    return sizes


def _kernels(nd):
    """Returns the three kernels over `nd` dimensions, for NumPy and jax.numpy."""

    def forward(xp, x, f, *, strides, padding, explicit_paddings, data_format, dilations):
        _check_depths(x.shape[channel_axis(data_format, nd)], f.shape)
        w = _window_for(x.shape, f.shape[:nd], strides, padding, explicit_paddings, data_format, dilations)
        return (conv_numpy.forward if xp is np else device_forward)(xp.asarray(x), xp.asarray(f), w, data_format)

    def to_input(xp, input_sizes, f, dy, *, strides, padding, explicit_paddings, data_format, dilations):
        shape = _sizes(input_sizes, f, dy, data_format)
        _check_depths(shape[channel_axis(data_format, nd)], f.shape)
        w = _window_for(shape, f.shape[:nd], strides, padding, explicit_paddings, data_format, dilations)
        check_result(shape, dy.shape, w, f.shape[-1], data_format)
        return (conv_numpy.to_input if xp is np else device_input)(shape, xp.asarray(f), xp.asarray(dy), w,
                                                                           data_format)

    def to_filter(xp, x, filter_sizes, dy, *, strides, padding, explicit_paddings, data_format, dilations):
        shape = tuple(int(n) for n in filter_sizes)
        _check_depths(x.shape[channel_axis(data_format, nd)], shape)
        w = _window_for(x.shape, shape[:nd], strides, padding, explicit_paddings, data_format, dilations)
        check_result(x.shape, dy.shape, w, shape[-1], data_format)
        return (conv_numpy.to_filter if xp is np else device_filter)(xp.asarray(x), shape, xp.asarray(dy), w,
                                                                             data_format)

    return forward, to_input, to_filter


_forward2, _to_input2, _to_filter2 = _kernels(2)
_forward3, _to_input3, _to_filter3 = _kernels(3)
_ONES4, _ONES5 = (1,) * 4, (1,) * 5

# -- Conv2D ----------------------------------------------------------------------------


def _work(op, unknown):
    split = op.opdef.batch_split
    return products_of(split.image_of(op), split.filter_of(op), 1, unknown)


@op("Conv2D", "input: T, filter: T -> output: T", T=_T, shape=_forward_shape(2), cost=Cost.CONVOLUTION,
    batch_split=BatchSplit((0,), filter=1, image=-1), library=conv_library.forward, eager_seconds=1e-9,
    linear=Linear.SEPARATELY)
def conv2d_op(xp, x, f, *, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=(), data_format="NHWC",
              dilations=_ONES4):
    """Computes the cross-correlation of images with a filter [height, width, in, out]."""
    return _forward2(xp, x, f, strides=strides, padding=padding, explicit_paddings=explicit_paddings,
                     data_format=data_format, dilations=dilations)


conv2d_op.multiply_adds(_work)


def _windows(op, x, f, y):
    """Returns the `WindowElements` of a convolution between images of shapes x and y by a filter of shape f."""
    nd, layout = len(x) - 2, op._attr("data_format")
    paddings = op._attr("explicit_paddings") if "explicit_paddings" in op.attrs else ()
    w = _window_for(x, f[:nd], op._attr("strides"), op._attr("padding"), paddings, layout, op._attr("dilations"))
    window = w.kernel, w.strides, w.dilations, [before for before, _ in w.pads]
    return WindowElements(x, y, channel_axis(layout, nd), window)


def _of_filter(f, y, channels):
    """Returns the dependence on a filter: each channel of the result on what leads to it."""
    rows = np.arange(y[channels]).reshape([-1 if i == channels else 1 for i in range(len(y))])
    return along(f, range(len(f) - 1), np.broadcast_to(rows, y).ravel())


@conv2d_op.dependences
def _convolved(op, values, index):
    x, f, y = [t._spec.shape for t in (*op.inputs, op.outputs[0])]
    on_x = _windows(op, x, f, y).result(False)
    return None if on_x is None else [on_x, _of_filter(f, y, channel_axis(op._attr("data_format"), len(x) - 2))]


@op("Conv2DBackpropInput", "input_sizes: int32, filter: T, out_backprop: T -> output: T", T=_T, host=("input_sizes",),
    shape=_input_shape(2), cost=Cost.CONVOLUTION, batch_split=BatchSplit((2,), filter=1, image=2, sizes=0),
    library=conv_library.to_input, eager_seconds=1e-9, linear=Linear.SEPARATELY)
def conv2d_backprop_input_op(xp, input_sizes, f, dy, *, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=(),
                             data_format="NHWC", dilations=_ONES4):
    """Computes the gradient of Conv2D with respect to its input."""
    return _to_input2(xp, input_sizes, f, dy, strides=strides, padding=padding, explicit_paddings=explicit_paddings,
                      data_format=data_format, dilations=dilations)


conv2d_backprop_input_op.multiply_adds(_work)


@conv2d_backprop_input_op.dependences
def _convolved_back(op, values, index):
    f, dy, x = [t._spec.shape for t in (*op.inputs[1:], op.outputs[0])]
    on_dy = _windows(op, x, f, dy).result(False, backwards=True)
    everything = Dependence(None, np.zeros(int(np.prod(f)), np.int32), np.arange(int(np.prod(f))))
    return None if on_dy is None else [None, everything, on_dy]


@op("Conv2DBackpropFilter", "input: T, filter_sizes: int32, out_backprop: T -> output: T", T=_T, host=("filter_sizes",),
    shape=_filter_shape(2), cost=Cost.CONVOLUTION,
    batch_split=BatchSplit((0, 2), filter=-1, image=2, sizes=1, added=True), library=conv_library.to_filter,
    linear=Linear.SEPARATELY, eager_seconds=5e-9, eager_where=lambda shape: math.prod(shape[:2]) > 1 < shape[2])
def conv2d_backprop_filter_op(xp, x, filter_sizes, dy, *, strides, padding, use_cudnn_on_gpu=True,
                              explicit_paddings=(), data_format="NHWC", dilations=_ONES4):
    """Computes the gradient of Conv2D with respect to its filter."""
    return _to_filter2(xp, x, filter_sizes, dy, strides=strides, padding=padding, explicit_paddings=explicit_paddings,
                       data_format=data_format, dilations=dilations)


conv2d_backprop_filter_op.multiply_adds(_work)
declare_gradients(conv2d_op, conv2d_backprop_input_op, conv2d_backprop_filter_op)


# -- Conv3D ----------------------------------------------------------------------------


def _without_explicit(rule):
    """Returns a shape rule for the ops that have no explicit paddings."""

    def shape(a, b, *c, strides, padding, data_format, dilations):
        return rule(a, b, *c, strides, padding, (), data_format, dilations)

    return shape


@op("Conv3D", "input: T, filter: T -> output: T", T=FLOATING, shape=_without_explicit(_forward_shape(3)),
    cost=Cost.CONVOLUTION, batch_split=BatchSplit((0,), filter=1, image=-1), linear=Linear.SEPARATELY)
def conv3d_op(xp, x, f, *, strides, padding, data_format="NDHWC", dilations=_ONES5):
    """Computes the cross-correlation of volumes with a filter [depth, height, width, in, out]."""
    return _forward3(xp, x, f, strides=strides, padding=padding, explicit_paddings=(), data_format=data_format,
                     dilations=dilations)


conv3d_op.multiply_adds(_work)
conv3d_op.dependences(_convolved)


@op("Conv3DBackpropInputV2", "input_sizes: Tshape, filter: T, out_backprop: T -> output: T", T=FLOATING, Tshape=INDEX,
    host=("input_sizes",), shape=_without_explicit(_input_shape(3)), cost=Cost.CONVOLUTION,
    batch_split=BatchSplit((2,), filter=1, image=2, sizes=0), linear=Linear.SEPARATELY)
def conv3d_backprop_input_op(xp, input_sizes, f, dy, *, strides, padding, data_format="NDHWC", dilations=_ONES5):
    """Computes the gradient of Conv3D with respect to its input."""
    return _to_input3(xp, input_sizes, f, dy, strides=strides, padding=padding, explicit_paddings=(),
                      data_format=data_format, dilations=dilations)


conv3d_backprop_input_op.multiply_adds(_work)
conv3d_backprop_input_op.dependences(_convolved_back)


@op("Conv3DBackpropFilterV2", "input: T, filter_sizes: int32, out_backprop: T -> output: T", T=FLOATING,
    host=("filter_sizes",), shape=_without_explicit(_filter_shape(3)), cost=Cost.CONVOLUTION,
    batch_split=BatchSplit((0, 2), filter=-1, image=2, sizes=1, added=True), linear=Linear.SEPARATELY)
def conv3d_backprop_filter_op(xp, x, filter_sizes, dy, *, strides, padding, data_format="NDHWC", dilations=_ONES5):
    """Computes the gradient of Conv3D with respect to its filter."""
    return _to_filter3(xp, x, filter_sizes, dy, strides=strides, padding=padding, explicit_paddings=(),
                       data_format=data_format, dilations=dilations)


conv3d_backprop_filter_op.multiply_adds(_work)
declare_gradients(conv3d_op, conv3d_backprop_input_op, conv3d_backprop_filter_op)

limit_ranks(
    vectors="""
        Conv2DBackpropFilter.filter_sizes Conv2DBackpropInput.input_sizes Conv3DBackpropFilterV2.filter_sizes
        Conv3DBackpropInputV2.input_sizes""",
)
zeros_for_empty("Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2")
