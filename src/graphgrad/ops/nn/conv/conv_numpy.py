"""Convolutions in NumPy: the input's patches as rows of a matrix, some at a time, and one product of matrices."""

from __future__ import annotations

import itertools
import math

import numpy as np

from graphgrad.ops.common.host_products import by_matrix, of_columns
from graphgrad.system import cores

from .window_geometry import (
    cells,
    channel_axis,
    from_channels_last,
    pad_spatial,
    seen_by,
    spatial_axes,
    spread,
    to_channels_last,
)

_PATCHES = 1 << 19  # numbers in the matrix of patches: they stay within a core's cache
_PIECES = 2  # such matrices at least for a thread
_MOST = 1 << 24  # and at most, where one row of positions alone has more
_COLUMNS = 1 << 12  # numbers in a part of the filter's gradient: a sum of products of few rows
_NARROW = 16  # channels; with fewer, patches are copied position by position, not channel by channel


def _wide(x):
    """Converts half precision to single: NumPy's products of it would be slow and inexact."""
    return x.astype(np.float32) if x.dtype.itemsize <= 2 else x


def _by_groups(product, groups, operands, depths):
    """Computes a convolution group by group: slices of the operands' last axes, results side by side.

    Args:
      product: a function of the parts.
      groups: how many there are.
      operands: arrays whose last axis is split.
      depths: the size of each one's slice.
    """
    parts = []
    for group in range(groups):
        taken = [x[..., group * d : (group + 1) * d] for x, d in zip(operands, depths, strict=True)]
        parts.append(product(*map(np.ascontiguousarray, taken)))
    return np.concatenate(parts, -1)


class _Patches:
    """The patches of a padded image, channels last, some positions at a time.

    Args:
      padded: the image, or the one to add patches to.
      w: the window.
    """

    def __init__(self, padded, w):
        self.padded, self.w = padded, w
        self.depth = math.prod(w.kernel) * padded.shape[-1]
        self.row = math.prod(w.out[1:]) * self.depth  # numbers for one position of the first dimension

    def fits(self):
        """Returns whether even one row of positions is a matrix of moderate size."""
        return self.row <= _MOST

    def pieces(self):
        """Yields slices of images and of the first dimension's positions."""
        images, lines = self.padded.shape[0], self.w.out[0]
        at_once = max(1, _PATCHES // max(1, self.row))
        if at_once >= lines:
            step = at_once // lines
            for start in range(0, images, step):
                yield slice(start, min(start + step, images)), slice(0, lines)
            return
        for image in range(images):
            for line in range(0, lines, at_once):
                yield slice(image, image + 1), slice(line, min(line + at_once, lines))

    def _part(self, images, lines):
        """Returns the image under some positions, and the window over it."""
        w = self.w
        step, reach = w.strides[0], (w.kernel[0] - 1) * w.dilations[0] + 1
        seen = self.padded[images, lines.start * step : (lines.stop - 1) * step + reach]
        return seen, w._replace(out=(lines.stop - lines.start, *w.out[1:]))

    def matrix(self, images, lines):
        """Returns the patches of a piece: a row for each position, a column for each cell and channel."""
        seen, w = self._part(images, lines)
        channels, positions = seen.shape[-1], (seen.shape[0], *w.out)
        if channels < _NARROW:
            columns = np.empty((*w.kernel, channels, *positions), seen.dtype)
            for cell in cells(w):
                columns[cell] = np.moveaxis(seen_by(np, seen, w, cell), -1, 0)
            return columns.reshape(self.depth, -1).T
        rows = np.empty((*positions, *w.kernel, channels), seen.dtype)
        for cell in cells(w):
            rows[(..., *cell, slice(None))] = seen_by(np, seen, w, cell)
        return rows.reshape(-1, self.depth)

    def add(self, images, lines, rows, f):
        """Adds the products of rows, one for each position of a piece, with each cell's filter to the image."""
        seen, w = self._part(images, lines)
        channels = seen.shape[-1]
        if channels < _NARROW:
            whole = np.empty((rows.shape[0], self.depth), rows.dtype)
            by_matrix(rows, f.reshape(self.depth, -1).T, whole)
            parts = whole.reshape(-1, *w.kernel, channels)
        part = np.empty((rows.shape[0], channels), rows.dtype)
        for cell in cells(w):
            if channels < _NARROW:
                part = parts[(slice(None), *cell, slice(None))]
            else:
                by_matrix(rows, f[cell].T, part)
            into = seen_by(np, seen, w, cell)
            np.add(into, part.reshape(into.shape), out=into)


def _is_product(w):
    """Returns whether a convolution is a product of matrices: one cell, at each position."""
    return math.prod(w.kernel) == 1 and math.prod(w.strides) == 1 and not any(map(any, w.pads))


def forward(x, f, w, data_format):
    """Computes a convolution.

    Args:
      x: the images.
      f: the filter, (*kernel, channels in a group, channels of the result).
      w: the window.
      data_format: where x and the result have their channels.
    """
    groups = x.shape[channel_axis(data_format, len(w.kernel))] // f.shape[-2]
    padded = pad_spatial(np, _wide(to_channels_last(np, x, data_format)), w)
    f = _wide(f)
    if groups == 1:
        result = _forward(padded, f, w)
    else:
        result = _by_groups(lambda part, g: _forward(part, g, w), groups, (padded, f),
                            (f.shape[-2], f.shape[-1] // groups))
    return from_channels_last(np, result, data_format).astype(x.dtype, copy=False)


def _forward(padded, f, w):
    flat = f.reshape(-1, f.shape[-1])
    result = np.empty((padded.shape[0], *w.out, f.shape[-1]), padded.dtype)
    if _is_product(w):
        by_matrix(padded.reshape(-1, padded.shape[-1]), flat, result.reshape(-1, f.shape[-1]))
        return result
    patches = _Patches(padded, w)
    if not patches.fits():
        result[...] = 0
        for cell in cells(w):
            result += seen_by(np, padded, w, cell) @ f[cell]
        return result
    pieces = list(patches.pieces())

    def part(start, stop):
        for images, lines in pieces[start:stop]:
            by_matrix(patches.matrix(images, lines), flat, result[images, lines].reshape(-1, f.shape[-1]))

    cores.spread(part, len(pieces), _PIECES)
    return result


def to_input(shape, f, dy, w, data_format):
    """Computes the gradient of a convolution with respect to its input.

    Args:
      shape: the input's.
      f, w, data_format: as for `forward`.
      dy: the gradient of the result.
    """
    groups = shape[channel_axis(data_format, len(w.kernel))] // f.shape[-2]
    grad, f = _wide(to_channels_last(np, dy, data_format)), _wide(f)
    sizes = [shape[i] for i in spatial_axes(data_format, len(w.kernel))]
    if groups == 1:
        result = _to_input(sizes, f, grad, w)
    else:
        out = f.shape[-1] // groups
        result = _by_groups(lambda part, g: _to_input(sizes, g, part, w), groups, (grad, f), (out, out))
    return from_channels_last(np, result, data_format).astype(dy.dtype, copy=False)


def _to_input(sizes, f, grad, w):
    out = f.shape[-1]
    if _is_product(w):
        result = np.empty((grad.shape[0], *sizes, f.shape[-2]), grad.dtype)
        by_matrix(grad.reshape(-1, out), f.reshape(-1, out).T, result.reshape(-1, f.shape[-2]))
        return result
    padded = [n + b + a for n, (b, a) in zip(sizes, w.pads, strict=True)]
    total = np.zeros((grad.shape[0], *padded, f.shape[-2]), grad.dtype)
    patches = _Patches(total, w)
    if not patches.fits():
        return spread(np, lambda cell: grad @ f[cell].T, w, sizes)
    of_images = [list(pieces) for _, pieces in itertools.groupby(patches.pieces(), lambda piece: piece[0].start)]

    def part(start, stop):  # pieces of one image overlap
        for images, lines in itertools.chain(*of_images[start:stop]):
            patches.add(images, lines, grad[images, lines].reshape(-1, out), f)

    cores.spread(part, len(of_images), _PIECES)
    return total[(slice(None), *[slice(b, b + n) for n, (b, _) in zip(sizes, w.pads, strict=True)])]


def to_filter(x, shape, dy, w, data_format):
    """Computes the gradient of a convolution with respect to its filter.

    Args:
      x, w, data_format: as for `forward`.
      shape: the filter's.
      dy: the gradient of the result.
    """
    groups = x.shape[channel_axis(data_format, len(w.kernel))] // shape[-2]
    padded = pad_spatial(np, _wide(to_channels_last(np, x, data_format)), w)
    grad = np.ascontiguousarray(_wide(to_channels_last(np, dy, data_format)))
    if groups == 1:
        result = _to_filter(padded, shape, grad, w)
    else:
        part = (*shape[:-1], shape[-1] // groups)
        result = _by_groups(lambda x, g: _to_filter(x, part, g, w), groups, (padded, grad), (shape[-2], part[-1]))
    return result.astype(dy.dtype, copy=False)


def _to_filter(padded, shape, grad, w):
    out = shape[-1]
    if _is_product(w):
        return of_columns(padded.reshape(-1, shape[-2]), grad.reshape(-1, out)).reshape(shape)
    patches = _Patches(padded, w)
    if not patches.fits():
        flat, result = grad.reshape(-1, out), np.empty(shape, grad.dtype)
        for cell in cells(w):
            result[cell] = seen_by(np, padded, w, cell).reshape(-1, shape[-2]).T @ flat
        return result
    total = np.zeros((patches.depth, out), grad.dtype)
    width = max(padded.shape[-1], _COLUMNS // max(1, out))
    for images, lines in patches.pieces():
        columns, part = patches.matrix(images, lines), grad[images, lines].reshape(-1, out)
        for start in range(0, patches.depth, width):
            total[start : start + width] += of_columns(columns[:, start : start + width], part)
    return total.reshape(shape)
