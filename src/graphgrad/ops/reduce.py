"""Reductions over axes: sums, means, products, extrema, any and all."""

from __future__ import annotations

import numpy as np

from ..errors import Complaint
from ..ir.dtypes import INDEX, NUMERIC, REAL
from ..ir.opdef import NOT_DIFFERENTIABLE, op, raw
from ..ir.shape import is_fully_defined
from ..ir.static import static_value
from .elementwise import conj


def _axes(axes, rank):
    """The axes as a sorted tuple counted from the front. For shape rules and kernels.

    Raises: Complaint for an axis out of range or given twice.
    """
    found = []
    for axis in axes:
        if not -rank <= axis < rank:
            raise Complaint(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)",
                            f"use an axis in [{-rank}, {rank})" if rank else "leave the axis out: it is a scalar")
        found.append(int(axis) % rank)
    if len(set(found)) != len(found):
        raise Complaint(f"Invalid reduction arguments: Axes contains duplicate dimension: {tuple(map(int, axes))}",
                        "name each axis once")
    return tuple(sorted(found))


def _axes_of(x, axes):
    """What a kernel passes to NumPy as `axis`."""
    return _axes(np.ravel(axes).tolist(), x.ndim)


def _reduced(shape, reduction_indices, keep_dims):
    """Shape rule of all reductions."""
    if isinstance(reduction_indices, int):
        reduction_indices = (reduction_indices,)
    if shape is None:
        return None
    rank = len(shape)
    if reduction_indices is None:
        return (None,) * rank if keep_dims else None
    if None in reduction_indices:
        known = max(rank - len(reduction_indices), 0)
        return (None,) * (rank if keep_dims else known)
    axes = _axes(reduction_indices, rank)
    if keep_dims:
        return tuple(1 if i in axes else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axes)


def _wide(x):
    """Half floats as float32, in which they are accumulated; others as they are."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x


def _reduction(name, types, kernel, doc):
    """Declares a reduction op; the kernel takes (xp, x, axes, keep_dims)."""

    def reduce_kernel(xp, input, reduction_indices, *, keep_dims=False):
        return kernel(xp, input, _axes_of(input, reduction_indices), bool(keep_dims))

    reduce_kernel.__doc__ = doc
    types = {} if types is None else {"T": types}
    kind = "T" if types else "bool"
    return op(name, f"input: {kind}, reduction_indices: Tidx -> output: {kind}", Tidx=INDEX,
              host=("reduction_indices",), shape=_reduced, **types)(reduce_kernel)  # fmt: skip


# -- going back --------------------------------------------------------------------


class _Kept:
    """How a reduction's result is put back along the axes it lost.

    Args:
      op: the reduction, with inputs (x, reduction_indices) and the attribute keep_dims.
    """

    def __init__(self, op):
        self.x = op.inputs[0]
        self.indices = op.inputs[1]
        self.keep_dims = op.get_attr("keep_dims")
        self.shape = self.x._spec.shape
        axes = static_value(op.inputs[1])
        axes = (axes,) if isinstance(axes, int) else axes
        self.axes = None
        if self.shape is not None and axes is not None and None not in axes:
            self.axes = _axes(axes, len(self.shape))

    def input_shape(self):
        """The shape of x: an array where it is known, else a tensor."""
        return np.asarray(self.shape, np.int32) if is_fully_defined(self.shape) else raw.Shape(self.x)

    def expand(self, t):
        """`t`, of the result's shape, with a 1 in place of every axis that was lost."""
        if self.keep_dims:
            return t
        if self.axes is None:
            return raw.Reshape(t, self._dynamic_shape())
        kept = [1 if i in self.axes else d for i, d in enumerate(self.shape)]
        unknown = kept.count(None)
        if not unknown or (unknown == 1 and 0 not in kept):
            return raw.Reshape(t, np.asarray([-1 if d is None else d for d in kept], np.int32))
        for axis in self.axes:
            t = raw.ExpandDims(t, axis)
        return t

    def broadcast(self, t):
        """`t`, of the result's shape, repeated to the shape of x."""
        full = self.axes is not None and len(self.axes) == len(self.shape) and not self.keep_dims
        # A scalar broadcasts as it is.
        return raw.BroadcastTo(t if full else self.expand(t), self.input_shape())

    def count(self):
        """How many elements of x make one of the result: an int where it is known, else a tensor (int32)."""
        if self.axes is not None:
            sizes = [self.shape[i] for i in self.axes]
            if None not in sizes:
                return int(np.prod(sizes))
        return raw.Prod(raw.GatherV2(raw.Shape(self.x), self.indices, 0), np.asarray([0], np.int32))

    def _dynamic_shape(self):
        shape = raw.Shape(self.x)
        rank = raw.Size(shape)
        indices = self.indices if self.indices.dtype.name == "int32" else raw.Cast(self.indices, DstT=rank.dtype)
        indices = raw.Reshape(indices, np.asarray([-1], np.int32))
        indices = raw.FloorMod(raw.Add(indices, rank), rank)
        ones = raw.Fill(raw.Shape(indices), np.int32(1))
        return raw.DynamicStitch([raw.Range(0, rank, 1), indices], [shape, ones])


# -- sums and means ----------------------------------------------------------------


def _sum_kernel(xp, x, axes, keep_dims):
    if x.dtype.kind == "b":
        return xp.any(x, axis=axes, keepdims=keep_dims)
    return xp.sum(_wide(x), axis=axes, keepdims=keep_dims, dtype=_wide(x).dtype).astype(x.dtype)


_sum = _reduction("Sum", NUMERIC, _sum_kernel, "Sum over axes.")


@_sum.grad
def _sum_grad(op, dy):
    return _Kept(op).broadcast(dy), None


def _mean_kernel(xp, x, axes, keep_dims):
    total = xp.sum(_wide(x), axis=axes, keepdims=keep_dims, dtype=_wide(x).dtype)
    n = int(np.prod([x.shape[i] for i in axes]))
    if x.dtype.kind not in "iu":
        return (total / xp.asarray(n, total.dtype)).astype(x.dtype)
    quotient = total // xp.asarray(n, x.dtype)  # rounded down; the mean of integers is rounded toward zero
    return quotient + ((quotient * n != total) & (total < 0)).astype(x.dtype)


_mean = _reduction("Mean", NUMERIC, _mean_kernel, "Mean over axes; of integers, rounded toward zero.")


@_mean.grad
def _mean_grad(op, dy):
    kept = _Kept(op)
    n = kept.count()
    if not isinstance(n, int):
        n = raw.Cast(n, DstT=dy.dtype)
    # The small gradient is divided, not the repeated one.
    return kept.broadcast(raw.RealDiv(dy, n)), None


# -- products ----------------------------------------------------------------------


def _prod_kernel(xp, x, axes, keep_dims):
    return xp.prod(_wide(x), axis=axes, keepdims=keep_dims, dtype=_wide(x).dtype).astype(x.dtype)


_prod = _reduction("Prod", NUMERIC, _prod_kernel, "Product over axes.")


@_prod.grad
def _prod_grad(op, dy):
    """dy times the product of all the other elements, which is right also where some are zero."""
    kept = _Kept(op)
    x = op.inputs[0]
    others, restore = _lanes(kept, x)
    left = raw.Cumprod(others, 0, exclusive=True)
    right = raw.Cumprod(others, 0, exclusive=True, reverse=True)
    product = restore(raw.Mul(left, right))
    return raw.Mul(kept.expand(dy), conj(product)), None


def _lanes(kept, x):
    """x with the reduced axes flattened into axis 0, and the way back."""
    if kept.axes is not None and len(kept.axes) == len(kept.shape):
        return raw.Reshape(x, np.asarray([-1], np.int32)), lambda t: raw.Reshape(t, kept.input_shape())
    if kept.axes is not None:
        rest = [i for i in range(len(kept.shape)) if i not in kept.axes]
        order = np.asarray([*kept.axes, *rest], np.int32)
        first = raw.Transpose(x, order)
        back = np.argsort(order).astype(np.int32)
        if is_fully_defined(kept.shape):
            moved = np.asarray(kept.shape, np.int32)[order]
            n = int(np.prod(moved[: len(kept.axes)]))
            m = int(np.prod(moved[len(kept.axes) :]))
            flat = raw.Reshape(first, np.asarray([n, m], np.int32))
        else:
            moved = raw.Shape(first)
            n = raw.Prod(raw.StridedSlice(moved, [0], [len(kept.axes)], [1]), [0])
            m = raw.Prod(raw.StridedSlice(moved, [len(kept.axes)], [0], [1], end_mask=1), [0])
            flat = raw.Reshape(first, raw.Pack([n, m], axis=0))
        return flat, lambda t: raw.Transpose(raw.Reshape(t, moved), back)
    shape = raw.Shape(x)
    rank = raw.Size(shape)
    indices = kept.indices if kept.indices.dtype.name == "int32" else raw.Cast(kept.indices, DstT=rank.dtype)
    indices = raw.FloorMod(raw.Add(raw.Reshape(indices, np.asarray([-1], np.int32)), rank), rank)
    rest, _ = raw.ListDiff(raw.Range(0, rank, 1), indices)
    order = raw.ConcatV2([indices, rest], 0)
    first = raw.Transpose(x, order)
    moved = raw.Shape(first)
    n = raw.Prod(raw.GatherV2(shape, indices, 0), [0])
    m = raw.Prod(raw.GatherV2(shape, rest, 0), [0])
    flat = raw.Reshape(first, raw.Pack([n, m], axis=0))
    return flat, lambda t: raw.Transpose(raw.Reshape(t, moved), raw.InvertPermutation(order))


# -- extrema -----------------------------------------------------------------------


def _extremum(name, doc):
    """Max or Min: NumPy's, with the neutral element for an empty range as TensorFlow has it."""

    def kernel(xp, x, axes, keep_dims):
        if x.dtype.kind in "iu":
            edge = np.iinfo(x.dtype).min if name == "max" else np.iinfo(x.dtype).max
        else:
            edge = -np.inf if name == "max" else np.inf
        return getattr(xp, name)(x, axis=axes, keepdims=keep_dims, initial=xp.asarray(edge, x.dtype)).astype(x.dtype)

    return _reduction(name.capitalize(), REAL, kernel, doc)


_max = _extremum("max", "Maximum over axes.")
_min = _extremum("min", "Minimum over axes.")


@_max.grad
def _max_grad(op, dy):
    """Equal shares for all elements that attain the extremum."""
    kept = _Kept(op)
    x, y = op.inputs[0], kept.expand(op.outputs[0])
    chosen = raw.Cast(raw.Equal(x, y), DstT=dy.dtype)
    ties = raw.Sum(chosen, op.inputs[1], keep_dims=True)
    return raw.Mul(chosen, raw.RealDiv(kept.expand(dy), ties)), None


_min.grad(_max_grad)


# -- logic -------------------------------------------------------------------------


def _all_kernel(xp, x, axes, keep_dims):
    return xp.all(x, axis=axes, keepdims=keep_dims)


def _any_kernel(xp, x, axes, keep_dims):
    return xp.any(x, axis=axes, keepdims=keep_dims)


_all = _reduction("All", None, _all_kernel, "Whether all elements along axes are true.")
_any = _reduction("Any", None, _any_kernel, "Whether any element along axes is true.")
_all.grad(NOT_DIFFERENTIABLE)
_any.grad(NOT_DIFFERENTIABLE)
