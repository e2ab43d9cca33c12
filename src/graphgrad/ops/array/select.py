"""Select: chooses between tensors by a condition."""

from __future__ import annotations

from typing import Any

from graphgrad.errors import Complaint
from graphgrad.ir.constant_value import folded
from graphgrad.ir.opdef import op, raw, wants
from graphgrad.ir.shape import broadcast, merged, shape_str
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.op_traits import Linear
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.host_arrays import where as where_of

_FINITE_BOTH = "give tf.where a finite value, with a finite gradient, on the side that is not chosen too"


@op("Select", "condition: bool, t: T, e: T -> output: T", partial_value=folded, data_movement=True,
    finite_advice=_FINITE_BOTH, linear=Linear.JOINTLY, dependence="elementwise", eager_seconds=7e-10)
def select(xp, condition, t, e):
    """Selects elements of `t` where the condition holds, of `e` elsewhere; a vector condition selects rows."""
    if len(condition.shape) == 1 and len(t.shape) > 1:
        condition = xp.reshape(condition, condition.shape + (1,) * (len(t.shape) - 1))
    return where_of(xp, condition, t, e)


@select.written_as
def _select_formula(op):
    ranks = [t.shape.rank for t in op.inputs]
    return "where(condition, t, e)" if ranks[0] is not None and ranks[0] in (0, ranks[1], ranks[2]) else None


@select.shape
def _select_shape(condition, t, e):
    both = _same_shape(t, e)
    if condition is None or both is None or condition == ():
        return both
    if len(condition) == 1 and len(both) > 1:
        return _same_shape(both, condition + (None,) * (len(both) - 1))
    if len(condition) != len(both):
        raise Complaint(f"condition of shape {shape_str(condition)} fits neither {shape_str(both)} nor its rows",
                        "use tf.compat.v2.where, which broadcasts")
    return _same_shape(both, condition)


def _same_shape(a, b):
    try:
        return merged(a, b)
    except Complaint as complaint:
        fix = "make the shapes equal, or use tf.compat.v2.where, which broadcasts"
        raise Complaint(complaint.problem, fix) from None


@select.grad
def _select_grad(op, dy):
    condition, x, _ = op.inputs
    zeros = raw.ZerosLike(x)
    return None, raw.Select(condition, dy, zeros), raw.Select(condition, zeros, dy)


@op("SelectV2", "condition: bool, t: T, e: T -> output: T", partial_value=folded, data_movement=True,
    finite_advice=_FINITE_BOTH, elementwise=True, linear=Linear.JOINTLY, formula="where(condition, t, e)",
    eager_seconds=7e-10)
def select_v2(xp, condition, t, e):
    """Selects elements of `t` where the condition holds, of `e` elsewhere, with broadcasting."""
    return where_of(xp, condition, t, e)


@select_v2.shape
def _select_v2_shape(condition, t, e):
    return broadcast(condition, t, e)


@select_v2.grad
def _select_v2_grad(op, dy):
    # The branch not taken gets dy * 0 by selection. If its own derivative is infinite there,
    # the chain rule multiplies 0 by infinity, a NaN: guard the argument with a second `where`.
    condition, x, y = op.inputs
    out = op.outputs[0]
    zero = x.dtype.np_dtype.type(0)
    dx = raw.SelectV2(condition, dy, zero) if wants(op, 1) else None
    de = raw.SelectV2(condition, zero, dy) if wants(op, 2) else None
    return None, unbroadcast(dx, None, x, out)[0], unbroadcast(de, None, y, out)[0]


def where(condition: Any, x: TensorLike = None, y: TensorLike = None, name: str | None = None) -> Tensor:
    """Chooses elements of `x` where the condition holds and of `y` elsewhere, or finds where it holds.

    Args:
      condition: bool (any number too when x and y are omitted).
      x, y: of one dtype; the three broadcast. Both or neither.
      name: a name for the operation.
    Returns: the broadcast shape, dtype of x; without x and y the (n, rank) int64 coordinates of
      the true elements.
    Raises: ValueError if only one of x and y is given or the shapes do not broadcast.
    Gradient: dy where chosen, zero elsewhere. Zero times an infinite derivative of the branch
      that was not chosen is a NaN, as in TensorFlow: write
      `safe = where(ok, x, 1.0); where(ok, f(safe), 0.0)` to keep its argument in range.
    Reference: TensorFlow 2.21 SelectV2 and Where.

    >>> sess.run(tf.where_v2([True, False], [1, 2], 0))
    array([1, 0], dtype=int32)
    """
    if _one_argument(x, y):
        return raw.Where(condition, name=name)
    return raw.SelectV2(condition, x, y, name=name)


def where_v1(condition: Any, x: TensorLike = None, y: TensorLike = None, name: str | None = None) -> Tensor:
    """Chooses elements or rows of `x` and `y` by a condition, or finds where it holds.

    Args:
      condition: bool: the shape of x, or a vector that chooses rows, or a scalar.
      x, y: of one dtype and shape. Both or neither.
      name: a name for the operation.
    Returns: the shape and dtype of x; without x and y the (n, rank) int64 coordinates of the
      true elements.
    Raises: ValueError if only one of x and y is given or the shapes are incompatible.
    Gradient: dy where chosen, zero elsewhere; see `tf.compat.v2.where` on infinities.
    Reference: TensorFlow 2.21 Select and Where.

    >>> sess.run(tf.where([True, False], [1, 2], [3, 4]))
    array([1, 4], dtype=int32)
    """
    if _one_argument(x, y):
        return raw.Where(condition, name=name)
    return raw.Select(condition, x, y, name=name)


def _one_argument(x, y):
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None. Fix: give both values, or neither")
    return x is None
