"""Gathers by index, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.constant_value import folded
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import INDEX, int16, int32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import merged, normalize_axis
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ir.values.indexed_slices import IndexedSlices, dense
from graphgrad.op_traits import Linear
from graphgrad.ops.common.shape_values import (
    axes,
    fill,
    host_array,
    is_tensor,
    join,
    minus,
    part,
    plus,
    rank_of,
    shape_of,
    shape_tensor,
    times,
)


def _take(xp, params, indices, axis, batch_dims):
    """Gathers `params` at `indices` along `axis`; the first `batch_dims` axes are common to both."""
    if xp is not np and not params.shape[axis]:  # any existing index is rejected
        shape = _gather_shape(params.shape, indices.shape, axis, batch_dims)
        return xp.zeros(shape, params.dtype)
    if batch_dims == 0:
        if xp is np:
            return np.take(params, indices, axis)
        return xp.take(params, indices, axis, mode="clip")
    if xp is np:
        lead = indices.shape[:batch_dims]
        own = np.reshape(params, (-1, *params.shape[batch_dims:]))
        picked = [np.take(p, i, axis - batch_dims)
                  for p, i in zip(own, np.reshape(indices, (-1, *indices.shape[batch_dims:])), strict=True)]
        rest = _gather_shape(params.shape, indices.shape, axis, batch_dims)[batch_dims:]
        return np.reshape(np.array(picked, params.dtype), lead + rest)
    if hasattr(xp, "written_lax"):
        return xp.take_in_batches(params, indices, axis, batch_dims)
    import jax

    def one(p, i):
        return xp.take(p, i, axis - batch_dims, mode="clip")

    for _ in range(batch_dims):
        one = jax.vmap(one)
    return one(xp.asarray(params), xp.asarray(indices))


def check_range(indices, size):
    """Raises a Complaint if one of the indices is not in [0, size)."""
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        at = np.unravel_index(np.argmax((indices < 0) | (indices >= size)), indices.shape)
        where = ",".join(map(str, at))
        raise Complaint(f"indices[{where}] = {indices[at]} is not in [0, {size})", f"give indices in [0, {size})")


@op("GatherV2", "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams", Tindices=INDEX | {int16},
    Taxis=INDEX, host=("axis",), partial_value=folded, data_movement=True, linear=Linear.JOINTLY)
def gather_v2(xp, params, indices, axis, *, batch_dims=0):
    """Gathers slices of `params` along `axis` by `indices`."""
    at, lead = _settle(axis.item(), batch_dims, len(params.shape), len(indices.shape))
    if lead:
        merged(params.shape[:lead], indices.shape[:lead])  # rejects batches that differ
    if isinstance(indices, np.ndarray):
        check_range(indices, params.shape[at])
    return _take(xp, params, indices, at, lead)


@gather_v2.written_as
def _gather_formula(op):
    return None if op._attr("batch_dims") else "take(params, indices, axis)"


@gather_v2.refuses("indices")
def _gather_refuses(xp, params, indices, axis, batch_dims):
    return [(indices, params.shape[_settle(axis.item(), batch_dims, len(params.shape), len(indices.shape))[0]])]


def _settle(axis, batch_dims, rank, index_rank):
    """Returns axis and batch_dims, counted from the front."""
    at = normalize_axis(axis, rank)
    lead = batch_dims + index_rank if batch_dims < 0 else batch_dims
    if not 0 <= lead <= index_rank or lead > at:
        raise Complaint(f"batch_dims ({batch_dims}) must be at most the rank of indices ({index_rank}) and axis ({at})",
                        "give a smaller batch_dims")
    return at, lead


@gather_v2.shape
def _gather_shape(params, indices, axis, batch_dims):
    if isinstance(axis, tuple):
        raise Complaint("axis must be a scalar", "give one int")
    if params is None or indices is None:
        return None
    if axis is None:
        lead = batch_dims + len(indices) if batch_dims < 0 else batch_dims
        return (None,) * (len(params) + len(indices) - 1 - lead)
    if not params:
        raise Complaint("params must be at least 1 dimensional", "give params an axis to gather along")
    at, lead = _settle(axis, batch_dims, len(params), len(indices))
    return merged(params[:lead], indices[:lead]) + params[lead:at] + indices[lead:] + params[at + 1 :]


@gather_v2.grad
def _gather_v2_grad(op, dy):
    params, indices, axis = op.inputs
    at = host_array(axis)
    if at is None:
        raise LookupError("the gradient of GatherV2 needs an axis that is known while the graph is built")
    lead = op._attr("batch_dims")
    at = int(at)
    if at < 0:
        at = plus(rank_of(params), at)
    if lead < 0:
        lead = plus(rank_of(indices), lead)
    if isinstance(at, int) and at == 0:
        return _rows(dy, params, indices), None, None
    return _along_axis(dy, shape_of(params), rank_of(params), indices, at, lead), None, None


def _rows(dy, params, indices):
    shape = shape_of(params)
    if isinstance(shape, np.ndarray):
        tail = shape[1:]
    else:
        tail = raw.StridedSlice(shape, [1], [0], [1], end_mask=1)
    return IndexedSlices(raw.Reshape(dy, join([-1], tail)), raw.Reshape(indices, [-1]), convert_to_tensor(shape))


def _along_axis(dy, shape, rank, indices, at, lead):
    """Computes the gradient, of the given shape and rank, by a segment sum: batch and index axes come first."""
    index_rank = rank_of(indices)
    after = plus(at, minus(index_rank, lead))  # the first axis of dy behind those of the indices
    last = plus(after, minus(minus(rank, at), 1))
    values = raw.Transpose(dy, join(axes(0, lead), axes(at, after), axes(lead, at), axes(after, last)))
    n = part(shape, at, plus(at, 1))
    batch = part(shape, 0, lead)
    rows, ids = n, indices
    if not (isinstance(lead, int) and lead == 0):
        count = np.prod(batch) if isinstance(batch, np.ndarray) else raw.Prod(batch, 0)
        rows = times(count, n)
        first = times(np.arange(count, dtype=np.int32) if isinstance(count, np.integer) else raw.Range(0, count, 1), n)
        ones = fill(minus(index_rank, lead), 1)
        first = raw.Reshape(first, join(batch, ones))
        ids = raw.AddV2(indices, first if indices.dtype is int32 else raw.Cast(first, DstT=indices.dtype))
    summed = raw.UnsortedSegmentSum(values, ids, raw.Reshape(rows, []) if is_tensor(rows) else np.int32(rows.item()))
    summed = raw.Reshape(summed, join(batch, n, part(shape, lead, at), part(shape, plus(at, 1), rank)))
    return raw.Transpose(summed, join(axes(0, lead), axes(plus(lead, 1), plus(at, 1)), axes(lead, plus(lead, 1)),
                                      axes(plus(at, 1), rank)))


def _gather_v1_shape(params, indices):
    return _gather_shape(params, indices, 0, 0)


@op("Gather", "params: Tparams, indices: Tindices -> output: Tparams", Tindices=INDEX, shape=_gather_v1_shape,
    data_movement=True, linear=Linear.JOINTLY)
def gather_v1_op(xp, params, indices, *, validate_indices=True):
    """Gathers rows of `params` by `indices`."""
    if isinstance(indices, np.ndarray):
        check_range(indices, params.shape[0])
    return _take(xp, params, indices, 0, 0)


@gather_v1_op.refuses("indices")
def _gather_v1_refuses(xp, params, indices):
    return [(indices, params.shape[0])]


@gather_v1_op.grad
def _gather_v1_grad(op, dy):
    return _rows(dy, *op.inputs), None


# -- by coordinates ----------------------------------------------------------------


def coordinates(xp, indices, shape):
    """Returns the tuple that indexes an array at the vectors in the last axis of `indices`, checked or clamped.

    Args:
      indices: (*I, k), integers.
      shape: the shape whose first k sizes are the bounds.
    """
    k = indices.shape[-1]
    if isinstance(indices, np.ndarray):
        bad = (indices < 0) | (indices >= np.array(shape[:k], np.int64))
        if bad.any():
            at = np.unravel_index(np.argmax(bad.any(-1)), indices.shape[:-1])
            where = ",".join(map(str, at))
            raise Complaint(f"indices[{where}] = {indices[at].tolist()} does not index into shape {list(shape)}",
                            f"give indices in {' x '.join(f'[0, {n})' for n in shape[:k])}")
        return tuple([indices[..., i] for i in range(k)])
    return tuple([xp.clip(indices[..., i], 0, shape[i] - 1) for i in range(k)])


def outside(indices, shape, bad_indices_policy=""):
    """Rejects (see `OpDef.refuses`) vectors in the last axis of `indices` that are not positions in `shape`."""
    if bad_indices_policy == "IGNORE":
        return []
    return [(indices[..., i], shape[i]) for i in range(indices.shape[-1])]


def check_policy(bad_indices_policy):
    """Raises a Complaint if there is no such policy."""
    if bad_indices_policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise Complaint(f"Unknown bad indices handling attribute: {bad_indices_policy}", "use '', 'ERROR' or 'IGNORE'")


def within(indices, shape):
    """Returns, for each vector in the last axis of `indices`, whether it is a position in `shape`."""
    return ((indices >= 0) & (indices < np.asarray(shape[: indices.shape[-1]], indices.dtype))).all(-1)


@op("GatherNd", "params: Tparams, indices: Tindices -> output: Tparams", Tindices=INDEX | {int16}, data_movement=True,
    linear=Linear.JOINTLY)
def gather_nd_op(xp, params, indices, *, bad_indices_policy=""):
    """Gathers slices of `params` at the coordinates in the last axis of `indices`."""
    if not indices.shape[-1]:
        return xp.broadcast_to(params, indices.shape[:-1] + params.shape)
    if bad_indices_policy == "IGNORE":  # zeros for invalid positions
        inside = within(indices, params.shape)
        found = xp.asarray(params)[coordinates(xp, xp.where(inside[..., None], indices, 0), params.shape)]
        inside = inside.reshape(inside.shape + (1,) * (found.ndim - inside.ndim))
        return xp.where(inside, found, np.zeros((), found.dtype))
    return xp.asarray(params)[coordinates(xp, indices, params.shape)]


@gather_nd_op.shape
def _gather_nd_shape(params, indices, bad_indices_policy):
    check_policy(bad_indices_policy)
    if indices == ():
        raise Complaint("indices must be at least a vector", "give one coordinate for each axis to index")
    if params is None or indices is None or indices[-1] is None:
        return None
    if indices[-1] > len(params):
        raise Complaint(f"indices.shape[-1] must be <= params.rank, but saw indices.shape[-1] = {indices[-1]} and "
                        f"params.rank = {len(params)}", "give fewer coordinates")
    return indices[:-1] + params[indices[-1] :]


@gather_nd_op.refuses("indices")
def _gather_nd_refuses(xp, params, indices, bad_indices_policy=""):
    return outside(indices, params.shape, bad_indices_policy)


@gather_nd_op.grad
def _gather_nd_grad(op, dy):
    params, indices = op.inputs
    shape, policy = indices._spec.shape, op._attr("bad_indices_policy")
    if shape is not None and len(shape) == 2 and shape[-1] == 1 and policy != "IGNORE":
        return IndexedSlices(dense(dy), raw.Squeeze(indices, squeeze_dims=(-1,)), shape_tensor(params)), None
    # There is no ScatterNd whose shape is int16.
    at = indices if indices.dtype in INDEX else raw.Cast(indices, DstT=int32)
    return raw.ScatterNd(at, dy, shape_of(params, at.dtype), bad_indices_policy=policy), None


# -- functions ---------------------------------------------------------------------


def gather(params: Any, indices: TensorLike, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0,
           name: str | None = None) -> Tensor:
    """Gathers slices of `params` along `axis` by `indices`.

    Args:
      params: (*B, *P, n, *Q), any dtype, B having batch_dims and (*B, *P) having `axis` axes.
      indices: (*B, *I), int16, int32 or int64, each in [0, n).
      validate_indices: accepted as TensorFlow does; not used.
      axis: scalar int; batch_dims by default.
      batch_dims: int, the number of first axes that both have in common.
      name: a name for the operation.
    Returns: (*B, *P, *I, *Q), dtype of `params`.
    Raises: InvalidArgumentError at run time if an index is out of range (an accelerator takes the nearest slice).
    Gradient: IndexedSlices if axis is 0, else a scatter-add; None for indices.
    Reference: TensorFlow 2.21 GatherV2.

    >>> sess.run(tf.gather([10, 20, 30], [2, 0]))
    array([30, 10], dtype=int32)
    """
    if not batch_dims:
        return raw.GatherV2(params, indices, 0 if axis is None else axis, name=name)
    return raw.GatherV2(params, indices, batch_dims if axis is None else axis, batch_dims=batch_dims, name=name)


def gather_v1(params: Any, indices: TensorLike, validate_indices: Any = None, name: str | None = None, axis: Any = None,
              batch_dims: int = 0) -> Tensor:
    """Calls `gather` with the arguments in TensorFlow 1's order.

    Args:
      params, indices, validate_indices, name, axis, batch_dims: as for `gather`.
    Returns: as for `gather`.
    Raises: as for `gather`.
    Gradient: as for `gather`.
    Reference: TensorFlow 2.21 `tf.compat.v1.gather`.

    >>> sess.run(tf.gather([[1, 2, 3]], [2, 0], axis=1))
    array([[3, 1]], dtype=int32)
    """
    return gather(params, indices, validate_indices, axis, batch_dims, name)


def batch_gather(params: Any, indices: TensorLike, name: str | None = None) -> Tensor:
    """Gathers elements along the last axis of `indices`; the axes before it are common to both.

    Args:
      params: (*B, n, *Q), any dtype.
      indices: (*B, m), int32 or int64, each in [0, n).
      name: a name for the operation.
    Returns: (*B, m, *Q), dtype of `params`.
    Raises: ValueError if the rank of indices is not known.
    Gradient: a scatter-add; None for indices.
    Reference: TensorFlow 2.21 `tf.compat.v1.batch_gather`.

    >>> sess.run(tf.batch_gather([[1, 2], [3, 4]], [[1], [0]]))
    array([[2],
           [3]], dtype=int32)
    """
    indices = convert_to_tensor(indices, name="BatchGather/indices")
    shape = indices._spec.shape
    if not shape:
        raise ValueError(f"batch_gather does not allow indices with shape {indices.shape}. Fix: give it a last axis")
    return gather(params, indices, batch_dims=len(shape) - 1, axis=len(shape) - 1, name=name or "BatchGather")


def gather_nd(params: Any, indices: TensorLike, batch_dims: int = 0, name: str | None = None,
              bad_indices_policy: str = "") -> Tensor:
    """Gathers slices of `params` at coordinates.

    Args:
      params: (*B, *P, *Q), any dtype.
      indices: (*B, *I, k), int16, int32 or int64: coordinates into P, which has k axes.
      batch_dims: int, the number of first axes that both have in common.
      name: a name for the operation.
      bad_indices_policy: "IGNORE" gives zeros for indices out of range; "ERROR" rejects them, as the default does.
    Returns: (*B, *I, *Q), dtype of `params`.
    Raises: ValueError if k is larger than the rank; InvalidArgumentError at run time if an index is out of range (an
      accelerator takes the nearest slice).
    Gradient: ScatterNd (IndexedSlices for a list of rows); None for indices.
    Reference: TensorFlow 2.21 GatherNd.

    >>> sess.run(tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]))
    array([2, 3], dtype=int32)
    """
    batch_dims = whole(batch_dims)
    if batch_dims < 0:
        raise ValueError("tf.gather_nd does not allow negative batch_dims. Fix: count from the front, or leave it out")
    if not batch_dims:
        return raw.GatherNd(params, indices, name=name, bad_indices_policy=bad_indices_policy)
    with name_scope(name, "BatchGatherNd"):
        params, indices = convert_to_tensor(params), convert_to_tensor(indices)
        for what, t in (("indices", indices), ("params", params)):
            if t._spec.shape is not None and batch_dims >= len(t._spec.shape):
                raise ValueError(f"Argument `batch_dims` = {batch_dims} must be less than rank(`{what}`) = "
                                 f"{len(t._spec.shape)}. Fix: give a smaller batch_dims")
        shape, sizes = shape_of(indices), shape_of(params)
        batch = part(shape, 0, batch_dims)
        rank = rank_of(indices)
        # The batch coordinates of each index, in front of its own.
        columns = []
        for axis in range(batch_dims):
            size = part(sizes, axis, axis + 1)  # that of params: another one of indices is rejected
            if isinstance(size, np.ndarray):
                row = np.arange(size.item(), dtype=indices.dtype.np_dtype)
            else:
                row = raw.Cast(raw.Range(0, raw.Reshape(size, []), 1), DstT=indices.dtype)
            own = join(fill(axis, 1), size, fill(minus(rank, axis + 1), 1))
            columns.append(raw.BroadcastTo(raw.Reshape(row, own), join(batch, part(shape, batch_dims, minus(rank, 1)),
                                                                       [1])))
        return raw.GatherNd(params, raw.ConcatV2([*columns, indices], -1), bad_indices_policy=bad_indices_policy)


def gather_nd_v1(params: Any, indices: TensorLike, name: str | None = None, batch_dims: int = 0,
                 bad_indices_policy: str = "") -> Tensor:
    """Calls `gather_nd` with the arguments in TensorFlow 1's order.

    Args:
      params, indices, name, batch_dims, bad_indices_policy: as for `gather_nd`.
    Returns: as for `gather_nd`.
    Raises: as for `gather_nd`.
    Gradient: as for `gather_nd`.
    Reference: TensorFlow 2.21 `tf.compat.v1.gather_nd`.

    >>> sess.run(tf.gather_nd([[1, 2], [3, 4]], [[1], [0]], batch_dims=1))
    array([2, 3], dtype=int32)
    """
    return gather_nd(params, indices, batch_dims, name, bad_indices_policy)
