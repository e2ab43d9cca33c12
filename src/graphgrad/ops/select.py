"""Choosing between tensors by a condition."""

from __future__ import annotations

from ..errors import Complaint
from ..ir.opdef import op, raw
from ..ir.shape import broadcast, merged, shape_str
from .broadcast import unbroadcast


@op("Select", "condition: bool, t: T, e: T -> output: T")
def select(xp, condition, t, e):
    """Elements of `t` where the condition holds, of `e` elsewhere; a vector condition chooses rows."""
    if len(condition.shape) == 1 and len(t.shape) > 1:
        condition = xp.reshape(condition, condition.shape + (1,) * (len(t.shape) - 1))
    return xp.where(condition, t, e)


@select.shape
def _select_shape(condition, t, e):
    both = merged(t, e)
    if condition is None or both is None or condition == ():
        return both
    if len(condition) == 1 and len(both) > 1:
        return merged(both, condition + (None,) * (len(both) - 1))
    if len(condition) != len(both):
        raise Complaint(f"condition of shape {shape_str(condition)} fits neither {shape_str(both)} nor its rows",
                        "use tf.compat.v2.where, which broadcasts")
    return merged(both, condition)


@select.grad
def _select_grad(op, dy):
    condition, x, _ = op.inputs
    zeros = raw.ZerosLike(x)
    return None, raw.Select(condition, dy, zeros), raw.Select(condition, zeros, dy)


@op("SelectV2", "condition: bool, t: T, e: T -> output: T")
def select_v2(xp, condition, t, e):
    """Elements of `t` where the condition holds, of `e` elsewhere, with broadcasting."""
    return xp.where(condition, t, e)


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
    dx = raw.SelectV2(condition, dy, zero)
    de = raw.SelectV2(condition, zero, dy)
    return None, unbroadcast(dx, None, x, out)[0], unbroadcast(de, None, y, out)[0]
