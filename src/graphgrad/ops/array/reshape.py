"""Shape, size and rank, and ops that change only the shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import folded
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.dtypes import INDEX, as_dtype, int32
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import is_fully_defined, normalize_axis, num_elements
from graphgrad.ir.tensor import DTypeLike, ShapeLike, Tensor, TensorLike
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.op_traits import Linear
from graphgrad.ops.common.attribute_values import as_int
from graphgrad.ops.common.shape_values import host_array, reshape_like
from graphgrad.ops.common.synonyms import either

# The kernels of Shape, ShapeN, Rank and Size return NumPy arrays on the device too: shapes
# are concrete while a cluster is lowered, so that arithmetic on them stays on the host.


@op("Shape", "input: T -> output: out_type", out_type=INDEX, shape_only=True, formula="shape(input)")
def shape_op(xp, x, *, out_type=int32):
    """Returns the shape of the input."""
    return np.asarray(x.shape, out_type.np_dtype)


@shape_op.shape
def _shape_shape(x):
    return (None,) if x is None else (len(x),)


@shape_op.partial_value
def _shape_value(t, values):
    return t.op.inputs[t.value_index]._spec.shape


shape_op.grad(NOT_DIFFERENTIABLE)


@op("ShapeN", "input: N*T -> output: N*out_type", out_type=INDEX, shape_only=True)
def shape_n_op(xp, xs, *, out_type=int32):
    """Returns the shapes of the inputs."""
    return [np.asarray(x.shape, out_type.np_dtype) for x in xs]


@shape_n_op.shape
def _shape_n_shape(xs):
    return [_shape_shape(x) for x in xs]


shape_n_op.partial_value(_shape_value)
shape_n_op.grad(NOT_DIFFERENTIABLE)


def _scalar(x):
    return ()


@op("Rank", "input: T -> output: int32", shape=_scalar, shape_only=True)
def rank_op(xp, x):
    """Returns the number of dimensions of the input."""
    return np.asarray(len(x.shape), np.int32)


@rank_op.partial_value
def _rank_value(t, values):
    shape = t.op.inputs[0]._spec.shape
    return None if shape is None else len(shape)


rank_op.grad(NOT_DIFFERENTIABLE)


@op("Size", "input: T -> output: out_type", out_type=INDEX, shape=_scalar, shape_only=True, formula="size(input)")
def size_op(xp, x, *, out_type=int32):
    """Returns the number of elements of the input."""
    return np.asarray(math.prod(x.shape), out_type.np_dtype)


@size_op.partial_value
def _size_value(t, values):
    return num_elements(t.op.inputs[0]._spec.shape)


size_op.grad(NOT_DIFFERENTIABLE)


@op("Reshape", "tensor: T, shape: Tshape -> output: T", Tshape=INDEX, host=("shape",), data_movement=True,
    linear=Linear.JOINTLY, formula="reshape(tensor, shape)")
def reshape_op(xp, x, shape):
    """Reshapes the input."""
    target = tuple(shape.tolist())
    return xp.reshape(x, _filled_in(x.shape, target))


def _filled_in(shape, target):
    """Returns the target shape with its -1 replaced; raises a Complaint if the sizes differ."""
    n = math.prod(shape)
    if -1 in target:
        rest = math.prod(d for d in target if d != -1)
        if target.count(-1) == 1 and min(target) >= -1 and ((rest and n % rest == 0) or rest == n == 0):
            size = n // rest if rest else 0
            return tuple([size if d == -1 else d for d in target])
    elif math.prod(target) == n and (not target or min(target) >= 0):
        return target
    raise _misfit(shape, target)


def _misfit(shape, target):
    if target.count(-1) > 1:
        return Complaint(f"Only one input size may be -1, not {target.count(-1)} of {list(target)}",
                         "give all sizes but one")
    if target and min(target) < -1:
        return Complaint(f"Size {min(target)} must be non-negative or -1", "give sizes >= 0")
    n = num_elements(shape)
    rest = math.prod(d for d in target if d not in (-1, None))
    verb = "requires a multiple of" if -1 in target else "has"
    return Complaint(f"Cannot reshape a tensor with {n} elements to shape {list(target)} ({verb} {rest} elements)",
                     f"make the sizes multiply to {n}, or let one of them be -1")


@reshape_op.shape
def _reshape_shape(x, target, input_shapes):
    given = input_shapes[1]
    if given is not None and len(given) != 1:
        raise Complaint(f"shape must be a vector, but its rank is {len(given)}", "give a list of sizes, e.g. [-1]")
    if target is None:
        return None
    if not isinstance(target, tuple) or any(isinstance(d, tuple) for d in target):
        raise Complaint("shape must be a vector", "give a list of sizes, e.g. [-1]")
    n = 0 if x is not None and 0 in x else num_elements(x)
    if None in target:
        return _one_unknown(n, target)
    if n is None:
        if target.count(-1) > 1 or (target and min(target) < -1):
            raise _misfit(x, target)
        return tuple([None if d == -1 else d for d in target])
    return _filled_in((n,), target)


def _one_unknown(n, target):
    """Returns the target shape; a single size that is not known follows from the number of elements."""
    sizes = [d for d in target if d is not None]
    rest = math.prod(sizes)
    if n is not None and len(sizes) == len(target) - 1 and rest > 0 and -1 not in sizes and n % rest == 0:
        return tuple([n // rest if d is None else d for d in target])
    return tuple([None if d == -1 else d for d in target])


@reshape_op.partial_value
def _reshape_value(t, values):
    value, target = values
    if target == () and isinstance(value, tuple) and len(value) == 1:
        return value[0]
    if isinstance(target, tuple) and len(target) == 1 and value is not None:
        while isinstance(value, tuple) and any(isinstance(v, tuple) for v in value):
            if not all(isinstance(v, tuple) for v in value):
                return None
            value = tuple([i for v in value for i in v])
        return value if isinstance(value, tuple) else (value,)
    return None


@reshape_op.stacked
def _reshape_stacked(op, operands, stacked):
    (x, _), target = operands, host_array(op.inputs[1])
    own = x._spec.shape
    if stacked[1] or target is None or own is None or own[0] is None or own[1:] != op.inputs[0]._spec.shape:
        return None
    return raw.Reshape(x, np.array([own[0], *target], target.dtype))


@reshape_op.by_rows
def _rows_reshaped(op, rows):
    old, new = op.inputs[0]._spec.shape, op.outputs[0]._spec.shape
    if not old or not new or rows[1] or None in (*old[1:], *new[1:]):
        return False
    return 0 != math.prod(old[1:]) == math.prod(new[1:])


@reshape_op.grad
def _reshape_grad(op, dy):
    x = op.inputs[0]
    old, new = x._spec.shape, op.outputs[0]._spec.shape
    if isinstance(dy, IndexedSlices) and old and new and old[0] == new[0] and is_fully_defined(old):
        # The rows are the same ones.
        return IndexedSlices(raw.Reshape(dy.values, [-1, *old[1:]]), dy.indices, constant(list(old))), None
    return reshape_like(dy, x), None


@op("ExpandDims", "input: T, dim: Tdim -> output: T", Tdim=INDEX, host=("dim",), partial_value=folded,
    data_movement=True, linear=Linear.JOINTLY, formula="expand_dims(input, dim)")
def expand_dims_op(xp, x, dim):
    """Inserts a dimension of size 1."""
    at = normalize_axis(int(dim.reshape(())), len(x.shape) + 1)
    return xp.reshape(x, x.shape[:at] + (1,) + x.shape[at:])


@expand_dims_op.shape
def _expand_dims_shape(x, dim):
    if isinstance(dim, tuple):
        if len(dim) != 1:
            raise Complaint("'dim' must have exactly one element", "give one int")
        dim = dim[0]
    if x is None:
        return None
    if dim is None:
        return (None,) * (len(x) + 1)
    at = normalize_axis(dim, len(x) + 1)
    return x[:at] + (1,) + x[at:]


@expand_dims_op.by_rows
def _rows_expanded(op, rows):
    dim, shape = host_array(op.inputs[1]), op.outputs[0]._spec.shape
    return dim is not None and shape is not None and int(dim.reshape(())) % len(shape) != 0


@expand_dims_op.grad
def _expand_dims_grad(op, dy):
    return reshape_like(dy, op.inputs[0]), None


@op("Squeeze", "input: T -> output: T", partial_value=folded, data_movement=True, linear=Linear.JOINTLY)
def squeeze_op(xp, x, *, squeeze_dims=()):
    """Removes dimensions of size 1: all, or those that are named."""
    return xp.reshape(x, _squeeze_shape(x.shape, squeeze_dims))


@squeeze_op.shape
def _squeeze_shape(x, squeeze_dims):
    if x is None:
        return None
    if not squeeze_dims:
        return None if None in x else tuple([d for d in x if d != 1])
    gone = {normalize_axis(a, len(x)) for a in squeeze_dims}
    for a in gone:
        if x[a] not in (1, None):
            raise Complaint(f"Can not squeeze dim[{a}], expected a dimension of 1, got {x[a]}",
                            "name only axes of size 1")
    return tuple([d for a, d in enumerate(x) if a not in gone])


@squeeze_op.by_rows
def _rows_squeezed(op, rows):
    dims, shape = op._attr("squeeze_dims"), op.inputs[0]._spec.shape
    return bool(dims) and shape is not None and all(a % len(shape) for a in dims)


@squeeze_op.grad
def _squeeze_grad(op, dy):
    return reshape_like(dy, op.inputs[0])


# -- functions ---------------------------------------------------------------------


def shape(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Returns the shape of a tensor, as a tensor.

    Args:
      input: any shape and dtype.
      out_type: int32 (the default) or int64.
      name: a name for the operation.
    Returns: (rank,), `out_type`; a constant where the shape is known while building.
    Raises: TypeError for another out_type.
    Gradient: None.
    Reference: TensorFlow 2.21 Shape.

    >>> sess.run(tf.shape([[1, 2, 3]]))
    array([1, 3], dtype=int32)
    """
    return shape_internal(input, out_type, name)


def shape_internal(input: Any, out_type: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Returns the shape of a tensor, by a Shape op even if it is known unless `optimize`."""
    wanted = int32 if out_type is None else as_dtype(out_type)
    if _is_sparse(input):
        return raw.Cast(input.dense_shape, DstT=wanted, name=name or "Shape")
    input = convert_to_tensor(input, name="Shape/input")
    known = input._spec.shape
    if optimize and is_fully_defined(known) and current_graph() is not None:
        return constant(np.asarray(known, wanted.np_dtype), name=name or "Shape")
    return raw.Shape(input, out_type=wanted, name=name)


def _is_sparse(value: Any) -> bool:
    return hasattr(value, "dense_shape") and not isinstance(value, IndexedSlices)


def shape_v1(input: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Calls `shape` with the arguments in TensorFlow 1's order.

    Args:
      input, name, out_type: as for `shape`.
    Returns: as for `shape`.
    Raises: as for `shape`.
    Gradient: None.
    Reference: TensorFlow 2.21 `tf.compat.v1.shape`.

    >>> sess.run(tf.shape([[1, 2, 3]], out_type=tf.int64))
    array([1, 3])
    """
    return shape_internal(input, out_type, name)


def shape_n(input: TensorLike, out_type: DTypeLike = int32, name: str | None = None) -> list[Tensor]:
    """Returns the shapes of several tensors.

    Args:
      input: a list of tensors of one dtype.
      out_type: int32 or int64.
      name: a name for the operation.
    Returns: a list of integer vectors.
    Raises: TypeError for another out_type.
    Gradient: None.
    Reference: TensorFlow 2.21 ShapeN.

    >>> sess.run(tf.shape_n([[1, 2], [3]]))
    [array([2], dtype=int32), array([1], dtype=int32)]
    """
    return raw.ShapeN(list(input), out_type=as_dtype(out_type), name=name)


def size(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Returns the number of elements of a tensor, as a tensor.

    Args:
      input: any shape and dtype.
      out_type: int32 (the default) or int64.
      name: a name for the operation.
    Returns: scalar, `out_type`.
    Raises: TypeError for another out_type.
    Gradient: None.
    Reference: TensorFlow 2.21 Size.

    >>> sess.run(tf.size([[1, 2, 3]]))
    np.int32(3)
    """
    wanted = int32 if out_type is None else as_dtype(out_type)
    if _is_sparse(input):
        return raw.Prod(raw.Cast(input.dense_shape, DstT=wanted), 0, name=name)
    input = convert_to_tensor(input, name="Size/input")
    known = num_elements(input._spec.shape)
    if known is not None and current_graph() is not None:
        return constant(np.asarray(known, wanted.np_dtype), name=name or "Size")
    return raw.Size(input, out_type=wanted, name=name)


def size_v1(input: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Calls `size` with the arguments in TensorFlow 1's order.

    Args:
      input, name, out_type: as for `size`.
    Returns: as for `size`.
    Raises: as for `size`.
    Gradient: None.
    Reference: TensorFlow 2.21 `tf.compat.v1.size`.

    >>> sess.run(tf.size([1, 2, 3]))
    np.int32(3)
    """
    return size(input, out_type, name)


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the number of dimensions of a tensor, as a tensor.

    Args:
      input: any shape and dtype.
      name: a name for the operation.
    Returns: scalar, int32.
    Raises: ValueError for None.
    Gradient: None.
    Reference: TensorFlow 2.21 Rank.

    >>> sess.run(tf.rank([[1, 2, 3]]))
    np.int32(2)
    """
    if _is_sparse(input):
        return raw.Size(input.dense_shape, name=name)
    input = convert_to_tensor(input, name="Rank/input")
    known = input._spec.shape
    if known is not None and current_graph() is not None:
        return constant(np.asarray(len(known), np.int32), name=name or "Rank")
    return raw.Rank(input, name=name)


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Reshapes a tensor; elements keep their row-major order.

    Args:
      tensor: any shape and dtype.
      shape: an integer vector, or in eager mode one number; one size may be -1 and follows from the others.
      name: a name for the operation.
    Returns: a tensor of that shape, dtype of `tensor`.
    Raises: ValueError, or InvalidArgumentError at run time, if the sizes do not multiply to
      the same number.
    Gradient: dy in the shape of `tensor`; None for `shape`.
    Reference: TensorFlow 2.21 Reshape.

    >>> sess.run(tf.reshape([1, 2, 3, 4], [2, -1]))
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if current_graph() is None and (isinstance(shape, (int, np.integer)) or getattr(shape, "shape", None) == ()):
        shape = raw.Pack([shape], axis=0)
    return raw.Reshape(tensor, shape, name=name)


def expand_dims(input: TensorLike, axis: Any, name: str | None = None) -> Tensor:
    """Inserts a dimension of size 1.

    Args:
      input: (*D), any dtype.
      axis: scalar int in [-rank - 1, rank]: where; -1 is at the end.
      name: a name for the operation.
    Returns: D with a 1 inserted at `axis`, dtype of `input`.
    Raises: ValueError, or InvalidArgumentError at run time, if the axis is out of range.
    Gradient: dy in the shape of `input`.
    Reference: TensorFlow 2.21 ExpandDims.

    >>> sess.run(tf.expand_dims([1, 2], -1))
    array([[1],
           [2]], dtype=int32)
    """
    return raw.ExpandDims(input, axis, name=name)


def expand_dims_v1(input: TensorLike, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """Calls `expand_dims`, with `dim` as another name of `axis`.

    Args:
      input, axis, name: as for `expand_dims`.
      dim: the same as `axis`.
    Returns: as for `expand_dims`.
    Raises: as for `expand_dims`; ValueError if both or none of axis and dim are given.
    Gradient: as for `expand_dims`.
    Reference: TensorFlow 2.21 `tf.compat.v1.expand_dims`.

    >>> sess.run(tf.expand_dims([1, 2], dim=0))
    array([[1, 2]], dtype=int32)
    """
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims(). Fix: give axis=0, say")
    return raw.ExpandDims(input, axis, name=name)


def squeeze(input: TensorLike, axis: Any = None, name: str | None = None) -> Tensor:
    """Removes dimensions of size 1.

    Args:
      input: any shape and dtype.
      axis: an int or a list of them, the dimensions to drop; all of size 1 by default.
      name: a name for the operation.
    Returns: the same elements, dtype of `input`.
    Raises: ValueError, or InvalidArgumentError at run time, if one of them is not of size 1; TypeError for anything but
      numbers.
    Gradient: dy in the shape of `input`.
    Reference: TensorFlow 2.21 Squeeze.

    >>> sess.run(tf.squeeze([[1, 2]], 0))
    array([1, 2], dtype=int32)
    """
    if axis is None:
        return raw.Squeeze(input, name=name)
    axes = axis if isinstance(axis, (list, tuple)) else np.asarray(axis).reshape(-1).tolist()
    return raw.Squeeze(input, squeeze_dims=tuple([as_int(a, "axis") for a in axes]), name=name)


def squeeze_v1(input: TensorLike, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """Calls `squeeze`, with `squeeze_dims` as another name of `axis`.

    Args:
      input, axis, name: as for `squeeze`.
      squeeze_dims: the same as `axis`.
    Returns: as for `squeeze`.
    Raises: as for `squeeze`; ValueError if both are given.
    Gradient: as for `squeeze`.
    Reference: TensorFlow 2.21 `tf.compat.v1.squeeze`.

    >>> sess.run(tf.squeeze([[[1, 2]]], squeeze_dims=[0]))
    array([[1, 2]], dtype=int32)
    """
    return squeeze(input, either("axis", axis, "squeeze_dims", squeeze_dims), name)
