"""Clipping by value and by norm."""

from __future__ import annotations

from typing import Any, overload

from graphgrad.ir.conversion import constant, convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import NUMERIC, float32
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ir.values.indexed_slices import IndexedSlices, of_values, with_values
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.elementwise import scalars_or_one_shape


@op("ClipByValue", "t: T, clip_value_min: T, clip_value_max: T -> output: T", T=NUMERIC,
    shape=scalars_or_one_shape, dependence="elementwise")
def _clip_by_value(xp, t, clip_value_min, clip_value_max):
    """Computes max(min(t, clip_value_max), clip_value_min)."""
    return xp.maximum(xp.minimum(t, clip_value_max), clip_value_min)


@_clip_by_value.grad
def _clip_by_value_grad(op, dy):
    t, low, high = op.inputs
    below, above = raw.Less(t, low), raw.Greater(t, high)
    zero = constant(0, dy.dtype)
    inside = raw.SelectV2(raw.LogicalOr(below, above), zero, dy)
    dt, dlow = unbroadcast(inside, raw.SelectV2(below, dy, zero), t, low)
    return dt, dlow, unbroadcast(None, raw.SelectV2(above, dy, zero), t, high)[1]


# `object`, not `TensorLike`: an argument of type Any matches both overloads, and the result is Any.
@overload
def clip_by_value(t: IndexedSlices, clip_value_min: TensorLike, clip_value_max: TensorLike,
                  name: str | None = None) -> IndexedSlices: ...
@overload
def clip_by_value(t: object, clip_value_min: TensorLike, clip_value_max: TensorLike,
                  name: str | None = None) -> Tensor: ...
def clip_by_value(t: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike,
                  name: str | None = None) -> Any:
    """Clips the elements of t to a range.

    Args:
      t: a real tensor or `IndexedSlices`.
      clip_value_min, clip_value_max: the ends of the range, of shapes that broadcast to t's.
      name: a name for the operations.
    Returns: what t is, of the same shape and dtype.
    Raises: TypeError for different dtypes; ValueError if broadcasting would enlarge t.
    Gradient: dy inside the range and at its ends; where t is outside, to the end that it was moved to.
    Reference: TensorFlow 2.21 `tf.clip_by_value`.

    >>> sess.run(tf.clip_by_value([-2.0, 0.5, 3.0], -1.0, 1.0))
    array([-1. ,  0.5,  1. ], dtype=float32)
    """
    values = of_values(t)
    with name_scope(name, "clip_by_value") as scope:
        if not is_tensor_like(values):
            values = convert_to_tensor(values, name="t")
        low = raw.Minimum(values, clip_value_max)
        values.shape.assert_is_compatible_with(low.shape)
        result = raw.Maximum(low, clip_value_min, name=scope)
        values.shape.assert_is_compatible_with(result.shape)
    return with_values(t, result)


@overload
def clip_by_norm(t: IndexedSlices, clip_norm: TensorLike, axes: TensorLike = None,
                 name: str | None = None) -> IndexedSlices: ...
@overload
def clip_by_norm(t: object, clip_norm: TensorLike, axes: TensorLike = None, name: str | None = None) -> Tensor: ...
def clip_by_norm(t: TensorLike, clip_norm: TensorLike, axes: TensorLike = None, name: str | None = None) -> Any:
    """Scales a tensor so that its L2 norm is at most `clip_norm`.

    Args:
      t: a float tensor or `IndexedSlices`.
      clip_norm: the largest norm allowed, a positive scalar.
      axes: the axes to take the norm along; all by default.
      name: a name for the operations.
    Returns: what t is, of the same shape and dtype.
    Raises: TypeError for other dtypes; ValueError for axes out of range.
    Gradient: of t * clip_norm / max(norm, clip_norm); finite at 0.
    Reference: TensorFlow 2.21 `tf.clip_by_norm`.

    >>> sess.run(tf.clip_by_norm([3.0, 4.0], 1.0))
    array([0.6, 0.8], dtype=float32)
    """
    with name_scope(name, "clip_by_norm") as scope:
        values = convert_to_tensor(of_values(t), name="t")
        squared = raw.Sum(raw.Mul(values, values, name="mul"), _axes_or_all(values, axes), keep_dims=True)
        # The root is taken of 1 instead of 0, where its derivative is infinite.
        positive = raw.Greater(squared, 0)
        norm = raw.SelectV2(positive, raw.Sqrt(raw.SelectV2(positive, squared, 1)), squared)
        scaled = raw.Mul(values, clip_norm, name="mul")
        values.shape.assert_is_compatible_with(scaled.shape)
        result = raw.RealDiv(scaled, raw.Maximum(norm, clip_norm), name=scope)
    return with_values(t, result)


def _axes_or_all(x, axes):
    if axes is not None:
        return axes
    rank = x.shape.rank
    return raw.Range(0, raw.Rank(x), 1) if rank is None else list(range(rank))


def clip_by_average_norm(t: TensorLike, clip_norm: TensorLike, name: str | None = None) -> Tensor:
    """Scales a tensor so that its L2 norm divided by its number of elements is at most `clip_norm`.

    Args:
      t: a float32 tensor.
      clip_norm: the largest average norm allowed, a positive scalar.
      name: a name for the operations.
    Returns: a tensor like t.
    Raises: TypeError for other dtypes.
    Gradient: of t * clip_norm * min(n / norm, 1 / clip_norm).
    Reference: TensorFlow 2.21 `tf.compat.v1.clip_by_average_norm`.

    >>> sess.run(tf.clip_by_average_norm([3.0, 4.0], 1.25))
    array([1.5, 2. ], dtype=float32)
    """
    with name_scope(name, "clip_by_average_norm") as scope:
        t = convert_to_tensor(t, name="t")
        count = raw.Cast(raw.Size(t), DstT=float32)
        inverse = raw.Rsqrt(raw.Sum(raw.Mul(t, t, name="mul"), _axes_or_all(t, None)))
        clip_norm = convert_to_tensor(clip_norm, t.dtype)
        factor = raw.Minimum(raw.Mul(inverse, count, name="mul"), raw.RealDiv(1.0, clip_norm, name="truediv"))
        return raw.Mul(raw.Mul(t, clip_norm, name="mul"), factor, name=scope)


# -- many tensors together ---------------------------------------------------------


def _parts(t_list):
    """Returns the tensors of a list, without None; of `IndexedSlices` the values."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}. Fix: give a list")
    found = []
    for i, t in enumerate(t_list):
        found.append(None if t is None else convert_to_tensor(of_values(t), name=f"t_{i}"))
    return found


def global_norm(t_list: TensorLike, name: str | None = None) -> Tensor:
    """Computes the L2 norm of all elements of several tensors together.

    Args:
      t_list: a list of tensors, `IndexedSlices` and None.
      name: a name for the operations.
    Returns: a scalar of their dtype; float32 for none.
    Raises: TypeError if `t_list` is not a list.
    Gradient: dy t / norm for each.
    Reference: TensorFlow 2.21 `tf.linalg.global_norm`.

    >>> sess.run(tf.linalg.global_norm([[3.0], None, [4.0]]))
    np.float32(5.0)
    """
    parts = _parts(t_list)
    with name_scope(name, "global_norm"):
        halves = [raw.L2Loss(t) for t in parts if t is not None]
        total = raw.Sum(raw.Pack(halves, axis=0, name="stack") if halves else constant([], float32), [0])
        return raw.Sqrt(raw.Mul(total, constant(2, total.dtype), name="mul"), name="global_norm")


def clip_by_global_norm(t_list: TensorLike, clip_norm: TensorLike, use_norm: TensorLike = None,
                        name: str | None = None) -> tuple[list[Any], Tensor]:
    """Scales several tensors by one factor so that their global norm is at most `clip_norm`.

    Args:
      t_list: a list of tensors, `IndexedSlices` and None.
      clip_norm: the largest global norm allowed, a positive scalar.
      use_norm: their global norm, if it is known already.
      name: a name for the operations.
    Returns: (list_clipped, global_norm): the list with None where it was, and the norm. All
      elements are NaN where the norm is infinite.
    Raises: TypeError if `t_list` is not a list.
    Gradient: of t * clip_norm / max(norm, clip_norm).
    Reference: TensorFlow 2.21 `tf.clip_by_global_norm`.

    >>> clipped, norm = tf.clip_by_global_norm([[3.0], None, [4.0]], 1.0)
    >>> sess.run([clipped[0], clipped[2], norm])
    [array([0.6], dtype=float32), array([0.8], dtype=float32), np.float32(5.0)]
    """
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm"):
        parts = _parts(t_list)
        use_norm = convert_to_tensor(use_norm)
        clip_norm = convert_to_tensor(clip_norm, use_norm.dtype)
        one = constant(1, use_norm.dtype)
        scale = raw.Minimum(raw.RealDiv(one, use_norm, name="truediv"), raw.RealDiv(one, clip_norm, name="truediv"))
        # The difference is 0, but NaN for a norm that is infinite: a failure must not pass for a small step.
        scale = raw.AddV2(raw.Mul(clip_norm, scale, name="mul"), raw.Sub(use_norm, use_norm, name="sub"), name="add")
        result: list[Any] = []
        for i, (t, part) in enumerate(zip(t_list, parts, strict=True)):
            if part is None:
                result.append(None)
                continue
            factor = scale if part.dtype is scale.dtype else raw.Cast(scale, DstT=part.dtype)
            clipped = raw.Mul(part, factor, name=f"clip_by_global_norm/_{i}")
            result.append(with_values(t, clipped))
    return result, use_norm
