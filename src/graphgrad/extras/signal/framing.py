"""Frames, overlap-add and short-time Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import complex64, complex128, float32, float64, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.common.shape_values import (
    fill,
    host_array,
    in_one_batch,
    is_tensor,
    join,
    minus,
    plus,
    shape_of,
    times,
)

from .dct import dct, idct
from .fft_functions import irfft, rfft
from .window_functions import hann_window, vorbis_window


def _number(value, name):
    """Returns a scalar argument: an int if it is known, else an int32 tensor."""
    t = convert_to_tensor(value, name=name)
    if t.dtype.is_floating or t.dtype.is_bool:
        raise ValueError(f"{name} must be an integer. Got {t}.\n  Fix: tf.cast({name}, tf.int32)")
    if t._spec.shape not in (None, ()):
        raise ValueError(f"{name} must be a scalar, not of shape {t.shape}.\n  Fix: give one number")
    known = host_array(t)
    return raw.Cast(t, DstT=int32) if known is None else int(known)


def _floor_div(a, b):
    return raw.FloorDiv(a, b) if is_tensor(a) or is_tensor(b) else a // b


def _largest(a, b):
    return raw.Maximum(a, b) if is_tensor(a) or is_tensor(b) else max(a, b)


def _size(x, axis):
    """Returns the size of an axis: an int if it is known, else a tensor."""
    n = x._spec.shape[axis]
    if n is not None:
        return n
    return raw.StridedSlice(raw.Shape(x), [axis], [axis + 1], [1], shrink_axis_mask=1)


def _ranked(x, rank, function):
    shape = x._spec.shape
    if shape is None:
        raise ValueError(f"{function}: the rank of the input must be known.\n  Fix: use set_shape")
    if len(shape) < rank:
        raise ValueError(f"{function}: the input must have rank at least {rank}, not the shape {x.shape}.\n"
                         "  Fix: tf.expand_dims")
    return len(shape)


def _column(n):
    """Returns 0, 1, ..., n - 1 as a column."""
    return np.arange(n, dtype=np.int32)[:, None] if isinstance(n, int) else raw.ExpandDims(raw.Range(0, n, 1), 1)


def _row(n):
    return np.arange(n, dtype=np.int32) if isinstance(n, int) else raw.Range(0, n, 1)


def _padded(x, axis, count, value=0):
    """Pads x with `count` more elements at the end of an axis."""
    rank = len(x._spec.shape)
    zeros = np.zeros(rank, np.int32)
    if isinstance(count, int):
        if not count:
            return x
        behind = zeros.copy()
        behind[axis] = count
        paddings = np.stack([zeros, behind], 1)
    else:
        unit = np.zeros(rank, np.int32)
        unit[axis] = 1
        paddings = raw.Pack([zeros, raw.Mul(unit, count)], axis=1)
    if not hasattr(value, "_spec") and not np.any(value):
        return raw.Pad(x, paddings)
    return raw.PadV2(x, paddings, convert_to_tensor(value, x.dtype))


def frame(signal: TensorLike, frame_length: TensorLike, frame_step: TensorLike, pad_end: bool = False,
          pad_value: TensorLike = 0, axis: TensorLike = -1, name: str | None = None) -> Tensor:
    """Cuts an axis into overlapping frames.

    Args:
      signal: (*A, n, *B).
      frame_length, frame_step: scalar integers: the length of a frame, and the distance to the next one.
      pad_end: whether frames that reach past the end are kept, padded with `pad_value`.
      pad_value: a scalar.
      axis: the axis to cut.
      name: a name for the scope of the operations.
    Returns: (*A, frames, frame_length, *B).
    Raises: ValueError for lengths that are no scalar integers, or an unknown rank.
    Gradient: dy, summed where frames overlap.
    Reference: TensorFlow 2.21 `tf.signal.frame`.

    >>> sess.run(tf.signal.frame([0, 1, 2, 3, 4], 3, 2))
    array([[0, 1, 2],
           [2, 3, 4]], dtype=int32)
    """
    with name_scope(name, "frame"):
        x = convert_to_tensor(signal, name="signal")
        if x._spec.shape is None and axis == -1:
            return in_one_batch(x, 1, lambda flat: frame(flat, frame_length, frame_step, pad_end, pad_value))
        length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
        rank = _ranked(x, 1, "frame")
        if hasattr(axis, "_spec"):
            known = constant_value(axis)
            if known is None:
                raise ValueError("frame: the axis must be known while building.\n  Fix: give an int")
            axis = int(known)
        if not -rank <= axis < rank:
            raise ValueError(f"frame: axis {axis} is not in the range [{-rank}, {rank}).\n  Fix: give one of the input")
        axis %= rank
        n = _size(x, axis)
        if pad_end:
            frames = _floor_div(plus(n, minus(step, 1)), step)
            x = _padded(x, axis, _largest(0, minus(plus(times(minus(frames, 1), step), length), n)), pad_value)
        else:
            frames = _largest(0, plus(1, _floor_div(minus(n, length), step)))
        return raw.GatherV2(x, plus(times(_column(frames), step), _row(length)), axis)


def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Adds frames, each shifted against the previous one: the adjoint of `frame`.

    Args:
      signal: (*B, frames, frame_length).
      frame_step: a scalar integer.
      name: a name for the scope of the operations.
    Returns: (*B, frame_length + frame_step * (frames - 1)).
    Raises: ValueError for a rank below 2 or a step that is not a scalar integer.
    Gradient: the frames of dy.
    Reference: TensorFlow 2.21 `tf.signal.overlap_and_add`.

    >>> sess.run(tf.signal.overlap_and_add([[1, 1, 1], [2, 2, 2]], 2))
    array([1, 1, 3, 2, 2], dtype=int32)
    """
    with name_scope(name, "overlap_and_add"):
        x = convert_to_tensor(signal, name="signal")
        if x._spec.shape is None:
            return in_one_batch(x, 2, lambda flat: overlap_and_add(flat, frame_step))
        rank = _ranked(x, 2, "overlap_and_add")
        step = _number(frame_step, "frame_step")
        frames, length = _size(x, rank - 2), _size(x, rank - 1)
        lead = shape_of(x)[: rank - 2] if not is_tensor(shape_of(x)) else \
            raw.StridedSlice(shape_of(x), [0], [-2], [1], begin_mask=1)
        total = plus(length, times(step, _largest(0, minus(frames, 1))))
        pieces = _floor_div(plus(length, minus(step, 1)), step)  # of a step's length, in each frame
        x = _padded(x, rank - 1, minus(times(pieces, step), length))
        x = raw.Reshape(x, _vector(lead, frames, pieces, step))
        order = [*range(rank - 2), rank - 1, rank - 2, rank]
        x = raw.Transpose(x, np.asarray(order, np.int32))  # (*B, pieces, frames, step)
        # Padded with as many empty rows, flattened and cut again into pieces that are one row shorter, each piece
        # moves one row further than the piece before.
        x = _padded(x, rank - 1, pieces)
        rows = plus(frames, pieces)
        x = raw.Reshape(x, _vector(lead, times(pieces, rows), step))
        kept = times(pieces, minus(rows, 1))
        x = raw.Slice(x, np.zeros(rank, np.int32), _vector(lead, kept, step))
        x = raw.Sum(raw.Reshape(x, _vector(lead, pieces, minus(rows, 1), step)), np.asarray([rank - 2], np.int32))
        x = raw.Reshape(x, _vector(lead, times(minus(rows, 1), step)))
        return raw.Slice(x, np.zeros(rank - 1, np.int32), _vector(lead, total))


def _vector(lead, *sizes):
    parts = [np.asarray([s], np.int32) if not is_tensor(s) else raw.Reshape(s, [1]) for s in sizes]
    return join(lead, *parts)


def _power_of_two(n):
    """Returns the smallest power of two that is not below n."""
    if not is_tensor(n):
        return 1 << max(0, int(n) - 1).bit_length()
    exponent = raw.Ceil(raw.RealDiv(raw.Log(raw.Cast(n, DstT=float32)), np.float32(math.log(2.0))))
    return raw.Cast(raw.Pow(np.float32(2), exponent), DstT=int32)


def _one(n):
    return np.asarray([n], np.int32) if not is_tensor(n) else raw.Reshape(n, [1])


def stft(signals: TensorLike, frame_length: TensorLike, frame_step: TensorLike, fft_length: TensorLike = None,
         window_fn: Callable[..., Any] | None = hann_window, pad_end: bool = False, name: str | None = None) -> Tensor:
    """Computes the short-time Fourier transform: that of overlapping windowed frames.

    Args:
      signals: (*B, n), float32 or float64.
      frame_length, frame_step: scalar integers, as in `frame`.
      fft_length: the number of elements to transform; by default the least power of two that is not below frame_length.
      window_fn: a function of a length and a dtype that gives a window; None for no window.
      pad_end: whether frames that reach past the end are kept, padded with zeros.
      name: a name for the scope of the operations.
    Returns: (*B, frames, fft_length // 2 + 1), complex.
    Raises: ValueError for a scalar signal or lengths that are no scalar integers.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.signal.stft`.

    >>> sess.run(tf.signal.stft(tf.ones([5]), 4, 1, window_fn=None))
    array([[4.+0.j, 0.+0.j, 0.+0.j],
           [4.+0.j, 0.+0.j, 0.+0.j]], dtype=complex64)
    """
    with name_scope(name, "stft"):
        x = convert_to_tensor(signals, name="signals")
        if x._spec.shape is not None:
            _ranked(x, 1, "stft")
        length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
        transformed = _power_of_two(length) if fft_length is None else _number(fft_length, "fft_length")
        frames = frame(x, length, step, pad_end)
        if window_fn is not None:
            frames = raw.Mul(frames, window_fn(length, dtype=frames.dtype))
        return rfft(frames, _one(transformed))


def inverse_stft_window_fn(frame_step: TensorLike, forward_window_fn: Callable[..., Any] = hann_window,
                           name: str | None = None) -> Callable[..., Tensor]:
    """Makes the window with which `inverse_stft` undoes a `stft`.

    Args:
      frame_step: a scalar integer.
      forward_window_fn: the window of the `stft`.
      name: a name for the scope of the operations.
    Returns: a function of a length and a dtype: the window divided by the sum of the squares of all that overlap.
    Raises: ValueError for a step that is not a scalar integer.
    Reference: TensorFlow 2.21 `tf.signal.inverse_stft_window_fn`.

    >>> sess.run(tf.signal.inverse_stft_window_fn(2)(4, tf.float32))
    array([0., 1., 1., 1.], dtype=float32)
    """

    def inverse_stft_window_fn_inner(frame_length, dtype):
        with name_scope(name, "inverse_stft_window_fn"):
            length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
            window = forward_window_fn(length, dtype=dtype)
            pieces = _floor_div(plus(length, minus(step, 1)), step)
            squares = _padded(raw.Square(window), 0, minus(times(pieces, step), length))
            total = raw.Sum(raw.Reshape(squares, _vector(np.zeros(0, np.int32), pieces, step)), [0], keep_dims=True)
            total = raw.Reshape(raw.Tile(total, join(_one(pieces), [1])), [-1])
            return raw.RealDiv(window, raw.Slice(total, [0], _one(length)))

    return inverse_stft_window_fn_inner


def inverse_stft(stfts: TensorLike, frame_length: TensorLike, frame_step: TensorLike, fft_length: TensorLike = None,
                 window_fn: Callable[..., Any] = hann_window, name: str | None = None) -> Tensor:
    """Computes signals from their short-time Fourier transforms.

    Args:
      stfts: (*B, frames, fft_length // 2 + 1), complex64 or complex128.
      frame_length, frame_step, fft_length: as in `stft`.
      window_fn: a function of a length and a dtype that gives a window; see `inverse_stft_window_fn`.
      name: a name for the scope of the operations.
    Returns: (*B, frame_length + frame_step * (frames - 1)), real.
    Raises: ValueError for a rank below 2 or lengths that are no scalar integers.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.signal.inverse_stft`.

    >>> spectra = tf.signal.stft([1.0, 2.0, 3.0, 4.0], 2, 2, window_fn=None)
    >>> sess.run(tf.signal.inverse_stft(spectra, 2, 2, window_fn=None))
    array([1., 2., 3., 4.], dtype=float32)
    """
    with name_scope(name, "inverse_stft"):
        x = convert_to_tensor(stfts, name="stfts")
        if x._spec.shape is None:
            return in_one_batch(
                x, 2, lambda flat: inverse_stft(flat, frame_length, frame_step, fft_length, window_fn))
        rank = _ranked(x, 2, "inverse_stft")
        length, step = _number(frame_length, "frame_length"), _number(frame_step, "frame_step")
        transformed = _power_of_two(length) if fft_length is None else _number(fft_length, "fft_length")
        frames = irfft(x, _one(transformed))
        missing = _largest(0, minus(length, transformed))
        frames = _padded(frames, rank - 1, missing)
        keep = join(fill(rank - 1, -1), _one(length))
        frames = raw.Slice(frames, np.zeros(rank, np.int32), keep)
        if window_fn is not None:
            frames = raw.Mul(frames, window_fn(length, dtype={complex64: float32, complex128: float64}[x.dtype]))
        return overlap_and_add(frames, step)


# -- the modified discrete cosine transform ------------------------------------------------


def _halves(x, rank):
    """Returns the two halves of the last axis."""
    return raw.Split(np.asarray(rank - 1, np.int32), x, num_split=2)


def mdct(signals: TensorLike, frame_length: TensorLike, window_fn: Callable[..., Any] | None = vorbis_window,
         pad_end: bool = False, norm: str | None = None, name: str | None = None) -> Tensor:
    """Computes the modified discrete cosine transform of frames that overlap by half.

    Args:
      signals: (*B, n), float32 or float64.
      frame_length: a multiple of 4.
      window_fn: a function of a length and a dtype that gives a window; None for a constant one.
      pad_end: whether frames that reach past the end are kept, padded with zeros.
      norm: None or "ortho".
      name: a name for the scope of the operations.
    Returns: (*B, frames, frame_length // 2).
    Raises: ValueError for a scalar signal or another frame length.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.signal.mdct`; Princen, Johnson and Bradley (1987).

    >>> sess.run(tf.signal.mdct(tf.zeros([8]), 4)).shape
    (3, 2)
    """
    with name_scope(name, "mdct"):
        x = convert_to_tensor(signals, name="signals")
        if x._spec.shape is None:
            return in_one_batch(x, 1, lambda flat: mdct(flat, frame_length, window_fn, pad_end, norm))
        rank = _ranked(x, 1, "mdct")
        length = _number(frame_length, "frame_length")
        if not is_tensor(length) and length % 4:
            raise ValueError(f"The frame length must be a multiple of 4, not {length}.\n  Fix: round it up")
        frames = frame(x, length, _floor_div(length, 2), pad_end)
        if window_fn is None:
            frames = raw.Mul(frames, np.asarray(math.sqrt(0.5), x.dtype.np_dtype))
        else:
            frames = raw.Mul(frames, window_fn(length, dtype=x.dtype))
        first, second = _halves(frames, rank + 1)
        (a, b), (c, d) = _halves(first, rank + 1), _halves(second, rank + 1)
        backwards = np.asarray([rank], np.int32)
        left = raw.Sub(raw.Neg(raw.ReverseV2(c, backwards)), d)
        right = raw.Sub(a, raw.ReverseV2(b, backwards))
        return dct(raw.ConcatV2([left, right], rank), type=4, norm=norm)


def inverse_mdct(mdcts: TensorLike, window_fn: Callable[..., Any] | None = vorbis_window, norm: str | None = None,
                 name: str | None = None) -> Tensor:
    """Computes signals from their modified discrete cosine transforms.

    Args:
      mdcts: (*B, frames, n), float32 or float64.
      window_fn: a function of a length and a dtype that gives a window; None for a constant one.
      norm: None or "ortho".
      name: a name for the scope of the operations.
    Returns: (*B, (frames + 1) * n).
    Raises: ValueError for a rank below 2.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.signal.inverse_mdct`.

    >>> sess.run(tf.signal.inverse_mdct(tf.zeros([3, 2])))
    array([0., 0., 0., 0., 0., 0., 0., 0.], dtype=float32)
    """
    with name_scope(name, "inverse_mdct"):
        x = convert_to_tensor(mdcts, name="mdcts")
        if x._spec.shape is None:
            return in_one_batch(x, 2, lambda flat: inverse_mdct(flat, window_fn, norm))
        rank = _ranked(x, 2, "inverse_mdct")
        half = _size(x, rank - 1)
        unfolded = idct(x, type=4, norm=norm)
        left, right = _halves(unfolded, rank)
        backwards = np.asarray([rank - 1], np.int32)
        frames = raw.ConcatV2([right, raw.Neg(raw.ReverseV2(right, backwards)), raw.Neg(raw.ReverseV2(left, backwards)),
                               raw.Neg(left)], rank - 1)
        if window_fn is None:
            frames = raw.Mul(frames, np.asarray(math.sqrt(0.5), x.dtype.np_dtype))
        else:
            frames = raw.Mul(frames, window_fn(times(2, half), dtype=x.dtype))
        if norm is None:
            scale = raw.RealDiv(np.asarray(0.5, x.dtype.np_dtype), raw.Cast(half, DstT=x.dtype)) if is_tensor(half) \
                else np.asarray(0.5 / half, x.dtype.np_dtype)
            frames = raw.Mul(frames, scale)
        return overlap_and_add(frames, half)


