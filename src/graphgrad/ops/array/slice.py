"""Slice, subscripts `t[...]`, and the functions that take parts of a tensor."""

from __future__ import annotations

import functools
from numbers import Integral
from typing import Any

import numpy as np

from graphgrad.errors import Complaint, NeedsHostValue
from graphgrad.ir.constant_value import folded
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import constant_in, convert_to_tensor, is_tensor_like
from graphgrad.ir.dimension import Dimension
from graphgrad.ir.dtypes import INDEX, bool_, int32, int64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.shape import shape_str
from graphgrad.ir.tensor import Tensor
from graphgrad.op_traits import Linear
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import host_array, rank_of, shape_of

from .strided_slice import element, same_length


@op("Slice", "input: T, begin: Index, size: Index -> output: T", Index=INDEX, host=("size",), peek=("begin",),
    partial_value=folded, data_movement=True, linear=Linear.JOINTLY)
def slice_op(xp, x, begin, size):
    """Returns the block of the given size at `begin`; a size of -1 takes the rest."""
    begin, size = begin.tolist(), size.tolist()
    _slice_shape(x.shape, begin, size)
    return x[tuple([slice(b, None if s == -1 else b + s) for b, s in zip(begin, size, strict=True)])]


@slice_op.on_device
def _slice_device(xp, x, begin, size):
    lax = lax_of(xp)
    size = size.tolist()
    if isinstance(begin, np.ndarray):
        first = begin.tolist()
        _slice_shape(x.shape, first, size)
        stop = [d if s == -1 else b + s for b, s, d in zip(first, size, x.shape, strict=True)]
        return lax.slice(x, first, stop)
    if -1 in size:
        raise NeedsHostValue("begin")
    return lax.dynamic_slice(x, [begin[i] for i in range(len(size))], size)


@slice_op.shape
def _slice_shape(x, begin, size):
    count = same_length(begin, size)
    if count is None:
        return None if x is None else (None,) * len(x)
    if x is None:
        x = (None,) * count
    if len(x) != count:
        raise Complaint(f"begin and size have {count} elements for a tensor of rank {len(x)}",
                        "give one begin and size for each axis")
    out = []
    for axis, dim in enumerate(x):
        b, s = element(begin, axis), element(size, axis)
        if s is not None and s < -1:
            raise Complaint(f"Expected size[{axis}] >= -1, but got {s}", "give -1 for all that is left")
        if s == -1:
            s = None if b is None or dim is None else dim - b
        if b is not None and (b < 0 or (dim is not None and (b > dim or (s is not None and b + s > dim)))):
            raise Complaint(f"Expected begin[{axis}] in [0, {dim}] and begin + size <= {dim}, but got begin {b}"
                            + ("" if s is None else f" and size {s}"), f"stay inside of axis {axis}")
        out.append(s)
    return tuple(out)


@slice_op.refuses("begin")
def _slice_refuses(xp, x, begin, size):
    return [(begin[i], dim + 1 - max(s, 0)) for i, (dim, s) in enumerate(zip(x.shape, size.tolist(), strict=True))]


@slice_op.stacked
def _slice_stacked(op, operands, stacked):
    x, begin, size = operands[0], host_array(op.inputs[1]), host_array(op.inputs[2])
    own = x._spec.shape
    if any(stacked[1:]) or begin is None or size is None or own is None or own[1:] != op.inputs[0]._spec.shape:
        return None
    return raw.Slice(x, np.array([0, *begin], begin.dtype), np.array([-1, *size], size.dtype))


@slice_op.by_rows
def _slices_of_rows(op, rows):
    begin, size = host_array(op.inputs[1]), host_array(op.inputs[2])
    return begin is not None and size is not None and len(begin) > 0 and begin[0] == 0 and size[0] == -1


@slice_op.grad
def _slice_grad(op, dy):
    x, begin, _ = op.inputs
    shape = shape_of(x, begin.dtype)
    size = shape_of(op.outputs[0], begin.dtype)
    after = raw.Sub(raw.Sub(shape, begin), size)
    return raw.Pad(dy, raw.Pack([begin, after], axis=1)), None, None


@op("AxisSlice", "input: T -> output: T", partial_value=folded, data_movement=True, linear=Linear.JOINTLY)
def axis_slice(xp, x, *, axis, begin, size):
    """Returns `size` slices along one axis, the first at `begin`: all known when it is planned, unlike Slice's."""
    _axis_slice_shape(x.shape, axis, begin, size)
    return x[(*((slice(None),) * axis), slice(begin, begin + size))]


@axis_slice.shape
def _axis_slice_shape(x, axis, begin, size):
    if x is None:
        return None
    if not 0 <= axis < len(x):
        raise Complaint(f"axis {axis} is not one of the {len(x)} axes of {shape_str(x)}", "give one that it has")
    if begin < 0 or size < 0 or (x[axis] is not None and begin + size > x[axis]):
        raise Complaint(f"slices {begin} to {begin + size} are not in axis {axis} of {shape_str(x)}",
                        "stay within its size")
    return x[:axis] + (size,) + x[axis + 1 :]


@axis_slice.grad
def _axis_slice_grad(op, dy):
    x, at, begin = op.inputs[0], op._attr("axis"), op._attr("begin")
    rank = rank_of(x)
    before = raw.Mul(raw.OneHot(np.int32(at), rank, np.int32(1), np.int32(0)), np.int32(begin))
    after = raw.Sub(raw.Sub(shape_of(x), shape_of(dy)), before)
    return raw.Pad(dy, raw.Pack([before, after], axis=1))


_INDEX_TYPES = frozenset({"int16", "int32", "int64"})
_BAD_INDEX = ("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
              "are valid indices, got {!r}")


class _Spec:
    """The items of a subscript, gathered into the inputs and masks of a StridedSlice."""

    __slots__ = ("begin", "end", "masks", "strides")

    def __init__(self) -> None:
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks: dict[str, int] = {}

    def add(self, begin: Any, end: Any, stride: Any, *masks: str) -> None:
        """Adds an item and marks it in the given masks."""
        bit = 1 << len(self.begin)
        for mask in masks:
            self.masks[mask] = self.masks.get(mask, 0) | bit
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)


def _read(key: tuple[Any, ...]) -> _Spec:
    spec = _Spec()
    for item in key:
        if type(item) is int:
            spec.add(item, item + 1, 1, "shrink_axis_mask")
        elif isinstance(item, slice):
            masks = [m for m, v in (("begin_mask", item.start), ("end_mask", item.stop)) if v is None]
            spec.add(0 if item.start is None else _bound(item.start), 0 if item.stop is None else _bound(item.stop),
                     1 if item.step is None else _bound(item.step), *masks)
        elif item is Ellipsis:
            spec.add(0, 0, 1, "ellipsis_mask")
        elif item is None:
            spec.add(0, 0, 1, "new_axis_mask")
        else:
            index = _bound(item)
            # The end of a single element is ignored: passing the index itself saves an addition.
            spec.add(index, index + 1 if type(index) is int else index, 1, "shrink_axis_mask")
    return spec


def _bound(value: Any) -> Any:
    """Returns an int, or a tensor of an integer type; raises TypeError for anything else."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, Dimension) and value.value is not None:
        return value.value
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    if is_tensor_like(value) and value.dtype.name in _INDEX_TYPES:
        tensor = convert_to_tensor(value)
        if tensor._spec.shape in (None, ()):
            return tensor
    raise TypeError(_BAD_INDEX.format(value))


def slice_helper(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """Builds `tensor[slice_spec]`: a StridedSlice, or `boolean_mask` for a mask.

    Args:
      tensor: any shape and dtype.
      slice_spec: ints, slices, `...`, None and scalar integer tensors, one or a tuple of them;
        or a boolean tensor or array.
      var: accepted as TensorFlow does; not used.
    Returns: the part, a tensor of the same dtype.
    Raises: TypeError for other subscripts; ValueError if an index is out of range or there
      are too many; InvalidArgumentError if that is seen at run time.
    Gradient: StridedSliceGrad: zeros except for the part.
    Reference: TensorFlow 2.21 `Tensor.__getitem__`.

    >>> sess.run(tf.constant([[1, 2], [3, 4]])[0, ::-1])
    array([2, 1], dtype=int32)
    """
    if isinstance(slice_spec, bool) or getattr(slice_spec, "dtype", None) in (bool_, np.bool_):
        from .mask import boolean_mask

        return boolean_mask(tensor, slice_spec)
    key = tuple(slice_spec) if isinstance(slice_spec, (list, tuple)) else (slice_spec,)
    spec = _read(key)
    tensor = convert_to_tensor(tensor)
    masks = spec.masks
    if masks.get("ellipsis_mask", 0) & (masks.get("ellipsis_mask", 0) - 1):
        raise ValueError("Multiple ellipses in slice spec not allowed. Fix: write `...` once")
    parts = (spec.begin, spec.end, spec.strides)
    if all(type(v) is int for values in parts for v in values):
        return _slice_at(tensor, parts, masks)
    static, dynamic = _split_spec(key, spec)
    if static is not None:
        tensor = slice_helper(tensor, static)
        spec = _read(dynamic)
    return _slice_at(tensor, (spec.begin, spec.end, spec.strides), spec.masks)


def _split_spec(key: tuple[Any, ...], spec: _Spec) -> tuple[Any, tuple[Any, ...]]:
    """Splits `x[i, 1:3]` into `x[:, 1:3]` and `[i, :]` when i is a tensor; else returns (None, key).

    A single element may be taken at an index that only the device knows; the bounds of a range
    decide a shape and must be known to the host. One op for both would need the index on the host too.
    """
    tensors = {i for i, v in enumerate(spec.begin) if type(v) is not int and not isinstance(key[i], slice)}
    ranges = [v for v in key if isinstance(v, slice)]
    fixed = all(type(v) is int or v is None for s in ranges for v in (s.start, s.stop, s.step))
    if not tensors or not fixed or all(s.start is None and s.stop is None for s in ranges):
        return None, key
    whole = slice(None)
    static = tuple([whole if i in tensors else v for i, v in enumerate(key)])
    dynamic = [whole if v is None or isinstance(v, slice) else v for i, v in enumerate(key)
               if i in tensors or v is None or v is Ellipsis or isinstance(v, slice)]
    return static, tuple(dynamic)


def _slice_at(tensor: Any, parts: Any, masks: dict[str, int]) -> Any:
    graph = current_graph()
    if graph is None:
        return raw.StridedSlice(tensor, *[_vector(p) for p in parts], **masks)
    name = graph.unique_name("strided_slice")
    inputs: list[Any] = []
    begin, end, strides = parts
    if begin and all(b is e for b, e in zip(begin, end, strict=True)) and type(begin[0]) is not int:
        end = None  # the same tensor does for both
    for suffix, part in (("/stack", begin), ("/stack_1", end), ("/stack_2", strides)):
        if part is None:
            inputs.append(inputs[0])
            continue
        vector = _vector(part)
        own = graph._names.unique(name + suffix)
        if isinstance(vector, list):
            inputs.append(raw.Pack(vector, name=own + "/"))
        else:
            constant = constant_in(graph, vector, own, int32 if vector.dtype == np.int32 else int64)
            constant._static = tuple(part)  # for inference
            inputs.append(constant)
    if len({t.dtype for t in inputs}) > 1:
        inputs = [t if t.dtype is int64 else raw.Cast(t, DstT=int64) for t in inputs]
    return raw.StridedSlice(tensor, *inputs, name=name + "/", **masks)


def _vector(items: list[Any]) -> Any:
    """Returns the items as an array, or as a list for Pack if there are tensors among them."""
    tensors = [i for i in items if type(i) is not int]
    if not tensors:
        return _array_of(tuple(items))
    if all(t.dtype is int32 for t in tensors):
        return items
    return [i if type(i) is int or i.dtype is int64 else raw.Cast(i, DstT=int64) for i in items]


@functools.lru_cache(maxsize=1024)
def _array_of(items: tuple[int, ...]) -> Any:
    wide = any(not -(2**31) <= i < 2**31 for i in items)
    array = np.array(items, np.int64 if wide else np.int32)
    array.flags.writeable = False  # many constants share it
    return array


def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
                  ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
                  name: str | None = None) -> Tensor:
    """Takes every `strides[i]`-th element from `begin[i]` to `end[i]` of each axis i.

    Args:
      input_: any shape and dtype.
      begin, end, strides: integer vectors of one length; strides are 1 by default.
      begin_mask, end_mask: bit i: ignore begin[i], end[i]; the slice is open there.
      ellipsis_mask, new_axis_mask, shrink_axis_mask: bit i: item i is `...`, None, or one index.
      var: accepted as TensorFlow does; not used.
      name: a name for the operation.
    Returns: a tensor of the same dtype.
    Raises: ValueError, or InvalidArgumentError at run time, for an index out of range or a
      stride of 0.
    Gradient: StridedSliceGrad; None for begin, end, strides.
    Reference: TensorFlow 2.21 StridedSlice.

    >>> sess.run(tf.strided_slice([1, 2, 3, 4, 5], [1], [5], [2]))
    array([2, 4], dtype=int32)
    """
    if strides is None:
        strides = np.ones(len(begin) if isinstance(begin, (list, tuple)) else convert_to_tensor(begin)._spec.shape,
                          np.int32)
        if getattr(begin, "dtype", None) == int64:
            strides = strides.astype(np.int64)
    masks = {"begin_mask": begin_mask, "end_mask": end_mask, "ellipsis_mask": ellipsis_mask,
             "new_axis_mask": new_axis_mask, "shrink_axis_mask": shrink_axis_mask}
    return raw.StridedSlice(input_, begin, end, strides, name=name, **{k: v for k, v in masks.items() if v})


def slice_(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """Takes the block of shape `size` that begins at `begin`.

    Args:
      input_: (*D).
      begin, size: integer vectors, one element for each axis; a size of -1 takes all that is left.
      name: a name for the operation.
    Returns: a tensor of shape `size`, dtype of `input_`.
    Raises: ValueError, or InvalidArgumentError at run time, if the block does not lie inside.
    Gradient: Pad with zeros; None for begin and size.
    Reference: TensorFlow 2.21 Slice.

    >>> sess.run(tf.slice([[1, 2], [3, 4]], [0, 1], [-1, 1]))
    array([[2],
           [4]], dtype=int32)
    """
    return raw.Slice(input_, begin, size, name=name)


limit_ranks(vectors="Slice.begin Slice.size")
