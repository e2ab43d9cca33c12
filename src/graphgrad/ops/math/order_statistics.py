"""Order statistics: nth element, older and approximate top-k, isotonic regression."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import FLOATING, INDEX, REAL, bfloat16, float16, float32, float64, int8, int16, int32, int64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import normalize_axis, with_rank_at_least
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.ops.common.shape_values import axes, join, plus, rank_of, shape_of

from .topk import _in_top_k_shape, _top_k_grad, _top_k_shape

# -- TopK and InTopK of TensorFlow 1 -----------------------------------------------------


@op("TopK", "input: T -> values: T, indices: int32", T=REAL, cost=Cost.HEAVY)
def top_k_v1_op(xp, x, *, k, sorted=True):
    """Finds the k largest elements along the last axis and their indices; of equal elements the first."""
    return raw.TopKV2.kernel(xp, x, k, sorted=sorted)


@top_k_v1_op.shape
def _top_k_v1_shape(x, k):
    return _top_k_shape(x, k)


@top_k_v1_op.grad
def _top_k_v1_grad(op, dvalues, unused):
    return _top_k_grad(op, dvalues, unused)[0]


@op("InTopK", "predictions: float32, targets: T -> precision: bool", prefers={"T": "int32"}, T=INDEX,
    gradient_advice="the cross entropy: tf.nn.sparse_softmax_cross_entropy_with_logits("
                    "labels=targets, logits=predictions)")
def in_top_k_v1_op(xp, predictions, targets, *, k):
    """Returns whether fewer than k classes have a larger prediction than the target."""
    return raw.InTopKV2.kernel(xp, predictions, targets, k)


@in_top_k_v1_op.shape
def _in_top_k_v1_shape(predictions, targets):
    return _in_top_k_shape(predictions, targets, None)


# -- ApproxTopK --------------------------------------------------------------------------


@op("ApproxTopK", "input: T -> values: T, indices: int32", T={float16, bfloat16, float32, float64}, cost=Cost.HEAVY)
def approx_top_k_op(xp, x, *, k, reduction_dimension=-1, recall_target=0.95, is_max_k=True,
                    reduction_input_size_override=-1, aggregate_to_topk=True):
    """Finds the k largest (or smallest) elements along an axis and their indices; exact on a CPU."""
    axis = normalize_axis(reduction_dimension, x.ndim)
    last = xp.moveaxis(x, axis, -1)
    values, indices = raw.TopKV2.kernel(xp, last if is_max_k else -last, k)
    return xp.moveaxis(values if is_max_k else -values, -1, axis), xp.moveaxis(indices, -1, axis)


@approx_top_k_op.shape
def _approx_top_k_shape(x, k, reduction_dimension):
    with_rank_at_least(x, 1, "input")
    if x is None:
        return [None, None]
    axis = normalize_axis(reduction_dimension, len(x))
    if k < 0:
        raise Complaint(f"Need k >= 0, got {k}", "use a k of 0 or more")
    if x[axis] is not None and k > x[axis]:
        raise Complaint(f"input must have last dimension >= k = {k} but was {x[axis]}", "use a smaller k")
    return [x[:axis] + (k,) + x[axis + 1 :]] * 2


@approx_top_k_op.grad
def _approx_top_k_grad(op, dvalues, unused):
    x, indices = op.inputs[0], op.outputs[1]
    if x._spec.shape is None:
        raise LookupError("the gradient of ApproxTopK needs an input of known rank. Fix: set_shape")
    rank = len(x._spec.shape)
    axis = normalize_axis(op._attr("reduction_dimension"), rank)
    order = np.asarray([i for i in range(rank) if i != axis] + [axis], np.int32)
    if axis != rank - 1:
        dvalues, indices = raw.Transpose(dvalues, order), raw.Transpose(indices, order)
    sizes = shape_of(x)
    turned = sizes[order] if isinstance(sizes, np.ndarray) else raw.GatherV2(sizes, order, 0)
    dx = _scatter_last(dvalues, indices, turned, op._attr("k"))
    return dx if axis == rank - 1 else raw.Transpose(dx, np.argsort(order).astype(np.int32))


def _scatter_last(values, indices, sizes, k):
    """Scatters `values` to `indices` along the last axis of an array of zeros of the given sizes."""
    rows = raw.Reshape(indices, np.asarray([-1, k], np.int32))
    numbers = raw.Range(0, raw.StridedSlice(raw.Shape(rows), [0], [1], [1], shrink_axis_mask=1), 1)
    width = raw.StridedSlice(convert_to_tensor(sizes), [-1], [0], [1], end_mask=1)
    flat = raw.AddV2(rows, raw.Mul(raw.ExpandDims(numbers, -1), width))
    total = raw.Reshape(raw.Prod(sizes, 0), [1])
    places = raw.Reshape(flat, np.asarray([-1, 1], np.int32))
    return raw.Reshape(raw.ScatterNd(places, raw.Reshape(values, [-1]), total), sizes)


class ApproxTopK(NamedTuple):
    """The results of `approx_max_k` and `approx_min_k`."""

    values: Tensor
    indices: Tensor


def approx_max_k(operand: TensorLike, k: int, reduction_dimension: int = -1, recall_target: float = 0.95,
                 reduction_input_size_override: int = -1, aggregate_to_topk: bool = True,
                 name: str | None = None) -> ApproxTopK:
    """Finds the k largest elements along an axis, approximately on accelerators and exactly on a CPU.

    Args:
      operand: (*A, n, *B), a float tensor.
      k: an int, at most n.
      reduction_dimension: the axis of n.
      recall_target: the least part of the true ones that accelerators have to find.
      reduction_input_size_override: if positive, the n to choose their method by.
      aggregate_to_topk: whether accelerators reduce their candidates to k.
      name: a name for the operation.
    Returns: (values, indices), both (*A, k, *B), largest first; indices are int32.
    Raises: ValueError if k is larger than n.
    Gradient: dvalues scattered to where the values came from.
    Reference: TensorFlow 2.21 ApproxTopK; Chern et al. 2022.

    >>> sess.run(tf.nn.approx_max_k([1.0, 5.0, 3.0], 2))
    ApproxTopK(values=array([5., 3.], dtype=float32), indices=array([1, 2], dtype=int32))
    """
    return _approx(operand, k, reduction_dimension, recall_target, True, reduction_input_size_override,
                   aggregate_to_topk, name)


def approx_min_k(operand: TensorLike, k: int, reduction_dimension: int = -1, recall_target: float = 0.95,
                 reduction_input_size_override: int = -1, aggregate_to_topk: bool = True,
                 name: str | None = None) -> ApproxTopK:
    """Finds the k smallest elements along an axis, approximately on accelerators and exactly on a CPU.

    Args:
      operand: (*A, n, *B), a float tensor.
      k: an int, at most n.
      reduction_dimension: the axis of n.
      recall_target: the least part of the true ones that accelerators have to find.
      reduction_input_size_override: if positive, the n to choose their method by.
      aggregate_to_topk: whether accelerators reduce their candidates to k.
      name: a name for the operation.
    Returns: (values, indices), both (*A, k, *B), smallest first; indices are int32.
    Raises: ValueError if k is larger than n.
    Gradient: dvalues scattered to where the values came from.
    Reference: TensorFlow 2.21 ApproxTopK; Chern et al. 2022.

    >>> sess.run(tf.nn.approx_min_k([1.0, 5.0, 3.0], 2))
    ApproxTopK(values=array([1., 3.], dtype=float32), indices=array([0, 2], dtype=int32))
    """
    return _approx(operand, k, reduction_dimension, recall_target, False, reduction_input_size_override,
                   aggregate_to_topk, name)


def _approx(operand, k, axis, recall, largest, override, aggregate, name):
    return ApproxTopK(*raw.ApproxTopK(operand, k=whole(k), reduction_dimension=whole(axis), recall_target=float(recall),
                                      is_max_k=largest, reduction_input_size_override=int(override),
                                      aggregate_to_topk=bool(aggregate), name=name))


# -- NthElement --------------------------------------------------------------------------


@op("NthElement", "input: T, n: int32 -> values: T", T=REAL, host=("n",))
def nth_element_op(xp, x, n, *, reverse=False):
    """Finds the n-th smallest (or largest) element along the last axis."""
    n = int(n)
    if not 0 <= n < x.shape[-1]:
        raise Complaint(f"Input must have last dimension > n = {n}", f"use an n in [0, {x.shape[-1]})")
    return xp.sort(x, axis=-1)[..., x.shape[-1] - 1 - n if reverse else n]


@nth_element_op.shape
def _nth_element_shape(x, n):
    if isinstance(n, tuple):
        raise Complaint("n must be a scalar", "give one int")
    with_rank_at_least(x, 1, "input")
    if x is None:
        return None
    if n is not None and n < 0:
        raise Complaint(f"n must be non-negative but is {n}", "use an n of 0 or more")
    if n is not None and x[-1] is not None and n >= x[-1]:
        raise Complaint(f"Input must have last dimension > n = {n} but is {x[-1]}", "use a smaller n")
    return x[:-1]


@nth_element_op.grad
def _nth_element_grad(op, dy):
    x, y = op.inputs[0], op.outputs[0]
    same = raw.Cast(raw.Equal(raw.ExpandDims(y, -1), x), DstT=x.dtype)
    number = raw.Sum(same, np.asarray([-1], np.int32), keep_dims=True)
    return raw.Mul(raw.RealDiv(same, number), raw.ExpandDims(dy, -1)), None


# -- IsotonicRegression ------------------------------------------------------------------

_OUT = {int8: float32, int16: float32, float16: float16, bfloat16: bfloat16, float32: float32}


def _pool_violators(values):
    """Returns one row's regression and the numbers of its segments, by pooling adjacent violators."""
    means: list[float] = []
    sizes: list[int] = []
    for v in values:
        means.append(v)
        sizes.append(1)
        while len(means) > 1 and means[-1] > means[-2]:
            mean, size = means.pop(), sizes.pop()
            means[-1] = (means[-1] * sizes[-1] + mean * size) / (sizes[-1] + size)
            sizes[-1] += size
    return np.repeat(means, sizes), np.repeat(np.arange(len(sizes)), sizes)


@op("IsotonicRegression", "input: T -> output: output_dtype, segments: int32", T=REAL, output_dtype=FLOATING,
    flags=("host",))
def isotonic_op(xp, x, *, output_dtype=float32):
    """Computes the nearest non-increasing sequence along the last axis, and the segments of equal elements."""
    rows = x.reshape(-1, x.shape[-1]).astype(np.float64)
    fitted, segments = np.zeros(rows.shape), np.zeros(rows.shape, np.int32)
    for i, row in enumerate(rows):
        if row.size:
            fitted[i], segments[i] = _pool_violators(row)
    return fitted.reshape(x.shape).astype(output_dtype.np_dtype), segments.reshape(x.shape)


@isotonic_op.shape
def _isotonic_shape(x):
    with_rank_at_least(x, 1, "input")
    return [x, x]


@isotonic_op.grad
def _isotonic_grad(op, dy, unused):
    x, segments = op.inputs[0], op.outputs[1]
    if not x.dtype.is_floating:
        return None
    # Each segment is a mean, so its elements share its gradient. Segments are numbered through all rows.
    sizes = shape_of(x)
    rows = raw.Reshape(segments, join([-1], _last(sizes)))
    first = raw.Max(rows, np.asarray([1], np.int32))
    starts = raw.Cumsum(raw.AddV2(first, 1), 0, exclusive=True)
    flat = raw.Reshape(raw.AddV2(rows, raw.ExpandDims(starts, 1)), [-1])
    count = raw.Size(x)
    dy = dy if dy.dtype is x.dtype else raw.Cast(dy, DstT=x.dtype)
    values = raw.Reshape(dy, [-1])
    totals = raw.UnsortedSegmentSum(values, flat, count)
    numbers = raw.UnsortedSegmentSum(raw.OnesLike(values), flat, count)
    return raw.Reshape(raw.GatherV2(raw.DivNoNan(totals, numbers), flat, 0), sizes)


def _last(sizes):
    return sizes[-1:] if isinstance(sizes, np.ndarray) else raw.StridedSlice(sizes, [-1], [0], [1], end_mask=1)


class IsotonicRegression(NamedTuple):
    """The results of `isotonic_regression`."""

    output: Tensor
    segments: Tensor


def isotonic_regression(inputs: TensorLike, decreasing: bool = True, axis: TensorLike = -1) -> IsotonicRegression:
    """Computes the monotonic sequence nearest to the inputs, in the sense of least squares.

    Args:
      inputs: (*A, n, *B), a real tensor.
      decreasing: whether the result does not increase; else it does not decrease.
      axis: the axis of n.
    Returns: (output, segments): the sequence, of the inputs' shape (float64 for int32 and int64), and for each
      element the number of the run of equal elements that it belongs to, int32.
    Raises: ValueError for scalars.
    Gradient: the mean of dy over each segment.
    Reference: TensorFlow 2.21 IsotonicRegression; Best and Chakravarti 1990.

    >>> sess.run(isotonic_regression([3.0, 1.0, 2.0, 0.0]))
    IsotonicRegression(output=array([3. , 1.5, 1.5, 0. ], dtype=float32), segments=array([0, 1, 1, 2], dtype=int32))
    """
    with name_scope(None, "isotonic_regression"):
        x = convert_to_tensor(inputs, name="inputs")
        kind = _OUT.get(x.dtype, float64 if x.dtype in (int32, int64, float64) else float32)
        rank = rank_of(x)
        at_end = axis in (-1, rank - 1 if isinstance(rank, int) else -1)
        if not at_end:
            where = axis if axis >= 0 else plus(rank, axis)
            order = join(axes(0, where), axes(plus(where, 1), rank), [where] if isinstance(where, int) else
                         raw.Reshape(where, [1]))
            x = raw.Transpose(x, order)
        with_rank_at_least(x._spec.shape, 1, "inputs")
        y, segments = raw.IsotonicRegression(x if decreasing else raw.Neg(x), output_dtype=kind)
        y = y if decreasing else raw.Neg(y)
        if not at_end:
            back = raw.InvertPermutation(order)
            y, segments = raw.Transpose(y, back), raw.Transpose(segments, back)
        return IsotonicRegression(y, segments)


def approx_top_k(input: TensorLike, k: TensorLike, reduction_dimension: int = -1, recall_target: float = 0.95,
                 is_max_k: bool = True, reduction_input_size_override: int = -1, aggregate_to_topk: bool = True,
                 name: str | None = None) -> ApproxTopK:
    """Finds the k largest or smallest elements along an axis, approximately on accelerators, exactly on a CPU.

    Args:
      input: (*A, n, *B), a float tensor.
      is_max_k: whether to find the largest elements, else the smallest.
      k, reduction_dimension, recall_target, reduction_input_size_override, aggregate_to_topk, name: as for
        `approx_max_k`.
    Returns: (values, indices), both (*A, k, *B), best first.
    Raises: ValueError if k is larger than n.
    Gradient: dvalues scattered to where the values came from.
    Reference: TensorFlow 2.21 ApproxTopK.

    >>> sess.run(tf.approx_top_k([1.0, 5.0, 3.0], 1).indices)
    array([1], dtype=int32)
    """
    return _approx(input, k, reduction_dimension, recall_target, is_max_k, reduction_input_size_override,
                   aggregate_to_topk, name)
