"""Tensor lists, on which `TensorArray` is built: immutable values of dtype `variant`."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint, NeedsHostValue
from graphgrad.ir.dtypes import INDEX, variant
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import _CONTRADICTION, compatible, is_fully_defined, merge
from graphgrad.ir.values.tensor_list import TensorList
from graphgrad.ops.common.lax_functions import lax_of

_SHAPE = {"shape_type": INDEX}


def _as_shape(value):
    """Returns an `element_shape` input as a shape: -1 is unknown, a scalar -1 an unknown rank."""
    value = np.asarray(value)
    if value.ndim == 0:
        return None
    return tuple([None if n < 0 else int(n) for n in value.tolist()])


def _seen_shape(value):
    """Returns the same, for static values."""
    if not isinstance(value, tuple):
        return None
    return tuple([None if n is None or n < 0 else n for n in value])


def _one(*_):
    return ()


def _place(lst, index, what):
    """Returns the index as an int, if it is known; raises InvalidArgumentError if it is out of range."""
    if not isinstance(index, (np.ndarray, np.generic, int)):
        return None
    i = int(index)
    if not 0 <= i < lst.length:
        raise Complaint(f"Trying to {what} element {i} in a list with {lst.length} elements.",
                        "make the TensorArray larger, or with dynamic_size=True")
    return i


def _unset(lst, shape):
    """Returns zeros for an unset element."""
    if lst.np_dtype.kind == "O":  # an element that is itself a list: zero in sums
        return lst.with_items([])
    merged = shape if is_fully_defined(shape) else merge(shape, lst.element_shape)
    if merged is _CONTRADICTION or not is_fully_defined(merged):
        raise Complaint("Trying to read an uninitialized element of a list whose element shape is not fully defined",
                        "write the element first, or give element_shape=")
    return np.zeros(merged, lst.np_dtype)


@op("TensorListReserve", "element_shape: shape_type, num_elements: int32 -> handle: variant", **_SHAPE,
    host=("element_shape", "num_elements"), shape=_one, tensor_list="reserve")
def reserve(xp, element_shape, num_elements, *, element_dtype):
    """Makes a list of unset elements."""
    n = int(num_elements)
    if n < 0:
        raise Complaint(f"The num_elements to reserve must be a non negative number, but got {n}", "give a size >= 0")
    return TensorList(element_dtype.np_dtype, _as_shape(element_shape), [None] * n)


reserve.grad(NOT_DIFFERENTIABLE)


@op("EmptyTensorList", "element_shape: shape_type, max_num_elements: int32 -> handle: variant", **_SHAPE,
    host=("element_shape",), shape=_one)
def empty_tensor_list(xp, element_shape, max_num_elements, *, element_dtype):
    """Makes a list without elements."""
    return TensorList(element_dtype.np_dtype, _as_shape(element_shape), [])


empty_tensor_list.grad(NOT_DIFFERENTIABLE)


@op("TensorListLength", "input_handle: variant -> length: int32", shape=_one, shape_only=True, tensor_list="length")
def length(xp, lst):
    """Returns the number of elements."""
    return np.int32(lst.length)


length.grad(NOT_DIFFERENTIABLE)


@op("TensorListElementShape", "input_handle: variant -> element_shape: shape_type", **_SHAPE,
    tensor_list="element_shape")
def element_shape_op(xp, lst, *, shape_type):
    """Returns the shape of the elements, -1 for unknown dimensions."""
    shape = lst.element_shape
    return np.asarray(-1 if shape is None else [-1 if n is None else n for n in shape], shape_type.np_dtype)


@element_shape_op.shape
def _element_shape_shape(lst):
    return None


element_shape_op.grad(NOT_DIFFERENTIABLE)


@op("TensorListGetItem", "input_handle: variant, index: int32, element_shape: int32 -> item: element_dtype",
    host=("element_shape",), tensor_list="get")
def get_item(xp, lst, index, element_shape, *, element_dtype):
    """Returns the element at `index`."""
    i = _place(lst, index, "access")
    shape = _as_shape(element_shape)
    if i is not None and lst.items is not None:
        item = lst.items[i]
        return _unset(lst, shape) if item is None else item
    buffer = lst.stacked(xp, shape)
    if buffer is None:
        return _unset(lst, shape)
    if i is not None or xp is np:
        return buffer[i]
    if not buffer.shape[0]:  # a loop that never runs is traced too
        return xp.zeros(buffer.shape[1:], buffer.dtype)
    return lax_of(xp).dynamic_index_in_dim(xp.asarray(buffer), index, 0, keepdims=False)


@get_item.refuses("index")
def _get_item_refuses(xp, lst, index, element_shape):
    return [(index, lst.length)]


@get_item.shape
def _get_item_shape(lst, index, element_shape):
    return _seen_shape(element_shape)


def _as_long(lst):
    """Returns the list from which `lst` was made by replacing elements."""
    while lst.op.type == "TensorListSetItem" and not lst.op._attr("resize_if_index_out_of_bounds"):
        lst = lst.op.inputs[0]
    return lst


@get_item.grad
def _get_item_grad(op, ditem):
    lst, index, _ = op.inputs
    # Other elements may be of other shapes, so that of `ditem` is not declared.
    zeros = raw.TensorListReserve(np.int32(-1), raw.TensorListLength(_as_long(lst)), element_dtype=ditem.dtype)
    return raw.TensorListSetItem(zeros, index, ditem), None, None


@op("TensorListSetItem", "input_handle: variant, index: int32, item: element_dtype -> output_handle: variant",
    shape=_one, tensor_list="set")
def set_item(xp, lst, index, item, *, element_dtype, resize_if_index_out_of_bounds=False):
    """Returns the list with the element at `index` replaced."""
    if isinstance(item, TensorList):
        if not isinstance(index, (np.ndarray, np.generic, int)):
            raise NeedsHostValue("")
    elif not compatible(lst.declared, tuple(item.shape)):
        raise Complaint(f"Tried to set a tensor with incompatible shape {tuple(item.shape)} at an index; the list's "
                        f"element shape is {lst.declared}", "write elements of one shape, or give infer_shape=False")
    known = isinstance(index, (np.ndarray, np.generic, int))
    if resize_if_index_out_of_bounds:
        if not known:
            raise NeedsHostValue("index")
        if int(index) >= lst.length:
            lst = lst.with_items(lst.elements() + [None] * (int(index) + 1 - lst.length))
    i = _place(lst, index, "modify")
    if i is not None and (xp is np or lst.items is not None):
        items = lst.elements()
        items[i] = item
        return lst.with_items(items)
    buffer = lst.stacked(xp, tuple(item.shape))
    if tuple(buffer.shape[1:]) != tuple(item.shape):
        raise NeedsHostValue("")  # elements of different shapes
    if not buffer.shape[0]:
        return lst.of(buffer)
    index = i if i is not None else index
    return lst.of(lax_of(xp).dynamic_update_index_in_dim(xp.asarray(buffer), xp.asarray(item, buffer.dtype), index, 0))


@set_item.refuses("index")
def _set_item_refuses(xp, lst, index, item, resize_if_index_out_of_bounds=False):
    return [] if resize_if_index_out_of_bounds else [(index, lst.length)]


@set_item.grad
def _set_item_grad(op, dlist):
    _, index, item = op.inputs
    return (raw.TensorListSetItem(dlist, index, raw.ZerosLike(item)), None,
            raw.TensorListGetItem(dlist, index, _shape_of(item), element_dtype=item.dtype))


def _shape_of(item):
    return np.int32(-1) if item.dtype is variant else raw.Shape(item)


@op("TensorListStack", "input_handle: variant, element_shape: int32 -> tensor: element_dtype",
    host=("element_shape",))
def stack(xp, lst, element_shape, *, element_dtype, num_elements=-1):
    """Stacks all elements to one tensor."""
    if num_elements >= 0 and lst.length != num_elements:
        raise Complaint(f"Operation expected a list with {num_elements} elements but got a list with {lst.length} "
                        "elements.", "set the static shape that fits")
    shape = _as_shape(element_shape)
    if not lst._uniform():
        raise Complaint("the elements of the list differ in shape", "use concat instead of stack")
    buffer = lst.stacked(xp, shape)
    if buffer is None:
        raise Complaint("Tried to stack elements of an empty list with non-fully-defined element_shape",
                        "write an element first, or give element_shape=")
    if not compatible(shape, tuple(buffer.shape[1:])):
        raise Complaint(f"elements of shape {tuple(buffer.shape[1:])} do not fit the element shape {shape}",
                        "give the element_shape that the elements have")
    return buffer


@stack.shape
def _stack_shape(lst, element_shape, num_elements):
    shape = _seen_shape(element_shape)
    return None if shape is None else (num_elements if num_elements >= 0 else None, *shape)


@stack.grad
def _stack_grad(op, dtensor):
    return raw.TensorListFromTensor(dtensor, _rest_of_shape(dtensor)), None


def _rest_of_shape(t):
    """Returns the sizes of all but the first axis."""
    return raw.StridedSlice(raw.Shape(t), [1], [0], [1], end_mask=1)


@op("TensorListFromTensor", "tensor: element_dtype, element_shape: shape_type -> output_handle: variant", **_SHAPE,
    host=("element_shape",))
def from_tensor(xp, tensor, element_shape):
    """Makes a list of the rows of a tensor."""
    return TensorList(np.dtype(tensor.dtype), _as_shape(element_shape), None, tensor)


@from_tensor.shape
def _from_tensor_shape(tensor, element_shape):
    if tensor == ():
        raise Complaint("Tensor must be at least a vector, but saw shape: ()", "give a tensor of one or more axes")
    return ()


@from_tensor.grad
def _from_tensor_grad(op, dlist):
    t = op.inputs[0]
    shape = t._spec.shape
    n = -1 if shape is None or shape[0] is None else shape[0]
    if op.attrs.get("_may_grow"):
        size = raw.StridedSlice(raw.Shape(t), [0], [1], [1], shrink_axis_mask=1) if n < 0 else np.int32(n)
        dlist = raw.TensorListResize(dlist, size)
    return raw.TensorListStack(dlist, _rest_of_shape(t), element_dtype=t.dtype, num_elements=n), None


@op("TensorListGather", "input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype",
    host=("element_shape",))
def gather(xp, lst, indices, element_shape, *, element_dtype):
    """Stacks the elements at `indices` to one tensor."""
    shape = _as_shape(element_shape)
    if isinstance(indices, np.ndarray):
        places = [_place(lst, i, "access") for i in indices]
        if lst.items is not None:
            chosen = lst.with_items([lst.items[i] for i in places])
            if not chosen._uniform():
                raise Complaint("the elements gathered differ in shape", "gather elements of one shape, or use read")
            buffer = chosen.stacked(xp, shape)
            return np.stack([_unset(lst, shape) for _ in places]) if buffer is None else buffer
    buffer = lst.stacked(xp, shape)
    if buffer is None:
        return xp.zeros((len(indices), *_unset(lst, shape).shape), lst.np_dtype)
    return xp.take(buffer, indices, axis=0)


@gather.shape
def _gather_shape(lst, indices, element_shape):
    shape = _seen_shape(element_shape)
    return None if shape is None or indices is None else (*indices, *shape)


@gather.grad
def _gather_grad(op, dvalues):
    lst, indices, _ = op.inputs
    return raw.TensorListScatterV2(dvalues, indices, _rest_of_shape(dvalues), raw.TensorListLength(lst)), None, None


@op("TensorListScatterV2", "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 "
    "-> output_handle: variant", **_SHAPE, host=("element_shape", "num_elements"), shape=_one)
def scatter(xp, tensor, indices, element_shape, num_elements):
    """Makes a list with the rows of a tensor at `indices`."""
    n = int(num_elements)
    known = isinstance(indices, np.ndarray)
    if n < 0:
        if not known:
            raise NeedsHostValue("indices")
        n = int(max(indices, default=-1)) + 1
    return _put(xp, TensorList(np.dtype(tensor.dtype), _as_shape(element_shape), [None] * n), tensor, indices)


def _put(xp, lst, tensor, indices):
    if isinstance(indices, np.ndarray) and (xp is np or lst.items is not None):
        items = lst.elements()
        for row, i in zip(tensor, indices, strict=True):
            items[_place(lst, i, "modify")] = row
        return lst.with_items(items)
    buffer = xp.asarray(lst.stacked(xp, tuple(tensor.shape[1:])))
    return lst.of(buffer.at[indices].set(tensor))


@scatter.grad
def _scatter_grad(op, dlist):
    tensor, indices = op.inputs[:2]
    grad = raw.TensorListGather(dlist, indices, _rest_of_shape(tensor), element_dtype=tensor.dtype)
    return grad, None, None, None


@op("TensorListScatterIntoExistingList", "input_handle: variant, tensor: element_dtype, indices: int32 "
    "-> output_handle: variant", shape=_one)
def scatter_into(xp, lst, tensor, indices):
    """Returns the list with the rows of a tensor put at `indices`."""
    if isinstance(indices, np.ndarray):
        grown = int(max(indices, default=-1)) + 1
        if grown > lst.length:
            lst = lst.with_items(lst.elements() + [None] * (grown - lst.length))
    return _put(xp, lst, tensor, indices)


@scatter_into.grad
def _scatter_into_grad(op, dlist):
    _, tensor, indices = op.inputs
    return (raw.TensorListScatterIntoExistingList(dlist, raw.ZerosLike(tensor), indices),
            raw.TensorListGather(dlist, indices, _rest_of_shape(tensor), element_dtype=tensor.dtype), None)


@op("TensorListSplit", "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant",
    **_SHAPE, host=("element_shape", "lengths"), shape=_one)
def split(xp, tensor, element_shape, lengths):
    """Makes a list of pieces of a tensor, cut along its first axis."""
    total = int(lengths.sum())
    if total != tensor.shape[0]:
        raise Complaint(f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {total} and "
                        f"value's shape is: {list(tensor.shape)}", "give lengths that add up")
    ends = np.cumsum(lengths).tolist()
    return TensorList(np.dtype(tensor.dtype), _as_shape(element_shape),
                      [tensor[e - n : e] for e, n in zip(ends, lengths.tolist(), strict=True)])


@split.grad
def _split_grad(op, dlist):
    tensor, _, lengths = op.inputs
    shape = raw.ConcatV2([[-1], _rest_of_shape(tensor)], 0)
    dlist = raw.TensorListResize(dlist, raw.Size(lengths))  # the list may have grown since
    grad, _ = raw.TensorListConcatV2(dlist, shape, lengths, element_dtype=tensor.dtype)
    return grad, None, None


@op("TensorListConcatV2", "input_handle: variant, element_shape: shape_type, leading_dims: int64 "
    "-> tensor: element_dtype, lengths: int64", **_SHAPE, host=("element_shape", "leading_dims"))
def concat(xp, lst, element_shape, leading_dims, *, element_dtype):
    """Concatenates all elements along their first axis; returns also their lengths."""
    shape = _as_shape(element_shape)
    if lst.buffer is not None:
        items = [lst.buffer[i] for i in range(lst.length)]
    else:
        items = lst.elements()
        for i, item in enumerate(items):
            if item is None:
                lead = (int(leading_dims[i]),) if i < len(leading_dims) else shape[:1] if shape else None
                items[i] = _unset(lst, None if shape is None or lead is None else (*lead, *shape[1:]))
    if any(i.ndim == 0 for i in items):
        raise Complaint("Concat saw a scalar shape but requires at least vectors.", "use stack for a list of scalars")
    if not items:
        return xp.zeros((0, *(shape or ())[1:]), element_dtype.np_dtype), np.zeros(0, np.int64)
    if len({tuple(i.shape[1:]) for i in items}) > 1:
        raise Complaint("the elements differ in an axis other than the first", "concatenate elements that fit")
    return xp.concatenate(items, 0), np.array([i.shape[0] for i in items], np.int64)


@concat.shape
def _concat_shape(lst, element_shape, leading_dims):
    shape = _seen_shape(element_shape)
    if shape == ():
        raise Complaint("Shapes must be equal rank, but are 1 and 0: elements are scalars", "use stack")
    return [None if shape is None else (None, *shape[1:]), (None,)]


@concat.grad
def _concat_grad(op, dtensor, dlengths):
    shape = raw.ConcatV2([[-1], _rest_of_shape(dtensor)], 0)
    return raw.TensorListSplit(dtensor, shape, op.outputs[1]), None, None


@op("TensorListResize", "input_handle: variant, size: int32 -> output_handle: variant", host=("size",), shape=_one)
def resize(xp, lst, size):
    """Returns the list with elements added or dropped at its end."""
    items = lst.elements()[: int(size)]
    return lst.with_items(items + [None] * (int(size) - len(items)))


@resize.grad
def _resize_grad(op, dlist):
    return raw.TensorListResize(dlist, raw.TensorListLength(op.inputs[0])), None


@op("TensorListPushBack", "input_handle: variant, tensor: element_dtype -> output_handle: variant", shape=_one)
def push_back(xp, lst, tensor):
    """Returns the list with an element appended."""
    shape = tuple(getattr(tensor, "shape", ()))  # lists and optionals have none
    if not compatible(lst.declared, shape):
        raise Complaint(f"Tried to append a tensor with incompatible shape {shape} to a list; its "
                        f"element shape is {lst.declared}", "push elements of one shape")
    return lst.with_items([*lst.elements(), tensor])


@push_back.grad
def _push_back_grad(op, dlist):
    t = op.inputs[1]
    return raw.TensorListPopBack(dlist, raw.Shape(t), element_dtype=t.dtype)


@op("TensorListPopBack", "input_handle: variant, element_shape: int32 -> output_handle: variant, tensor: element_dtype",
    host=("element_shape",))
def pop_back(xp, lst, element_shape, *, element_dtype):
    """Returns the list without its last element, and that element."""
    items = lst.elements()
    if not items:
        raise Complaint("Trying to pop from an empty list.", "push an element first")
    item = items.pop()
    return lst.with_items(items), _unset(lst, _as_shape(element_shape)) if item is None else item


@pop_back.shape
def _pop_back_shape(lst, element_shape):
    return [(), _seen_shape(element_shape)]


@pop_back.grad
def _pop_back_grad(op, dlist, ditem):
    if dlist is None:
        dlist = raw.ZerosLike(op.outputs[0])
    return raw.TensorListPushBack(dlist, ditem), None


