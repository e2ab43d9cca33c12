"""StridedSlice, which `t[...]` builds, and its gradient."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint, NeedsHostValue
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.dtypes import INDEX, int16
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import _CONTRADICTION, broadcast, merge, shape_str
from graphgrad.op_traits import Linear
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import host_array, shape_of

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_NEW, _ALL = "new", "all"


def _positions(count, rank, ellipsis_mask, new_axis_mask):
    """Returns the origin of each axis of the result: `_NEW`, `_ALL`, or the index of an item of `begin`.

    Args:
      count: the length of `begin`, `end` and `strides`.
      rank: the rank of the tensor that is sliced.
    """
    new_axes = sum(1 for i in range(count) if new_axis_mask >> i & 1 and not ellipsis_mask >> i & 1)
    if ellipsis_mask & (ellipsis_mask - 1):
        raise Complaint("Multiple ellipses in slice spec not allowed", "write ... once")
    used = count - new_axes - (1 if ellipsis_mask else 0)
    if used > rank:
        raise Complaint(f"Index out of range using input dim {rank}; input has only {rank} dims",
                        f"give at most {rank} indices")
    result = []
    for i in range(count):
        if ellipsis_mask >> i & 1:
            result += [_ALL] * (rank - used)
        elif new_axis_mask >> i & 1:
            result.append(_NEW)
        else:
            result.append(i)
    return result if ellipsis_mask else result + [_ALL] * (rank - used)


def same_length(*vectors):
    """Returns the common length of begin, end and strides, given as shapes or values; None if unknown."""
    lengths = {len(v) for v in vectors if v is not None}
    if len(lengths) > 1:
        raise Complaint(f"begin, end and strides must have one length but have {sorted(lengths)}",
                        "give one begin, end and stride for each index")
    return lengths.pop() if lengths else None


def element(vector, i):
    return None if vector is None else vector[i]


def _strided_slice_shape(x, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                         shrink_axis_mask):
    count = same_length(begin, end, strides)
    if x is None or count is None:
        return None
    out = []
    axis = 0
    for source in _positions(count, len(x), ellipsis_mask, new_axis_mask):
        if source is _NEW:
            out.append(1)
            continue
        dim = x[axis]
        axis += 1
        if source is _ALL:
            out.append(dim)
            continue
        bit = 1 << source
        first, stride = element(begin, source), element(strides, source)
        if stride == 0:
            raise Complaint(f"strides[{source}] must be non-zero", "give a step other than 0")
        if shrink_axis_mask & bit:
            _check_index(first, dim, axis - 1)
            if stride is not None and stride < 0:
                raise Complaint("only stride 1 allowed on non-range indexing", "give stride 1 to an index")
            continue
        start = slice(None) if begin_mask & bit else first
        stop = slice(None) if end_mask & bit else element(end, source)
        out.append(_slice_size(dim, start, stop, stride))
    return tuple(out)


def _check_index(index, dim, axis):
    if index is not None and dim is not None and not -dim <= index < dim:
        raise Complaint(f"slice index {index} of dimension {axis} out of bounds",
                        f"use an index in [{-dim}, {dim})")


def _slice_size(dim, start, stop, stride):
    if start is None or stop is None or stride is None:
        return None
    everything = slice(None)
    start, stop = (None if v is everything or v == everything else v for v in (start, stop))
    if dim is not None:
        return len(range(*slice(start, stop, stride).indices(dim)))
    if start is None and stop is not None and stop == 0 and stride > 0:
        return 0
    if start is not None and stop is not None and (start < 0) == (stop < 0) and (stop - start) * stride <= 0:
        return 0
    return None


def _indexer(shape, begin, end, strides, masks):
    """Returns the NumPy index for a slice, and complaints about what is out of range."""
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = masks
    _strided_slice_shape(shape, begin, end, strides, *masks)
    index = []
    for source in _positions(len(begin), len(shape), ellipsis_mask, new_axis_mask):
        if source is _NEW:
            index.append(None)
        elif source is _ALL:
            index.append(slice(None))
        elif shrink_axis_mask >> source & 1:
            index.append(begin[source])
        else:
            index.append(slice(None if begin_mask >> source & 1 else begin[source],
                               None if end_mask >> source & 1 else end[source], strides[source]))
    return tuple(index)


class _Plan:
    """A slice for the device: static bounds for every axis, except for single elements at an unknown index."""

    def __init__(self, shape, begin, end, strides, masks):
        begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = masks
        self.begin, self.end = begin, end
        n = len(strides)
        values = [v.tolist() if isinstance(v, np.ndarray) else (None,) * n for v in (begin, end)]
        _strided_slice_shape(shape, *values, strides.tolist(), *masks)
        self.ranges = []  # for each axis of the input a range, or an index that is not known
        self.dynamic = []  # the axes of the latter
        self.kept = []  # for each axis of the input, whether the result has it
        self.out = []  # the result's shape
        for source in _positions(n, len(shape), ellipsis_mask, new_axis_mask):
            if source is _NEW:
                self.out.append(1)
                continue
            dim = shape[len(self.ranges)]
            if source is _ALL:
                self.ranges.append(range(dim))
            elif shrink_axis_mask >> source & 1:
                if isinstance(begin, np.ndarray):
                    first = int(begin[source])
                    first += dim if first < 0 else 0
                    self.ranges.append(range(first, first + 1))
                else:
                    self.dynamic.append(len(self.ranges))
                    self.ranges.append(begin[source])
                continue
            else:
                start = None if begin_mask >> source & 1 else self._known("begin", source)
                stop = None if end_mask >> source & 1 else self._known("end", source)
                self.ranges.append(range(*slice(start, stop, int(strides[source])).indices(dim)))
            self.out.append(len(self.ranges[-1]))

    def _known(self, which, i):
        vector = getattr(self, which)
        if not isinstance(vector, np.ndarray):
            raise NeedsHostValue(which)
        return int(vector[i])

    def position(self, xp, axis, dim):
        """Returns the index, counted from the front, of the single element on a dynamic axis."""
        index = self.ranges[axis]
        return xp.where(index < 0, index + dim, index)


def _reversed_axes(ranges):
    return [a for a, r in enumerate(ranges) if isinstance(r, range) and r.step < 0 and len(r) > 1]


def _bounds(r):
    """Returns start, stop and step of the same elements in ascending order."""
    if not len(r):
        return 0, 0, 1
    low, high = min(r[0], r[-1]), max(r[0], r[-1])
    return low, high + 1, abs(r.step)


@op("StridedSlice", "input: T, begin: Index, end: Index, strides: Index -> output: T", Index=INDEX | {int16},
    host=("strides",), peek=("begin", "end"), shape=_strided_slice_shape, data_movement=True, linear=Linear.JOINTLY)
def strided_slice_op(xp, x, begin, end, strides, *, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
                     shrink_axis_mask=0):
    """Takes every stride-th element from begin to end along each axis; masks mean `...`, None, x[i], open ends."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return x[_indexer(x.shape, begin.tolist(), end.tolist(), strides.tolist(), masks)]


@strided_slice_op.on_device
def _strided_slice_device(xp, x, begin, end, strides, *, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                          shrink_axis_mask):
    lax = lax_of(xp)
    plan = _Plan(x.shape, begin, end, strides,
                 (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask))
    for axis in plan.dynamic:
        x = lax.dynamic_slice_in_dim(x, plan.position(xp, axis, x.shape[axis]), 1, axis)
    bounds = [_bounds(r) if isinstance(r, range) else (0, 1, 1) for r in plan.ranges]
    x = lax.slice(x, *zip(*bounds, strict=True)) if bounds else x
    turned = _reversed_axes(plan.ranges)
    return xp.reshape(lax.rev(x, turned) if turned else x, plan.out)


@strided_slice_op.written_as
def _strided_slice_formula(op):
    index = _index_text(op, *op.inputs[1:4])
    return None if index is None else f'item(input, "{index}")'


def _index_text(op, *bounds):
    """Returns what stands in the brackets of a slice, None if it is not known."""
    known = [host_array(t) for t in bounds]
    if any(k is None for k in known) or op._attr("shrink_axis_mask") & op._attr("new_axis_mask"):
        return None
    parts = []
    for i, (begin, end, stride) in enumerate(zip(*[k.tolist() for k in known], strict=True)):
        is_set = {m: op._attr(m) >> i & 1 for m in _MASKS}
        first, last = "" if is_set["begin_mask"] else begin, "" if is_set["end_mask"] else end
        if is_set["ellipsis_mask"] or is_set["new_axis_mask"]:
            parts.append("..." if is_set["ellipsis_mask"] else "None")
        elif is_set["shrink_axis_mask"]:
            parts.append(str(begin))
        else:
            parts.append(f"{'' if first == 0 and stride > 0 else first}:{last}" + (f":{stride}" if stride != 1 else ""))
    return ", ".join(parts) or "..."


@strided_slice_op.refuses("begin")
def _strided_slice_refuses(xp, x, begin, end, strides, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0):
    return _outside(x.shape, begin, len(strides), ellipsis_mask, new_axis_mask, shrink_axis_mask)


def _outside(shape, begin, count, ellipsis_mask, new_axis_mask, shrink_axis_mask):
    """Rejects single elements at an index out of range, known only to the run; other bounds are clipped to the size."""
    found, axis = [], 0
    for source in _positions(count, len(shape), ellipsis_mask, new_axis_mask):
        if source is _NEW:
            continue
        if source is not _ALL and shrink_axis_mask >> source & 1:
            dim = shape[axis]
            found.append((begin[source] + dim, 2 * dim))
        axis += 1
    return found


@strided_slice_op.partial_value
def _strided_slice_value(t, values):
    op = t.op
    value, begin, end, strides = values
    if not isinstance(value, tuple) or any(
        not isinstance(v, tuple) or len(v) != 1 or v[0] is None for v in (begin, end, strides)
    ):
        return None
    if op._attr("ellipsis_mask") or op._attr("new_axis_mask"):
        return None
    if op._attr("shrink_axis_mask") & 1:
        return value[begin[0]] if -len(value) <= begin[0] < len(value) else None
    start = None if op._attr("begin_mask") & 1 else begin[0]
    stop = None if op._attr("end_mask") & 1 else end[0]
    return value[start : stop : strides[0]]


@strided_slice_op.stacked
def _strided_slice_stacked(op, operands, stacked):
    x, *items = operands
    own, shape = x._spec.shape, op.inputs[0]._spec.shape
    if any(stacked[1:]) or own is None or shape is None or len(own) != len(shape) + 1:
        return None
    count = items[2]._spec.shape
    if count is None or None in count:
        return None
    masks = {m: op._attr(m) << 1 for m in _MASKS}
    masks["begin_mask"] |= 1
    masks["end_mask"] |= 1
    thin = [axis for axis, (a, b) in enumerate(zip(own[1:], shape, strict=True), 1) if a != b]
    if thin and not all(_is_whole(axis, count[0], host_array(items[2]), masks) for axis in thin):
        return None
    return raw.StridedSlice(x, *[_preceded(n, t) for n, t in zip((0, 0, 1), items, strict=True)], **masks)


def _is_whole(axis, count, strides, masks):
    """Returns whether all of an axis of a stack is taken; False where that takes closer looks."""
    if strides is None or masks["ellipsis_mask"] or masks["new_axis_mask"] or masks["shrink_axis_mask"] >> axis & 1:
        return False
    is_open = masks["begin_mask"] & masks["end_mask"] & 1 << axis
    return axis > count or bool(is_open and strides[axis - 1] == 1)


def _preceded(number, t):
    """Returns a vector with a number in front."""
    known, first = host_array(t), np.array([number], t.dtype.np_dtype)
    return raw.ConcatV2([first, t], np.int32(0)) if known is None else np.concatenate([first, known])


@strided_slice_op.by_rows
def _slices_of_rows(op, rows):
    shape, strides = op.inputs[0]._spec.shape, host_array(op.inputs[3])
    if not shape or strides is None:
        return False
    masks = {m: op._attr(m) for m in _MASKS}
    first = _positions(len(strides), len(shape), masks["ellipsis_mask"], masks["new_axis_mask"])[0]
    if first is _ALL or first is _NEW:
        return first is _ALL
    is_open = masks["begin_mask"] & masks["end_mask"] & ~masks["shrink_axis_mask"] & 1 << first
    return bool(is_open and strides[first] == 1)


@strided_slice_op.grad
def _strided_slice_grad(op, dy):
    x, begin, end, strides = op.inputs
    masks = {m: op._attr(m) for m in _MASKS}
    return raw.StridedSliceGrad(shape_of(x, begin.dtype), begin, end, strides, dy, **masks), None, None, None


@op("StridedSliceGrad", "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T", Index=INDEX,
    host=("shape", "strides"), data_movement=True, linear=Linear.JOINTLY)
def strided_slice_grad_op(xp, shape, begin, end, strides, dy, *, begin_mask=0, end_mask=0, ellipsis_mask=0,
                          new_axis_mask=0, shrink_axis_mask=0):
    """Returns zeros of the given shape, with `dy` where the slice was taken."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    result = np.zeros(shape, dy.dtype)
    part = result[_indexer(result.shape, begin.tolist(), end.tolist(), strides.tolist(), masks)]
    if part.shape != dy.shape:
        raise _other_shape(dy.shape, part.shape)
    result[_indexer(result.shape, begin.tolist(), end.tolist(), strides.tolist(), masks)] = dy
    return result


def _other_shape(given, wanted):
    return Complaint(f"shape of dy was {shape_str(given)} instead of {shape_str(wanted)}")


@strided_slice_grad_op.written_as
def _strided_slice_grad_formula(op):
    index = _index_text(op, *op.inputs[1:4])
    return None if index is None else f'placed(dy, shape, "{index}")'


@strided_slice_grad_op.on_device
def _strided_slice_grad_device(xp, shape, begin, end, strides, dy, *, begin_mask, end_mask, ellipsis_mask,
                               new_axis_mask, shrink_axis_mask):
    lax = lax_of(xp)
    shape = tuple(shape.tolist())
    plan = _Plan(shape, begin, end, strides,
                 (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask))
    if dy.shape != tuple(plan.out):
        raise _other_shape(dy.shape, tuple(plan.out))
    for axis in plan.dynamic:
        if not shape[axis]:
            raise Complaint(f"dimension {axis} has no elements, of which one is taken", "give an index less")
    x = xp.reshape(dy, [len(r) if isinstance(r, range) else 1 for r in plan.ranges])
    turned = _reversed_axes(plan.ranges)
    x = lax.rev(x, turned) if turned else x
    padding = []
    for r, dim in zip(plan.ranges, shape, strict=True):
        if not isinstance(r, range):
            padding.append((0, 0, 0))
        elif not len(r):
            padding.append((0, dim, 0))
        else:
            low, stop, step = _bounds(r)
            padding.append((low, dim - stop, step - 1))
    x = lax.pad(x, np.zeros((), dy.dtype), padding)
    for axis in plan.dynamic:
        full = x.shape[:axis] + (shape[axis],) + x.shape[axis + 1 :]
        x = lax.dynamic_update_slice_in_dim(xp.zeros(full, x.dtype), x, plan.position(xp, axis, shape[axis]), axis)
    return x


def _index_is_fed(op):
    return bool(op._attr("shrink_axis_mask")) and constant_value(op.inputs[1]) is None


@strided_slice_grad_op.refuses("begin", when=_index_is_fed)
def _strided_slice_grad_refuses(xp, shape, begin, end, strides, dy, ellipsis_mask=0, new_axis_mask=0,
                                shrink_axis_mask=0):
    return _outside(shape.tolist(), begin, len(strides), ellipsis_mask, new_axis_mask, shrink_axis_mask)


@strided_slice_grad_op.shape
def _strided_slice_grad_shape(shape, begin, end, strides, dy):
    return shape


@strided_slice_grad_op.grad
def _strided_slice_grad_grad(op, d2):
    _, begin, end, strides, _ = op.inputs
    masks = {m: op._attr(m) for m in _MASKS}
    return None, None, None, None, raw.StridedSlice(d2, begin, end, strides, **masks)


# -- a tensor with a slice replaced ----------------------------------------------------


@op("TensorStridedSliceUpdate", "input: T, begin: Index, end: Index, strides: Index, value: T -> output: T",
    Index=INDEX, host=("begin", "end", "strides"), linear=Linear.JOINTLY)
def strided_slice_update_op(xp, x, begin, end, strides, value, *, begin_mask=0, end_mask=0, ellipsis_mask=0,
                            new_axis_mask=0, shrink_axis_mask=0):
    """Returns the tensor with a slice replaced by `value`, which is broadcast."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    place = _indexer(x.shape, begin.tolist(), end.tolist(), strides.tolist(), masks)
    if xp is not np:
        return xp.asarray(x).at[place].set(value)
    changed = np.array(x)
    changed[place] = value
    return changed


@strided_slice_update_op.shape
def _strided_slice_update_shape(x, begin, end, strides, value, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                                shrink_axis_mask):
    part = _strided_slice_shape(x, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                                shrink_axis_mask)
    if part is not None and value is not None and merge(part, broadcast(part, value)) is _CONTRADICTION:
        raise Complaint(f"value has shape {shape_str(value)}, the slice {shape_str(part)}",
                        "give a value that can be broadcast to the slice")
    return x


@strided_slice_update_op.grad
def _strided_slice_update_grad(op, dy):
    _, begin, end, strides, value = op.inputs
    masks = {m: op._attr(m) for m in _MASKS}
    part = raw.StridedSlice(dy, begin, end, strides, **masks)
    d_value = unbroadcast(part, part, value, part)[0]
    d_input = raw.TensorStridedSliceUpdate(dy, begin, end, strides, raw.ZerosLike(value), **masks)
    return d_input, None, None, None, d_value


limit_ranks(
    vectors="""
        StridedSlice.begin StridedSlice.end StridedSlice.strides StridedSliceGrad.shape
        TensorStridedSliceUpdate.begin TensorStridedSliceUpdate.end TensorStridedSliceUpdate.strides""",
)
