"""Sums, differences, products and extrema of two or more tensors."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import elementwise
from graphgrad.ir.conversion import constant, convert_to_tensor
from graphgrad.ir.dtypes import INEXACT, NUMERIC, REAL, as_dtype, int32, int64, string, variant
from graphgrad.ir.opdef import op, raw, wants
from graphgrad.ir.shape import as_shape, broadcast, merged
from graphgrad.ir.tensor import DTypeLike, ShapeLike, Tensor, TensorLike
from graphgrad.ir.values.indexed_slices import IndexedSlices, of_values, on_values, with_values
from graphgrad.ir.values.tensor_list import TensorList
from graphgrad.op_traits import Dependence, Linear
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.dependence import numbers
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.fusion_barrier import not_fused
from graphgrad.ops.common.host_arrays import extreme


@op("Add", "x: T, y: T -> z: T", T=NUMERIC | {string}, shape=broadcast, partial_value=elementwise, zero_preserving=True,
    operator="+", elementwise=True, linear=Linear.JOINTLY)
def _add(xp, x, y):
    """Computes the elementwise sum with broadcasting; strings are concatenated."""
    return np.asarray(np.add(x, y), object) if x.dtype == object else xp.add(x, y)


@_add.grad
def _add_grad(op, dz):
    x, y = op.inputs
    return unbroadcast(dz if wants(op, 0) else None, dz if wants(op, 1) else None, x, y)


@op("AddV2", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast, partial_value=elementwise, zero_preserving=True,
    operator="+", elementwise=True, linear=Linear.JOINTLY)
def _add_v2(xp, x, y):
    """Computes the elementwise sum with broadcasting."""
    return xp.add(x, y)


_add_v2.grad(_add_grad)


def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x + y, elementwise with broadcasting.

    Args:
      x, y: numeric tensors of one dtype, of shapes that broadcast; or strings.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes.
    Gradient: dz for both, summed over the axes of broadcasting.
    Reference: TensorFlow 2.21 AddV2.

    >>> sess.run(tf.add([1, 2], [[10], [20]]))
    array([[11, 12],
           [21, 22]], dtype=int32)
    """
    leaf = x
    while isinstance(leaf, (list, tuple)) and leaf:
        leaf = leaf[0]
    strings = isinstance(leaf, (str, bytes)) or getattr(leaf, "dtype", None) is string
    return (raw.Add if strings else raw.AddV2)(x, y, name=name or "Add")


@op("Sub", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast, partial_value=elementwise, zero_preserving=True,
    operator="-", elementwise=True, linear=Linear.JOINTLY)
def _sub(xp, x, y):
    """Computes the elementwise difference with broadcasting."""
    return xp.subtract(x, y)


@_sub.grad
def _sub_grad(op, dz):
    x, y = op.inputs
    return unbroadcast(dz if wants(op, 0) else None, on_values(raw.Neg, dz) if wants(op, 1) else None, x, y)


def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x - y, elementwise with broadcasting.

    Args:
      x, y: numeric tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes.
    Gradient: dz and -dz, summed over the axes of broadcasting.
    Reference: TensorFlow 2.21 Sub.

    >>> sess.run(tf.subtract([5.0, 6.0], 2.0))
    array([3., 4.], dtype=float32)
    """
    return raw.Sub(x, y, name=name)


# -- sums of many ------------------------------------------------------------------


_MANY, _LARGE = 16, 1 << 14  # with fewer terms, or fewer elements in each, one loop for all is as fast
_AT_ONCE = 8


@op("AddN", "inputs: N*T -> sum: T", T=NUMERIC | {variant}, zero_preserving=True, operator="+", linear=Linear.JOINTLY,
    dependence="elementwise", formula="total(inputs)")
def _add_n(xp, inputs):
    """Adds tensors of one shape, or lists of them element by element."""
    total = inputs[0]
    if xp is np and len(inputs) > 2 and not isinstance(total, TensorList) and total.ndim:
        total = np.add(total, inputs[1])
        for x in inputs[2:]:
            np.add(total, x, out=total)
        return total
    for x in inputs[1:]:
        total = total.plus(xp, x) if isinstance(total, TensorList) else xp.add(total, x)
    return total


@_add_n.on_device
def _add_n_on_device(xp, inputs):
    total = inputs[0]
    if len(inputs) <= _MANY or isinstance(total, TensorList) or total.size < _LARGE:
        return _add_n.kernel(xp, inputs)
    # One loop over so many arrays at once thrashes the processor's caches.
    for start in range(1, len(inputs), _AT_ONCE):
        for x in inputs[start : start + _AT_ONCE]:
            total = xp.add(total, x)
        total = not_fused(total)
    return total


@_add_n.shape
def _add_n_shape(inputs):
    if not inputs:
        raise Complaint("there is nothing to add", "give at least one tensor")
    shape = inputs[0]
    for other in inputs[1:]:
        shape = merged(shape, other)
    return shape


@_add_n.grad
def _add_n_grad(op, dz):
    return [dz] * len(op.inputs)


@op("AccumulateNV2", "inputs: N*T -> sum: T", T=NUMERIC, linear=Linear.JOINTLY, dependence="elementwise",
    formula="total(inputs)")
def _accumulate_n(xp, inputs, *, shape=None):
    """Adds tensors of one shape."""
    total = inputs[0]
    for x in inputs[1:]:
        total = xp.add(total, x)
    return total


@_accumulate_n.shape
def _accumulate_n_shape(inputs, shape):
    result = as_shape(shape)
    for other in inputs:
        result = merged(result, other)
    return result


_accumulate_n.grad(_add_n_grad)


def add_n(inputs: TensorLike, name: str | None = None) -> Tensor:
    """Adds tensors of one shape and dtype.

    Args:
      inputs: a list of tensors or `IndexedSlices` (these are made dense), or one of them; of an array, and of a tensor
        in eager mode, the parts along the first axis are added.
      name: a name for the operation.
    Returns: a tensor like the inputs; a single input as it is.
    Raises: ValueError if the list is empty or shapes differ; TypeError if dtypes differ.
    Gradient: dz for each.
    Reference: TensorFlow 2.21 AddN.

    >>> sess.run(tf.add_n([[1, 2], [10, 20], [100, 200]]))
    array([111, 222], dtype=int32)
    """
    rows = isinstance(inputs, (list, tuple, np.ndarray)) or (hasattr(inputs, "numpy") and hasattr(inputs, "__iter__"))
    inputs = list(inputs) if rows else [inputs]
    if not inputs:
        raise ValueError("Inputs must be an Operation or an iterable of at least one tensor with the same dtype "
                         "and shape. Fix: give at least one tensor")
    if len(inputs) > 1:
        return raw.AddN(inputs, name=name)
    single = convert_to_tensor(inputs[0])
    return raw.Identity(single, name=name) if name else single


def accumulate_n(inputs: TensorLike, shape: ShapeLike | None = None, tensor_dtype: DTypeLike | None = None,
                 name: str | None = None) -> Tensor:
    """Adds tensors of one shape and dtype; the same as `add_n`, with checks.

    Args:
      inputs: a list of tensors.
      shape: the shape they are expected to have.
      tensor_dtype: the dtype they are expected to have.
      name: a name for the operation.
    Returns: a tensor like the inputs.
    Raises: ValueError if the list is empty or shapes differ; TypeError if dtypes differ.
    Gradient: dz for each.
    Reference: TensorFlow 2.21 `tf.math.accumulate_n`.

    >>> sess.run(tf.accumulate_n([[1, 2], [10, 20]]))
    array([11, 22], dtype=int32)
    """
    problem = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(f"{problem}. Fix: give a list of tensors")
    tensors = [convert_to_tensor(x) for x in inputs]
    dtype = tensors[0].dtype if tensor_dtype is None else as_dtype(tensor_dtype)
    if any(t.dtype is not dtype for t in tensors):
        found = ", ".join(t.dtype.name for t in tensors)
        raise TypeError(f"{problem}, of dtype {dtype.name}; they are {found}. Fix: tf.cast the others")
    if shape is not None:
        for t in tensors:
            t.shape.assert_is_compatible_with(shape)
    if len(tensors) == 1 and name is None:
        return tensors[0]
    return add_n(tensors, name=name)


# -- products ----------------------------------------------------------------------


def is_scaling(x, by, dz):
    """Returns whether x * by scales all of x by one number, so that sparse gradients stay sparse."""
    return by._spec.shape == () and bool(x._spec.shape) and dz.values._spec.shape is not None


def sum_of_products(x, dz):
    """Computes the sum over all elements of conj(x) * dz."""
    return raw.Sum(raw.Mul(conj(x), dz), list(range(len(dz._spec.shape))))


@op("Mul", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast, partial_value=elementwise,
    elementwise=True, linear=Linear.SEPARATELY, formula="x * y")
def _mul(xp, x, y):
    """Computes the elementwise product with broadcasting."""
    return xp.multiply(x, y)


@_mul.grad
def _mul_grad(op, dz):
    x, y = op.inputs
    if isinstance(dz, IndexedSlices):
        for scaled, by in ((x, y), (y, x)):
            if is_scaling(scaled, by, dz):
                rows = dz._with_values(raw.Mul(dz.values, conj(by)))
                grads = rows, sum_of_products(raw.GatherV2(scaled, dz.indices, 0), dz.values)
                return grads if scaled is x else grads[::-1]
    gx = raw.Mul(dz, conj(y)) if wants(op, 0) else None
    return unbroadcast(gx, raw.Mul(conj(x), dz) if wants(op, 1) else None, x, y)


def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x * y, elementwise with broadcasting.

    Args:
      x, y: numeric tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes.
    Gradient: dz * conj(y) and conj(x) * dz, summed over the axes of broadcasting.
    Reference: TensorFlow 2.21 Mul.

    >>> sess.run(tf.multiply([2.0, 3.0], 4.0))
    array([ 8., 12.], dtype=float32)
    """
    return raw.Mul(x, y, name=name)


# `object`, not `TensorLike`: an argument of type Any matches both overloads, and the result is Any.
@overload
def scalar_mul(scalar: TensorLike, x: IndexedSlices, name: str | None = None) -> IndexedSlices: ...
@overload
def scalar_mul(scalar: TensorLike, x: object, name: str | None = None) -> Tensor: ...
def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    """Multiplies a tensor or `IndexedSlices` by a scalar.

    Args:
      scalar: a tensor or Python number of rank 0.
      x: a tensor or `IndexedSlices`.
      name: a name for the operation.
    Returns: what x is, scaled.
    Raises: ValueError if `scalar` has another rank.
    Gradient: of the product.
    Reference: TensorFlow 2.21 `tf.math.scalar_mul`.

    >>> sess.run(tf.scalar_mul(2.0, [1.0, 2.0]))
    array([2., 4.], dtype=float32)
    """
    dtype = as_dtype(x.dtype) if hasattr(x, "dtype") else None
    scalar = convert_to_tensor(scalar, dtype, name="scalar")
    if scalar._spec.shape != ():
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}. "
                         "Fix: use tf.multiply, which broadcasts")
    return with_values(x, raw.Mul(scalar, of_values(x), name=name))


@op("MulNoNan", "x: T, y: T -> z: T", T=INEXACT, shape=broadcast, elementwise=True, linear=Linear.SEPARATELY,
    formula="where(y == 0, 0, x * y)")
def _mul_no_nan(xp, x, y):
    """Computes x * y; 0 where y is 0, even if x is infinite or NaN."""
    zero = xp.asarray(0, x.dtype)
    return xp.where(xp.equal(y, zero), zero, xp.multiply(x, y))


@_mul_no_nan.grad
def _mul_no_nan_grad(op, dz):
    x, y = op.inputs
    gx = raw.MulNoNan(dz, conj(y)) if wants(op, 0) else None
    return unbroadcast(gx, raw.MulNoNan(conj(x), dz) if wants(op, 1) else None, x, y)


def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x * y, elementwise with broadcasting; 0 where y is 0, even if x is infinite or NaN.

    Args:
      x, y: float or complex tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: that of the product, with the same rule for 0.
    Reference: TensorFlow 2.21 MulNoNan.

    >>> sess.run(tf.math.multiply_no_nan([2.0, np.inf], [3.0, 0.0]))
    array([6., 0.], dtype=float32)
    """
    return raw.MulNoNan(x, y, name=name or "multiply_no_nan")


@op("SquaredDifference", "x: T, y: T -> z: T", T=INEXACT | {int32, int64}, shape=broadcast, elementwise=True,
    formula="(x - y) ** 2")
def _squared_difference(xp, x, y):
    """Computes conj(x - y) * (x - y), elementwise with broadcasting."""
    d = xp.subtract(x, y)
    if d.dtype.kind == "c":
        return xp.multiply(xp.conj(d), d)
    return np.multiply(d, d, out=d) if xp is np and d.ndim else xp.multiply(d, d)


@_squared_difference.grad
def _squared_difference_grad(op, dz):
    x, y = op.inputs
    gx = raw.Mul(raw.Mul(dz, 2), raw.Sub(x, y))
    return unbroadcast(gx if wants(op, 0) else None, raw.Neg(gx) if wants(op, 1) else None, x, y)


def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes conj(x - y) * (x - y), elementwise with broadcasting.

    Args:
      x, y: float, complex, int32 or int64 tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: 2 (x - y) dz and its negative, summed over the axes of broadcasting.
    Reference: TensorFlow 2.21 SquaredDifference.

    >>> sess.run(tf.math.squared_difference([1.0, 5.0], 2.0))
    array([1., 9.], dtype=float32)
    """
    return raw.SquaredDifference(x, y, name=name)


@op("Cross", "a: T, b: T -> product: T", T=REAL, linear=Linear.SEPARATELY)
def _cross(xp, a, b):
    """Computes the cross product of vectors of three along the last axis."""
    a0, a1, a2 = (a[..., i] for i in range(3))
    b0, b1, b2 = (b[..., i] for i in range(3))
    return xp.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


@_cross.dependences
def _cross_elements(op, values, index):
    own = numbers(op.inputs[0]._spec.shape).ravel()
    others = np.concatenate([own - own % 3 + (own + k) % 3 for k in (1, 2)])  # of the same vector
    return [Dependence(own, np.tile(own, 2), others)] * 2


@_cross.shape
def _cross_shape(a, b):
    shape = merged(a, b)
    if shape is not None and (not shape or shape[-1] not in (3, None)):
        raise Complaint("inputs must be vectors of 3 elements along the last axis", "give tensors of shape (..., 3)")
    return shape


@_cross.grad
def _cross_grad(op, dz):
    a, b = op.inputs
    return raw.Cross(b, dz), raw.Cross(dz, a)


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """Computes the cross product of vectors of three.

    Args:
      a, b: (*B, 3), real tensors of one dtype and shape.
      name: a name for the operation.
    Returns: (*B, 3).
    Raises: TypeError for different dtypes; ValueError for other shapes.
    Gradient: cross(b, dz) and cross(dz, a).
    Reference: TensorFlow 2.21 Cross.

    >>> sess.run(tf.linalg.cross([1, 0, 0], [0, 1, 0]))
    array([0, 0, 1], dtype=int32)
    """
    return raw.Cross(a, b, name=name)


# -- extrema -----------------------------------------------------------------------


@op("Maximum", "x: T, y: T -> z: T", T=REAL, shape=broadcast, partial_value=elementwise, data_movement=True,
    elementwise=True)
def _maximum(xp, x, y):
    """Computes the elementwise maximum with broadcasting."""
    return extreme(np.maximum, x, y) if xp is np else xp.maximum(x, y)


@_maximum.grad
def _maximum_grad(op, dz):
    x, y = op.inputs
    return _to_winner(op, raw.GreaterEqual(x, y), dz)


def _to_winner(op, first, dz):
    """Returns the gradient to x where `first`, else to y."""
    zero = constant(0, dz.dtype)
    gx = raw.SelectV2(first, dz, zero) if wants(op, 0) else None
    return unbroadcast(gx, raw.SelectV2(first, zero, dz) if wants(op, 1) else None, *op.inputs)


def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes the larger of x and y, elementwise with broadcasting.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for complex or different dtypes; ValueError for incompatible shapes.
    Gradient: dz for the larger one; all of dz goes to x where they are equal.
    Reference: TensorFlow 2.21 Maximum.

    >>> sess.run(tf.maximum([-1.0, 2.0], 0.0))
    array([0., 2.], dtype=float32)
    """
    return raw.Maximum(x, y, name=name)


@op("Minimum", "x: T, y: T -> z: T", T=REAL, shape=broadcast, partial_value=elementwise, data_movement=True,
    operator="min", elementwise=True)
def _minimum(xp, x, y):
    """Computes the elementwise minimum with broadcasting."""
    return extreme(np.minimum, x, y) if xp is np else xp.minimum(x, y)


@_minimum.grad
def _minimum_grad(op, dz):
    x, y = op.inputs
    return _to_winner(op, raw.LessEqual(x, y), dz)


def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes the smaller of x and y, elementwise with broadcasting.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for complex or different dtypes; ValueError for incompatible shapes.
    Gradient: dz for the smaller one; all of dz goes to x where they are equal.
    Reference: TensorFlow 2.21 Minimum.

    >>> sess.run(tf.minimum([-1.0, 2.0], 0.0))
    array([-1.,  0.], dtype=float32)
    """
    return raw.Minimum(x, y, name=name)
