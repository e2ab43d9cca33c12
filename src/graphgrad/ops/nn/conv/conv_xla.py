"""Convolutions on XLA.

Its own convolution is fast on a CPU in two dimensions, without groups, and where it does not sum over too much. Other
ones are reduced to such, or to matrix products.
"""

from __future__ import annotations

import math

import numpy as np

from graphgrad.ops.common.lax_functions import lax_of, module_of

from .window_geometry import channel_axis, channels_first, pad_spatial, seen_by, spatial_axes

LAYOUT = {
    "NHWC": ("NHWC", "HWIO", "NHWC"), "NCHW": ("NCHW", "HWIO", "NCHW"),
    "NDHWC": ("NDHWC", "DHWIO", "NDHWC"), "NCDHW": ("NCDHW", "DHWIO", "NCDHW"),
}

# A filter's gradient sums over the batch and all positions; beyond so many, XLA:CPU's time grows faster than they do.
_DEEP = 4096
_PART = 8  # examples in a part, at least
_MOST_PARTS = 4  # each is compiled separately
_LARGE = 2e8  # multiplications from which on a filter's gradient is worth a loop, which compiles more slowly
_MOST_CELLS, _MANY_CHANNELS, _MANY_POSITIONS = 9, 32, 512  # the loop is faster within these limits
_MOST_GROUPS = 8  # that become convolutions of their own, which are twice as fast; each is compiled, too
_MOST_GROUPS_OF_FILTER = 16  # here XLA:CPU's own algorithm takes a hundred times as long


def _is_product(w, groups, data_format, dtype):
    """Returns whether a convolution is a matrix product, which XLA:CPU does faster and on all cores."""
    return (set(w.kernel) == {1} and groups == 1 and not channels_first(data_format) and not any(map(any, w.pads))
            and dtype in (np.float32, np.float64))


def device_forward(x, f, w, data_format):
    """Computes the convolution of x with a filter."""
    xp = module_of(x)
    lax = lax_of(xp)
    axis = channel_axis(data_format, len(w.kernel))
    groups = x.shape[axis] // f.shape[-2]
    if _is_product(w, groups, data_format, x.dtype):
        return lax.dot(seen_by(xp, x, w, (0,) * len(w.kernel)), f.reshape(f.shape[-2:]),
                       dimension_numbers=(((x.ndim - 1,), (0,)), ((), ())))
    if _is_flat(w, groups, data_format, x):
        y = device_forward(_flat(x, w), _flat_filter(f), _plane(w), "NHWC")
        return y.reshape(x.shape[0], w.out[0], *y.shape[1:])
    if 1 < groups <= _MOST_GROUPS:
        parts = zip(_parts(x, groups, axis), _parts(f, groups, -1), strict=True)
        return lax.concatenate([device_forward(xs, fs, w, data_format) for xs, fs in parts], axis)
    return lax.conv_general_dilated(x, f, w.strides, w.pads, rhs_dilation=w.dilations,
                                    dimension_numbers=LAYOUT[data_format], feature_group_count=groups)


def _parts(x, count, axis):
    lax = lax_of(module_of(x))
    size = x.shape[axis] // count
    return [lax.slice_in_dim(x, i * size, (i + 1) * size, axis=axis) for i in range(count)]


# Three dimensions: the planes around a plane that the kernel covers become further channels of it, since XLA:CPU takes
# four times as long for a convolution in three dimensions as in two, and longer for the gradient of a strided one.


def _is_flat(w, groups, data_format, x):
    return len(w.kernel) == 3 and groups == 1 and not channels_first(data_format) and 0 not in (*x.shape, *w.out)


def _plane(w):
    return type(w)(*(part[1:] for part in w))


def _flat(x, w):
    """Reshapes (batch, depth, height, width, channels) to (batch * out depth, height, width, kernel's * channels)."""
    lax = lax_of(module_of(x))
    (step, *_), (apart, *_), (out, *_) = w.strides, w.dilations, w.out
    padded = lax.pad(x, np.zeros((), x.dtype), [(0, 0, 0), (*w.pads[0], 0)] + [(0, 0, 0)] * 3)
    starts = range(0, w.kernel[0] * apart, apart)
    seen = [lax.slice_in_dim(padded, start, start + (out - 1) * step + 1, step, axis=1) for start in starts]
    joined = lax.concatenate(seen, 4)
    return joined.reshape(-1, *joined.shape[2:])


def _from_flat(dx, shape, w):
    """Reverses `_flat`: adds up the contributions to each plane of an array of this shape."""
    lax = lax_of(module_of(dx))
    (step, *_), (apart, *_), (out, *_) = w.strides, w.dilations, w.out
    dx = dx.reshape(shape[0], out, *dx.shape[1:])
    total = 0
    for i, part in enumerate(_parts(dx, w.kernel[0], 4)):
        low = i * apart - w.pads[0][0]
        depth = low, shape[1] - ((out - 1) * step + 1) - low, step - 1
        total = total + lax.pad(part, np.zeros((), dx.dtype), [(0, 0, 0), depth] + [(0, 0, 0)] * 3)
    return total


def _flat_filter(f):
    moved = f.transpose(1, 2, 0, 3, 4)
    return moved.reshape(*moved.shape[:2], -1, f.shape[-1])


def device_input(shape, f, dy, w, data_format):
    """Computes the gradient of the convolution with respect to its input, of this shape."""
    lax = lax_of(module_of(dy))
    nd = len(w.kernel)
    groups = shape[channel_axis(data_format, nd)] // f.shape[-2]
    if _is_product(w, groups, data_format, dy.dtype):
        product = lax.dot(dy, f.reshape(f.shape[-2:]), dimension_numbers=(((dy.ndim - 1,), (1,)), ((), ())))
        between = [(0, n - ((out - 1) * s + 1), s - 1)
                   for n, s, out in zip(shape[1:-1], w.strides, w.out, strict=True)]
        return lax.pad(product, np.zeros((), dy.dtype), [(0, 0, 0), *between, (0, 0, 0)])
    if _is_flat(w, groups, data_format, dy):
        flat = shape[0] * w.out[0], *shape[2:4], w.kernel[0] * shape[4]
        dy = dy.reshape(-1, *dy.shape[2:])
        return _from_flat(device_input(flat, _flat_filter(f), dy, _plane(w), "NHWC"), shape, w)
    if 1 < groups <= _MOST_GROUPS:
        axis = channel_axis(data_format, nd)
        part = *shape[:axis], shape[axis] // groups, *shape[axis + 1 :]
        parts = zip(_parts(f, groups, -1), _parts(dy, groups, axis), strict=True)
        return lax.concatenate([device_input(part, fs, ds, w, data_format) for fs, ds in parts], axis)
    layout, kernel, _ = LAYOUT[data_format]
    kernel = kernel[:-2] + "OI"
    if groups > 1:  # the groups move from the output's channels to the input's
        i, o = f.shape[-2:]
        f = f.reshape(*w.kernel, i, groups, o // groups)
        f = f.swapaxes(-3, -2).reshape(*w.kernel, groups * i, o // groups)
    sizes = [shape[i] for i in spatial_axes(data_format, nd)]
    pads = []
    for n, e, s, (before, _), out in zip(sizes, w.extent, w.strides, w.pads, w.out, strict=True):
        low = e - 1 - before
        pads.append((low, n + e - 1 - low - ((out - 1) * s + 1)))
    return lax.conv_general_dilated(dy, lax.rev(f, tuple(range(nd))), (1,) * nd, pads, lhs_dilation=w.strides,
                                    rhs_dilation=w.dilations, dimension_numbers=(layout, kernel, layout),
                                    feature_group_count=groups)


def device_filter(x, shape, dy, w, data_format):
    """Computes the gradient of the convolution with respect to its filter, of this shape."""
    xp = module_of(x)
    lax = lax_of(xp)
    nd = len(w.kernel)
    axis = channel_axis(data_format, nd)
    groups = x.shape[axis] // shape[-2]
    if _is_product(w, groups, data_format, x.dtype):
        axes = tuple(range(nd + 1))
        seen = seen_by(xp, x, w, (0,) * nd)
        return lax.dot(seen, dy, dimension_numbers=((axes, axes), ((), ()))).reshape(shape)
    if _is_flat(w, groups, data_format, x):
        flat = *w.kernel[1:], w.kernel[0] * shape[-2], shape[-1]
        df = device_filter(_flat(x, w), flat, dy.reshape(-1, *dy.shape[2:]), _plane(w), "NHWC")
        return df.reshape(*w.kernel[1:], w.kernel[0], *shape[-2:]).transpose(2, 0, 1, 3, 4)
    if groups > 1:
        count = next(k for k in range(_MOST_GROUPS_OF_FILTER, 0, -1) if groups % k == 0)
        parts = zip(_parts(x, count, axis), _parts(dy, count, axis), strict=True)
        parts = [_filter_of_groups(xs, shape, ds, w, data_format, groups // count) for xs, ds in parts]
        return lax.concatenate(parts, nd + 1)
    return _filter_of_batch(x, dy, w, data_format)


def _filter_of_groups(x, shape, dy, w, data_format, groups):
    """Handles too many groups: convolves all inputs with all outputs, and takes the blocks on the diagonal."""
    df = _filter_of_batch(x, dy, w, data_format)
    if groups == 1:
        return df
    df = df.reshape(*w.kernel, groups, shape[-2], groups, -1)
    blocks = [df[..., g, :, g, :] for g in range(groups)]
    return module_of(df).concatenate(blocks, -1)


def _filter_of_batch(x, dy, w, data_format):
    batch, deep = x.shape[0], x.shape[0] * math.prod(w.out)
    if deep <= _DEEP:
        return _filter_of_part(x, dy, w, data_format)
    if _is_looped(x, dy, w, data_format):
        return _filter_by_patches(x, dy, w)
    count = next((k for k in range(_MOST_PARTS, 1, -1) if batch % k == 0 and batch >= k * _PART), 1)
    size = batch // count
    parts = [slice(start, start + size) for start in range(0, batch, size)]
    return sum(_filter_of_part(x[part], dy[part], w, data_format) for part in parts)


def _is_looped(x, dy, w, data_format):
    cells, positions, channels = math.prod(w.kernel), math.prod(w.out), (x.shape[-1], dy.shape[-1])
    return (len(w.kernel) == 2 and not channels_first(data_format) and set(w.strides) == {1} and cells <= _MOST_CELLS
            and positions >= _MANY_POSITIONS and min(channels) >= _MANY_CHANNELS and x.dtype in (np.float32, np.float64)
            and x.shape[0] * positions * cells * math.prod(channels) >= _LARGE)


def _filter_by_patches(x, dy, w):
    """Loops over the examples, and lays out the patches of each for a matrix product."""
    xp = module_of(x)
    lax = lax_of(xp)
    (batch, *_, channels), out = x.shape, dy.shape[-1]
    positions, cells = math.prod(w.out), math.prod(w.kernel)
    x = pad_spatial(xp, x, w)
    dy = dy.reshape(batch, positions, out).swapaxes(1, 2)

    def add(i, state):
        patches, total = state
        example = lax.dynamic_slice_in_dim(x, i, 1)
        for number, cell in enumerate(np.ndindex(*w.kernel)):  # in place, unlike a concatenation
            seen = lax.expand_dims(seen_by(xp, example, w, cell), [3])
            patches = lax.dynamic_update_slice(patches, seen, (0, 0, 0, number, 0))
        part = lax.dynamic_index_in_dim(dy, i, 0, keepdims=False)
        return patches, total + lax.dot(part, patches.reshape(positions, -1))

    start = xp.zeros((1, *w.out, cells, channels), x.dtype), xp.zeros((out, cells * channels), x.dtype)
    return lax.fori_loop(0, batch, add, start)[1].T.reshape(*w.kernel, channels, out)


def _filter_of_part(x, dy, w, data_format):
    nd = len(w.kernel)
    layout, kernel, _ = LAYOUT[data_format]
    # The batch is summed over, so it plays the part of the channels, and these that of the batch.
    swapped = layout.translate(str.maketrans("NC", "CN"))
    of_dy = layout.translate(str.maketrans("NC", "IO"))
    result = kernel.translate(str.maketrans("IO", "NC"))
    sizes = [x.shape[i] for i in spatial_axes(data_format, nd)]
    pads = [(before, e + (out - 1) * s - n - before)
            for n, e, s, (before, _), out in zip(sizes, w.extent, w.strides, w.pads, w.out, strict=True)]
    return lax_of(module_of(x)).conv_general_dilated(x, dy, w.dilations, pads, rhs_dilation=w.strides,
                                                     dimension_numbers=(swapped, of_dy, result))


__all__ = ["LAYOUT", "device_filter", "device_forward", "device_input"]
