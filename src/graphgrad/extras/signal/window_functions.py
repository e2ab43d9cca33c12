"""Window functions for short-time Fourier transforms."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.shape_values import host_array, is_tensor


def _checked(window_length, dtype):
    """Returns the length, as an int if it is known, else a tensor; and the dtype."""
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}.\n  Fix: dtype=tf.float32")
    length = convert_to_tensor(window_length, name="window_length")
    if length._spec.shape not in (None, ()):
        raise ValueError(f"window_length must be a scalar, not of shape {length.shape}.\n  Fix: give one number")
    known = host_array(length)
    return (raw.Cast(length, DstT=int32) if known is None else int(known)), dtype


def _count(length, dtype):
    """Returns 0, 1, ..., length - 1 as floats."""
    if is_tensor(length):
        return raw.Cast(raw.Range(0, length, 1), DstT=dtype)
    return convert_to_tensor(np.arange(length).astype(dtype.np_dtype))


def _as_float(x, dtype):
    return raw.Cast(x, DstT=dtype) if is_tensor(x) else np.asarray(x, dtype.np_dtype)


def _raised_cosine(name, default, window_length, periodic, dtype, a, b):
    with name_scope(name, default):
        length, dtype = _checked(window_length, dtype)
        if not is_tensor(length):
            if length <= 1:
                return convert_to_tensor(np.ones(max(length, 0), dtype.np_dtype))
            n = length + (bool(periodic) and length % 2 == 0) - 1
            # Rounded once, from double precision.
            return convert_to_tensor((a - b * np.cos(2 * math.pi * np.arange(length) / n)).astype(dtype.np_dtype))
        even = raw.Sub(1, raw.FloorMod(length, 2))
        n = raw.Maximum(raw.Sub(raw.AddV2(length, even if periodic else 0), 1), 1)
        angle = raw.RealDiv(raw.Mul(_count(length, dtype), _as_float(2 * math.pi, dtype)), _as_float(n, dtype))
        window = raw.Sub(_as_float(a, dtype), raw.Mul(_as_float(b, dtype), raw.Cos(angle)))
        return raw.SelectV2(raw.Equal(length, 1), raw.OnesLike(window), window)


def hann_window(window_length: TensorLike, periodic: bool = True, dtype: DTypeLike = float32,
                name: str | None = None) -> Tensor:
    """Computes the Hann window, 1/2 - cos(2 pi k / n) / 2.

    Args:
      window_length: a scalar integer.
      periodic: whether n is the length, for windows of even length; else n is one less.
      dtype: a floating type.
      name: a name for the scope of the operations.
    Returns: (window_length,).
    Raises: ValueError for another dtype or a length that is not a scalar.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.signal.hann_window`.

    >>> sess.run(tf.signal.hann_window(4))
    array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length: TensorLike, periodic: bool = True, dtype: DTypeLike = float32,
                   name: str | None = None) -> Tensor:
    """Computes the Hamming window, 0.54 - 0.46 cos(2 pi k / n).

    Args:
      window_length, periodic, dtype, name: as in `hann_window`.
    Returns: (window_length,).
    Raises: ValueError for another dtype or a length that is not a scalar.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.signal.hamming_window`.

    >>> sess.run(tf.signal.hamming_window(4))
    array([0.08, 0.54, 1.  , 0.54], dtype=float32)
    """
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def kaiser_window(window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = float32,
                  name: str | None = None) -> Tensor:
    """Computes the Kaiser window, I0(beta sqrt(1 - (2 k / (n - 1) - 1)^2)) / I0(beta).

    Args:
      window_length: a scalar integer n.
      beta: a scalar, the shape: the larger, the narrower.
      dtype: a floating type.
      name: a name for the scope of the operations.
    Returns: (n,).
    Raises: ValueError for another dtype or a length that is not a scalar.
    Gradient: for beta.
    Reference: TensorFlow 2.21 `tf.signal.kaiser_window`.

    >>> sess.run(tf.signal.kaiser_window(3, 0.0))
    array([1., 1., 1.], dtype=float32)
    """
    with name_scope(name, "kaiser_window"):
        length, kind = _checked(window_length, dtype)
        if not is_tensor(length) and length <= 1:
            return convert_to_tensor(np.ones(max(length, 0), kind.np_dtype))
        beta = convert_to_tensor(beta, kind)
        half = raw.Mul(0.5, raw.Cast(raw.Sub(length, 1), DstT=kind)) if is_tensor(length) \
            else np.asarray((length - 1) / 2, kind.np_dtype)
        place = raw.RealDiv(raw.Sub(_count(length, kind), half), half)
        root = raw.Sqrt(raw.Maximum(raw.Sub(1, raw.Square(place)), 0))
        argument = raw.Mul(beta, root)
        scale = raw.Exp(raw.Sub(argument, beta))
        window = raw.Mul(scale, raw.RealDiv(raw.BesselI0e(argument), raw.BesselI0e(beta)))
        if not is_tensor(length):
            return window
        return raw.SelectV2(raw.Equal(length, 1), raw.OnesLike(window), window)


def kaiser_bessel_derived_window(window_length: TensorLike, beta: TensorLike = 12.0, dtype: DTypeLike = float32,
                                 name: str | None = None) -> Tensor:
    """Computes the Kaiser-Bessel-derived window, whose squares and those of its second half add up to one.

    Args:
      window_length: an even scalar integer.
      beta, dtype, name: as in `kaiser_window`.
    Returns: (window_length,).
    Raises: ValueError for another dtype or a length that is not a scalar.
    Gradient: for beta.
    Reference: TensorFlow 2.21 `tf.signal.kaiser_bessel_derived_window`.

    >>> sess.run(tf.signal.kaiser_bessel_derived_window(2))
    array([0.70710677, 0.70710677], dtype=float32)
    """
    with name_scope(name, "kaiser_bessel_derived_window"):
        length, dtype = _checked(window_length, dtype)
        half = raw.FloorDiv(length, 2) if is_tensor(length) else length // 2
        sums = raw.Cumsum(kaiser_window(raw.AddV2(half, 1) if is_tensor(half) else half + 1, beta, dtype), 0)
        total = raw.StridedSlice(sums, [-1], [0], [1], end_mask=1)
        rising = raw.Sqrt(raw.RealDiv(raw.StridedSlice(sums, [0], [-1], [1], begin_mask=1), total))
        return raw.ConcatV2([rising, raw.ReverseV2(rising, [0])], 0)


def vorbis_window(window_length: TensorLike, dtype: DTypeLike = float32, name: str | None = None) -> Tensor:
    """Computes the Vorbis window, sin(pi / 2 sin^2(pi (k + 1/2) / n)).

    Args:
      window_length: an even scalar integer n.
      dtype: a floating type.
      name: a name for the scope of the operations.
    Returns: (n,).
    Raises: ValueError for another dtype or a length that is not a scalar.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.signal.vorbis_window`.

    >>> sess.run(tf.signal.vorbis_window(2))
    array([0.70710677, 0.70710677], dtype=float32)
    """
    with name_scope(name, "vorbis_window"):
        length, kind = _checked(window_length, dtype)
        if not is_tensor(length):
            angle = math.pi * (np.arange(length) + 0.5) / max(length, 1)
            return convert_to_tensor(np.sin(math.pi / 2 * np.sin(angle) ** 2).astype(kind.np_dtype))
        place = raw.AddV2(_count(length, kind), _as_float(0.5, kind))
        angle = raw.RealDiv(raw.Mul(place, _as_float(math.pi, kind)), _as_float(length, kind))
        return raw.Sin(raw.Mul(_as_float(math.pi / 2, kind), raw.Square(raw.Sin(angle))))
