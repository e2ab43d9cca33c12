"""Pooling in NumPy: cell by cell, one image after the other."""

from __future__ import annotations

import numpy as np

from graphgrad.ops.common.host_arrays import where
from graphgrad.ops.nn.conv.window_geometry import Window, cells, pad_spatial, seen_by

IMAGES = 1 << 16  # numbers


def fold(x, w, first, combine):
    """Combines all cells of each window of a padded NumPy array by a ufunc, one dimension after the other."""
    if first and len(x) > 1 and x.size > IMAGES:  # one image after the other: it stays within the cache
        return np.concatenate([fold(x[n : n + 1], w, first, combine) for n in range(len(x))])
    for k, (size, step, n) in enumerate(zip(w.kernel, w.strides, w.out, strict=True)):
        if size == step == 1:
            continue
        line = Window((size,), (step,), w.dilations[k : k + 1], ((0, 0),), (n,))
        result = None
        for cell in range(size):
            part = seen_by(np, x, line, (cell,), first + k)
            if result is None:
                result = part.copy() if size == 1 else part
            elif cell == 1:
                result = combine(result, part)
            else:
                combine(result, part, out=result)
        x = result
    return x


def first_maxima(padded, y, w, first):
    """Yields the number of each cell, the cell, and in which windows of a NumPy array it is the first maximum."""
    unseen = np.ones(y.shape, bool)
    some_nan = y.dtype.kind not in "iu" and bool((y != y).any())
    for number, cell in enumerate(cells(w)):
        seen = seen_by(np, padded, w, cell, first)
        hit = seen == y
        if some_nan:
            hit |= seen != seen
        hit &= unseen
        unseen ^= hit
        yield number, cell, hit


def max_gradient(x, y, dy, w, first, lowest):
    """Passes each window's gradient to its first maximum; `lowest` is what the input is padded with."""
    if first and len(x) > 1 and x.size > IMAGES:
        return np.concatenate([max_gradient(*[t[n : n + 1] for t in (x, y, dy)], w, first, lowest)
                               for n in range(len(x))])
    padded = pad_spatial(np, x, w, first, lowest)
    total = np.zeros(padded.shape, dy.dtype)
    zero = np.zeros((), dy.dtype)
    for _, cell, hit in first_maxima(padded, y, w, first):
        into = seen_by(np, total, w, cell, first)
        np.add(into, where(np, hit, dy, zero), out=into)
    inner = [slice(b, b + n) for n, (b, _) in zip(x.shape[first:], w.pads, strict=False)]
    return total[(slice(None),) * first + tuple(inner)]
