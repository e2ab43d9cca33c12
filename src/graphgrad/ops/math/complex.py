"""Complex numbers: parts, angle, conjugate."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import COMPLEX, complex64, complex128, float32, float64
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import broadcast
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.broadcast import unbroadcast
from graphgrad.ops.common.elementwise import same
from graphgrad.ops.common.lax_functions import lax_of

_PARTS = frozenset({float32, float64})
_OF_PARTS = {float32: complex64, float64: complex128}


@op("Complex", "real: T, imag: T -> out: Tout", prefers={"T": "float32"}, T=_PARTS, Tout=COMPLEX, shape=broadcast)
def _complex(xp, real, imag, *, Tout=complex64):
    """Computes real + imag i."""
    real, imag = xp.broadcast_arrays(real, imag)
    if xp is not np:
        return lax_of(xp).complex(real, imag).astype(Tout.np_dtype)
    out = np.empty(real.shape, Tout.np_dtype)
    out.real, out.imag = real, imag
    return out


@_complex.grad
def _complex_grad(op, dz):
    x, y = op.inputs
    return unbroadcast(raw.Real(dz, Tout=x.dtype), raw.Imag(dz, Tout=x.dtype), x, y)


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Makes complex numbers of their real and imaginary parts, elementwise with broadcasting.

    Args:
      real, imag: float32 or float64 tensors of one dtype.
      name: a name for the operation.
    Returns: a complex64 or complex128 tensor of the broadcast shape.
    Raises: TypeError for other or different dtypes; ValueError for incompatible shapes.
    Gradient: the real and the imaginary part of dz.
    Reference: TensorFlow 2.21 Complex.

    >>> sess.run(tf.complex([1.0, 2.0], [3.0, 4.0]))
    array([1.+3.j, 2.+4.j], dtype=complex64)
    """
    real, imag = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex") as scope:
        wanted = _OF_PARTS.get(real.dtype)
        if wanted is None or imag.dtype is not real.dtype:
            raise TypeError(f"The `real` and `imag` components have incorrect types: {real.dtype.name} "
                            f"{imag.dtype.name}. They must be consistent, and one of tf.float32, tf.float64. "
                            "Fix: tf.cast them")
        return raw.Complex(real, imag, Tout=wanted, name=scope)


@op("Conj", "input: T -> output: T", T=COMPLEX, shape=same, zero_preserving=True)
def _conj(xp, x):
    """Computes the complex conjugate."""
    return xp.conj(x)


@_conj.grad
def _conj_grad(op, dy):
    return raw.Conj(dy)


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the complex conjugate, elementwise.

    Args:
      x: a numeric tensor.
      name: a name for the operation.
    Returns: a tensor like x; a real x itself.
    Raises: TypeError if x is not numeric.
    Gradient: conj(dy).
    Reference: TensorFlow 2.21 Conj.

    >>> sess.run(tf.math.conj([1.0 + 2.0j]))
    array([1.-2.j])
    """
    x = x if hasattr(x, "op") else convert_to_tensor(x, name="x")
    if x.dtype.is_complex:
        return raw.Conj(x, name=name)
    if x.dtype.is_floating or x.dtype.is_integer:
        return x
    raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}. Fix: tf.cast(x, tf.complex64)")


def _part(name, kernel, doc, **traits):
    """Declares an op from complex numbers to real ones."""

    def part_kernel(xp, x, *, Tout=float32):
        return kernel(xp, x).astype(Tout.np_dtype)

    part_kernel.__doc__ = doc
    argument = "x" if name == "ComplexAbs" else "input"
    result = "y" if name == "ComplexAbs" else "output"
    return op(name, f"{argument}: T -> {result}: Tout", T=COMPLEX, Tout=_PARTS, shape=same,
              **traits)(part_kernel)


def _real_kernel(xp, x):
    return xp.real(x)


def _imag_kernel(xp, x):
    return xp.imag(x)


def _angle_kernel(xp, x):
    return xp.angle(x)


def _complex_abs_kernel(xp, x):
    return xp.abs(x)


_real = _part("Real", _real_kernel, "Returns the real part.", zero_preserving=True)
_imag = _part("Imag", _imag_kernel, "Returns the imaginary part.", zero_preserving=True)
_angle = _part("Angle", _angle_kernel, "Computes the argument, in radians.")
_complex_abs = _part("ComplexAbs", _complex_abs_kernel, "Computes the absolute value.")


def _with_zero(t, dtype, imaginary=False):
    """Converts a real tensor to a complex one, as its imaginary part if requested."""
    zero = t.dtype.np_dtype.type(0)
    return raw.Complex(zero, t, Tout=dtype) if imaginary else raw.Complex(t, zero, Tout=dtype)


@_real.grad
def _real_grad(op, dy):
    return _with_zero(dy, op.inputs[0].dtype)


@_imag.grad
def _imag_grad(op, dy):
    return _with_zero(dy, op.inputs[0].dtype, imaginary=True)


@_angle.grad
def _angle_grad(op, dy):
    """Computes -dy / (Im(x) + i Re(x))."""
    x = op.inputs[0]
    part = x.dtype.real_dtype
    turned = raw.Complex(raw.Imag(x, Tout=part), raw.Real(x, Tout=part), Tout=x.dtype)
    return raw.Neg(raw.Mul(_with_zero(dy, x.dtype), raw.Reciprocal(turned)))


@_complex_abs.grad
def _complex_abs_grad(op, dy):
    """Computes dy x / |x|, and 0 at 0."""
    x = op.inputs[0]
    return raw.DivNoNan(raw.Mul(_with_zero(dy, x.dtype), x), _with_zero(op.outputs[0], x.dtype))


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the real part, elementwise.

    Args:
      input: a numeric tensor.
      name: a name for the operation.
    Returns: a real tensor of its shape; a real input itself.
    Raises: TypeError if the input is not numeric.
    Gradient: dy as a complex number.
    Reference: TensorFlow 2.21 Real.

    >>> sess.run(tf.math.real([1.0 + 2.0j]))
    array([1.])
    """
    with name_scope(name, "Real") as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return raw.Real(x, Tout=x.dtype.real_dtype, name=scope)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype!r}. "
                        "Fix: tf.cast(input, tf.complex64)")


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the imaginary part, elementwise.

    Args:
      input: a numeric tensor.
      name: a name for the operation.
    Returns: a real tensor of its shape; zeros for a real input.
    Gradient: dy as an imaginary number.
    Reference: TensorFlow 2.21 Imag.

    >>> sess.run(tf.math.imag([1.0 + 2.0j]))
    array([2.])
    """
    with name_scope(name, "Imag") as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return raw.Imag(x, Tout=x.dtype.real_dtype, name=scope)
        return raw.ZerosLike(x, name="zeros_like")


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the argument of complex numbers, elementwise: the angle with the positive real axis.

    Args:
      input: a float or complex tensor.
      name: a name for the operation.
    Returns: a real tensor of its shape, in radians; 0 or pi for a real input.
    Gradient: -dy / (Im(x) + i Re(x)).
    Reference: TensorFlow 2.21 Angle.

    >>> sess.run(tf.math.angle([1.0j, -1.0])).round(4)
    array([1.5708, 3.1416])
    """
    with name_scope(name, "Angle") as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return raw.Angle(x, Tout=x.dtype.real_dtype, name=scope)
        return raw.SelectV2(raw.Less(x, 0), convert_to_tensor(np.pi, x.dtype), raw.ZerosLike(x), name="Select")
