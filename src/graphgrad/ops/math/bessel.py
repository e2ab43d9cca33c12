"""Bessel functions of the orders 0 and 1."""

from __future__ import annotations

import numpy as np

from graphgrad.ir.dtypes import FLOATING
from graphgrad.ir.opdef import op, raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.elementwise import same
from graphgrad.ops.common.lax_functions import module_of, special_of
from graphgrad.system.late_imports import load

from . import bessel_series


def _of_scipy(name, x):
    special = load("scipy.special")

    with np.errstate(all="ignore"):
        return getattr(special, name)(np.asarray(x, np.float64)).astype(x.dtype)


def _of_jax(name, x):
    return getattr(special_of(module_of(x)), name)(x)


def _i0(x):
    return _of_jax("i0", x)


def _i1(x):
    return _of_jax("i1", x)


def _device(name, xp, x):
    if name[0] == "i":
        return _of_jax(name, x)
    if name[0] == "k":
        series, first = (bessel_series.k0, _i0) if name[1] == "0" else (bessel_series.k1, _i1)
        return series(xp, x, first, scaled=name.endswith("e"))
    return getattr(bessel_series, name)(xp, x)


def _declare(kind):
    """Declares the op `Bessel<kind>`, of SciPy on the host and of XLA or Chebyshev series on a device."""
    name = kind.lower()

    def kernel(xp, x):
        if xp is np:
            y = _of_scipy(name, x)
            return np.where(x < 0, -y.dtype.type(np.inf) if name[0] == "y" else y.dtype.type(np.inf), y) \
                if name[0] in "ky" else y
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        return _device(name, xp, wide).astype(x.dtype)

    kernel.__doc__ = f"Computes the Bessel function {kind}, elementwise."
    return op("Bessel" + kind, "x: T -> y: T", T=FLOATING, shape=same, elementwise=True)(kernel)


_KINDS = {kind: _declare(kind) for kind in ("I0", "I0e", "I1", "I1e", "J0", "J1", "K0", "K0e", "K1", "K1e", "Y0", "Y1")}


def _ratio(y, x, at_zero):
    """Returns y / x, or `at_zero` where x is 0; never divides by 0."""
    zero = raw.Equal(x, raw.ZerosLike(x))
    ones = raw.OnesLike(x)
    return raw.SelectV2(zero, raw.Mul(ones, at_zero), raw.RealDiv(y, raw.SelectV2(zero, ones, x)))


@_KINDS["I0"].grad
def _i0_grad(op, dy):
    return raw.Mul(dy, raw.BesselI1(op.inputs[0]))


@_KINDS["I1"].grad
def _i1_grad(op, dy):
    # 1/2 at 0, where TensorFlow has 1.
    x, y = op.inputs[0], op.outputs[0]
    return raw.Mul(dy, raw.Sub(raw.BesselI0(x), _ratio(y, x, 0.5)))


@_KINDS["I0e"].grad
def _i0e_grad(op, dy):
    x, y = op.inputs[0], op.outputs[0]
    return raw.Mul(dy, raw.Sub(raw.BesselI1e(x), raw.Mul(raw.Sign(x), y)))


@_KINDS["I1e"].grad
def _i1e_grad(op, dy):
    x, y = op.inputs[0], op.outputs[0]
    return raw.Mul(dy, raw.Sub(raw.BesselI0e(x), raw.AddV2(raw.Mul(raw.Sign(x), y), _ratio(y, x, 0.5))))


@_KINDS["J0"].grad
def _j0_grad(op, dy):
    return raw.Mul(dy, raw.Neg(raw.BesselJ1(op.inputs[0])))


@_KINDS["J1"].grad
def _j1_grad(op, dy):
    x, y = op.inputs[0], op.outputs[0]
    return raw.Mul(dy, raw.Sub(raw.BesselJ0(x), _ratio(y, x, 0.5)))


@_KINDS["Y0"].grad
def _y0_grad(op, dy):
    return raw.Mul(dy, raw.Neg(raw.BesselY1(op.inputs[0])))


@_KINDS["Y1"].grad
def _y1_grad(op, dy):
    x, y = op.inputs[0], op.outputs[0]
    return raw.Mul(dy, raw.Sub(raw.BesselY0(x), raw.RealDiv(y, x)))


@_KINDS["K0"].grad
def _k0_grad(op, dy):
    return raw.Mul(dy, raw.Neg(raw.BesselK1(op.inputs[0])))


@_KINDS["K0e"].grad
def _k0e_grad(op, dy):
    return raw.Mul(dy, raw.Sub(op.outputs[0], raw.BesselK1e(op.inputs[0])))


@_KINDS["K1"].grad
def _k1_grad(op, dy):
    x, y = op.inputs[0], op.outputs[0]
    return raw.Mul(dy, raw.Neg(raw.AddV2(raw.BesselK0(x), raw.RealDiv(y, x))))


@_KINDS["K1e"].grad
def _k1e_grad(op, dy):
    x, y = op.inputs[0], op.outputs[0]
    return raw.Mul(dy, raw.Sub(raw.Mul(y, raw.Sub(1, raw.Reciprocal(x))), raw.BesselK0e(x)))


# -- public functions ------------------------------------------------------------------------


def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the modified Bessel function of the first kind of order 0, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy (I1(x)).
    Reference: TensorFlow 2.21 BesselI0.

    >>> sess.run(bessel_i0([1.0, 2.0])).round(4)
    array([1.2661, 2.2796], dtype=float32)
    """
    with name_scope(name, "bessel_i0"):
        return raw.BesselI0(x)


def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes exp(-|x|) I0(x), for I0 the modified Bessel function of the first kind of order 0, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy (I1e(x) - sign(x) I0e(x)).
    Reference: TensorFlow 2.21 BesselI0e.

    >>> sess.run(bessel_i0e([1.0, 2.0])).round(4)
    array([0.4658, 0.3085], dtype=float32)
    """
    with name_scope(name, "bessel_i0e"):
        return raw.BesselI0e(x)


def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the modified Bessel function of the first kind of order 1, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy (I0(x) - I1(x) / x).
    Reference: TensorFlow 2.21 BesselI1.

    >>> sess.run(bessel_i1([1.0, 2.0])).round(4)
    array([0.5652, 1.5906], dtype=float32)
    """
    with name_scope(name, "bessel_i1"):
        return raw.BesselI1(x)


def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes exp(-|x|) I1(x), for I1 the modified Bessel function of the first kind of order 1, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy (I0e(x) - I1e(x) (sign(x) + 1 / x)).
    Reference: TensorFlow 2.21 BesselI1e.

    >>> sess.run(bessel_i1e([1.0, 2.0])).round(4)
    array([0.2079, 0.2153], dtype=float32)
    """
    with name_scope(name, "bessel_i1e"):
        return raw.BesselI1e(x)


def bessel_j0(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Bessel function of the first kind of order 0, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy (-J1(x)).
    Reference: TensorFlow 2.21 BesselJ0.

    >>> sess.run(bessel_j0([1.0, 2.0])).round(4)
    array([0.7652, 0.2239], dtype=float32)
    """
    with name_scope(name, "bessel_j0"):
        return raw.BesselJ0(x)


def bessel_j1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Bessel function of the first kind of order 1, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: TypeError for other dtypes.
    Gradient: dy (J0(x) - J1(x) / x).
    Reference: TensorFlow 2.21 BesselJ1.

    >>> sess.run(bessel_j1([1.0, 2.0])).round(4)
    array([0.4401, 0.5767], dtype=float32)
    """
    with name_scope(name, "bessel_j1"):
        return raw.BesselJ1(x)


def bessel_k0(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the modified Bessel function of the second kind of order 0, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; infinite for x <= 0.
    Raises: TypeError for other dtypes.
    Gradient: dy (-K1(x)).
    Reference: TensorFlow 2.21 BesselK0.

    >>> sess.run(bessel_k0([1.0, 2.0])).round(4)
    array([0.421 , 0.1139], dtype=float32)
    """
    with name_scope(name, "bessel_k0"):
        return raw.BesselK0(x)


def bessel_k0e(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes exp(x) K0(x), for K0 the modified Bessel function of the second kind of order 0, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; infinite for x <= 0.
    Raises: TypeError for other dtypes.
    Gradient: dy (K0e(x) - K1e(x)).
    Reference: TensorFlow 2.21 BesselK0e.

    >>> sess.run(bessel_k0e([1.0, 2.0])).round(4)
    array([1.1445, 0.8416], dtype=float32)
    """
    with name_scope(name, "bessel_k0e"):
        return raw.BesselK0e(x)


def bessel_k1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the modified Bessel function of the second kind of order 1, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; infinite for x <= 0.
    Raises: TypeError for other dtypes.
    Gradient: dy (-K0(x) - K1(x) / x).
    Reference: TensorFlow 2.21 BesselK1.

    >>> sess.run(bessel_k1([1.0, 2.0])).round(4)
    array([0.6019, 0.1399], dtype=float32)
    """
    with name_scope(name, "bessel_k1"):
        return raw.BesselK1(x)


def bessel_k1e(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes exp(x) K1(x), for K1 the modified Bessel function of the second kind of order 1, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; infinite for x <= 0.
    Raises: TypeError for other dtypes.
    Gradient: dy (K1e(x) (1 - 1 / x) - K0e(x)).
    Reference: TensorFlow 2.21 BesselK1e.

    >>> sess.run(bessel_k1e([1.0, 2.0])).round(4)
    array([1.6362, 1.0335], dtype=float32)
    """
    with name_scope(name, "bessel_k1e"):
        return raw.BesselK1e(x)


def bessel_y0(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Bessel function of the second kind of order 0, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; infinite for x <= 0.
    Raises: TypeError for other dtypes.
    Gradient: dy (-Y1(x)).
    Reference: TensorFlow 2.21 BesselY0.

    >>> sess.run(bessel_y0([1.0, 2.0])).round(4)
    array([0.0883, 0.5104], dtype=float32)
    """
    with name_scope(name, "bessel_y0"):
        return raw.BesselY0(x)


def bessel_y1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Bessel function of the second kind of order 1, elementwise.

    Args:
      x: a float tensor.
      name: a name for the operations.
    Returns: a tensor like x; infinite for x <= 0.
    Raises: TypeError for other dtypes.
    Gradient: dy (Y0(x) - Y1(x) / x).
    Reference: TensorFlow 2.21 BesselY1.

    >>> sess.run(bessel_y1([1.0, 2.0])).round(4)
    array([-0.7812, -0.107 ], dtype=float32)
    """
    with name_scope(name, "bessel_y1"):
        return raw.BesselY1(x)
