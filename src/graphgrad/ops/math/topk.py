"""TopK and InTopK."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INDEX, REAL, as_dtype, float32, int16, int32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import with_rank, with_rank_at_least
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.op_traits import Cost
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import join, rank_of, shape_of

_INDEX = INDEX | {int16}


class TopKV2(NamedTuple):
    """The results of `top_k`."""

    values: Tensor
    indices: Tensor


@op("TopKV2", "input: T, k: Tk -> values: T, indices: index_type", T=REAL, Tk=_INDEX, index_type=_INDEX,
    host=("k",), cost=Cost.HEAVY, eager_seconds=5e-9)
def top_k_op(xp, x, k, *, sorted=True, index_type=int32):
    """Finds the k largest elements along the last axis and their indices; of equal elements the first."""
    k = int(k)
    if k < 0:
        raise Complaint(f"Need k >= 0, got {k}", "give how many elements are wanted")
    if k > x.shape[-1]:
        raise Complaint(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}", "use a smaller k")
    if xp is np:
        if x.size >= _LARGE and x.dtype in (np.float32, np.int32):
            indices = _largest(x, k)
            return np.take_along_axis(x, indices, -1), indices.astype(index_type.np_dtype)
        n = x.shape[-1]
        order = n - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
        indices = order[..., :k]
        return np.take_along_axis(x, indices, -1), indices.astype(index_type.np_dtype)
    if k < _SORTED * x.shape[-1] or x.dtype not in (np.float32, np.int32):
        values, indices = lax_of(xp).top_k(x, k)
    else:
        indices = _descending(xp, x)[..., :k]
        values = xp.take_along_axis(x, indices, -1)
    return values, indices.astype(index_type.np_dtype)


_SORTED = 0.25  # the part of the elements from which on sorting all is faster than looking for the largest


def _descending(xp, x):
    """Returns the order of the elements along the last axis, the largest first, of equal ones the first.

    XLA:CPU sorts single integers four times as fast as floats or pairs, so element and position make one.
    """
    lax = lax_of(xp)
    if x.dtype == np.float32:  # bits in the order of the numbers, NaNs above all
        x = xp.where(x == 0, np.float32(0), xp.where(x == x, x, np.float32(np.nan)))
        bits = lax.bitcast_convert_type(x, np.int32)
        x = xp.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
    place = lax.broadcasted_iota(np.int64, x.shape, x.ndim - 1)
    keys = lax.shift_left((~x).astype(np.int64), np.int64(32)) | place
    return lax.bitwise_and(lax.sort(keys, dimension=x.ndim - 1, is_stable=False), np.int64(0xFFFFFFFF))


_LARGE = 1 << 12  # elements from which on NumPy finds the largest by sorting integers


def _largest(x, k):
    """Does the same in NumPy for the k largest: those that are not below the k-th one, if they are k in each row."""
    n = x.shape[-1]
    if not 0 < k < _FEW * n:
        return _largest_of_sorted(x, k)
    rows = x.reshape(-1, n)
    least = np.partition(rows, n - k, axis=-1)[:, n - k, None]
    found = np.flatnonzero(~(rows < least))  # NaNs are above all
    if len(found) == k * len(rows):
        places = found.reshape(len(rows), k)
        order = _largest_of_sorted(rows.reshape(-1)[places], k)
        places = np.take_along_axis(places, order, -1) - np.arange(0, rows.size, n)[:, None]
        if (places >= 0).all() and (places < n).all():  # not as many in one row as another one lacks
            return places.reshape(*x.shape[:-1], k)
    return _largest_of_sorted(x, k)


_FEW = 0.25  # the part of the elements up to which they are looked for before they are sorted


def _largest_of_sorted(x, k):
    """Does the same: element and position make one integer, which NumPy sorts fast."""
    if x.dtype == np.float32:  # bits in the order of the numbers, NaNs above all
        bits = np.where(np.isnan(x), np.float32(np.nan), x + np.float32(0)).view(np.int32)
        bits ^= (bits >> np.int32(31)) & np.int32(0x7FFFFFFF)
    else:
        bits = x
    keys = np.invert(bits).astype(np.int64)
    keys <<= np.int64(32)
    keys |= np.arange(x.shape[-1], dtype=np.int64)
    if k < x.shape[-1]:
        keys = np.partition(keys, max(k - 1, 0), axis=-1)[..., :k]
    keys.sort(axis=-1)
    return keys & np.int64(0xFFFFFFFF)


@top_k_op.shape
def _top_k_shape(x, k):
    with_rank_at_least(x, 1, "input")
    if x is None:
        return [None, None]
    if k is not None and k < 0:
        raise Complaint(f"Need k >= 0, got {k}", "use a k of 0 or more")
    if k is not None and x[-1] is not None and k > x[-1]:
        raise Complaint(f"input must have last dimension >= k = {k} but is {x[-1]}", "use a smaller k")
    return [x[:-1] + (k,), x[:-1] + (k,)]


@top_k_op.grad
def _top_k_grad(op, dvalues, unused):
    x = op.inputs[0]
    indices = op.outputs[1]
    if indices.dtype is not int32:
        indices = raw.Cast(indices, DstT=int32)
    sizes = shape_of(x)
    if rank_of(x) == 1:
        flat = indices
    else:
        last = _last(sizes)
        k = _last(shape_of(indices))
        rows = raw.Reshape(indices, join([-1], k))
        count = raw.StridedSlice(raw.Shape(rows), [0], [1], [1], shrink_axis_mask=1)
        width = last[0] if isinstance(last, np.ndarray) else raw.Reshape(last, np.zeros(0, np.int32))
        starts = raw.Mul(raw.Range(0, count, 1), width)
        flat = raw.AddV2(rows, raw.ExpandDims(starts, -1))
    places = raw.Reshape(flat, np.asarray([-1, 1], np.int32))
    total = np.asarray([np.prod(sizes)], np.int32) if isinstance(sizes, np.ndarray) else raw.Reshape(raw.Size(x), [1])
    return raw.Reshape(raw.ScatterNd(places, raw.Reshape(dvalues, [-1]), total), sizes), None


def _last(sizes):
    if isinstance(sizes, np.ndarray):
        return sizes[-1:]
    return raw.StridedSlice(sizes, [-1], [0], [1], end_mask=1)


@op("InTopKV2", "predictions: float32, targets: T, k: T -> precision: bool", prefers={"T": "int32"}, T=INDEX,
    gradient_advice="the cross entropy: tf.nn.sparse_softmax_cross_entropy_with_logits("
                    "labels=targets, logits=predictions)")
def in_top_k_op(xp, predictions, targets, k):
    """Returns whether fewer than k classes have a larger prediction than the target; ties count as in."""
    classes = predictions.shape[-1]
    valid = (targets >= 0) & (targets < classes)
    safe = xp.where(valid, targets, 0)
    own = xp.take_along_axis(predictions, safe[:, None], axis=1)
    larger = xp.sum(predictions > own, axis=1)
    finite = xp.all(xp.isfinite(predictions), axis=1)
    return valid & finite & (larger < k)


@in_top_k_op.shape
def _in_top_k_shape(predictions, targets, k):
    with_rank(predictions, 2, "predictions")
    (n,) = with_rank(targets, 1, "targets")
    rows = n if predictions is None or predictions[0] is None else predictions[0]
    if n is not None and rows != n:
        raise Complaint(f"there are {rows} rows of predictions but {n} targets", "give one target for each row")
    return (rows,)


def top_k(input: TensorLike, k: TensorLike = 1, sorted: bool = True, index_type: DTypeLike = int32,
          name: str | None = None) -> TopKV2:
    """Finds the k largest elements along the last axis, largest first.

    Args:
      input: (*B, n), a real tensor.
      k: an integer scalar, at most n.
      sorted: whether the result must be sorted; it always is.
      index_type: the dtype of the indices.
      name: a name for the operation.
    Returns: (values, indices), both (*B, k); of equal elements the first comes first.
    Raises: ValueError if k is larger than n.
    Gradient: dvalues scattered to where the values came from.
    Reference: TensorFlow 2.21 TopKV2.

    >>> sess.run(tf.nn.top_k([1.0, 5.0, 3.0], 2))
    TopKV2(values=array([5., 3.], dtype=float32), indices=array([1, 2], dtype=int32))
    """
    return TopKV2(*raw.TopKV2(input, k, sorted=bool(sorted), index_type=as_dtype(index_type), name=name))


def in_top_k(targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether each target is among the k largest predictions of its row.

    Args:
      targets: (N), int32 or int64, classes.
      predictions: (N, C), float32.
      k: an integer.
      name: a name for the operation.
    Returns: (N), bool; False for a target out of range or a row that is not finite.
    Raises: ValueError if the shapes are incompatible.
    Gradient: none; asking for it is a LookupError, as in TensorFlow.
    Reference: TensorFlow 2.21 InTopKV2.

    >>> sess.run(tf.nn.in_top_k([[0.1, 0.9], [0.8, 0.2]], [1, 1], 1))
    array([ True, False])
    """
    targets = convert_to_tensor(targets, name="targets")
    predictions = convert_to_tensor(predictions, float32, name="predictions")
    return raw.InTopKV2(predictions, targets, k, name=name or "in_top_k")


def in_top_k_v1(predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether each target is among the k largest predictions of its row; arguments in TensorFlow 1's order.

    Args:
      predictions: (N, C), float32.
      targets: (N), int32 or int64, classes.
      k: an integer.
      name: a name for the operation.
    Returns: (N), bool; False for a target out of range or a row that is not finite.
    Raises: ValueError if the shapes are incompatible.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.in_top_k`.
    """
    return in_top_k(targets, predictions, k, name)


limit_ranks(scalars="TopKV2.k")
