"""Updates of slices of variables, and counting up."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import OutOfRangeError
from graphgrad.ir.dtypes import ANY, INDEX
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.values.indexed_slices import IndexedSlices, dense
from graphgrad.ops.array.gather import coordinates, outside
from graphgrad.ops.array.strided_slice import _indexer

from .variable_ops import changeable, sizes_of_variable

_STATEFUL = ("stateful",)


def _nd(name, method, doc):
    @op(name, "ref: resource, indices: Tindices, updates: dtype ->", dtype=ANY, Tindices=INDEX, flags=_STATEFUL)
    def scatter_nd(xp, ref, indices, updates, *, use_locking=True):
        where = coordinates(xp, indices, ref.value.shape)
        value = changeable(xp, ref.value, where[0] if where else None)
        if hasattr(value, "at"):
            ref.value = getattr(value.at[where], method)(updates)
            return
        if method == "set":
            value[where] = updates
        else:
            _UFUNC[method].at(value, where, updates)
        ref.value = value

    scatter_nd.__doc__ = doc
    scatter_nd.refuses("indices")(_nd_refuses)
    return scatter_nd


def _nd_refuses(xp, ref, indices, updates):
    return outside(indices, ref.value.shape)


_UFUNC = {"add": np.add, "subtract": np.subtract, "min": np.minimum, "max": np.maximum}

scatter_nd_update = _nd("ResourceScatterNdUpdate", "set", "ref[indices[i]] = updates[i].")
scatter_nd_add = _nd("ResourceScatterNdAdd", "add", "ref[indices[i]] += updates[i].")
scatter_nd_sub = _nd("ResourceScatterNdSub", "subtract", "ref[indices[i]] -= updates[i].")
scatter_nd_min = _nd("ResourceScatterNdMin", "min", "ref[indices[i]] = min(ref[indices[i]], updates[i]).")
scatter_nd_max = _nd("ResourceScatterNdMax", "max", "ref[indices[i]] = max(ref[indices[i]], updates[i]).")


@op("ResourceCountUpTo", "resource: resource -> output: T", T=INDEX, flags=("stateful", "host"))
def count_up_to(xp, ref, *, limit):
    """Returns the value, and increments it; raises OutOfRangeError at the limit."""
    value = np.asarray(ref.value)
    if value >= limit:
        raise OutOfRangeError(None, None, f"Reached limit of {limit}")
    ref.value = value + value.dtype.type(1)
    return value


@count_up_to.shape
def _count_up_to_shape(ref):
    return ()


@op("ResourceStridedSliceAssign", "ref: resource, begin: Index, end: Index, strides: Index, value: T ->", T=ANY,
    Index=INDEX, host=("begin", "end", "strides"), flags=_STATEFUL)
def strided_slice_assign(xp, ref, begin, end, strides, value, *, begin_mask=0, end_mask=0, ellipsis_mask=0,
                         new_axis_mask=0, shrink_axis_mask=0):
    """Assigns ref[slice] = value, the slice as in StridedSlice."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    where = _indexer(tuple(ref.value.shape), begin.tolist(), end.tolist(), strides.tolist(), masks)
    changed = changeable(xp, ref.value)
    if hasattr(changed, "at"):
        ref.value = changed.at[where].set(value)
        return
    changed[where] = value
    ref.value = changed


@op("ResourceGatherNd", "resource: resource, indices: Tindices -> output: dtype", dtype=ANY, Tindices=INDEX,
    flags=("stateful", "reads"))
def resource_gather_nd(xp, ref, indices, *, shape=None):
    """Gathers elements or slices of a variable at coordinates."""
    return xp.asarray(ref.value)[coordinates(xp, indices, ref.value.shape)]


@resource_gather_nd.refuses("indices")
def _resource_gather_nd_refuses(xp, ref, indices):
    return outside(indices, ref.value.shape)


@resource_gather_nd.shape
def _resource_gather_nd_shape(handle, indices, shape):
    if shape is None or indices is None or not indices or indices[-1] is None:
        return None
    return indices[:-1] + tuple(shape[indices[-1] :])


@resource_gather_nd.grad
def _resource_gather_nd_grad(op, dy):
    indices = op.inputs[1]
    known = indices._spec.shape
    sizes = sizes_of_variable(op)
    if known and len(known) == 2 and known[-1] == 1:
        return IndexedSlices(dense(dy), raw.Squeeze(indices, squeeze_dims=(-1,)), sizes), None
    sizes = sizes if indices.dtype is sizes.dtype else raw.Cast(sizes, DstT=indices.dtype)
    return raw.ScatterNd(indices, dy, sizes), None
