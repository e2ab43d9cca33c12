"""Comparisons, logic, and tests for special values."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import folded
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import ANY, FLOATING, NUMERIC, REAL, bool_
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast, is_fully_defined, merged
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.elementwise import same


@op("Less", "x: T, y: T -> z: bool", T=REAL, shape=broadcast, partial_value=folded, operator="<",
    gradient_advice="a smooth step: tf.sigmoid(k * (y - x))")
def _less(xp, x, y):
    """Returns whether x < y."""
    return xp.less(x, y)


def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x < y, elementwise with broadcasting.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a bool tensor of the broadcast shape.
    Raises: TypeError for complex or different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 Less.

    >>> sess.run(tf.less([1, 2, 3], 2))
    array([ True, False, False])
    """
    return raw.Less(x, y, name=name)


@op("LessEqual", "x: T, y: T -> z: bool", T=REAL, shape=broadcast, partial_value=folded, operator="<=",
    gradient_advice="a smooth step: tf.sigmoid(k * (y - x))")
def _less_equal(xp, x, y):
    """Returns whether x <= y."""
    return xp.less_equal(x, y)


def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x <= y, elementwise with broadcasting.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a bool tensor of the broadcast shape.
    Raises: TypeError for complex or different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 LessEqual.

    >>> sess.run(tf.less_equal([1, 2, 3], 2))
    array([ True,  True, False])
    """
    return raw.LessEqual(x, y, name=name)


@op("Greater", "x: T, y: T -> z: bool", T=REAL, shape=broadcast, partial_value=folded, operator=">",
    gradient_advice="a smooth step: tf.sigmoid(k * (x - y))")
def _greater(xp, x, y):
    """Returns whether x > y."""
    return xp.greater(x, y)


def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x > y, elementwise with broadcasting.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a bool tensor of the broadcast shape.
    Raises: TypeError for complex or different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 Greater.

    >>> sess.run(tf.greater([1, 2, 3], 2))
    array([False, False,  True])
    """
    return raw.Greater(x, y, name=name)


@op("GreaterEqual", "x: T, y: T -> z: bool", T=REAL, shape=broadcast, partial_value=folded, operator=">=",
    gradient_advice="a smooth step: tf.sigmoid(k * (x - y))")
def _greater_equal(xp, x, y):
    """Returns whether x >= y."""
    return xp.greater_equal(x, y)


def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x >= y, elementwise with broadcasting.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a bool tensor of the broadcast shape.
    Raises: TypeError for complex or different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 GreaterEqual.

    >>> sess.run(tf.greater_equal([1, 2, 3], 2))
    array([False,  True,  True])
    """
    return raw.GreaterEqual(x, y, name=name)


# -- equality ----------------------------------------------------------------------


def _equality_shape(x, y, incompatible_shape_error):
    if incompatible_shape_error:
        return broadcast(x, y)
    if not (is_fully_defined(x) and is_fully_defined(y)):
        return None
    try:
        return broadcast(x, y)
    except Complaint:
        return ()


def _fit(x, y):
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return True


@op("Equal", "x: T, y: T -> z: bool", T=ANY, shape=_equality_shape, partial_value=folded,
    gradient_advice="a bump: tf.exp(-k * tf.square(x - y))", formula="x == y")
def _equal(xp, x, y, *, incompatible_shape_error=True):
    """Returns whether x == y; a single False for incompatible shapes, if these are no error."""
    if not incompatible_shape_error and not _fit(x, y):
        return xp.asarray(False)
    return xp.equal(x, y)


@op("NotEqual", "x: T, y: T -> z: bool", T=ANY, shape=_equality_shape, partial_value=folded,
    gradient_advice="a dent: 1.0 - tf.exp(-k * tf.square(x - y))", formula="x != y")
def _not_equal(xp, x, y, *, incompatible_shape_error=True):
    """Returns whether x != y; a single True for incompatible shapes, if these are no error."""
    if not incompatible_shape_error and not _fit(x, y):
        return xp.asarray(True)
    return xp.not_equal(x, y)


@op("ApproximateEqual", "x: T, y: T -> z: bool", T=NUMERIC, shape=merged)
def _approximate_equal(xp, x, y, *, tolerance=1e-5):
    """Returns whether |x - y| < tolerance."""
    return xp.abs(x - y) < tolerance


for _record in (_less, _less_equal, _greater, _greater_equal, _equal, _not_equal, _approximate_equal):
    _record.grad(NOT_DIFFERENTIABLE)


def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x == y, elementwise with broadcasting.

    Args:
      x, y: tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a bool tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 Equal.

    >>> sess.run(tf.equal([1, 2, 3], 2))
    array([False,  True, False])
    """
    return raw.Equal(x, y, name=name)


def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x != y, elementwise with broadcasting.

    Args:
      x, y: tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a bool tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 NotEqual.

    >>> sess.run(tf.not_equal([1, 2, 3], 2))
    array([ True, False,  True])
    """
    return raw.NotEqual(x, y, name=name)


# -- logic -------------------------------------------------------------------------


@op("LogicalNot", "x: bool -> y: bool", shape=same, partial_value=folded, formula="~x")
def _logical_not(xp, x):
    """Returns not x."""
    return xp.logical_not(x)


@op("LogicalAnd", "x: bool, y: bool -> z: bool", shape=broadcast, partial_value=folded, operator="and", formula="x & y")
def _logical_and(xp, x, y):
    """Returns x and y."""
    return xp.logical_and(x, y)


@op("LogicalOr", "x: bool, y: bool -> z: bool", shape=broadcast, partial_value=folded, formula="x | y")
def _logical_or(xp, x, y):
    """Returns x or y."""
    return xp.logical_or(x, y)


for _record in (_logical_not, _logical_and, _logical_or):
    _record.grad(NOT_DIFFERENTIABLE)


def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x is false, elementwise.

    Args:
      x: a bool tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 LogicalNot.

    >>> sess.run(tf.logical_not([True, False]))
    array([False,  True])
    """
    return raw.LogicalNot(x, name=name)


def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x and y are true, elementwise with broadcasting.

    Args:
      x, y: bool tensors of shapes that broadcast.
      name: a name for the operation.
    Returns: a bool tensor of the broadcast shape.
    Raises: TypeError for other dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 LogicalAnd.

    >>> sess.run(tf.logical_and([True, False], True))
    array([ True, False])
    """
    return raw.LogicalAnd(x, y, name=name)


def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x or y is true, elementwise with broadcasting.

    Args:
      x, y: bool tensors of shapes that broadcast.
      name: a name for the operation.
    Returns: a bool tensor of the broadcast shape.
    Raises: TypeError for other dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 LogicalOr.

    >>> sess.run(tf.logical_or([True, False], False))
    array([ True, False])
    """
    return raw.LogicalOr(x, y, name=name)


def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """Returns whether exactly one of x and y is true, elementwise with broadcasting.

    Args:
      x, y: bool tensors of shapes that broadcast.
      name: a name for the operation.
    Returns: a bool tensor of the broadcast shape.
    Raises: TypeError for other dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 `tf.math.logical_xor`.

    >>> sess.run(tf.math.logical_xor([True, False], True))
    array([False,  True])
    """
    x, y = convert_to_tensor(x, bool_), convert_to_tensor(y, bool_)
    return raw.LogicalAnd(raw.LogicalOr(x, y), raw.LogicalNot(raw.LogicalAnd(x, y)), name=name)


# -- tests for special values ------------------------------------------------------


@op("IsNan", "x: T -> y: bool", T=FLOATING, shape=same)
def _is_nan(xp, x):
    """Returns whether x is not a number."""
    return xp.isnan(x)


@op("IsInf", "x: T -> y: bool", T=FLOATING, shape=same)
def _is_inf(xp, x):
    """Returns whether x is infinite."""
    return xp.isinf(x)


@op("IsFinite", "x: T -> y: bool", T=FLOATING, shape=same)
def _is_finite(xp, x):
    """Returns whether x is neither infinite nor NaN."""
    return xp.isfinite(x)


for _record in (_is_nan, _is_inf, _is_finite):
    _record.grad(NOT_DIFFERENTIABLE)


def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x is not a number, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a bool tensor of x's shape.
    Raises: TypeError for other dtypes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 IsNan.

    >>> sess.run(tf.math.is_nan([1.0, np.nan]))
    array([False,  True])
    """
    return raw.IsNan(x, name=name)


def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x is infinite, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a bool tensor of x's shape.
    Raises: TypeError for other dtypes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 IsInf.

    >>> sess.run(tf.math.is_inf([1.0, -np.inf]))
    array([False,  True])
    """
    return raw.IsInf(x, name=name)


def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether x is neither infinite nor NaN, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a bool tensor of x's shape.
    Raises: TypeError for other dtypes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 IsFinite.

    >>> sess.run(tf.math.is_finite([1.0, np.nan, np.inf]))
    array([ True, False, False])
    """
    return raw.IsFinite(x, name=name)


# -- order of the elements ---------------------------------------------------------


def _neighbours(x, name, compare):
    """Returns whether `compare` holds between every element and the one before it."""
    x = raw.Reshape(convert_to_tensor(x, name="x"), [-1])
    after = raw.StridedSlice(x, [1], [0], [1], end_mask=1)
    before = raw.StridedSlice(x, [0], [-1], [1])
    return raw.All(compare(after, before), [0], name=name)


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether each element of x, in row-major order, is at least as large as the one before it.

    Args:
      x: a real tensor.
      name: a name for the operations.
    Returns: a bool scalar; True for fewer than two elements.
    Raises: TypeError for complex x.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 `tf.math.is_non_decreasing`.

    >>> sess.run(tf.math.is_non_decreasing([1, 2, 2]))
    np.True_
    """
    with name_scope(name, "is_non_decreasing"):
        return _neighbours(x, "All", raw.GreaterEqual)


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns whether each element of x, in row-major order, is larger than the one before it.

    Args:
      x: a real tensor.
      name: a name for the operations.
    Returns: a bool scalar; True for fewer than two elements.
    Raises: TypeError for complex x.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 `tf.math.is_strictly_increasing`.

    >>> sess.run(tf.math.is_strictly_increasing([1, 2, 2]))
    np.False_
    """
    with name_scope(name, "is_strictly_increasing"):
        return _neighbours(x, "All", raw.Greater)
