"""Taking elements by index, and putting them back."""

from __future__ import annotations

import numpy as np

from ..errors import Complaint
from ..ir.convert import convert_to_tensor
from ..ir.dtypes import INDEX, int32
from ..ir.opdef import op, raw
from ..ir.shape import merged, normalize_axis
from ..ir.slices import IndexedSlices
from .known import axes, fill, host_array, is_tensor, join, minus, part, plus, rank_of, shape_of, times


def _take(xp, params, indices, axis, batch_dims):
    """`params` at `indices` along `axis`, whose first `batch_dims` axes go together."""
    if batch_dims == 0:
        if xp is np:
            return np.take(params, indices, axis)
        return xp.take(params, indices, axis, mode="clip")  # XLA cannot complain: it clamps
    if xp is np:
        lead = indices.shape[:batch_dims]
        own = np.reshape(params, (-1, *params.shape[batch_dims:]))
        picked = [np.take(p, i, axis - batch_dims)
                  for p, i in zip(own, np.reshape(indices, (-1, *indices.shape[batch_dims:])), strict=True)]
        rest = _gather_shape(params.shape, indices.shape, axis, batch_dims)[batch_dims:]
        return np.reshape(np.array(picked, params.dtype), lead + rest)
    import jax

    def one(p, i):
        return xp.take(p, i, axis - batch_dims, mode="clip")

    for _ in range(batch_dims):
        one = jax.vmap(one)
    return one(xp.asarray(params), xp.asarray(indices))


def _check_range(indices, size):
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        at = np.unravel_index(np.argmax((indices < 0) | (indices >= size)), indices.shape)
        where = ",".join(map(str, at))
        raise Complaint(f"indices[{where}] = {indices[at]} is not in [0, {size})", f"give indices in [0, {size})")


@op("GatherV2", "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams", Tindices=INDEX, Taxis=INDEX,
    host=("axis",))  # fmt: skip
def gather_v2(xp, params, indices, axis, *, batch_dims=0):
    """Slices of `params` along `axis`, picked by `indices`."""
    at, lead = _settle(axis.item(), batch_dims, len(params.shape), len(indices.shape))
    if isinstance(indices, np.ndarray):
        _check_range(indices, params.shape[at])
    return _take(xp, params, indices, at, lead)


def _settle(axis, batch_dims, rank, index_rank):
    """axis and batch_dims counted from the front."""
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
        return (None,) * (len(params) + len(indices) - 1 - max(batch_dims, 0))
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
    lead = op.get_attr("batch_dims")
    at = int(at)
    if at < 0:
        at = plus(rank_of(params), at)
    if lead < 0:
        lead = plus(rank_of(indices), lead)
    if isinstance(at, int) and at == 0:
        return _rows(dy, params, indices), None, None
    return _along_axis(dy, params, indices, at, lead), None, None


def _rows(dy, params, indices):
    shape = shape_of(params)
    if isinstance(shape, np.ndarray):
        tail = shape[1:]
    else:
        tail = raw.StridedSlice(shape, [1], [0], [1], end_mask=1)
    return IndexedSlices(raw.Reshape(dy, join([-1], tail)), raw.Reshape(indices, [-1]), convert_to_tensor(shape))


def _along_axis(dy, params, indices, at, lead):
    """The gradient by a segment sum: batch and index axes first, then all others."""
    rank, index_rank = rank_of(params), rank_of(indices)
    after = plus(at, minus(index_rank, lead))  # the first axis of dy behind those of the indices
    last = plus(after, minus(minus(rank, at), 1))
    values = raw.Transpose(dy, join(axes(0, lead), axes(at, after), axes(lead, at), axes(after, last)))
    shape = shape_of(params)
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
                                      axes(plus(at, 1), rank)))  # fmt: skip
