"""Slices whose place is moved until they fit: XLA's own operations, which TensorFlow has under its names."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.dtypes import INDEX
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import compatible, shape_str
from graphgrad.op_traits import Linear
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.shape_values import shape_of

from .strided_slice import element


def _at(x, start, size):
    """Returns the subscript of the block in NumPy: as near to `start` as it fits."""
    first = np.clip(np.asarray(start, np.int64), 0, np.subtract(x.shape, size))
    return tuple([slice(a, a + n) for a, n in zip(first.tolist(), size, strict=True)])


def _check_start(x, start):
    if x is not None and start is not None and not compatible(start, (len(x),)):
        raise Complaint(f"index must be a vector with length equal to the number of input dimensions, {len(x)}, but "
                        f"has shape {shape_str(start)}", "give one start for each axis")


def _check_fits(x, block):
    for axis, (d, n) in enumerate(zip(x, block, strict=True)):
        if d is not None and n is not None and n > d:
            raise Complaint(f"the block of size {n} is larger than axis {axis}, whose size is {d}",
                            "give a block that fits")


@op("XlaDynamicSlice", "input: T, start_indices: Tindices, size_indices: Tindices -> output: T", Tindices=INDEX,
    host=("size_indices",), flags=("sized",), data_movement=True, linear=Linear.JOINTLY)
def dynamic_slice(xp, x, start, size):
    """Returns the block of the given size at `start`, which is moved inside where the block would reach outside."""
    return x[_at(x, start, size.tolist())].copy()


@dynamic_slice.on_device
def _dynamic_slice_device(xp, x, start, size):
    # Python counts negative numbers from the end there; here they lie before the beginning.
    return lax_of(xp).dynamic_slice(x, xp.maximum(xp.asarray(start), 0), size.tolist())


@dynamic_slice.shape
def _dynamic_slice_shape(x, start, size):
    _check_start(x, start)
    count = len(x) if x is not None else len(size) if size is not None else start[0] if start else None
    if count is None:
        return None
    if size is not None and len(size) != count:
        raise Complaint(f"size_indices has {len(size)} elements for a tensor of rank {count}",
                        "give one size for each axis")
    sizes = tuple([element(size, axis) for axis in range(count)])
    _check_fits(x or (None,) * count, sizes)
    return sizes


@dynamic_slice.grad
def _dynamic_slice_grad(op, dy):
    x, start, _ = op.inputs
    return raw.XlaDynamicUpdateSlice(raw.ZerosLike(x), dy, start), None, None


@op("XlaDynamicUpdateSlice", "input: T, update: T, indices: Tindices -> output: T", Tindices=INDEX,
    linear=Linear.JOINTLY)
def dynamic_update_slice(xp, x, update, start):
    """Replaces the block at `start`, which is moved inside where the block would reach outside."""
    result = np.array(x)
    result[_at(x, start, update.shape)] = update
    return result


@dynamic_update_slice.on_device
def _dynamic_update_slice_device(xp, x, update, start):
    return lax_of(xp).dynamic_update_slice(x, update, xp.maximum(xp.asarray(start), 0))


@dynamic_update_slice.shape
def _dynamic_update_slice_shape(x, update, start):
    _check_start(x, start)
    if x is not None and update is not None:
        if len(x) != len(update):
            raise Complaint(f"input and update must have the same rank, but have shapes {shape_str(x)} and "
                            f"{shape_str(update)}", "reshape the update")
        _check_fits(x, update)
    return x


@dynamic_update_slice.grad
def _dynamic_update_slice_grad(op, dy):
    _, update, start = op.inputs
    kept = raw.XlaDynamicUpdateSlice(dy, raw.ZerosLike(update), start)
    return kept, raw.XlaDynamicSlice(dy, start, shape_of(update, start.dtype)), None
