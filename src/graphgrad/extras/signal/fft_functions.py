"""The public functions for Fourier transforms."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import complex64, complex128, float32, float64, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.shape_values import fill, host_array, is_tensor, join, minus, plus, rank_of, times

_COMPLEX_OF = {float32: complex64, float64: complex128}
_REAL_OF = {complex64: float32, complex128: float64}


def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of the last axis.

    Args:
      input: (*B, n), complex64 or complex128.
      name: a name for the operation.
    Returns: (*B, n).
    Raises: TypeError for another dtype; ValueError for a scalar.
    Gradient: n times the inverse transform of dy.
    Reference: TensorFlow 2.21 FFT.

    >>> sess.run(tf.signal.fft(tf.constant([1, 2], tf.complex64)))
    array([ 3.+0.j, -1.+0.j], dtype=complex64)
    """
    return raw.FFT(input, name=name)


def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the discrete Fourier transform of the last axis.

    Args:
      input: (*B, n), complex64 or complex128.
      name: a name for the operation.
    Returns: (*B, n).
    Raises: TypeError for another dtype; ValueError for a scalar.
    Gradient: the transform of dy, over n.
    Reference: TensorFlow 2.21 IFFT.

    >>> sess.run(tf.signal.ifft(tf.constant([3, -1], tf.complex64)))
    array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    return raw.IFFT(input, name=name)


def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of the last two axes.

    Args:
      input: (*B, m, n), complex64 or complex128.
      name: a name for the operation.
    Returns: (*B, m, n).
    Raises: TypeError for another dtype; ValueError for a lower rank.
    Gradient: m n times the inverse transform of dy.
    Reference: TensorFlow 2.21 FFT2D.

    >>> sess.run(tf.signal.fft2d(tf.constant([[1, 2]], tf.complex64)))
    array([[ 3.+0.j, -1.+0.j]], dtype=complex64)
    """
    return raw.FFT2D(input, name=name)


def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the discrete Fourier transform of the last two axes.

    Args:
      input: (*B, m, n), complex64 or complex128.
      name: a name for the operation.
    Returns: (*B, m, n).
    Raises: TypeError for another dtype; ValueError for a lower rank.
    Gradient: the transform of dy, over m n.
    Reference: TensorFlow 2.21 IFFT2D.

    >>> sess.run(tf.signal.ifft2d(tf.constant([[3, -1]], tf.complex64)))
    array([[1.+0.j, 2.+0.j]], dtype=complex64)
    """
    return raw.IFFT2D(input, name=name)


def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of the last three axes.

    Args:
      input: (*B, l, m, n), complex64 or complex128.
      name: a name for the operation.
    Returns: (*B, l, m, n).
    Raises: TypeError for another dtype; ValueError for a lower rank.
    Gradient: l m n times the inverse transform of dy.
    Reference: TensorFlow 2.21 FFT3D.

    >>> sess.run(tf.signal.fft3d(tf.constant([[[1, 2]]], tf.complex64)))
    array([[[ 3.+0.j, -1.+0.j]]], dtype=complex64)
    """
    return raw.FFT3D(input, name=name)


def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the discrete Fourier transform of the last three axes.

    Args:
      input: (*B, l, m, n), complex64 or complex128.
      name: a name for the operation.
    Returns: (*B, l, m, n).
    Raises: TypeError for another dtype; ValueError for a lower rank.
    Gradient: the transform of dy, over l m n.
    Reference: TensorFlow 2.21 IFFT3D.

    >>> sess.run(tf.signal.ifft3d(tf.constant([[[3, -1]]], tf.complex64)))
    array([[[1.+0.j, 2.+0.j]]], dtype=complex64)
    """
    return raw.IFFT3D(input, name=name)


# -- real numbers --------------------------------------------------------------------------


def last_sizes(x, rank):
    """Returns the sizes of the last axes: an int32 array if they are known, else a tensor."""
    shape = x._spec.shape
    if shape is not None and len(shape) >= rank and None not in shape[-rank:]:
        return np.asarray(shape[-rank:], np.int32)
    return raw.StridedSlice(raw.Shape(x), [-rank], [0], [1], end_mask=1)


def _length(x, fft_length, rank, inverse):
    """Returns the sizes to transform: those given, or those of the input."""
    if fft_length is not None:
        length = convert_to_tensor(fft_length, int32, name="fft_length")
        known = host_array(length)
        return length if known is None else known
    sizes = last_sizes(x, rank)
    if not inverse:
        return sizes
    # The outer ones of n frequencies count once, the others twice.
    if is_tensor(sizes):
        last = raw.Maximum(raw.Mul(2, raw.Sub(sizes[-1:], 1)), 0)
        return last if rank == 1 else raw.ConcatV2([sizes[:-1], last], 0)
    return np.asarray([*sizes[:-1], max(0, 2 * (int(sizes[-1]) - 1))], np.int32)


def _filled_up(x, length, rank, inverse):
    """Pads x with zeros where it is shorter than the transform."""
    needed = length
    if inverse:
        halves = np.asarray([0] * (rank - 1) + [1], np.int32)
        needed = plus(halves, _halved(length, halves))
    have = last_sizes(x, rank)
    if not is_tensor(needed) and not is_tensor(have):
        behind = np.maximum(needed - have, 0)
        if not behind.any() or not np.prod(have):
            return x
    else:
        behind = raw.Maximum(raw.Sub(needed, have), 0)
    behind = join(fill(minus(rank_of(x), rank), 0), behind)
    zeros = fill(rank_of(x), 0)
    either = is_tensor(behind) or is_tensor(zeros)
    return raw.Pad(x, raw.Pack([zeros, behind], axis=1) if either else np.stack([zeros, behind], 1))


def _halved(length, where):
    divisor = where + 1
    return raw.FloorDiv(length, divisor) if is_tensor(length) else length // divisor


def _real(op_type, rank, x, fft_length, name, default):
    inverse = op_type.startswith("I")
    with name_scope(name, default) as scope:
        x = convert_to_tensor(x, dtype_hint=complex64 if inverse else float32)
        other = (_REAL_OF if inverse else _COMPLEX_OF).get(x.dtype)
        if other is None:
            wanted = "complex64 or complex128" if inverse else "float32 or float64"
            raise ValueError(f"{default}: the input must be {wanted}, not {x.dtype.name}.\n  Fix: tf.cast it")
        given = fft_length is not None
        length = _length(x, fft_length, rank, inverse)
        if given:
            x = _filled_up(x, length, rank, inverse)
        kind = {"Treal": other} if inverse else {"Tcomplex": other}
        return getattr(raw, op_type)(x, length, name=scope or None, **kind)


def rfft(input_tensor: TensorLike, fft_length: TensorLike = None, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of real numbers along the last axis.

    Args:
      input_tensor: (*B, n), float32 or float64.
      fft_length: [m], the number of elements to transform: the input is cut or padded with zeros. n by default.
      name: a name for the operation.
    Returns: (*B, m // 2 + 1), complex; the other frequencies are conjugates of these.
    Raises: ValueError for another dtype.
    Gradient: an inverse transform of dy.
    Reference: TensorFlow 2.21 RFFT.

    >>> sess.run(tf.signal.rfft([1.0, 2.0, 3.0, 4.0]))
    array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    return _real("RFFT", 1, input_tensor, fft_length, name, "rfft")


def irfft(input_tensor: TensorLike, fft_length: TensorLike = None, name: str | None = None) -> Tensor:
    """Computes the inverse of `rfft`.

    Args:
      input_tensor: (*B, n), complex64 or complex128.
      fft_length: [m], the number of elements of the result; 2 (n - 1) by default.
      name: a name for the operation.
    Returns: (*B, m), real.
    Raises: ValueError for another dtype.
    Gradient: a transform of dy.
    Reference: TensorFlow 2.21 IRFFT.

    >>> sess.run(tf.signal.irfft(tf.constant([10, -2 + 2j, -2], tf.complex64)))
    array([1., 2., 3., 4.], dtype=float32)
    """
    return _real("IRFFT", 1, input_tensor, fft_length, name, "irfft")


def rfft2d(input_tensor: TensorLike, fft_length: TensorLike = None, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of real numbers along the last two axes.

    Args:
      input_tensor: (*B, m, n), float32 or float64.
      fft_length: two sizes, to which the input is cut or padded with zeros; (m, n) by default.
      name: a name for the operation.
    Returns: (*B, m, n // 2 + 1), complex.
    Raises: ValueError for another dtype.
    Gradient: an inverse transform of dy.
    Reference: TensorFlow 2.21 RFFT2D.

    >>> sess.run(tf.signal.rfft2d([[1.0, 2.0]]))
    array([[ 3.+0.j, -1.+0.j]], dtype=complex64)
    """
    return _real("RFFT2D", 2, input_tensor, fft_length, name, "rfft2d")


def irfft2d(input_tensor: TensorLike, fft_length: TensorLike = None, name: str | None = None) -> Tensor:
    """Computes the inverse of `rfft2d`.

    Args:
      input_tensor: (*B, m, n), complex64 or complex128.
      fft_length: two sizes of the result; (m, 2 (n - 1)) by default.
      name: a name for the operation.
    Returns: (*B, *fft_length), real.
    Raises: ValueError for another dtype.
    Gradient: a transform of dy.
    Reference: TensorFlow 2.21 IRFFT2D.

    >>> sess.run(tf.signal.irfft2d(tf.constant([[3, -1]], tf.complex64)))
    array([[1., 2.]], dtype=float32)
    """
    return _real("IRFFT2D", 2, input_tensor, fft_length, name, "irfft2d")


def rfft3d(input_tensor: TensorLike, fft_length: TensorLike = None, name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of real numbers along the last three axes.

    Args:
      input_tensor: (*B, l, m, n), float32 or float64.
      fft_length: three sizes, to which the input is cut or padded with zeros; (l, m, n) by default.
      name: a name for the operation.
    Returns: (*B, l, m, n // 2 + 1), complex.
    Raises: ValueError for another dtype.
    Gradient: an inverse transform of dy.
    Reference: TensorFlow 2.21 RFFT3D.

    >>> sess.run(tf.signal.rfft3d([[[1.0, 2.0]]]))
    array([[[ 3.+0.j, -1.+0.j]]], dtype=complex64)
    """
    return _real("RFFT3D", 3, input_tensor, fft_length, name, "rfft3d")


def irfft3d(input_tensor: TensorLike, fft_length: TensorLike = None, name: str | None = None) -> Tensor:
    """Computes the inverse of `rfft3d`.

    Args:
      input_tensor: (*B, l, m, n), complex64 or complex128.
      fft_length: three sizes of the result; (l, m, 2 (n - 1)) by default.
      name: a name for the operation.
    Returns: (*B, *fft_length), real.
    Raises: ValueError for another dtype.
    Gradient: a transform of dy.
    Reference: TensorFlow 2.21 IRFFT3D.

    >>> sess.run(tf.signal.irfft3d(tf.constant([[[3, -1]]], tf.complex64)))
    array([[[1., 2.]]], dtype=float32)
    """
    return _real("IRFFT3D", 3, input_tensor, fft_length, name, "irfft3d")


# -- any axes ------------------------------------------------------------------------------


def _nd_axes(x, fft_length, axes, what):
    """Returns the axes to transform, counted from the front: those given, or as many last ones as lengths, or all."""
    if x._spec.shape is None:
        raise ValueError(f"{what}: the rank of the input must be known.\n  Fix: use set_shape")
    rank = len(x._spec.shape)
    if axes is not None:
        axes = [int(a) for a in np.atleast_1d(_value(axes, what) if hasattr(axes, "_spec") else axes)]
    elif fft_length is not None:
        n = fft_length.shape[0] if hasattr(fft_length, "_spec") else len(fft_length)
        axes = list(range(rank - n, rank))
    else:
        axes = list(range(rank))
    if any(not -rank <= a < rank for a in axes):
        raise ValueError(f"{what}: axes {axes} do not exist in a tensor of rank {rank}.\n"
                         "  Fix: give axes of the input")
    return [a % rank for a in axes]


def _nd(op_type, x, fft_length, axes, norm, name, default):
    inverse, to_real, from_real = op_type[0] == "I", op_type == "IRFFTND", op_type == "RFFTND"
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"{default}: norm must be None, 'backward', 'ortho' or 'forward', not {norm!r}.\n"
                         "  Fix: leave it out")
    with name_scope(name, default):
        x = convert_to_tensor(x, dtype_hint=float32 if from_real else complex64)
        if x.dtype not in (_COMPLEX_OF if from_real else _REAL_OF):
            wanted = "float32 or float64" if from_real else "complex64 or complex128"
            raise ValueError(f"{default}: the input must be {wanted}, not {x.dtype.name}.\n  Fix: tf.cast it")
        axes = _nd_axes(x, fft_length, axes, default)
        length = _nd_length(x, fft_length, axes, to_real)
        kind = {"Treal": _REAL_OF[x.dtype]} if to_real else {"Tcomplex": _COMPLEX_OF[x.dtype]} if from_real else {}
        y = getattr(raw, op_type)(x, length, np.asarray(axes, np.int32), **kind)
        if norm in (None, "backward"):
            return y
        power = (0.5 if norm == "ortho" else 1.0) * (1 if inverse else -1)
        if is_tensor(length):
            count = raw.Cast(raw.Prod(length, [0]), DstT=float64)
            return raw.Mul(y, raw.Cast(raw.Pow(count, power), DstT=y.dtype))
        return raw.Mul(y, np.asarray(math.prod(length.tolist()) ** power, y.dtype.np_dtype))


def _value(axes, default):
    value = constant_value(axes)
    if value is None:
        raise ValueError(f"{default}: axes must be known while building.\n  Fix: give a list of ints")
    return value


def _nd_length(x, fft_length, axes, to_real):
    if fft_length is not None:
        length = convert_to_tensor(fft_length, int32, name="fft_length")
        known = host_array(length)
        return length if known is None else known
    shape = x._spec.shape
    sizes = [shape[a] for a in axes]
    if None in sizes:
        whole = raw.Shape(x)
        sizes = [whole[a] for a in axes]
    if to_real and sizes:
        sizes[-1] = times(2, minus(sizes[-1], 1))
    if any(is_tensor(s) for s in sizes):
        return raw.Pack(sizes, axis=0)
    return np.asarray(sizes, np.int32)


def fftnd(input_tensor: TensorLike, fft_length: TensorLike = None, axes: TensorLike = None, norm: str | None = None,
          name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform along any axes.

    Args:
      input_tensor: complex64 or complex128.
      fft_length: the size to which each axis is cut or padded with zeros; the input's by default.
      axes: the axes; all by default, or as many of the last ones as `fft_length` has elements.
      norm: None or "backward" to scale the inverse transform, "forward" this one, "ortho" both.
      name: a name for the scope of the operations.
    Returns: a tensor like the input, with the sizes `fft_length` along the axes.
    Raises: ValueError for another dtype or axes that do not exist.
    Gradient: the inverse transform of dy, times the number of elements.
    Reference: TensorFlow 2.21 FFTND; numpy.fft.fftn, since TensorFlow has no kernel on a CPU.

    >>> sess.run(tf.signal.fftnd(tf.constant([[1, 2]], tf.complex64)))
    array([[ 3.+0.j, -1.+0.j]], dtype=complex64)
    """
    return _nd("FFTND", input_tensor, fft_length, axes, norm, name, "fftnd")


def ifftnd(input_tensor: TensorLike, fft_length: TensorLike = None, axes: TensorLike = None, norm: str | None = None,
           name: str | None = None) -> Tensor:
    """Computes the inverse of the discrete Fourier transform along any axes.

    Args:
      input_tensor, fft_length, axes, norm, name: as in `fftnd`.
    Returns: a tensor like the input, with the sizes `fft_length` along the axes.
    Raises: ValueError for another dtype or axes that do not exist.
    Gradient: the transform of dy, over the number of elements.
    Reference: TensorFlow 2.21 IFFTND; numpy.fft.ifftn.

    >>> sess.run(tf.signal.ifftnd(tf.constant([[3, -1]], tf.complex64)))
    array([[1.+0.j, 2.+0.j]], dtype=complex64)
    """
    return _nd("IFFTND", input_tensor, fft_length, axes, norm, name, "ifftnd")


def rfftnd(input_tensor: TensorLike, fft_length: TensorLike = None, axes: TensorLike = None, norm: str | None = None,
           name: str | None = None) -> Tensor:
    """Computes the discrete Fourier transform of real numbers along any axes.

    Args:
      input_tensor: float32 or float64.
      fft_length, axes, norm, name: as in `fftnd`.
    Returns: a complex tensor, with only the first half of the frequencies along the last of the axes.
    Raises: ValueError for another dtype or axes that do not exist.
    Gradient: an inverse transform of dy.
    Reference: TensorFlow 2.21 RFFTND; numpy.fft.rfftn.

    >>> sess.run(tf.signal.rfftnd([[1.0, 2.0]]))
    array([[ 3.+0.j, -1.+0.j]], dtype=complex64)
    """
    return _nd("RFFTND", input_tensor, fft_length, axes, norm, name, "rfftnd")


def irfftnd(input_tensor: TensorLike, fft_length: TensorLike = None, axes: TensorLike = None, norm: str | None = None,
            name: str | None = None) -> Tensor:
    """Computes the inverse of `rfftnd`.

    Args:
      input_tensor: complex64 or complex128.
      fft_length: the size of each axis of the result; 2 (n - 1) by default for the last one.
      axes, norm, name: as in `fftnd`.
    Returns: a real tensor.
    Raises: ValueError for another dtype or axes that do not exist.
    Gradient: a transform of dy.
    Reference: TensorFlow 2.21 IRFFTND; numpy.fft.irfftn.

    >>> sess.run(tf.signal.irfftnd(tf.constant([[3, -1]], tf.complex64)))
    array([[1., 2.]], dtype=float32)
    """
    return _nd("IRFFTND", input_tensor, fft_length, axes, norm, name, "irfftnd")


# -- the order of frequencies --------------------------------------------------------------


def fftshift(x: TensorLike, axes: TensorLike = None, name: str | None = None) -> Tensor:
    """Moves frequency 0 to the middle.

    Args:
      x: a tensor.
      axes: an axis or several; all by default.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: ValueError if no axes are given and the rank is unknown.
    Gradient: `ifftshift` of dy.
    Reference: TensorFlow 2.21 `tf.signal.fftshift`.

    >>> sess.run(tf.signal.fftshift([0, 1, 2, -2, -1]))
    array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return _shifted(x, axes, name, "fftshift", 1)


def ifftshift(x: TensorLike, axes: TensorLike = None, name: str | None = None) -> Tensor:
    """Moves frequency 0 from the middle to the front: the inverse of `fftshift`.

    Args:
      x: a tensor.
      axes: an axis or several; all by default.
      name: a name for the operations.
    Returns: a tensor like x.
    Raises: ValueError if no axes are given and the rank is unknown.
    Gradient: `fftshift` of dy.
    Reference: TensorFlow 2.21 `tf.signal.ifftshift`.

    >>> sess.run(tf.signal.ifftshift([-2, -1, 0, 1, 2]))
    array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    return _shifted(x, axes, name, "ifftshift", -1)


def _shifted(x, axes, name, default, sign):
    with name_scope(name, default) as scope:
        x = convert_to_tensor(x)
        shape = x._spec.shape
        if axes is None:
            if shape is None:
                raise ValueError(f"{default}: the rank of the input must be known.\n  Fix: give axes, or use set_shape")
            axes = list(range(len(shape)))
        elif hasattr(axes, "_spec"):
            axes = np.atleast_1d(_value(axes, default)).tolist()
        axes = [int(a) for a in np.atleast_1d(axes)]
        if shape is None or any(shape[a] is None for a in axes):
            whole = raw.Shape(x)
            half = raw.Pack([raw.FloorDiv(whole[a], 2) for a in axes], axis=0)
            shift = half if sign > 0 else raw.Neg(half)
        else:
            shift = np.asarray([sign * (shape[a] // 2) for a in axes], np.int32)
        return raw.Roll(x, shift, np.asarray(axes, np.int32), name=scope or None)
