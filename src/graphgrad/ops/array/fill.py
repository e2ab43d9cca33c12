"""Fill, zeros, ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import folded
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import constant, convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import INDEX, as_dtype, float32
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import as_shape
from graphgrad.ir.tensor import DTypeLike, ShapeLike, Tensor, TensorLike
from graphgrad.ir.values.tensor_list import TensorList
from graphgrad.op_traits import Linear
from graphgrad.ops.common.rank_limits import limit_ranks
from graphgrad.ops.common.shape_values import all_axes
from graphgrad.system import own_arrays


@op("Fill", "dims: index_type, value: T -> output: T", index_type=INDEX, host=("dims",), partial_value=folded,
    data_movement=True, linear=Linear.JOINTLY, formula="full(dims, value)")
def fill_op(xp, dims, value):
    """Makes a tensor of one value."""
    shape = tuple(dims.tolist())
    return own_arrays.full(shape, value, value.dtype) if xp is np else xp.full(shape, value, dtype=value.dtype)


@fill_op.shape
def _fill_shape(dims, value):
    if value is not None and value != ():
        raise Complaint("value must be a scalar", "give one number, e.g. value[0]")
    return _sizes(dims)


def _sizes(dims):
    if dims is None:
        return None
    if not isinstance(dims, tuple):
        raise Complaint("dims must be a vector", "give a list of sizes, e.g. [3]")
    if any(d is not None and d < 0 for d in dims):
        raise Complaint(f"Dimension {min(d for d in dims if d is not None)} must be >= 0", "give sizes >= 0")
    return dims


@fill_op.grad
def _fill_grad(op, dy):
    return None, raw.Sum(dy, all_axes(op.outputs[0]))


def _same(x):
    return x


@op("ZerosLike", "x: T -> y: T", shape=_same, fill=0)
def zeros_like_op(xp, x):
    """Makes a tensor of zeros of the shape and dtype of `x`."""
    if isinstance(x, TensorList):
        return x.zeros()
    if xp is not np:
        return xp.zeros_like(x)
    return np.full(x.shape, b"", object) if x.dtype == object else own_arrays.full(x.shape, 0, x.dtype)


zeros_like_op.grad(NOT_DIFFERENTIABLE)


@op("OnesLike", "x: T -> y: T", shape=_same, fill=1)
def ones_like_op(xp, x):
    """Makes a tensor of ones of the shape and dtype of `x`."""
    return own_arrays.full(x.shape, 1, x.dtype) if xp is np else xp.ones_like(x)


ones_like_op.grad(NOT_DIFFERENTIABLE)


@op("Empty", "shape: int32 -> output: dtype", host=("shape",))
def empty_op(xp, shape, *, dtype, init=False):
    """Makes a tensor whose elements are not set (zeros here)."""
    return xp.zeros(tuple(shape.tolist()), dtype.np_dtype)


empty_op.shape(_sizes)
empty_op.grad(NOT_DIFFERENTIABLE)


_LARGE = 2**24  # elements; beyond it the operation itself reports the lack of memory


def _filled(shape: Any, one: Any, name: str) -> Any:
    """Returns a tensor of a known or unknown shape with every element `one`, a NumPy scalar or bytes."""
    if not is_tensor_like(shape):
        static: Any
        try:
            static = as_shape(shape)
        except (TypeError, ValueError):
            static = None
        if static and max(n or 0 for n in static) >= 2**63:
            raise ValueError(f"Can't make a tensor of the shape {static}: a size is not of 64 bits. Fix: give sizes "
                             "that fit into memory")
        if static is not None and None not in static:
            size = math.prod(static)
            if size < 1000 or (current_graph() is None and size < _LARGE):
                if current_graph() is None and not isinstance(one, bytes):
                    return EagerTensor(own_arrays.full(static, one if one else 0, one.dtype))
                return constant(np.full(static, one, getattr(one, "dtype", object)), name=name)
            shape = np.array(static, np.int32 if max(static) < 2**31 else np.int64)
    with name_scope(name) as scope:
        shape = convert_to_tensor(shape, name="shape_as_tensor" if isinstance(shape, np.ndarray) else None)
        if shape._spec.shape == ():
            shape = raw.Reshape(shape, [-1])
        return raw.Fill(shape, constant(one if not isinstance(one, bytes) else np.array(one, object)), name=scope)


def _scalar_of(dtype: Any, value: int) -> Any:
    if dtype.kind == "o":
        return b"" if value == 0 else b"\x01"
    return dtype.np_dtype.type(value)


def zeros(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None, layout: Any = None) -> Tensor:
    """Makes a tensor of zeros.

    Args:
      shape: a list of ints (or scalar tensors), or an integer vector.
      dtype: the dtype; empty strings for string.
      name: a name for the operation.
      layout: accepted as TensorFlow does; not used.
    Returns: a tensor of that shape and dtype.
    Raises: ValueError for a negative size.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.zeros`.

    >>> sess.run(tf.zeros([3]))
    array([0., 0., 0.], dtype=float32)
    """
    return _filled(shape, _scalar_of(as_dtype(dtype), 0), name or "zeros")


def ones(shape: ShapeLike, dtype: DTypeLike = float32, name: str | None = None, layout: Any = None) -> Tensor:
    """Makes a tensor of ones.

    Args:
      shape: a list of ints (or scalar tensors), or an integer vector.
      dtype: the dtype.
      name: a name for the operation.
      layout: accepted as TensorFlow does; not used.
    Returns: a tensor of that shape and dtype.
    Raises: ValueError for a negative size.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.ones`.

    >>> sess.run(tf.ones([2], tf.int32))
    array([1, 1], dtype=int32)
    """
    return _filled(shape, _scalar_of(as_dtype(dtype), 1), name or "ones")


def fill(dims: Any, value: TensorLike, name: str | None = None, layout: Any = None) -> Tensor:
    """Makes a tensor with every element `value`.

    Args:
      dims: an integer vector, the shape.
      value: a scalar.
      name: a name for the operation.
      layout: accepted as TensorFlow does; not used.
    Returns: a tensor of shape `dims`, dtype of `value`.
    Raises: ValueError if value is not a scalar or a size is negative.
    Gradient: the sum, for `value`; None for `dims`.
    Reference: TensorFlow 2.21 Fill.

    >>> sess.run(tf.fill([2], 7))
    array([7, 7], dtype=int32)
    """
    return raw.Fill(dims, value, name=name)


def _like(tensor: Any, value: int, dtype: Any, name: str, same_op: Any, optimize: bool = True) -> Any:
    tensor = convert_to_tensor(tensor, name=f"{name}/tensor")
    wanted = tensor.dtype if dtype is None else as_dtype(dtype)
    shape = tensor._spec.shape
    if optimize and shape is not None and None not in shape and wanted.kind != "o":
        return _filled(shape, _scalar_of(wanted, value), name)
    if wanted is tensor.dtype and same_op is not None:
        return same_op(tensor, name=name)
    return _filled(raw.Shape(tensor, name=f"{name}/Shape"), _scalar_of(wanted, value), name)


def zeros_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None,
               layout: Any = None) -> Tensor:
    """Makes a tensor of zeros with the shape of `input`.

    Args:
      input: any shape and dtype.
      dtype: the dtype of the result; that of `input` by default.
      name: a name for the operation.
      layout: accepted as TensorFlow does; not used.
    Returns: a tensor of the same shape.
    Raises: TypeError for a dtype that has no zero.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.zeros_like`.

    >>> sess.run(tf.zeros_like([1, 2]))
    array([0, 0], dtype=int32)
    """
    return _like(input, 0, dtype, name or "zeros_like", raw.ZerosLike)


def zeros_like_v1(tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None,
                  optimize: bool = True) -> Tensor:
    """Makes a tensor of zeros with the shape of `tensor`.

    Args:
      tensor: any shape and dtype.
      dtype: the dtype of the result; that of `tensor` by default.
      name: a name for the operation.
      optimize: whether a shape that is known makes the result a constant.
    Returns: a tensor of the same shape.
    Raises: TypeError for a dtype that has no zero.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.zeros_like`.

    >>> sess.run(tf.zeros_like([1, 2], tf.float32))
    array([0., 0.], dtype=float32)
    """
    return _like(tensor, 0, dtype, name or "zeros_like", raw.ZerosLike, optimize)


def ones_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None) -> Tensor:
    """Makes a tensor of ones with the shape of `input`.

    Args:
      input: any shape and dtype.
      dtype: the dtype of the result; that of `input` by default.
      name: a name for the operation.
      layout: accepted as TensorFlow does; not used.
    Returns: a tensor of the same shape.
    Raises: TypeError for a dtype that has no one.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.ones_like`.

    >>> sess.run(tf.ones_like([5, 6]))
    array([1, 1], dtype=int32)
    """
    return _like(input, 1, dtype, name or "ones_like", raw.OnesLike)


def ones_like_v1(tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None,
                 optimize: bool = True) -> Tensor:
    """Makes a tensor of ones with the shape of `tensor`.

    Args:
      tensor: any shape and dtype.
      dtype: the dtype of the result; that of `tensor` by default.
      name: a name for the operation.
      optimize: whether a shape that is known makes the result a constant.
    Returns: a tensor of the same shape.
    Raises: TypeError for a dtype that has no one.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.ones_like`.

    >>> sess.run(tf.ones_like([5., 6.]))
    array([1., 1.], dtype=float32)
    """
    return _like(tensor, 1, dtype, name or "ones_like", None, optimize)


limit_ranks(vectors="Empty.shape Fill.dims")
