"""Reductions over axes: sums, means, products, extrema, norms, any and all."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import folded, static_value
from graphgrad.ir.dtypes import INDEX, NUMERIC, REAL, int32
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import is_fully_defined
from graphgrad.op_traits import Linear
from graphgrad.ops.common.dependence import along
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.host_sums import sum_over
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import host_array, shape_of


def _axes(axes, rank):
    """Returns the axes as a sorted tuple counted from the front. For shape rules and kernels.

    Raises: Complaint for an axis out of range or given twice.
    """
    found = []
    for axis in axes:
        if not -rank <= axis < rank:
            raise Complaint(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)",
                            f"use an axis in [{-rank}, {rank})" if rank else "leave the axis out: it is a scalar")
        found.append(int(axis) % rank)
    if len(set(found)) != len(found):
        raise Complaint(f"Invalid reduction arguments: Axes contains duplicate dimension: {tuple(axes)}",
                        "name each axis once")
    return tuple(sorted(found))


def _reduced(shape, reduction_indices, keep_dims):
    """Returns the shape without the reduced axes: the shape rule of all reductions."""
    if isinstance(reduction_indices, int):
        reduction_indices = (reduction_indices,)
    if shape is None:
        return None
    rank = len(shape)
    if reduction_indices is None:
        return (None,) * rank if keep_dims else None
    if None in reduction_indices:
        return (None,) * (rank if keep_dims else max(rank - len(reduction_indices), 0))
    axes = _axes(reduction_indices, rank)
    if keep_dims:
        return tuple(1 if i in axes else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axes)


def wide(x):
    """Converts half floats to float32 for accumulation; returns others unchanged."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x


def _reduction(name, kernel, doc, T=None, **traits):
    """Declares a reduction; `kernel` takes (xp, x, axes, keep_dims). Without T it is one of bool tensors."""

    def reduce_kernel(xp, input, reduction_indices, *, keep_dims=False):
        return kernel(xp, input, _axes(np.ravel(reduction_indices).tolist(), input.ndim), bool(keep_dims))

    reduce_kernel.__doc__ = doc
    kind, allowed = ("T", {"T": T}) if T else ("bool", {})
    function = "norm" if name == "EuclideanNorm" else name.lower()
    return op(name, f"input: {kind}, reduction_indices: Tidx -> output: {kind}", Tidx=INDEX,
              formula=f"{function}(input, reduction_indices, keep_dims)",
              host=("reduction_indices",), shape=_reduced, dependence=_reduced_elements, rows=_rows_kept, **allowed,
              **traits)(reduce_kernel)


def _rows_kept(op, rows):
    axes, shape = host_array(op.inputs[1]), op.inputs[0]._spec.shape
    return axes is not None and bool(shape) and 0 not in _axes(np.ravel(axes).tolist(), len(shape))


def _reduced_elements(op, values, index):
    if values[1] is None:
        return None
    shape = op.inputs[0]._spec.shape
    return [along(shape, _axes(np.ravel(values[1]).tolist(), len(shape))), None]


def _sum_stacked(op, operands, stacked):
    reduced, (x, _) = _Reduced(op), operands
    own = x._spec.shape
    if reduced.axes is None or own is None or any(own[a + 1] != reduced.shape[a] for a in reduced.axes):
        return None
    axes = np.array([a + 1 for a in reduced.axes], np.int32)
    return getattr(raw, op.type)(x, axes, keep_dims=reduced.keep_dims)


# -- in gradient rules ------------------------------------------------------------------


class _Reduced:
    """A reduction in a gradient rule: restores the axes that its result lost.

    Args:
      op: the reduction, with inputs (x, reduction_indices) and the attribute keep_dims.
    """

    def __init__(self, op):
        self.x, self.indices = op.inputs
        self.y = op.outputs[0]
        self.keep_dims = op._attr("keep_dims")
        self.shape = self.x._spec.shape
        axes = static_value(self.indices)
        axes = (axes,) if isinstance(axes, int) else axes
        self.axes = None  # a sorted tuple, where rank and axes are known
        if self.shape is not None and axes is not None and None not in axes:
            self.axes = _axes(axes, len(self.shape))

    def expand(self, t):
        """Returns `t`, of the result's shape, with size 1 for every reduced axis."""
        if self.keep_dims:
            return t
        if self.axes is None:
            return raw.Reshape(t, self._kept_shape())
        kept = [1 if i in self.axes else d for i, d in enumerate(self.shape)]
        unknown = kept.count(None)
        if not unknown or (unknown == 1 and 0 not in kept):
            return raw.Reshape(t, np.asarray([-1 if d is None else d for d in kept], np.int32))
        for axis in self.axes:
            t = raw.ExpandDims(t, axis)
        return t

    def broadcast(self, t):
        """Returns `t`, of the result's shape, repeated to the shape of x."""
        # Axes in front come back by broadcasting alone.
        in_front = self.axes is not None and self.axes == tuple(range(len(self.axes)))
        return raw.BroadcastTo(t if in_front else self.expand(t), shape_of(self.x))

    def count(self):
        """Counts the elements of x that make one of the result: an int if known, else an int32 tensor."""
        if self.axes is not None:
            sizes = [self.shape[i] for i in self.axes]
            if None not in sizes:
                return int(np.prod(sizes))
            if len(self.axes) == len(self.shape):
                return raw.Size(self.x)
            return raw.Prod(raw.GatherV2(raw.Shape(self.x), np.asarray(self.axes, np.int32), 0), [0])
        return raw.FloorDiv(raw.Size(self.x), raw.Maximum(raw.Size(self.y), 1))

    def absolute_indices(self):
        """Returns the axes as an int32 vector, counted from the front; and the rank of x."""
        rank = raw.Rank(self.x)
        indices = self.indices if self.indices.dtype is int32 else raw.Cast(self.indices, DstT=int32)
        return raw.FloorMod(raw.AddV2(raw.Reshape(indices, [-1]), rank), rank), rank

    def _kept_shape(self):
        indices, rank = self.absolute_indices()
        return raw.DynamicStitch([raw.Range(0, rank, 1), indices], [raw.Shape(self.x), raw.OnesLike(indices)])


# -- sums and means ----------------------------------------------------------------


def _sum_kernel(xp, x, axes, keep_dims):
    x, dtype = wide(x), x.dtype
    return sum_over(xp, x, axes, keep_dims).astype(dtype)


_sum = _reduction("Sum", _sum_kernel, "Sums over axes.", NUMERIC, partial_value=folded, zero_preserving=True,
                  linear=Linear.JOINTLY)


@_sum.grad
def _sum_grad(op, dy):
    return _Reduced(op).broadcast(dy), None


def truncated_mean(xp, total, n):
    """Divides integers, rounding toward zero; returns 0 where n is 0.

    Args:
      total, n: integer arrays of one dtype.
    """
    n = xp.maximum(n, xp.asarray(1, n.dtype))
    quotient = total // n  # rounded down
    return quotient + ((quotient * n != total) & (total < 0)).astype(total.dtype)


def _mean_kernel(xp, x, axes, keep_dims):
    dtype = x.dtype
    # Integers are added in 64 bits: the sum of a few pixels does not fit in uint8.
    x = wide(x) if dtype.kind not in "iu" else x.astype(np.int64 if dtype.kind == "i" else np.uint64)
    total = sum_over(xp, x, axes, keep_dims)
    n = xp.asarray(int(np.prod([x.shape[i] for i in axes])), x.dtype)
    return (truncated_mean(xp, total, n) if dtype.kind in "iu" else total / n).astype(dtype)


_sum.stacked(_sum_stacked)
_mean = _reduction("Mean", _mean_kernel, "Computes the mean over axes; of integers, rounded toward zero.", NUMERIC,
                   zero_preserving=True, linear=Linear.JOINTLY)


@_mean.grad
def _mean_grad(op, dy):
    reduced = _Reduced(op)
    n = reduced.count()
    if not isinstance(n, int):
        n = raw.Cast(n, DstT=dy.dtype)
    # The small gradient is divided, not the repeated one.
    return reduced.broadcast(raw.RealDiv(dy, n)), None


# -- products ----------------------------------------------------------------------


_HALVED = 64  # factors along the last axis; NumPy multiplies contiguous ones one after the other
_ROW = 1 << 12  # elements that are multiplied side by side where all of an array are


def _prod_kernel(xp, x, axes, keep_dims):
    x, dtype = wide(x), x.dtype
    if xp is np and len(axes) == x.ndim > 0 and x.dtype.kind == "f" and x.size >= 2 * _ROW and x.flags.c_contiguous:
        shape, flat = (1,) * x.ndim if keep_dims else (), x.reshape(-1)
        whole = x.size // _ROW * _ROW
        product = np.multiply.reduce(flat[:whole].reshape(-1, _ROW), 0)  # many at once, unlike those of one row
        product[: x.size - whole] *= flat[whole:]
        return np.asarray(_prod_kernel(np, product, (0,), False), dtype).reshape(shape)
    if xp is np and axes == (x.ndim - 1,) and x.dtype.kind == "f" and x.shape[-1] >= _HALVED and x.size:
        while x.shape[-1] >= _HALVED:
            half = x.shape[-1] // 2
            product = x[..., :half] * x[..., half : 2 * half]
            if x.shape[-1] % 2:
                product[..., 0] *= x[..., -1]
            x = product
    return xp.prod(x, axis=axes, keepdims=keep_dims, dtype=x.dtype).astype(dtype)


_prod = _reduction("Prod", _prod_kernel, "Computes the product over axes.", NUMERIC, partial_value=folded,
                   eager_seconds=5e-10)


@_prod.grad
def _prod_grad(op, dy):
    """Computes dy times the product of all the other elements, which also holds where some are zero."""
    reduced = _Reduced(op)
    rows, restore = _lanes(reduced)
    left = raw.Cumprod(rows, 0, exclusive=True)
    right = raw.Cumprod(rows, 0, exclusive=True, reverse=True)
    return raw.Mul(reduced.expand(dy), conj(restore(raw.Mul(left, right)))), None


def _lanes(reduced):
    """Reshapes x to a matrix whose axis 0 holds the reduced axes; returns it and the function that undoes this."""
    x, shape, axes = reduced.x, reduced.shape, reduced.axes
    if axes is not None and len(axes) == len(shape):
        return raw.Reshape(x, [-1]), lambda t: raw.Reshape(t, shape_of(x))
    if axes is not None:
        order = np.asarray([*axes, *(i for i in range(len(shape)) if i not in axes)], np.int32)
        back = np.argsort(order).astype(np.int32)
    else:
        indices, rank = reduced.absolute_indices()
        order = raw.ConcatV2([indices, raw.ListDiff(raw.Range(0, rank, 1), indices)[0]], 0)
        back = raw.InvertPermutation(order)
    moved = x if axes == tuple(range(len(axes or ()))) else raw.Transpose(x, order)
    if is_fully_defined(shape) and axes is not None:
        n = int(np.prod([shape[i] for i in axes]))
        target = np.asarray([n, int(np.prod(shape)) // n if n else 0], np.int32)
    else:
        n = reduced.count()
        target = raw.Pack([n, raw.FloorDiv(raw.Size(x), raw.Maximum(n, 1))], axis=0)
    moved_shape = shape_of(moved)

    def restore(t):
        t = raw.Reshape(t, moved_shape)
        return t if moved is x else raw.Transpose(t, back)

    return raw.Reshape(moved, target), restore


# -- extrema -----------------------------------------------------------------------


def _extremum(name, doc):
    """Declares Max or Min. The extremum of no elements is the neutral element, as in TensorFlow."""

    def kernel(xp, x, axes, keep_dims):
        if x.dtype.kind in "iu":
            neutral = np.iinfo(x.dtype).min if name == "max" else np.iinfo(x.dtype).max
        else:
            neutral = -np.inf if name == "max" else np.inf
        return getattr(xp, name)(x, axis=axes, keepdims=keep_dims, initial=xp.asarray(neutral, x.dtype))

    return _reduction(name.capitalize(), kernel, doc, REAL, partial_value=folded)


_max = _extremum("max", "Computes the maximum over axes.")
_min = _extremum("min", "Computes the minimum over axes.")


@_max.grad
def _max_grad(op, dy):
    """Divides dy in equal shares among the elements that attain the extremum."""
    reduced = _Reduced(op)
    chosen = raw.Cast(raw.Equal(op.inputs[0], reduced.expand(op.outputs[0])), DstT=dy.dtype)
    ties = raw.Sum(chosen, op.inputs[1], keep_dims=True)
    return raw.Mul(chosen, raw.RealDiv(reduced.expand(dy), ties)), None


_min.grad(_max_grad)


# -- norms -------------------------------------------------------------------------


def _euclidean_norm_kernel(xp, x, axes, keep_dims):
    x, dtype = wide(x), x.dtype
    squares = xp.real(x * xp.conj(x)) if dtype.kind == "c" else x * x
    return xp.sqrt(sum_over(xp, squares, axes, keep_dims)).astype(dtype)


_euclidean_norm = _reduction("EuclideanNorm", _euclidean_norm_kernel, "Computes the Euclidean norm over axes.",
                             NUMERIC)


@_euclidean_norm.grad
def _euclidean_norm_grad(op, dy):
    reduced = _Reduced(op)
    return raw.Mul(op.inputs[0], reduced.expand(raw.RealDiv(dy, op.outputs[0]))), None


# -- logic -------------------------------------------------------------------------


def _all_kernel(xp, x, axes, keep_dims):
    return xp.all(x, axis=axes, keepdims=keep_dims)


def _any_kernel(xp, x, axes, keep_dims):
    return xp.any(x, axis=axes, keepdims=keep_dims)


_all = _reduction("All", _all_kernel, "Returns whether all elements along axes are true.")
_any = _reduction("Any", _any_kernel, "Returns whether any element along axes is true.")
_all.grad(NOT_DIFFERENTIABLE)
_any.grad(NOT_DIFFERENTIABLE)


limit_ranks(
    at_most_vectors="""
        All.reduction_indices Any.reduction_indices EuclideanNorm.reduction_indices Max.reduction_indices
        Mean.reduction_indices Min.reduction_indices Prod.reduction_indices Sum.reduction_indices""",
)
