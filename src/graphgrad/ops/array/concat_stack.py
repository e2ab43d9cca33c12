"""Joining tensors: stack and concat; and unstack, which undoes it."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.constant_value import folded
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import constant, convert_to_tensor, holds_tensors, is_tensor_like, make_array
from graphgrad.ir.dtypes import INDEX, int32
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import merged, normalize_axis, shape_str
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.op_traits import Linear
from graphgrad.ops.common.attribute_values import as_int
from graphgrad.ops.common.lax_functions import lax_of
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import host_array, plus, rank_of


@op("Pack", "values: N*T -> output: T", data_movement=True, linear=Linear.JOINTLY, formula="stack(values, axis)")
def pack(xp, values, *, axis=0):
    """Joins tensors of one shape along a new axis."""
    return xp.stack(values, _new_axis(axis, values[0].shape))


def _new_axis(axis, shape):
    return normalize_axis(axis, len(shape) + 1)


@pack.shape
def _pack_shape(values, axis, N):
    if not values:
        raise Complaint("needs at least one tensor", "give a list that is not empty")
    one = None
    for i, v in enumerate(values):
        try:
            one = merged(one, v)
        except Complaint:
            raise Complaint(f"Shapes must be equal: values[{i}] is {shape_str(v)}, those before it {shape_str(one)}",
                            "give tensors of one shape") from None
    if one is None:
        return None
    at = _new_axis(axis, one)
    return one[:at] + (N,) + one[at:]


@pack.partial_value
def _pack_value(t, values):
    if all(x._spec.shape == () for x in t.op.inputs):
        return tuple(values)
    if t.op._attr("axis") != 0 or any(v is None for v in values):
        return None
    return tuple(values)


@pack.by_rows
def _packed_rows(op, rows):
    shape = op.outputs[0]._spec.shape
    return shape is not None and op._attr("axis") % len(shape) != 0


@pack.grad
def _pack_grad(op, dy):
    return raw.Unpack(dy, num=op._attr("N"), axis=op._attr("axis"))


@op("Unpack", "value: T -> output: num*T", partial_value=folded, data_movement=True, linear=Linear.JOINTLY)
def unpack(xp, value, *, num, axis=0):
    """Splits a tensor along an axis into slices without that axis."""
    at = normalize_axis(axis, len(value.shape))
    if value.shape[at] != num:
        raise Complaint(f"dimension {at} has size {value.shape[at]}, not num={num}", "give num that size")
    pre = (slice(None),) * at
    return [value[(*pre, i)] for i in range(num)]


@unpack.on_device
def _unpack_device(xp, value, *, num, axis):
    lax = lax_of(xp)
    at = normalize_axis(axis, len(value.shape))
    return [lax.index_in_dim(value, i, at, keepdims=False) for i in range(num)]


@unpack.shape
def _unpack_shape(value, num, axis):
    if value is None:
        return [None] * num
    at = normalize_axis(axis, len(value))
    if value[at] not in (None, num):
        raise Complaint(f"Dimension must be {num} but is {value[at]}: num differs from the size of axis {at}",
                        f"give num={value[at]}, or leave it out")
    return [value[:at] + value[at + 1 :]] * num


@unpack.by_rows
def _unpacked_rows(op, rows):
    shape = op.inputs[0]._spec.shape
    return shape is not None and op._attr("axis") % len(shape) != 0


@unpack.grad
def _unpack_grad(op, *dys):
    return raw.Pack(dys, axis=op._attr("axis"))


def _concat_kernel(xp, values, axis):
    at = normalize_axis(int(axis.reshape(())), len(values[0].shape))
    try:
        return xp.concatenate(values, at)
    except (ValueError, TypeError):
        _concat_shape([v.shape for v in values], at)  # says what does not fit
        raise


def _concat_shape(values, axis):
    if isinstance(axis, tuple):
        if len(axis) != 1:
            raise Complaint("axis must be a scalar", "give one int")
        axis = axis[0]
    known = [v for v in values if v is not None]
    if not known:
        return None
    rank = len(known[0])
    if any(len(v) != rank for v in known):
        raise Complaint(f"Shapes must have one rank but are {', '.join(map(shape_str, values))}",
                        "tf.expand_dims the smaller ones, or tf.stack")
    if rank == 0:
        raise Complaint("Can't concatenate scalars", "use tf.stack instead")
    if axis is None:
        return (None,) * rank
    at = normalize_axis(axis, rank)
    sizes = [None if v is None else v[at] for v in values]
    rest = None
    for i, v in enumerate(values):
        if v is None:
            continue
        try:
            rest = merged(rest, v[:at] + (None,) + v[at + 1 :])
        except Complaint:
            raise Complaint(f"Dimensions other than {at} must be equal: values[{i}] is {shape_str(v)}, "
                            f"values[0] is {shape_str(values[0])}", "make all other sizes equal") from None
    return rest[:at] + (None if None in sizes else sum(sizes),) + rest[at + 1 :]


@op("ConcatV2", "values: N*T, axis: Tidx -> output: T", Tidx=INDEX, host=("axis",), shape=_concat_shape,
    data_movement=True, linear=Linear.JOINTLY, formula="concatenate(values, axis)")
def concat_v2(xp, values, axis):
    """Joins tensors along an axis that they have."""
    return _concat_kernel(xp, values, axis)


@concat_v2.partial_value
def _concat_value(t, values):
    *parts, axis = values
    found = []
    for x, value in zip(t.op.inputs, parts, strict=False):
        if value is None:
            shape = x._spec.shape
            if shape is None or len(shape) != 1 or shape[0] is None:
                return None
            value = (None,) * shape[0]
        if axis not in (0, -1) or any(isinstance(v, tuple) for v in value):
            return None
        found.extend(value)
    return tuple(found)


@concat_v2.stacked
def _concat_v2_stacked(op, operands, stacked):
    *values, _ = operands
    axis, rank = host_array(op.inputs[-1]), op.outputs[0]._spec.shape
    if stacked[-1] or axis is None or rank is None or not all(stacked[:-1]) or any(
            v._spec.shape is None or v._spec.shape[1:] != t._spec.shape
            for v, t in zip(values, op.inputs, strict=False)):
        return None
    return raw.ConcatV2(values, axis if axis < 0 else axis + axis.dtype.type(1))


@concat_v2.by_rows
def _joined_rows(op, rows):
    axis, shape = host_array(op.inputs[-1]), op.outputs[0]._spec.shape
    return axis is not None and shape is not None and int(axis) % len(shape) != 0


@concat_v2.grad
def _concat_v2_grad(op, dy):
    return [*_concat_parts(dy, op.inputs[:-1], op.inputs[-1]), None]


def _slices_of_parts(dy, values, axis):
    """Returns the parts of sparse `dy` for each of the concatenated `values`; None if shapes are not known."""
    shapes = [v._spec.shape for v in values]
    if any(s is None for s in shapes):
        return None
    at = normalize_axis(axis, len(shapes[0]))
    sizes = [s[at] for s in shapes]
    dense_shapes = [raw.Shape(v, out_type=dy.indices.dtype) for v in values]
    if at > 0:
        if None in sizes:
            return None
        parts = raw.SplitV(dy.values, np.asarray(sizes, np.int32), np.int32(at), num_split=len(sizes))
        return [IndexedSlices(p, dy.indices, s) for p, s in zip(parts, dense_shapes, strict=True)]
    slices = []
    low = 0
    for size, dense_shape in zip(sizes, dense_shapes, strict=True):
        if size is None:
            size = raw.StridedSlice(dense_shape, [0], [1], [1], shrink_axis_mask=1)
        high = plus(low, size)
        here = raw.LogicalAnd(raw.GreaterEqual(dy.indices, low), raw.Less(dy.indices, high))
        rows = raw.Squeeze(raw.Where(here), squeeze_dims=(1,))
        indices = raw.Sub(raw.GatherV2(dy.indices, rows, 0), low)
        slices.append(IndexedSlices(raw.GatherV2(dy.values, rows, 0), indices, dense_shape))
        low = high
    return slices


def _concat_parts(dy, values, axis):
    """Returns the parts of `dy` that belong to each of the concatenated `values`."""
    if len(values) == 1:
        return [dy]
    at = host_array(axis)
    if isinstance(dy, IndexedSlices):
        parts = None if at is None else _slices_of_parts(dy, values, int(at))
        if parts is not None:
            return parts
        dy = dy._as_tensor()
    if at is not None and values[0]._spec.shape is not None:
        at = normalize_axis(int(at), len(values[0]._spec.shape))
        sizes = [v._spec.shape[at] if v._spec.shape is not None else None for v in values]
        if None not in sizes:
            if len(set(sizes)) == 1:
                return raw.Split(np.int32(at), dy, num_split=len(sizes))
            return raw.SplitV(dy, np.asarray(sizes, np.int32), np.int32(at), num_split=len(sizes))
    elif axis.dtype is not int32:
        axis = raw.Cast(axis, DstT=int32)
    at = axis if at is None else np.int32(at)
    if at is axis:
        at = raw.FloorMod(axis, rank_of(values[0]))
    shapes = raw.ShapeN(list(values))
    offsets = raw.ConcatOffset(at, shapes)
    return [raw.Slice(dy, o, s) for o, s in zip(offsets, shapes, strict=True)]


def _concat_v1_shape(axis, values):
    return _concat_shape(values, axis)


@op("Concat", "concat_dim: int32, values: N*T -> output: T", host=("concat_dim",), shape=_concat_v1_shape,
    data_movement=True, linear=Linear.JOINTLY)
def concat_v1_op(xp, axis, values):
    """Joins tensors along an axis that they have."""
    return _concat_kernel(xp, values, axis)


@concat_v1_op.grad
def _concat_v1_grad(op, dy):
    return [None, *_concat_parts(dy, op.inputs[1:], op.inputs[0])]


@op("ConcatOffset", "concat_dim: int32, shape: N*shape_type -> offset: N*shape_type", shape_type=INDEX,
    host=("concat_dim", "shape"))
def concat_offset(xp, axis, shapes):
    """Returns where each of the tensors with these shapes begins in their concatenation."""
    rank = len(shapes[0])
    if not -rank <= int(axis) < rank:
        raise Complaint(f"Concat dim is out of range: {int(axis)} vs. {rank}", f"give one of 0 to {rank - 1}")
    at = normalize_axis(int(axis), rank)
    offsets = []
    position = 0
    for i, s in enumerate(shapes):
        if len(s) != rank:
            raise Complaint(f"input {i} should contain {rank} elements, but got {len(s)}", "give shapes of one rank")
        if (np.delete(s, at) != np.delete(shapes[0], at)).any():
            raise Complaint(f"All dimensions except {at} must match. Input {i} has shape {s.tolist()} and doesn't "
                            f"match input 0 with shape {shapes[0].tolist()}", "make all other sizes equal")
        offset = np.zeros_like(s)
        offset[at] = position
        position += int(s[at])
        offsets.append(offset)
    return offsets


@concat_offset.shape
def _concat_offset_shape(axis, shapes, input_shapes):
    if input_shapes[0] not in (None, ()):
        raise Complaint(f"Concat dim tensor should be a scalar, but got shape {shape_str(input_shapes[0])}",
                        "give an int")
    for i, shape in enumerate(input_shapes[1]):
        if shape is not None and len(shape) != 1:
            raise Complaint(f"input {i} should be a vector, but got shape {shape_str(shape)}", "give a vector")
    rank = next((len(s) for s in shapes if s is not None), None)
    return [(rank,)] * len(shapes)


concat_offset.grad(NOT_DIFFERENTIABLE)


# -- functions ---------------------------------------------------------------------


def stack(values: TensorLike, axis: int = 0, name: str | None = "stack") -> Tensor:
    """Joins tensors of one shape along a new axis.

    Args:
      values: a list of N tensors (*P, *Q) of one dtype, P having `axis` dimensions.
      axis: int in [-rank - 1, rank], where the new axis goes.
      name: a name for the operation.
    Returns: (*P, N, *Q), the same dtype.
    Raises: ValueError if shapes differ or the axis is out of range; TypeError if that is not a number.
    Gradient: Unpack.
    Reference: TensorFlow 2.21 Pack.

    >>> sess.run(tf.stack([[1, 2], [3, 4]], axis=1))
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if is_tensor_like(values):
        if axis == 0:
            return convert_to_tensor(values, name=name)
        values = unstack(values)
    elif isinstance(values, np.ndarray) or not holds_tensors(values):
        array = _array_of(values)
        if axis == 0:
            return constant(array, name=name)
        values = list(array)
    elif axis == 0 and current_graph() is not None and not all(map(is_tensor_like, values)):
        with contextlib.suppress(TypeError, ValueError):  # what does not fit is said below
            return convert_to_tensor(values, name=name or "stack")
    return raw.Pack(list(values), axis=as_int(axis, "axis"), name=name)


def _array_of(values: Any) -> Any:
    """Returns the array of what is stacked; NumPy's arrays keep their dtype, and in eager mode its numbers do."""
    if current_graph() is None:
        return convert_to_tensor(values)._value
    arrays = [v for v in values if isinstance(v, np.ndarray) and v.ndim]
    kept = len(arrays) == len(values) and len({(v.dtype, v.shape) for v in arrays}) == 1
    return np.stack(arrays) if kept and arrays and not isinstance(values, np.ndarray) else make_array(values)


def parallel_stack(values: TensorLike, name: str | None = "parallel_stack") -> Tensor:
    """Joins tensors of one shape along a new first axis.

    Args:
      values: a list of N tensors (*D) of one dtype.
      name: a name for the operation.
    Returns: (N, *D).
    Raises: RuntimeError in eager mode; ValueError if shapes differ.
    Gradient: Unpack.
    Reference: TensorFlow 2.21 `tf.parallel_stack`.

    >>> sess.run(tf.parallel_stack([[1, 2], [3, 4]]))
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if current_graph() is None:
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution. Fix: use tf.stack")
    return raw.Pack(list(values), axis=0, name=name)


def unstack(value: TensorLike, num: int | None = None, axis: int = 0, name: str | None = "unstack") -> list[Tensor]:
    """Splits a tensor along an axis into slices without that axis.

    Args:
      value: (*P, n, *Q), any dtype, P having `axis` dimensions.
      num: n; by default what is known of the shape.
      axis: int in [-rank, rank).
      name: a name for the operation.
    Returns: a list of n tensors (*P, *Q).
    Raises: ValueError if n is neither known nor given, differs, or the axis is out of range.
    Gradient: Pack.
    Reference: TensorFlow 2.21 Unpack.

    >>> sess.run(tf.unstack([[1, 2], [3, 4]]))
    [array([1, 2], dtype=int32), array([3, 4], dtype=int32)]
    """
    value = convert_to_tensor(value, name=f"{name or 'unstack'}/value")
    if num is None:
        known = value._spec.shape
        if known is not None:
            if not -len(known) <= axis < len(known):
                raise ValueError(f"Argument `axis` = {axis} not in range [{-len(known)}, {len(known)}). "
                                 f"Fix: use an axis of the shape {shape_str(known)}")
            num = known[axis]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {shape_str(known)}. Fix: give num, or set_shape")
    return raw.Unpack(value, num=whole(num), axis=axis, name=name)


def concat(values: TensorLike, axis: Any, name: str | None = "concat") -> Tensor:
    """Joins tensors along an axis that they have.

    Args:
      values: a list of tensors (*P, n_i, *Q) of one dtype, P having `axis` dimensions.
      axis: scalar int in [-rank, rank).
      name: a name for the operation.
    Returns: (*P, sum of n_i, *Q), the same dtype.
    Raises: ValueError, or InvalidArgumentError at run time, if other sizes differ.
    Gradient: the parts of dy.
    Reference: TensorFlow 2.21 ConcatV2.

    >>> sess.run(tf.concat([[1, 2], [3]], 0))
    array([1, 2, 3], dtype=int32)
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("concat: there is nothing to concatenate, values is empty. Fix: give at least one tensor")
    if len(values) == 1:
        with name_scope(name, "concat"):
            convert_to_tensor(axis, int32, name="concat_dim")  # rejects anything but an axis
            return raw.Identity(values[0], name="concat")
    return raw.ConcatV2(list(values), axis, name=name)


def concat_v1(values: TensorLike, axis: Any, name: str | None = "concat") -> Tensor:
    """Joins tensors as `concat` does; accepts the order (axis, values) of TensorFlow 0.x too.

    Args:
      values, axis, name: as for `concat`.
    Returns: as for `concat`.
    Raises: as for `concat`.
    Gradient: as for `concat`.
    Reference: TensorFlow 2.21 `tf.compat.v1.concat`; TensorFlow 0.12 `tf.concat`.

    >>> sess.run(tf.concat([[1, 2], [3]], 0))
    array([1, 2, 3], dtype=int32)
    """
    if isinstance(values, int) and isinstance(axis, (list, tuple)):
        values, axis = axis, values
    return concat(values, axis, name)


limit_ranks(vectors="ConcatOffset.shape")
