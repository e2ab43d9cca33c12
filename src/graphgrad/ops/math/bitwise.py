"""Bitwise operations on integers."""

from __future__ import annotations

from graphgrad.ir.dtypes import INTEGER
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE, op, raw
from graphgrad.ir.shape import broadcast
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.elementwise import same


@op("BitwiseAnd", "x: T, y: T -> z: T", T=INTEGER, shape=broadcast)
def _bitwise_and(xp, x, y):
    """Computes x & y."""
    return xp.bitwise_and(x, y)


@op("BitwiseOr", "x: T, y: T -> z: T", T=INTEGER, shape=broadcast)
def _bitwise_or(xp, x, y):
    """Computes x | y."""
    return xp.bitwise_or(x, y)


@op("BitwiseXor", "x: T, y: T -> z: T", T=INTEGER, shape=broadcast)
def _bitwise_xor(xp, x, y):
    """Computes x ^ y."""
    return xp.bitwise_xor(x, y)


@op("Invert", "x: T -> y: T", T=INTEGER, shape=same)
def _invert(xp, x):
    """Computes ~x."""
    return xp.invert(x)


def _clipped(xp, x, y):
    """Returns a shift by at most the width of the type less one, as TensorFlow has it."""
    return xp.clip(y, xp.asarray(0, y.dtype), xp.asarray(x.dtype.itemsize * 8 - 1, y.dtype))


@op("LeftShift", "x: T, y: T -> z: T", T=INTEGER, shape=broadcast)
def _left_shift(xp, x, y):
    """Computes x << y."""
    return xp.left_shift(x, _clipped(xp, x, y))


@op("RightShift", "x: T, y: T -> z: T", T=INTEGER, shape=broadcast)
def _right_shift(xp, x, y):
    """Computes x >> y; the sign is kept."""
    return xp.right_shift(x, _clipped(xp, x, y))


@op("PopulationCount", "x: T -> y: uint8", T=INTEGER, shape=same)
def _population_count(xp, x):
    """Counts the bits that are 1."""
    unsigned = x.view(f"uint{x.dtype.itemsize * 8}")
    count = xp.zeros(x.shape, unsigned.dtype)
    for i in range(x.dtype.itemsize * 8):
        count = count + ((unsigned >> unsigned.dtype.type(i)) & unsigned.dtype.type(1))
    return count.astype("uint8")


for _record in (_population_count, _bitwise_and, _bitwise_or, _bitwise_xor, _invert, _left_shift, _right_shift):
    _record.grad(NOT_DIFFERENTIABLE)


def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x & y, elementwise with broadcasting.

    Args:
      x, y: integer tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 BitwiseAnd.

    >>> sess.run(tf.bitwise.bitwise_and([5, 6], 3))
    array([1, 2], dtype=int32)
    """
    return raw.BitwiseAnd(x, y, name=name)


def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x | y, elementwise with broadcasting.

    Args:
      x, y: integer tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 BitwiseOr.

    >>> sess.run(tf.bitwise.bitwise_or([5, 6], 3))
    array([7, 7], dtype=int32)
    """
    return raw.BitwiseOr(x, y, name=name)


def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x ^ y, elementwise with broadcasting.

    Args:
      x, y: integer tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 BitwiseXor.

    >>> sess.run(tf.bitwise.bitwise_xor([5, 6], 3))
    array([6, 5], dtype=int32)
    """
    return raw.BitwiseXor(x, y, name=name)


def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes ~x, elementwise.

    Args:
      x: an integer tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 Invert.

    >>> sess.run(tf.bitwise.invert([0, 5]))
    array([-1, -6], dtype=int32)
    """
    return raw.Invert(x, name=name)


def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x << y, elementwise with broadcasting.

    Args:
      x, y: integer tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape; y counts as at most the width of the type less one.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 LeftShift.

    >>> sess.run(tf.bitwise.left_shift([1, 3], 2))
    array([ 4, 12], dtype=int32)
    """
    return raw.LeftShift(x, y, name=name)


def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x >> y, elementwise with broadcasting; signed integers keep their sign.

    Args:
      x, y: integer tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape; y counts as at most the width of the type less one.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: not differentiable.
    Reference: TensorFlow 2.21 RightShift.

    >>> sess.run(tf.bitwise.right_shift([8, -8], 2))
    array([ 2, -2], dtype=int32)
    """
    return raw.RightShift(x, y, name=name)
