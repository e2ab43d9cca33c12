"""Unary functions: sign, rounding, squares, roots, reciprocals."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.constant_value import elementwise
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import FLOATING, INEXACT, NUMERIC, as_dtype, float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ir.values.indexed_slices import on_values
from graphgrad.op_traits import Linear
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.elementwise import REAL_SIGNED, SIGNED, conj, first, same
from graphgrad.ops.common.host_arrays import where
from graphgrad.ops.common.lax_functions import lax_of


@op("Abs", "x: T -> y: T", T=REAL_SIGNED, shape=same, elementwise=True)
def _abs(xp, x):
    """Computes the absolute value."""
    return xp.abs(x)


@_abs.grad
def _abs_grad(op, dy):
    return raw.Mul(dy, raw.Sign(op.inputs[0]))


def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the absolute value, elementwise.

    Args:
      x: a signed numeric tensor.
      name: a name for the operation.
    Returns: a tensor like x; real for complex x.
    Raises: TypeError for other dtypes.
    Gradient: dy * sign(x); 0 at 0.
    Reference: TensorFlow 2.21 Abs, ComplexAbs.

    >>> sess.run(tf.abs([-1.5, 2.0]))
    array([1.5, 2. ], dtype=float32)
    """
    if not is_tensor_like(x):
        with name_scope(name, "Abs") as scope:
            return abs(convert_to_tensor(x, name="x"), name=scope)
    if as_dtype(x.dtype).is_complex:
        return raw.ComplexAbs(x, Tout=as_dtype(x.dtype).real_dtype, name=name or "Abs")
    return raw.Abs(x, name=name)


@op("Neg", "x: T -> y: T", T=SIGNED, shape=same, partial_value=elementwise, zero_preserving=True,
    elementwise=True, linear=Linear.JOINTLY, formula="-x")
def _neg(xp, x):
    """Computes -x."""
    return xp.negative(x)


@_neg.grad
def _neg_grad(op, dy):
    return on_values(raw.Neg, dy)


def negative(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes -x, elementwise.

    Args:
      x: a signed numeric tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: -dy.
    Reference: TensorFlow 2.21 Neg.

    >>> sess.run(tf.negative([1, -2]))
    array([-1,  2], dtype=int32)
    """
    return raw.Neg(x, name=name)


@op("Sign", "x: T -> y: T", T=SIGNED, shape=same, gradient_advice="a smooth sign: tf.tanh(k * x)", elementwise=True,
    eager_seconds=4.2e-10)
def _sign(xp, x):
    """Returns -1, 0 or 1; x / |x| for complex numbers."""
    return xp.sign(x)


@_sign.grad
def _sign_grad(op, dy):
    return raw.ZerosLike(op.inputs[0])


def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns -1, 0 or 1 by the sign of x, elementwise; x / |x| for complex numbers.

    Args:
      x: a signed numeric tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: zeros for real x.
    Reference: TensorFlow 2.21 Sign.

    >>> sess.run(tf.sign([-3.0, 0.0, 2.0]))
    array([-1.,  0.,  1.], dtype=float32)
    """
    x = convert_to_tensor(x, name="x")
    if x.dtype.is_complex:
        length = raw.ComplexAbs(x, Tout=x.dtype.real_dtype)
        return raw.DivNoNan(x, raw.Cast(length, DstT=x.dtype), name=name)
    return raw.Sign(x, name=name)


# -- rounding ----------------------------------------------------------------------


def _no_gradient(op, dy):
    return None


def _straight_through(name):
    return f"the identity's gradient (straight-through): x + tf.stop_gradient({name}(x) - x)"


@op("Floor", "x: T -> y: T", T=FLOATING, shape=same, gradient_advice=_straight_through("tf.floor"))
def _floor(xp, x):
    """Returns the largest integer not above x."""
    return xp.floor(x)


@op("Ceil", "x: T -> y: T", T=FLOATING, shape=same, gradient_advice=_straight_through("tf.math.ceil"))
def _ceil(xp, x):
    """Returns the smallest integer not below x."""
    return xp.ceil(x)


def _rounded(xp, x):
    """Rounds to the nearest integer; ties to even."""
    return x if x.dtype.kind in "iu" else xp.rint(x)


_round = op("Round", "x: T -> y: T", T=SIGNED, shape=same, gradient_advice=_straight_through("tf.round"))(_rounded)
_rint = op("Rint", "x: T -> y: T", T=FLOATING, shape=same, gradient_advice=_straight_through("tf.round"))(_rounded)

for _record in (_floor, _ceil, _round, _rint):
    _record.grad(_no_gradient)


def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns the largest integer not above x, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: None.
    Reference: TensorFlow 2.21 Floor.

    >>> sess.run(tf.floor([-1.5, 1.5]))
    array([-2.,  1.], dtype=float32)
    """
    return raw.Floor(x, name=name)


def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns the smallest integer not below x, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: None.
    Reference: TensorFlow 2.21 Ceil.

    >>> sess.run(tf.math.ceil([-1.5, 1.5]))
    array([-1.,  2.], dtype=float32)
    """
    return raw.Ceil(x, name=name)


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """Rounds to the nearest integer, elementwise; ties to even.

    Args:
      x: a numeric tensor; integers are unchanged.
      name: a name for the operation.
    Returns: a tensor like x.
    Gradient: None.
    Reference: TensorFlow 2.21 Round.

    >>> sess.run(tf.round([0.5, 1.5, -1.2]))
    array([ 0.,  2., -1.], dtype=float32)
    """
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else raw.Round(x, name=name)


def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """Rounds to the nearest integer, elementwise; ties to even.

    Args:
      x: a float tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: None.
    Reference: TensorFlow 2.21 Rint.

    >>> sess.run(tf.math.rint([0.5, 1.5, -1.2]))
    array([ 0.,  2., -1.], dtype=float32)
    """
    return raw.Rint(x, name=name)


@op("NextAfter", "x1: T, x2: T -> output: T",
    prefers={"T": "float32"}, T=frozenset({float32, float64}), shape=broadcast)
def _next_after(xp, x1, x2):
    """Returns the next number after x1 in the direction of x2."""
    return xp.nextafter(x1, x2)


@_next_after.grad
def _next_after_grad(op, dy):
    x1, x2 = op.inputs
    return unbroadcast(dy, None, x1, x2)[0], raw.ZerosLike(x2)


def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """Returns the next floating-point number after x1 in the direction of x2, elementwise with broadcasting.

    Args:
      x1, x2: float32 or float64 tensors of one dtype, of shapes that broadcast.
      name: a name for the operation.
    Returns: a tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: dy for x1 and zeros for x2.
    Reference: TensorFlow 2.21 NextAfter.

    >>> sess.run(tf.math.nextafter(np.float64(1.0), np.float64(2.0)))
    np.float64(1.0000000000000002)
    """
    return raw.NextAfter(x1, x2, name=name)


# -- squares and roots -------------------------------------------------------------


def _conj(xp, y):
    """Conjugates complex numbers, in the kernels of gradient ops: TensorFlow's conjugate y themselves."""
    return xp.conj(y) if y.dtype.kind == "c" else y


@op("Square", "x: T -> y: T", T=NUMERIC, shape=same, elementwise=True, formula="x ** 2")
def _square(xp, x):
    """Computes x * x."""
    return xp.multiply(x, x)


@_square.grad
def _square_grad(op, dy):
    return raw.Mul(dy, raw.Mul(conj(op.inputs[0]), 2))


def square(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes x * x, elementwise.

    Args:
      x: a numeric tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Gradient: 2 dy conj(x).
    Reference: TensorFlow 2.21 Square.

    >>> sess.run(tf.square([-2.0, 3.0]))
    array([4., 9.], dtype=float32)
    """
    return raw.Square(x, name=name)


@op("Sqrt", "x: T -> y: T", T=INEXACT, shape=same, saves_result=True,
    finite_advice="keep its argument away from 0, where the slope is infinite: tf.sqrt(x + 1e-12)", elementwise=True,
    eager_seconds=3.5e-10)
def _sqrt(xp, x):
    """Computes the square root."""
    return xp.sqrt(x)


@_sqrt.grad
def _sqrt_grad(op, dy):
    return raw.SqrtGrad(op.outputs[0], dy)


def _zero_stays(xp, dy, gradient):
    """Returns `gradient`, but 0 where dy is 0: not 0 * Inf where the function has no derivative."""
    return where(xp, dy == 0, xp.zeros((), gradient.dtype), gradient)


@op("SqrtGrad", "y: T, dy: T -> z: T", T=INEXACT, shape=first, eager_seconds=1.5e-9, elementwise=True,
    formula="dy / (2 * y)")
def _sqrt_grad_op(xp, y, dy):
    """Computes the gradient of y = sqrt(x): dy / (2 conj(y))."""
    return _zero_stays(xp, dy, dy * xp.asarray(0.5, y.dtype) / _conj(xp, y))


@_sqrt_grad_op.grad
def _sqrt_grad_grad(op, dz):
    g = raw.RealDiv(dz, op.inputs[0])
    return raw.Neg(raw.Mul(conj(g), op.outputs[0])), raw.Mul(g, 0.5)


def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the square root, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x; NaN for negative floats.
    Raises: TypeError for other dtypes.
    Gradient: dy / (2 conj(sqrt(x))); infinite at 0.
    Reference: TensorFlow 2.21 Sqrt.

    >>> sess.run(tf.sqrt([4.0, 9.0]))
    array([2., 3.], dtype=float32)
    """
    return raw.Sqrt(x, name=name)


@op("Rsqrt", "x: T -> y: T", T=INEXACT, shape=same, saves_result=True,
    finite_advice="keep its argument away from 0: tf.math.rsqrt(x + 1e-12)", elementwise=True, formula="1 / sqrt(x)",
    eager_seconds=4.6e-10)
def _rsqrt(xp, x):
    """Computes 1 / sqrt(x)."""
    root = xp.sqrt(x)
    one = xp.asarray(1, x.dtype)
    return np.divide(one, root, out=root) if xp is np and root.ndim else one / root


@_rsqrt.on_device
def _rsqrt_on_device(xp, x):
    if x.dtype not in (np.float32, np.float64):
        return lax_of(xp).rsqrt(x)
    # XLA:CPU's own takes three times as long; it also makes that of 1 / sqrt(x).
    ends = xp.where(x == 0, 1 / x, xp.zeros((), x.dtype))
    return xp.where((x == 0) | (x == np.inf), ends, xp.sqrt(x) / x)


@_rsqrt.grad
def _rsqrt_grad(op, dy):
    return raw.RsqrtGrad(op.outputs[0], dy)


@op("RsqrtGrad", "y: T, dy: T -> z: T", T=INEXACT, shape=first, eager_seconds=2e-9, elementwise=True,
    formula="-dy * y ** 3 / 2")
def _rsqrt_grad_op(xp, y, dy):
    """Computes the gradient of y = 1 / sqrt(x): -dy conj(y)**3 / 2."""
    y = _conj(xp, y)
    return _zero_stays(xp, dy, dy * (xp.asarray(-0.5, y.dtype) * y * y * y))


@_rsqrt_grad_op.grad
def _rsqrt_grad_grad(op, dz):
    y, dy = conj(op.inputs[0]), op.inputs[1]
    return raw.Mul(conj(dz), raw.Mul(raw.Mul(dy, -1.5), raw.Square(y))), raw.RsqrtGrad(y, dz)


def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes 1 / sqrt(x), elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: -dy conj(rsqrt(x)**3) / 2.
    Reference: TensorFlow 2.21 Rsqrt.

    >>> sess.run(tf.math.rsqrt([4.0, 16.0]))
    array([0.5 , 0.25], dtype=float32)
    """
    return raw.Rsqrt(x, name=name)


# -- reciprocals -------------------------------------------------------------------


def _reciprocal(xp, x):
    """Computes 1 / x; of integers, rounded toward zero."""
    if x.dtype.kind not in "iu":
        return xp.asarray(1, x.dtype) / x
    unit = (x == 1) | (x == -1)
    return xp.where(unit, x, xp.asarray(0, x.dtype))


def _reciprocal_grad_op(xp, y, dy):
    """Returns the gradient of y = 1 / x: -dy conj(y)**2."""
    y = _conj(xp, y)
    return _zero_stays(xp, dy, -dy * (y * y))


def _declare_reciprocal(name):
    """Declares `Reciprocal` or `Inv`, one op under two names, each with a gradient op of its own."""
    record = op(name, "x: T -> y: T", T=SIGNED, shape=same, elementwise=True, formula="1 / x",
                finite_advice="keep its argument away from 0, or use tf.math.divide_no_nan")(_reciprocal)
    grad_record = op(f"{name}Grad", "y: T, dy: T -> z: T", T=INEXACT, shape=first, elementwise=True,
                     formula="-dy * y ** 2")(_reciprocal_grad_op)

    @record.grad
    def _reciprocal_grad(op, dy):
        return grad_record(op.outputs[0], dy)

    @grad_record.grad
    def _reciprocal_grad_grad(op, dz):
        y, dy = conj(op.inputs[0]), op.inputs[1]
        return raw.Mul(raw.Mul(conj(dz), -2), raw.Mul(dy, y)), grad_record(y, dz)


_declare_reciprocal("Reciprocal")
_declare_reciprocal("Inv")


def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes 1 / x, elementwise.

    Args:
      x: a float or complex tensor.
      name: a name for the operation.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: -dy conj(1 / x**2).
    Reference: TensorFlow 2.21 Reciprocal.

    >>> sess.run(tf.math.reciprocal([2.0, 4.0]))
    array([0.5 , 0.25], dtype=float32)
    """
    return raw.Reciprocal(x, name=name)
