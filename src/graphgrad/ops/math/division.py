"""Quotients and remainders."""

from __future__ import annotations

import numpy as np

from graphgrad.errors import Complaint
from graphgrad.ir import dtypes
from graphgrad.ir.constant_value import elementwise
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import FLOATING, INEXACT, NUMERIC, REAL, as_dtype, int32, int64
from graphgrad.ir.opdef import op, raw, wants
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast, has_no_elements
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ir.values.indexed_slices import IndexedSlices
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.elementwise import conj
from graphgrad.ops.common.lax_functions import lax_of

from .arithmetic import is_scaling, sum_of_products

_NOT_BY_ZERO = "make sure that no divisor is 0, or divide floats"


def _check_divisor(xp, x, y):
    """Complains of an integer division by zero, where it can be seen: on the host."""
    if xp is np and y.dtype.kind in "iu" and x.size and not np.all(y):
        raise Complaint("Integer division by zero", _NOT_BY_ZERO)


def _refuses(xp, x, y):
    """Finds integer divisors that are 0; an empty quotient has no divisor."""
    return [y == 0] if y.dtype.kind in "iu" and not has_no_elements(x.shape) else []


def _truncated(xp, x, y):
    """Computes x / y of integers, rounded toward zero."""
    _check_divisor(xp, x, y)
    if xp is np:
        quotient = np.floor_divide(x, y)
        return quotient + ((quotient * y != x) & ((x < 0) != (y < 0))).astype(x.dtype)
    return lax_of(xp).div(*xp.broadcast_arrays(x, y))


# -- true quotients ----------------------------------------------------------------


def _real_div(xp, x, y):
    """Computes the elementwise quotient with broadcasting; of integers, rounded toward zero."""
    return _truncated(xp, x, y) if x.dtype.kind in "iu" else xp.divide(x, y)


def _real_div_grad(op, dz):
    # As in TensorFlow, the rule reads x and y, not the quotient: stopping at the quotient (`stop_gradients`) must not
    # change the gradient.
    x, y = op.inputs
    if isinstance(dz, IndexedSlices) and is_scaling(x, y, dz):
        rows = raw.RealDiv(dz.values, conj(y))
        quotients = raw.RealDiv(raw.Neg(raw.GatherV2(x, dz.indices, 0)), y)
        return dz._with_values(rows), sum_of_products(quotients, rows)
    return _quotient_grad(raw.RealDiv, op, dz)


def _quotient_formula(op):
    return "trunc(x / y)" if op.outputs[0].dtype.kind in "iu" else "x / y"


def _quotient_grad(divide, op, dz):
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gy = raw.Mul(dz, divide(divide(raw.Neg(cx), cy), cy)) if wants(op, 1) else None
    return unbroadcast(divide(dz, cy) if wants(op, 0) else None, gy, x, y)


for _type in ("RealDiv", "Div"):
    op(_type, "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast, partial_value=elementwise, elementwise=True,
       quotient=True, finite_advice="keep the divisor away from 0, or use tf.math.divide_no_nan",
       formula=_quotient_formula)(_real_div).grad(_real_div_grad)

# The dtype of integers in a true division.
_DIVIDED_AS = {dtypes.int8: dtypes.float32, dtypes.uint8: dtypes.float32, dtypes.int16: dtypes.float32,
               dtypes.uint16: dtypes.float32, dtypes.int32: dtypes.float64, dtypes.uint32: dtypes.float64,
               dtypes.int64: dtypes.float64, dtypes.uint64: dtypes.float64}


def _common_dtype(x, y):
    """Returns the dtype of the operand that is a tensor, or that x would get."""
    decides = x if is_tensor_like(x) or not is_tensor_like(y) else y
    return as_dtype((decides if is_tensor_like(decides) else convert_to_tensor(decides)).dtype)


def _as_floats(x, y, dtype, wanted):
    """Casts two integer operands of one dtype to the dtype in which they are divided."""
    operands = [v if is_tensor_like(v) else convert_to_tensor(v, dtype, n) for v, n in ((x, "x"), (y, "y"))]
    if any(as_dtype(t.dtype) is not dtype for t in operands):
        raise TypeError("`x` and `y` must have the same dtype, got "
                        f"{' != '.join(repr(as_dtype(t.dtype)) for t in operands)}. Fix: tf.cast one of them")
    return [raw.Cast(t, DstT=wanted) for t in operands]


def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides x by y, elementwise with broadcasting; integers are divided as floats.

    Args:
      x, y: numeric tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape. 8 and 16 bit integers give float32, 32 and 64
      bit integers float64.
    Raises: TypeError for bool or different dtypes; ValueError for incompatible shapes.
    Gradient: dz / conj(y) and -dz conj(x / y**2), summed over the axes of broadcasting.
    Reference: TensorFlow 2.21 `tf.math.truediv`.

    >>> sess.run(tf.truediv([7, 8], 2))
    array([3.5, 4. ])
    """
    dtype = _common_dtype(x, y) if not hasattr(x, "dtype") else as_dtype(x.dtype)
    if dtype.is_bool:
        raise TypeError(f"`x` and `y` must have the same numeric dtype, got {dtype!r}. Fix: tf.cast(x, tf.float32)")
    wanted = _DIVIDED_AS.get(dtype)
    if wanted is None:
        return raw.RealDiv(x, y, name=name or "truediv")
    with name_scope(name, "truediv") as scope:
        return raw.RealDiv(*_as_floats(x, y, dtype, wanted), name=scope)


def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides x by y as Python 3 does: `truediv`.

    Args:
      x, y: numeric tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape; of floats, for integers.
    Raises: TypeError for bool or different dtypes; ValueError for incompatible shapes.
    Gradient: dz / conj(y) and -dz conj(x / y**2), summed over the axes of broadcasting.
    Reference: TensorFlow 2.21 `tf.math.divide`.

    >>> sess.run(tf.divide([6.0, 9.0], 3.0))
    array([2., 3.], dtype=float32)
    """
    return truediv(x, y, name=name)


def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides x by y as Python 2 does: integer quotients are rounded down.

    Args:
      x, y: numeric tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape and of the same dtype.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes.
    Gradient: as `truediv`; None for integers.
    Reference: TensorFlow 2.21 `tf.compat.v1.div`.

    >>> sess.run(tf.div([-7, 7], 2))
    array([-4,  3], dtype=int32)
    """
    op_type = raw.FloorDiv if _common_dtype(x, y).is_integer else raw.RealDiv
    return op_type(x, y, name=name or "div")


def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides x by y, elementwise with broadcasting.

    Args:
      x, y: float or complex tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes.
    Gradient: dz / conj(y) and -dz conj(x / y**2), summed over the axes of broadcasting.
    Reference: TensorFlow 2.21 RealDiv.

    >>> sess.run(tf.realdiv([1.0, 3.0], 2.0))
    array([0.5, 1.5], dtype=float32)
    """
    return raw.RealDiv(x, y, name=name)


@op("DivNoNan", "x: T, y: T -> z: T", T=INEXACT, shape=broadcast, elementwise=True, formula="where(y == 0, 0, x / y)")
def _div_no_nan(xp, x, y):
    """Computes x / y; 0 where y is 0."""
    zero, one = xp.asarray(0, x.dtype), xp.asarray(1, x.dtype)
    nothing = xp.equal(y, zero)
    return xp.where(nothing, zero, xp.divide(x, xp.where(nothing, one, y)))


@_div_no_nan.grad
def _div_no_nan_grad(op, dz):
    return _quotient_grad(raw.DivNoNan, op, dz)


def divide_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides x by y, elementwise with broadcasting; 0 where y is 0.

    Args:
      x, y: numeric tensors of one dtype, of shapes that broadcast; integers are divided as floats.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes.
    Gradient: that of the quotient; 0 where y is 0.
    Reference: TensorFlow 2.21 DivNoNan.

    >>> sess.run(tf.math.divide_no_nan([3.0, 3.0], [2.0, 0.0]))
    array([1.5, 0. ], dtype=float32)
    """
    wanted = _DIVIDED_AS.get(_common_dtype(x, y))
    if wanted is None:
        return raw.DivNoNan(x, y, name=name or "div_no_nan")
    with name_scope(name, "div_no_nan") as scope:
        return raw.DivNoNan(*_as_floats(x, y, _common_dtype(x, y), wanted), name=scope)


div_no_nan = divide_no_nan


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes 1 / x, elementwise; 0 where x is 0.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: -dz conj(1 / x**2); 0 where x is 0.
    Reference: TensorFlow 2.21 `tf.math.reciprocal_no_nan`.

    >>> sess.run(tf.math.reciprocal_no_nan([2.0, 0.0]))
    array([0.5, 0. ], dtype=float32)
    """
    with name_scope(name, "reciprocal_no_nan") as scope:
        x = convert_to_tensor(x, name="x")
        return raw.DivNoNan(convert_to_tensor(1, x.dtype, name="one"), x, name=scope)


# -- rounded quotients -------------------------------------------------------------


def _no_gradient(op, dz):
    return None, None


@op("FloorDiv", "x: T, y: T -> z: T", T=REAL, shape=broadcast, partial_value=elementwise,
    gradient_advice="the identity's gradient (straight-through): x / y + tf.stop_gradient(x // y - x / y)",
    formula="x // y")
def _floor_div(xp, x, y):
    """Computes the elementwise quotient rounded down, with broadcasting."""
    _check_divisor(xp, x, y)
    return xp.floor_divide(x, y) if x.dtype.kind in "iu" else xp.floor(xp.divide(x, y))


_floor_div.refuses("y")(_refuses)
_floor_div.grad(_no_gradient)


@op("TruncateDiv", "x: T, y: T -> z: T", T=REAL, shape=broadcast)
def _truncate_div(xp, x, y):
    """Computes the elementwise quotient rounded toward zero, with broadcasting."""
    return _truncated(xp, x, y) if x.dtype.kind in "iu" else xp.trunc(xp.divide(x, y))


_truncate_div.refuses("y")(_refuses)
_truncate_div.grad(_no_gradient)


def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x / y rounded down, elementwise with broadcasting.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes;
      InvalidArgumentError for an integer division by 0.
    Gradient: None for both.
    Reference: TensorFlow 2.21 FloorDiv.

    >>> sess.run(tf.math.floordiv([-7, 7], 2))
    array([-4,  3], dtype=int32)
    """
    return raw.FloorDiv(x, y, name=name or "floordiv")


def floor_div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x / y rounded down: `floordiv` under its older name.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes;
      InvalidArgumentError for an integer division by 0.
    Gradient: None for both.
    Reference: TensorFlow 2.21 FloorDiv.

    >>> sess.run(tf.floor_div([-7.0, 7.0], 2.0))
    array([-4.,  3.], dtype=float32)
    """
    return raw.FloorDiv(x, y, name=name)


def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes x / y rounded toward zero, elementwise with broadcasting.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes;
      InvalidArgumentError for an integer division by 0.
    Gradient: None for both.
    Reference: TensorFlow 2.21 TruncateDiv.

    >>> sess.run(tf.truncatediv([-7, 7], 2))
    array([-3,  3], dtype=int32)
    """
    return raw.TruncateDiv(x, y, name=name)


# -- remainders --------------------------------------------------------------------


@op("FloorMod", "x: T, y: T -> z: T", T=REAL, shape=broadcast, partial_value=elementwise, dependence="elementwise",
    formula="x % y", eager_seconds=1.9e-8)
def _floor_mod(xp, x, y):
    """Computes the elementwise remainder of division rounded down: it has y's sign."""
    _check_divisor(xp, x, y)
    return xp.mod(x, y)


_floor_mod.refuses("y")(_refuses)


@_floor_mod.grad
def _floor_mod_grad(op, dz):
    x, y = op.inputs
    return unbroadcast(dz, raw.Neg(raw.Mul(dz, raw.FloorDiv(x, y))), x, y)


def _fmod(xp, x, y):
    """Computes the elementwise remainder of division rounded toward zero: it has x's sign."""
    _check_divisor(xp, x, y)
    return xp.fmod(x, y)


def _fmod_grad(op, dz):
    x, y = op.inputs
    return unbroadcast(dz, raw.Neg(raw.Mul(dz, raw.TruncateDiv(x, y))), x, y)


# TensorFlow has no gradient for these two.
for _type in ("Mod", "TruncateMod"):
    _record = op(_type, "x: T, y: T -> z: T", T=FLOATING | {int32, int64}, shape=broadcast)(_fmod)
    _record.refuses("y")(_refuses)
    _record.grad(_fmod_grad)


def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes the remainder of x / y rounded down, elementwise with broadcasting; it has y's sign.

    Args:
      x, y: real tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for different dtypes; ValueError for incompatible shapes;
      InvalidArgumentError for an integer division by 0.
    Gradient: dz and -dz floor(x / y), summed over the axes of broadcasting.
    Reference: TensorFlow 2.21 FloorMod.

    >>> sess.run(tf.math.floormod([-7, 7], 3))
    array([2, 1], dtype=int32)
    """
    return raw.FloorMod(x, y, name=name)


mod = floormod


def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes the remainder of x / y rounded toward zero, elementwise with broadcasting; it has x's sign.

    Args:
      x, y: float, int32 or int64 tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes;
      InvalidArgumentError for an integer division by 0.
    Gradient: dz and -dz truncate(x / y), summed over the axes of broadcasting; TensorFlow has none.
    Reference: TensorFlow 2.21 TruncateMod.

    >>> sess.run(tf.truncatemod([-7, 7], 3))
    array([-1,  1], dtype=int32)
    """
    return raw.TruncateMod(x, y, name=name)
