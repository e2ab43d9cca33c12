"""Helpers of linear operators: their tensors or variables, partly known shapes, batches that broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape, as_shape, broadcast, is_fully_defined
from graphgrad.ops.common.shape_values import join, shape_of
from graphgrad.ops.control import assertions

LAST = np.asarray([-1], np.int32)


def kept(value: Any, name: str, dtype: Any = None) -> Any:
    """Returns a variable unchanged, to be read whenever the operator computes; converts anything else to a tensor."""
    return value if isinstance(value, Variable) else convert_to_tensor(value, dtype, name=name)


def given(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a constructor, from its `locals()`."""
    return {k: v for k, v in arguments.items() if k not in ("self", "__class__")}


def sizes(x: Any) -> Any:
    """Returns the shape of a tensor or variable: an array where it is known, else a tensor."""
    return shape_of(convert_to_tensor(x))


def column(x: Any) -> Any:
    """Converts vectors to matrices of one column."""
    return raw.ExpandDims(x, -1)


def flat(x: Any) -> Any:
    """Converts matrices of one column to vectors."""
    return raw.Squeeze(x, squeeze_dims=(-1,))


def total(x: Any) -> Any:
    """Computes the sums along the last axis."""
    return raw.Sum(x, LAST)


def full(shape: Any, value: Any, dtype: Any) -> Any:
    """Makes a tensor of one value; the shape is an array or a tensor."""
    return raw.Fill(shape, np.asarray(value, dtype.np_dtype))


def magnitude(x: Any) -> Any:
    """Computes |x|, as real numbers."""
    x = convert_to_tensor(x)
    return raw.ComplexAbs(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else raw.Abs(x)


def real(x: Any) -> Any:
    """Computes the real part."""
    x = convert_to_tensor(x)
    return raw.Real(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else x


def imaginary(x: Any) -> Any:
    """Computes the imaginary part."""
    x = convert_to_tensor(x)
    return raw.Imag(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else raw.ZerosLike(x)


def cast(x: Any, dtype: Any) -> Any:
    """Converts x to another dtype, from complex to real by its real part."""
    x = convert_to_tensor(x)
    if x.dtype.is_complex and not dtype.is_complex:
        x = real(x)
    return x if x.dtype is dtype else raw.Cast(x, DstT=dtype)


def common(*shapes: Any) -> TensorShape:
    """Returns the static shape that shapes broadcast to."""
    known = [as_shape(s) for s in shapes]
    return TensorShape(None if None in known else broadcast(*known))


def common_sizes(*vectors: Any) -> Any:
    """Returns the shape that shapes broadcast to, each an array or a tensor."""
    if all(isinstance(v, np.ndarray) for v in vectors):
        return np.asarray(np.broadcast_shapes(*(tuple(v.tolist()) for v in vectors)), np.int32)
    found = vectors[0]
    for v in vectors[1:]:
        found = raw.BroadcastArgs(found, v)
    return found


def without_matrix(vector: Any) -> Any:
    """Returns the batch part of a shape, an array or a tensor."""
    return vector[:-2] if isinstance(vector, np.ndarray) else \
        raw.StridedSlice(vector, [0], [-2], [1], begin_mask=1)


def of_matrix(vector: Any) -> Any:
    """Returns the last two elements of a shape, an array or a tensor."""
    return vector[-2:] if isinstance(vector, np.ndarray) else \
        raw.StridedSlice(vector, [-2], [0], [1], end_mask=1)


def one(vector: Any, i: int) -> Any:
    """Returns an element of a shape, as a number or a tensor."""
    return vector[i] if isinstance(vector, np.ndarray) else \
        raw.StridedSlice(vector, [i], [i + 1], [1], shrink_axis_mask=1, end_mask=int(i == -1))


def as_vector(*numbers: Any) -> Any:
    """Makes a shape of numbers and scalars."""
    return join(*(np.asarray([n], np.int32) if isinstance(n, (int, np.integer)) else raw.Reshape(n, [1])
                  for n in numbers))


def squared(vector: Any) -> Any:
    """Converts a shape (*B, n) to (*B, n, n)."""
    return join(vector, as_vector(one(vector, -1)))


def with_same_batch(matrices: Any) -> list[Any]:
    """Broadcasts matrices to a common batch."""
    matrices = [convert_to_tensor(m) for m in matrices]
    shapes = [m._spec.shape for m in matrices]
    if None not in shapes and len({s[:-2] for s in shapes}) == 1 and is_fully_defined(shapes[0][:-2]):
        return matrices
    own = [sizes(m) for m in matrices]
    batch = common_sizes(*map(without_matrix, own))
    return [m if isinstance(batch, np.ndarray) and m._spec.shape[:-2] == tuple(batch.tolist())
            else raw.BroadcastTo(m, join(batch, of_matrix(s))) for m, s in zip(matrices, own, strict=True)]


def number(value: Any, what: str) -> Any:
    """Returns a number of rows or columns: an int where it is known, else a scalar tensor."""
    if isinstance(value, Variable):
        raise TypeError(f"Argument {what} cannot be reference type. Found: {type(value)}.\n  Fix: give an integer")
    tensor = convert_to_tensor(value, name=what)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument {what} must be integer type.  Found: {tensor.dtype.name}\n  Fix: give an integer")
    known = constant_value(tensor)
    if known is None:
        return tensor
    if np.ndim(known) != 0:
        raise ValueError(f"Argument {what} must be a 0-D Tensor.  Found: {known}\n  Fix: give one number")
    if known < 0:
        raise ValueError(f"Argument {what} must be non-negative.  Found: {known}\n  Fix: give a number >= 0")
    return int(known)


def batch_vector(value: Any) -> Any:
    """Returns a batch shape: an array where it is known, else a tensor."""
    if isinstance(value, Variable):
        raise TypeError("Argument batch_shape cannot be reference type.\n  Fix: give a list of integers")
    if isinstance(value, TensorShape):
        value = value.as_list()
    if isinstance(value, (list, tuple)) and not value:
        value = np.zeros(0, np.int32)
    tensor = convert_to_tensor(value, name="batch_shape")
    if not tensor.dtype.is_integer:
        raise TypeError("Argument batch_shape must be integer type.  Found: "
                        f"{tensor.dtype.name}\n  Fix: give a list of integers")
    known = constant_value(tensor)
    if known is None:
        return tensor
    if np.ndim(known) != 1:
        raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {known}\n  Fix: give a list")
    if np.any(known < 0):
        raise ValueError(f"Argument batch_shape must be non-negative.  Found: {known}\n  Fix: give sizes >= 0")
    return np.asarray(known, np.int32)


def static_shape(vector: Any) -> TensorShape:
    """Returns the static shape that an array or a tensor describes."""
    if isinstance(vector, np.ndarray):
        return TensorShape(vector.tolist())
    rank = vector._spec.shape
    return TensorShape(None if rank is None or rank[0] is None else [None] * rank[0])


def assert_nonzero(x: Any, message: str) -> Any:
    """Fails, at run time, if an element is 0."""
    size = magnitude(x)
    return assertions.assert_less(np.zeros((), size.dtype.np_dtype), size, message=message)


def assert_positive(x: Any, message: str) -> Any:
    """Fails, at run time, unless the real parts are positive."""
    x = real(x)
    return assertions.assert_less(np.zeros((), x.dtype.np_dtype), x, message=message)


def assert_real(x: Any, message: str) -> Any:
    """Fails, at run time, if an imaginary part is not 0."""
    x = imaginary(x)
    return assertions.assert_equal(np.zeros((), x.dtype.np_dtype), x, message=message)


def nothing() -> Any:
    """Returns the result of an assertion that always holds."""
    return assertions._nothing("always")


# -- slices of the batch -------------------------------------------------------------------


def sliced(value: Any, ndims: int, rank: int, slices: tuple[Any, ...]) -> Any:
    """Slices a parameter's batch, given slices of the operator's batch of that rank, with which it broadcasts."""
    x = convert_to_tensor(value)
    own = x._spec.shape
    if own is None:
        raise ValueError("A linear operator of unknown rank cannot be sliced.\n  Fix: use set_shape")
    return x[(*broadcast_slices(own[: len(own) - ndims], rank, slices), *([slice(None)] * ndims))]


def broadcast_slices(own: Sequence[int | None], rank: int, slices: tuple[Any, ...]) -> list[Any]:
    """Returns the slices of a batch of shape `own`, given those of a batch of that rank with which it broadcasts."""
    lacking = rank - len(own)
    index: list[Any] = []
    axis = 0
    for s in slices:
        if s is None:
            index.append(None)
            continue
        if axis >= lacking:  # along a broadcast axis, any slice is the whole
            repeated = own[axis - lacking] == 1
            index.append((slice(None) if isinstance(s, slice) else 0) if repeated else s)
        axis += 1
    return index


def spelled_out(slices: Any, rank: int) -> tuple[Any, ...]:
    """Expands slices of a batch to one for each axis, without an ellipsis."""
    slices = slices if isinstance(slices, tuple) else (slices,)
    used = sum(s is not None and s is not Ellipsis for s in slices)
    if used > rank:
        raise ValueError(f"{used} indices for the {rank} batch dimensions of a linear operator.\n"
                         "  Fix: index the batch alone; matrices are not sliced")
    rest = (slice(None),) * (rank - used)
    if Ellipsis in [s for s in slices if s is Ellipsis]:
        at = [s is Ellipsis for s in slices].index(True)
        return (*slices[:at], *rest, *slices[at + 1 :])
    return (*slices, *rest)


