"""The geometry of sliding windows, shared by convolution, pooling and patches."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.op_traits import size_of
from graphgrad.ops.common.lax_functions import lax_of, module_of


class Window(NamedTuple):
    """A window that slides over the spatial dimensions; one entry for each of them."""

    kernel: tuple
    strides: tuple
    dilations: tuple
    pads: tuple  # (before, after)
    out: tuple  # the number of its positions

    @property
    def extent(self):
        """The size of the dilated kernel."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))


def channels_first(data_format):
    """Returns whether the channels are the second dimension."""
    return data_format.startswith("NC") and data_format != "NCHW_VECT_C"


def spatial_axes(data_format, nd):
    """Returns the axes of the `nd` spatial dimensions."""
    return range(2, 2 + nd) if channels_first(data_format) else range(1, 1 + nd)


def channel_axis(data_format, nd):
    """Returns the axis of the channels."""
    return 1 if channels_first(data_format) else nd + 1


def spatial(values, data_format, nd):
    """Returns the entries of a per-dimension list (strides, say) for the spatial dimensions."""
    if len(values) != nd + 2:
        raise Complaint(f"expected {nd + 2} numbers, one for each dimension, but got {tuple(values)}",
                        f"give a list of {nd + 2} numbers")
    return tuple([values[i] for i in spatial_axes(data_format, nd)])


def window_along(n, k, s, d, padding, explicit):
    """Returns (positions, padding before, padding after) along one dimension; None where not known."""
    if s <= 0 or d <= 0:
        raise Complaint(f"strides and dilations must be positive, not {s} and {d}", "use strides of at least 1")
    out = -(-n // s) if n is not None and padding == "SAME" else None
    if n is None or k is None:
        return out, None, None
    extent = (k - 1) * d + 1
    if out is not None:
        total = max((out - 1) * s + extent - n, 0)
        return out, total // 2, total - total // 2
    before, after = explicit if padding == "EXPLICIT" else (0, 0)
    if n + before + after < extent:
        raise Complaint(f"Negative dimension size caused by subtracting {extent} from {n + before + after}: the window "
                        "does not fit into the input", "use a smaller window, a larger input, or padding='SAME'")
    return (n + before + after - extent) // s + 1, before, after


def explicit_pairs(padding, explicit_paddings, data_format, nd):
    """Returns the (before, after) of padding EXPLICIT for each spatial dimension."""
    if padding not in ("SAME", "VALID", "EXPLICIT"):
        raise Complaint(f"unknown padding {padding!r}", "use 'SAME' or 'VALID'")
    if padding != "EXPLICIT":
        return ((0, 0),) * nd
    pairs = tuple(zip(explicit_paddings[::2], explicit_paddings[1::2], strict=True))
    return spatial(pairs, data_format, nd)


_CELLS = 2**20  # each is a step of NumPy's loop


def window(sizes, kernel, strides, dilations, padding, explicit_paddings, data_format):
    """Makes the `Window` for known or unknown sizes.

    Args:
      sizes, kernel: the spatial sizes of the input and the window.
      strides, dilations: spatial too.
      padding, explicit_paddings, data_format: as the ops' attributes.
    """
    if math.prod(k for k in kernel if k is not None) > _CELLS:
        raise Complaint(f"a window of {'x'.join(map(str, kernel))} has more than {_CELLS} cells",
                        "use a smaller one")
    explicit = explicit_pairs(padding, explicit_paddings, data_format, len(sizes))
    rows = [window_along(*row, padding, e)
            for row, e in zip(zip(sizes, kernel, strides, dilations, strict=True), explicit, strict=True)]
    return Window(tuple(kernel), tuple(strides), tuple(dilations), tuple([(b, a) for _, b, a in rows]),
                  tuple([out for out, _, _ in rows]))


def assemble(batch, spatials, channels, data_format):
    """Makes a full shape of its parts."""
    return (batch, channels, *spatials) if channels_first(data_format) else (batch, *spatials, channels)


def to_channels_last(xp, x, data_format):
    """Moves the channels to the last dimension."""
    return xp.moveaxis(x, 1, -1) if channels_first(data_format) else x


def from_channels_last(xp, x, data_format):
    """Reverses `to_channels_last`."""
    return xp.moveaxis(x, -1, 1) if channels_first(data_format) else x


def pad_spatial(xp, x, w, first=1, value=0):
    """Pads x for a window; `first` is the first spatial axis."""
    if not any(map(any, w.pads)):
        return x
    if xp is np:  # np.pad takes 30 us for any array
        sizes = [b + n + a for n, (b, a) in zip(x.shape[first:], w.pads, strict=False)]
        padded = np.full((*x.shape[:first], *sizes, *x.shape[first + len(sizes) :]), value, x.dtype)
        inner = [slice(b, b + n) for n, (b, _) in zip(x.shape[first:], w.pads, strict=False)]
        padded[(slice(None),) * first + tuple(inner)] = x
        return padded
    around = ((0, 0),) * first, ((0, 0),) * (x.ndim - first - len(w.pads))
    return xp.pad(x, (*around[0], *w.pads, *around[1]), constant_values=value)


def cells(w):
    """Returns the cells of the kernel in order, each as a tuple of indices."""
    return np.ndindex(*w.kernel)


def _slices(w, cell):
    return [slice(i * d, i * d + (n - 1) * s + 1, s)
            for i, d, n, s in zip(cell, w.dilations, w.out, w.strides, strict=True)]


def seen_by(xp, x, w, cell, first=1):
    """Returns the elements of the padded input under a cell of the kernel, over all positions of the window."""
    where = (slice(None),) * first + tuple(_slices(w, cell))
    if xp is np:
        return x[where]
    full = [(0, n, 1) for n in x.shape]
    for axis, part in enumerate(where[first:], first):
        full[axis] = (part.start, part.stop, part.step)
    return lax_of(xp).slice(x, *zip(*full, strict=True))


def seen_by_row(x, w, i, first=1):
    """Returns, for row i of the kernel, which may be traced, the elements of the padded jax array under each cell."""
    n, s, d = w.out[0], w.strides[0], w.dilations[0]
    row = lax_of(module_of(x)).dynamic_slice_in_dim(x, i * d, (n - 1) * s + 1, first)
    line = w._replace(kernel=(1, *w.kernel[1:]))
    return [seen_by(module_of(x), row, line, cell, first) for cell in cells(line)]


def spread(xp, contribution, w, sizes, first=1):
    """Reverses `seen_by`: adds up, over the input, the contributions of each cell.

    Args:
      xp: the array module.
      contribution: cell -> array of the result's shape.
      w: the window.
      sizes: the spatial sizes of the input.
      first: the first spatial axis.
    Returns: the sum, of the input's shape.
    """
    padded = [n + b + a for n, (b, a) in zip(sizes, w.pads, strict=True)]
    total = _spread_host(contribution, w, padded, first) if xp is np else _spread_device(contribution, w, padded, first)
    where = [slice(b, b + n) for n, (b, _) in zip(sizes, w.pads, strict=True)]
    return total[((slice(None),) * first + tuple(where))]


def dilated(grad, w, sizes, first=1):
    """Spreads a gradient apart, so that a window of step 1 over it adds up what reaches each element of the input.

    Args:
      grad: a jax array of the result's shape.
      w: the window.
      sizes: the spatial sizes of the input.
      first: the first spatial axis.
    Returns: the padded gradient, and the window over it; its cells are in reverse order.
    """
    pads = [(0, 0, 0)] * grad.ndim
    for k, (n, e, s, (before, _), out) in enumerate(zip(sizes, w.extent, w.strides, w.pads, w.out, strict=True)):
        low = e - 1 - before
        pads[first + k] = (low, n + e - 1 - low - ((out - 1) * s + 1), s - 1)
    return (lax_of(module_of(grad)).pad(grad, np.zeros((), grad.dtype), pads),
            w._replace(strides=(1,) * len(sizes), out=tuple(sizes)))


def _spread_host(contribution, w, padded, first):
    total = None
    for cell in cells(w):
        part = contribution(cell)
        if total is None:
            total = np.zeros(part.shape[:first] + tuple(padded) + part.shape[first + len(padded) :], part.dtype)
        total[(slice(None),) * first + tuple(_slices(w, cell))] += part
    return total


def _spread_device(contribution, w, padded, first):
    """Sums by phase (position modulo stride) and interleaves: XLA's scatter and dilated pads are much slower."""
    units = [-(-n // s) for n, s in zip(padded, w.strides, strict=True)]
    phases = {}
    for cell in cells(w):
        steps, phase = _place(w, cell)
        part = contribution(cell)
        pads = [(0, 0, 0)] * part.ndim
        for k, step in enumerate(steps):
            pads[first + k] = (step, units[k] - w.out[k] - step, 0)
        part = lax_of(module_of(part)).pad(part, np.zeros((), part.dtype), pads)
        phases[phase] = phases[phase] + part if phase in phases else part
    return _interleaved(phases, w, units, first)


def spread_overlapping(contribution, arrays, fills, w, sizes, first=1):
    """Does what `spread` does, for jax.numpy, by input position: faster where windows overlap a lot.

    Args:
      contribution: a cell and parts of `arrays` -> array.
      arrays: the arrays from which contributions are computed; their spatial sizes are the numbers of windows.
      fills: for each of them the value for missing windows, whose contribution must be 0.
      w, sizes, first: as for `spread`.
    """
    lax = lax_of(module_of(arrays[0]))
    padded = [n + b + a for n, (b, a) in zip(sizes, w.pads, strict=True)]
    units = [-(-n // s) for n, s in zip(padded, w.strides, strict=True)]
    most = [(e - 1) // s for e, s in zip(w.extent, w.strides, strict=True)]
    around = [(m, max(0, u - n), 0) for m, u, n in zip(most, units, w.out, strict=True)]
    outer = (0, 0, 0)
    wider = [lax.pad(x, np.asarray(fill, x.dtype), [outer] * first + around + [outer] * (x.ndim - first - len(around)))
             for x, fill in zip(arrays, fills, strict=True)]
    phases = {}
    for cell in cells(w):
        steps, phase = _place(w, cell)
        where = (slice(None),) * first + tuple([slice(m - step, m - step + u)
                                                for m, step, u in zip(most, steps, units, strict=True)])
        part = contribution(cell, *[x[where] for x in wider])
        phases[phase] = phases[phase] + part if phase in phases else part
    total = _interleaved(phases, w, units, first)
    inner = [slice(b, b + n) for n, (b, _) in zip(sizes, w.pads, strict=True)]
    return total[(slice(None),) * first + tuple(inner)]


def _place(w, cell):
    """Returns the position of a cell relative to its window: whole strides, and the remainder."""
    at = [i * d for i, d in zip(cell, w.dilations, strict=True)]
    return ([a // s for a, s in zip(at, w.strides, strict=True)],
            tuple([a % s for a, s in zip(at, w.strides, strict=True)]))


def _interleaved(phases, w, units, first):
    """Interleaves the arrays of all phases to one."""
    nd = len(units)
    if math.prod(w.strides) == 1:
        return phases[(0,) * nd]
    some = next(iter(phases.values()))
    xp = module_of(some)
    parts = {p: phases[p] if p in phases else xp.zeros_like(some) for p in np.ndindex(*w.strides)}
    for k in reversed(range(nd)):
        groups = {}
        for phase, part in parts.items():
            groups.setdefault(phase[:k], []).append(part)
        parts = {phase: xp.stack(group, first + k + 1) for phase, group in groups.items()}
    shape = list(some.shape)
    shape[first : first + nd] = [u * s for u, s in zip(units, w.strides, strict=True)]
    return parts[()].reshape(shape)


def patches(x, w, first=1, value=0):
    """Returns all windows of a NumPy array: a view with one more axis for each spatial one, at the end."""
    padded = pad_spatial(np, x, w, first, value)
    axes = tuple(range(first, first + len(w.kernel)))
    view = np.lib.stride_tricks.sliding_window_view(padded, w.extent, axes)
    steps = (slice(None),) * first + tuple(slice(None, None, s) for s in w.strides)
    return view[steps][(..., *[slice(None, None, d) for d in w.dilations])]


def count(w):
    """Returns the number of cells of the kernel."""
    return math.prod(w.kernel)


def products_of(image, cells, shared, unknown):
    """Counts the products of a convolution, or of one of its gradients: image elements by filter cells.

    Args:
      image: the smaller one of the two images.
      cells: the filter, or what has its shape.
      shared: how many of the filter's last dimensions are together the channels of the image.
      unknown: the size of dimensions that are not known.
    """
    shape = cells._spec.shape
    if not shape or None in shape:
        return math.inf
    return size_of(image._spec.shape, unknown) * size_of(shape, unknown) / (math.prod(shape[-shared:]) or 1)


def check_result(shape, dy, w, channels, data_format):
    """Complains if the gradient of a convolution's result does not have the result's shape.

    Args:
      shape: that of the input.
      dy: that of the gradient.
      w: the window.
      channels: those of the result.
      data_format: where they are.
    """
    expected = assemble(shape[0], w.out, channels, data_format)
    if any(e is not None and d is not None and e != d for e, d in zip(expected, dy, strict=True)):
        raise Complaint(f"out_backprop has shape {tuple(dy)} but the convolution's result has {expected}",
                        "give the sizes that the forward convolution had")
