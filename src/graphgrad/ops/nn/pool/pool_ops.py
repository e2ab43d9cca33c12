"""Max and average pooling with their gradients.

The lowerings consist of strided slices and interleaving, one for each cell of the window:
on a CPU XLA's `reduce_window` and `select_and_scatter` take many times as long. Where several
elements of a window equal its maximum, the first one gets the gradient; in volumes all of them do, as in TensorFlow.
"""

from __future__ import annotations

import math

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import FLOATING, REAL
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import merged, with_rank
from graphgrad.op_traits import Cost, Linear
from graphgrad.ops.common.dependence import WindowElements
from graphgrad.ops.common.empty import zeros_for_empty
from graphgrad.ops.common.host_arrays import where
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import shape_of
from graphgrad.ops.nn.conv.window_geometry import (
    assemble,
    cells,
    channel_axis,
    channels_first,
    count,
    dilated,
    pad_spatial,
    seen_by,
    seen_by_row,
    spatial,
    spatial_axes,
    spread,
    spread_overlapping,
    window,
)

from . import pool_numpy

_FEW_CELLS = 9  # up to here, comparing each cell with each other is faster than a scatter


def _window_for(x, ksize, strides, padding, explicit_paddings, data_format):
    nd = len(x) - 2
    if len(data_format) != nd + 2:
        raise Complaint(f"unknown data_format {data_format!r}", "use 'NHWC' (or 'NDHWC' for volumes)")
    for what, values in (("ksize", ksize), ("strides", strides)):
        if len(values) == nd + 2 and (values[0] != 1 or values[channel_axis(data_format, nd)] != 1):
            raise Complaint(f"{what} {tuple(values)} pools over the batch or the channels",
                            "use 1 for these, and tf.reduce_max or tf.reduce_mean to reduce them")
    if padding == "EXPLICIT":
        pairs = list(zip(explicit_paddings[::2], explicit_paddings[1::2], strict=True))
        if any(pairs[0]) or any(pairs[channel_axis(data_format, nd)]):
            raise Complaint("Nonzero explicit padding in the batch or depth dimensions is not supported", "use (0, 0)")
        for size, pair in zip(ksize, pairs, strict=True):
            if max(pair) >= max(size, 1):
                raise Complaint(f"Explicit padding {pair} needs to be smaller than the window size {size}",
                                "use less padding, or tf.pad")
    sizes = [x[i] for i in spatial_axes(data_format, nd)]
    return window(sizes, spatial(ksize, data_format, nd), spatial(strides, data_format, nd), (1,) * nd, padding,
                  explicit_paddings, data_format)


def _first(data_format):
    return 2 if channels_first(data_format) else 1


def _lowest(dtype):
    return -np.inf if dtype.kind not in "iu" else np.iinfo(dtype).min


def _fold(xp, x, w, first, combine, start):
    """Combines all cells of each window of a padded jax array; `start` is the neutral element."""
    if count(w) <= _FEW_CELLS:
        result = None
        for cell in cells(w):
            part = seen_by(xp, x, w, cell, first)
            result = part if result is None else combine(result, part)
        return result
    start = np.asarray(start, x.dtype)
    for k, (size, step) in enumerate(zip(w.kernel, w.strides, strict=True)):
        dims, steps = [1] * x.ndim, [1] * x.ndim
        dims[first + k], steps[first + k] = size, step
        x = lax_of(xp).reduce_window(x, start, combine, dims, steps, "VALID")
    return x


def _one_window(x, w, first):
    """Returns whether there is a single window, the whole input."""
    return w.kernel == x.shape[first : first + len(w.kernel)] and not any(map(any, w.pads))


# -- the computations; `first` is the first spatial axis -------------------------------


def _depth(ksize, data_format, nd):
    """Returns the number of channels that a window covers."""
    return ksize[channel_axis(data_format, nd)] if len(ksize) == nd + 2 and len(data_format) == nd + 2 else 1


def _depth_window(channels, ksize, strides, data_format, nd):
    """Returns the window over channels alone, for maxima across them."""
    at = channel_axis(data_format, nd)
    if any(n != 1 for values in (ksize, strides) for i, n in enumerate(values) if i != at):
        raise Complaint("MaxPooling supports exactly one of pooling across depth or pooling across width/height",
                        "pool twice")
    if ksize[at] != strides[at]:
        raise Complaint(f"Depthwise max pooling requires the depth window ({ksize[at]}) to equal the depth stride "
                        f"({strides[at]})", "give the same number")
    if channels is not None and channels % ksize[at]:
        raise Complaint(f"Depthwise max pooling requires the depth window ({ksize[at]}) to evenly divide the input "
                        f"depth ({channels})", "give a divisor of it")
    return window([channels], (ksize[at],), (strides[at],), (1,), "VALID", (), "NHC")


def _pooling(xp, compute, x, others, ksize, strides, padding, explicit_paddings, data_format):
    """Applies `compute(xp, x, *others, w, first)` to a window over space, or one over channels."""
    nd = len(x.shape) - 2
    if _depth(ksize, data_format, nd) == 1:
        w = _window_for(x.shape, ksize, strides, padding, explicit_paddings, data_format)
        return compute(xp, x, *others, w, _first(data_format))
    at = channel_axis(data_format, nd)
    w = _depth_window(x.shape[at], ksize, strides, data_format, nd)
    lines = [xp.moveaxis(xp.asarray(t), at, -1) for t in (x, *others)]
    result = compute(xp, *[t.reshape(-1, t.shape[-1], 1) for t in lines], w, 1)
    return xp.moveaxis(result.reshape(*lines[0].shape[:-1], result.shape[1]), -1, at)


def _max(xp, x, w, first):
    axes = tuple(range(first, first + len(w.kernel)))
    if _one_window(x, w, first):
        return xp.max(x, axis=axes, keepdims=True)
    if xp is np:
        return pool_numpy.fold(pad_spatial(np, x, w, first, _lowest(x.dtype)), w, first, np.maximum)
    return _fold(xp, pad_spatial(xp, x, w, first, _lowest(x.dtype)), w, first, lax_of(xp).max, _lowest(x.dtype))


def _argmax(xp, x, y, w, first):
    """Returns the number of the first cell of each window that holds its maximum, or NaN; -1 where none does."""

    def holds(seen, y=y):
        return seen == y if x.dtype.kind in "iu" else (seen == y) | (seen != seen)

    padded = pad_spatial(xp, x, w, first, _lowest(x.dtype))
    if xp is np:
        index = np.full(y.shape, -1, np.int32)
        for number, _, hit in pool_numpy.first_maxima(padded, y, w, first):
            np.add(index, hit.astype(np.int32) * np.int32(number + 1), out=index)
        return index
    index = xp.full(y.shape, -1, np.int32)
    if count(w) <= _FEW_CELLS:
        for number, cell in reversed(list(enumerate(cells(w)))):
            index = xp.where(holds(seen_by(xp, padded, w, cell, first)), np.int32(number), index)
        return index
    in_row = math.prod(w.kernel[1:])

    def row(k, index):
        i = w.kernel[0] - 1 - k  # from the last to the first, so that the first one stays
        for j, seen in reversed(list(enumerate(seen_by_row(padded, w, i, first)))):
            index = xp.where(holds(seen), (i * in_row + j).astype(np.int32), index)
        return index

    return lax_of(xp).fori_loop(0, w.kernel[0], row, index)


def _max_grad(xp, x, y, dy, w, first):
    if xp is np:
        return pool_numpy.max_gradient(x, y, dy, w, first, _lowest(x.dtype))
    sizes = x.shape[first : first + len(w.kernel)]
    index = _argmax(xp, x, y, w, first)
    if count(w) > _FEW_CELLS:
        return _scatter(xp, index, dy, w, x.shape, first)
    zero = xp.zeros((), dy.dtype)
    if w.kernel == w.strides and not any(map(any, w.pads)) and _product(w.out, w.kernel) == sizes:
        return _side_by_side(xp, index, dy, w, first).reshape(x.shape)

    def contribution(cell, index=index, dy=dy):
        return xp.where(index == np.ravel_multi_index(cell, w.kernel), dy, zero)

    if any(k > s for k, s in zip(w.extent, w.strides, strict=True)):
        return spread_overlapping(contribution, [index, dy], [-1, 0], w, sizes, first)
    return spread(xp, contribution, w, sizes, first)


def _product(a, b):
    return tuple([m * n for m, n in zip(a, b, strict=True)])


def _side_by_side(xp, index, dy, w, first):
    """Passes gradients to the chosen cells of windows side by side: one loop over the input, not one for each cell."""
    before, after = math.prod(dy.shape[:first]), math.prod(dy.shape[first + len(w.out) :])
    outer = before * w.out[0], *w.out[1:]  # few dimensions: XLA sums many more slowly (`xla_options`)
    apart = [n for out in outer for n in (out, 1)]
    number = np.arange(count(w), dtype=np.int32).reshape([n for k in w.kernel for n in (1, k)] + [1])
    index, dy = (t.reshape(*apart, after) for t in (index, dy))
    return xp.where(index == number, dy, xp.zeros((), dy.dtype))


def _to_all_maxima(xp, x, y, dy, w, first):
    """Passes each window's gradient to every cell that holds its maximum."""
    zero = xp.zeros((), dy.dtype)
    if _one_window(x, w, first):
        return where(xp, x == y, xp.broadcast_to(dy, x.shape), zero)
    padded = pad_spatial(xp, x, w, first, _lowest(x.dtype))
    sizes = x.shape[first : first + len(w.kernel)]
    return spread(xp, lambda cell: where(xp, seen_by(xp, padded, w, cell, first) == y, dy, zero), w, sizes, first)


def _flat_positions(xp, index, w, shape, first):
    """Returns where the window's chosen cell is in the flattened padded input; out of range where index is -1."""
    nd = len(w.kernel)
    padded = list(shape)
    for k, (b, a) in enumerate(w.pads):
        padded[first + k] += b + a
    cell = []
    rest = index
    for n in reversed(w.kernel):
        cell.insert(0, rest % n)
        rest = rest // n
    flat = xp.zeros(index.shape, index.dtype)
    for axis, n in enumerate(padded):
        at = lax_of(xp).broadcasted_iota(index.dtype, index.shape, axis)
        k = axis - first
        flat = flat * n + (at * w.strides[k] + cell[k] if 0 <= k < nd else at)
    return xp.where(index < 0, math.prod(padded), flat), padded


def _scatter(xp, index, dy, w, shape, first):
    flat, padded = _flat_positions(xp, index, w, shape, first)
    total = xp.zeros(math.prod(padded), dy.dtype).at[flat.reshape(-1)].add(dy.reshape(-1), mode="drop").reshape(padded)
    inner = [slice(b, b + shape[first + k]) for k, (b, _) in enumerate(w.pads)]
    return total[(slice(None),) * first + tuple(inner)]


def _max_grad_grad(xp, x, y, ddx, w, first):
    index = _argmax(xp, x, y, w, first)
    padded = pad_spatial(xp, ddx, w, first)
    if xp is not np and count(w) > _FEW_CELLS:
        flat, _ = _flat_positions(xp, index, w, x.shape, first)
        return xp.take(padded.reshape(-1), flat, mode="fill", fill_value=0)
    result = xp.zeros(y.shape, ddx.dtype)
    for number, cell in enumerate(cells(w)):
        result = xp.where(index == number, seen_by(xp, padded, w, cell, first), result)
    return result


def _counts(shape, w, first):
    """Counts the cells of each window inside the input, shaped to broadcast."""
    total = np.ones((1,) * len(shape))
    for k, (n, size, s, (b, _)) in enumerate(zip(w.out, w.kernel, w.strides, w.pads, strict=True)):
        start = np.arange(n) * s - b
        inside = np.minimum(start + size, shape[first + k]) - np.maximum(start, 0)
        around = [1] * len(shape)
        around[first + k] = n
        total = total * inside.reshape(around)
    return total


def _wide(x):
    return x.astype(np.float32) if x.dtype.itemsize <= 2 else x


def _average(xp, x, w, first):
    axes = tuple(range(first, first + len(w.kernel)))
    wide = _wide(x)
    counts = np.asarray(_counts(x.shape, w, first), wide.dtype)
    if _one_window(x, w, first):
        total = xp.sum(wide, axis=axes, keepdims=True)
    elif xp is np:
        total = pool_numpy.fold(pad_spatial(np, wide, w, first), w, first, np.add)
    else:
        total = _fold(xp, pad_spatial(xp, wide, w, first), w, first, lax_of(xp).add, 0)
    return (total / counts).astype(x.dtype)


def _average_grad(xp, shape, dy, w, first):
    wide = _wide(dy)
    share = wide / np.asarray(_counts(shape, w, first), wide.dtype)
    sizes = shape[first : first + len(w.kernel)]
    if w.kernel == tuple(sizes) and not any(map(any, w.pads)):
        return xp.broadcast_to(share, shape).astype(dy.dtype)
    if xp is np:
        parts = np.split(share, len(share)) if share.size > pool_numpy.IMAGES else [share]
        return np.concatenate([spread(np, lambda cell, part=part: part, w, sizes, first) for part in parts],
                              dtype=dy.dtype, casting="unsafe")
    if count(w) <= _FEW_CELLS:
        return spread_overlapping(lambda cell, share: share, [share], [0], w, sizes, first).astype(dy.dtype)
    return _fold(xp, *dilated(share, w, sizes, first), first, lax_of(xp).add, 0).astype(dy.dtype)


# -- shape rules -----------------------------------------------------------------------


def _pool_shape(nd, maximum=False):
    def shape(x, ksize, strides, padding, explicit_paddings, data_format):
        x = with_rank(x, nd + 2, "input")
        if maximum and _depth(ksize, data_format, nd) != 1:
            at = channel_axis(data_format, nd)
            (n,) = _depth_window(x[at], ksize, strides, data_format, nd).out
            return x[:at] + (n,) + x[at + 1 :]
        w = _window_for(x, ksize, strides, padding, explicit_paddings, data_format)
        return assemble(x[0], w.out, x[channel_axis(data_format, nd)], data_format)

    return shape


def _plain_pool_shape(nd):
    rule = _pool_shape(nd)

    def shape(x, ksize, strides, padding, data_format):
        return rule(x, ksize, strides, padding, (), data_format)

    return shape


def _of_first(x, y, dy):
    return x


def _of_second(x, y, dy):
    return merged(y, None)


def _of_sizes(nd):
    def shape(sizes, dy):
        dy = with_rank(dy, nd + 2, "grad")
        if sizes and None not in (sizes[0], dy[0]) and 0 <= sizes[0] != dy[0]:
            raise Complaint(f"orig_input_shape says {sizes[0]} images but grad has {dy[0]}",
                            "give the shape of what was pooled")
        return (None,) * (nd + 2) if sizes is None else sizes

    return shape


def _attrs(op):
    return {k: op.attrs[k] for k in ("ksize", "strides", "padding", "explicit_paddings", "data_format")
            if k in op.attrs}


# -- MaxPool ---------------------------------------------------------------------------


@op("MaxPool", "input: T -> output: T",
    prefers={"T": "float32"}, T=REAL, shape=_pool_shape(2, True), cost=Cost.HEAVY, eager_seconds=6e-10)
def max_pool_op(xp, x, *, ksize, strides, padding, explicit_paddings=(), data_format="NHWC"):
    """Computes the maximum of each window."""
    return _pooling(xp, _max, x, (), ksize, strides, padding, explicit_paddings, data_format)


def _pooled(op, values, index):
    x, y, layout = op.inputs[-1]._spec.shape, op.outputs[0]._spec.shape, op._attr("data_format")
    paddings = op._attr("explicit_paddings") if "explicit_paddings" in op.attrs else ()
    if op._attr("ksize")[channel_axis(layout, len(x) - 2)] != 1:
        return None
    w = _window_for(x, op._attr("ksize"), op._attr("strides"), op._attr("padding"), paddings, layout)
    window = w.kernel, w.strides, w.dilations, [before for before, _ in w.pads]
    on_x = WindowElements(x, y, channel_axis(layout, len(x) - 2), window).result(True)
    return None if on_x is None else [on_x]


max_pool_op.dependences(_pooled)


@max_pool_op.grad
def _max_pool_op_grad(op, dy):
    return raw.MaxPoolGrad(op.inputs[0], op.outputs[0], dy, **_attrs(op))


@op("MaxPoolGrad", "orig_input: T, orig_output: T, grad: T -> output: T", T=REAL, shape=_of_first, cost=Cost.HEAVY,
    eager_seconds=3e-9)
def max_pool_grad(xp, x, y, dy, *, ksize, strides, padding, explicit_paddings=(), data_format="NHWC"):
    """Passes each window's gradient to its first maximum."""
    return _pooling(xp, _max_grad, x, (y, dy), ksize, strides, padding, explicit_paddings, data_format)


@max_pool_grad.grad
def _max_pool_grad_grad(op, ddx):
    x, y, _ = op.inputs
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPoolGradGrad(x, y, ddx, **_attrs(op))


@op("MaxPoolGradGrad", "orig_input: T, orig_output: T, grad: T -> output: T", T=REAL, shape=_of_second, cost=Cost.HEAVY)
def max_pool_grad_grad(xp, x, y, ddx, *, ksize, strides, padding, explicit_paddings=(), data_format="NHWC"):
    """Picks, for each window, the element at its first maximum."""
    return _pooling(xp, _max_grad_grad, x, (y, ddx), ksize, strides, padding, explicit_paddings, data_format)


@max_pool_grad_grad.grad
def _max_pool_grad_grad_grad(op, dy):
    x, y, _ = op.inputs
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPoolGrad(x, y, dy, **_attrs(op))


# -- MaxPool3D -------------------------------------------------------------------------


@op("MaxPool3D", "input: T -> output: T", T=FLOATING, shape=_plain_pool_shape(3), cost=Cost.HEAVY)
def max_pool3d_op(xp, x, *, ksize, strides, padding, data_format="NDHWC"):
    """Computes the maximum of each window of a volume."""
    return _max(xp, x, _window_for(x.shape, ksize, strides, padding, (), data_format), _first(data_format))


@max_pool3d_op.grad
def _max_pool3d_op_grad(op, dy):
    return raw.MaxPool3DGrad(op.inputs[0], op.outputs[0], dy, **_attrs(op))


@op("MaxPool3DGrad", "orig_input: TInput, orig_output: TInput, grad: T -> output: T", T=FLOATING, TInput=FLOATING,
    shape=_of_first, cost=Cost.HEAVY)
def max_pool3d_grad(xp, x, y, dy, *, ksize, strides, padding, data_format="NDHWC"):
    """Passes each window's gradient to all of its maxima."""
    w = _window_for(x.shape, ksize, strides, padding, (), data_format)
    return _to_all_maxima(xp, x, y, dy, w, _first(data_format))


@max_pool3d_grad.grad
def _max_pool3d_grad_grad(op, ddx):
    x, y, _ = op.inputs
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPool3DGradGrad(x, y, ddx, **_attrs(op))


@op("MaxPool3DGradGrad", "orig_input: T, orig_output: T, grad: T -> output: T", T=FLOATING, shape=_of_second,
    cost=Cost.HEAVY)
def max_pool3d_grad_grad(xp, x, y, ddx, *, ksize, strides, padding, data_format="NDHWC"):
    """Picks, for each window, the element at its first maximum."""
    w = _window_for(x.shape, ksize, strides, padding, (), data_format)
    return _max_grad_grad(xp, x, y, ddx, w, _first(data_format))


@max_pool3d_grad_grad.grad
def _max_pool3d_grad_grad_grad(op, dy):
    x, y, _ = op.inputs
    return raw.ZerosLike(x), raw.ZerosLike(y), raw.MaxPool3DGrad(x, y, dy, **_attrs(op))


# -- AvgPool and AvgPool3D -------------------------------------------------------------


def _declare_average(name, argument, nd, layout):
    """Declares the mean of windows of `nd` dimensions, and its gradient."""

    @op(name, f"{argument}: T -> output: T", T=FLOATING, shape=_plain_pool_shape(nd), cost=Cost.HEAVY,
        eager_seconds=8e-10, linear=Linear.JOINTLY)
    def average(xp, x, *, ksize, strides, padding, data_format=layout):
        """Computes the mean of each window; padding does not count."""
        return _average(xp, x, _window_for(x.shape, ksize, strides, padding, (), data_format), _first(data_format))

    average.dependences(_pooled)

    @op(f"{name}Grad", "orig_input_shape: int32, grad: T -> output: T", T=FLOATING, host=("orig_input_shape",),
        shape=_of_sizes(nd), flags=("sized",), cost=Cost.HEAVY, eager_seconds=1.3e-9)
    def average_grad(xp, sizes, dy, *, ksize, strides, padding, data_format=layout):
        """Divides each window's gradient equally among its elements."""
        shape = tuple(int(n) for n in sizes)
        return _average_grad(xp, shape, dy, _window_for(shape, ksize, strides, padding, (), data_format),
                             _first(data_format))

    @average.grad
    def _average_op_grad(op, dy):
        return average_grad(shape_of(op.inputs[0]), dy, **_attrs(op))

    @average_grad.grad
    def _average_grad_grad(op, ddx):
        return None, average(ddx, **_attrs(op))


_declare_average("AvgPool", "value", 2, "NHWC")
_declare_average("AvgPool3D", "input", 3, "NDHWC")
limit_ranks(vectors="AvgPool3DGrad.orig_input_shape AvgPoolGrad.orig_input_shape")
zeros_for_empty("""
    AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad MaxPool MaxPool3D MaxPool3DGrad MaxPool3DGradGrad MaxPoolGrad
    MaxPoolGradGrad
""")
