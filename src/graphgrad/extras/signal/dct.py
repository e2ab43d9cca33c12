"""Discrete cosine transforms and mel-frequency cepstral coefficients."""

from __future__ import annotations

import math

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike, Tensor, TensorLike
from graphgrad.ops.common.shape_values import host_array, in_one_batch, is_tensor, times
from graphgrad.ops.math.complex import complex as complex_of

from .fft_functions import irfft, rfft

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _checked(x, kind, n, axis, norm):
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}.\n  Fix: tf.transpose the input")
    if n is not None and n < 1:
        raise ValueError(f"n should be a positive integer or None, not {n}.\n  Fix: leave it out")
    if kind not in _INVERSE:
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported, not {kind}.\n  Fix: type=2")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}.\n  Fix: norm='ortho'")
    if kind == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.\n  Fix: norm=None")
        size = x._spec.shape[-1] if x._spec.shape else None
        if size is not None and size < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.\n  Fix: another type")


def dct(input: TensorLike, type: TensorLike = 2, n: TensorLike = None, axis: TensorLike = -1, norm: str | None = None,
        name: str | None = None) -> Tensor:
    """Computes the discrete cosine transform of the last axis.

    Args:
      input: (*B, m), float32 or float64.
      type: 1, 2, 3 or 4.
      n: the size to which the input is cut or padded with zeros; m by default.
      axis: -1.
      norm: None or "ortho"; not for type 1.
      name: a name for the scope of the operations.
    Returns: (*B, n).
    Raises: ValueError for another type or norm; NotImplementedError for another axis.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.signal.dct`.

    >>> sess.run(tf.signal.dct([1.0, 1.0]))
    array([4., 0.], dtype=float32)
    """
    return _dct(input, type, n, axis, norm, name, "dct")


def idct(input: TensorLike, type: TensorLike = 2, n: TensorLike = None, axis: TensorLike = -1, norm: str | None = None,
         name: str | None = None) -> Tensor:
    """Computes the inverse of the discrete cosine transform, up to a factor if norm is None.

    Args:
      input: (*B, m), float32 or float64.
      type: 1, 2, 3 or 4, of the transform to undo.
      n: None.
      axis: -1.
      norm: None, for 2 n times the inverse (2 (n - 1) for type 1), or "ortho".
      name: a name for the scope of the operations.
    Returns: (*B, m).
    Raises: ValueError for another type or norm; NotImplementedError for another axis.
    Gradient: that of its ops.
    Reference: TensorFlow 2.21 `tf.signal.idct`.

    >>> sess.run(tf.signal.idct([4.0, 0.0]))
    array([4., 4.], dtype=float32)
    """
    return _dct(input, _INVERSE.get(type, type), n, axis, norm, name, "idct")


def _dct(x, kind, n, axis, norm, name, default):
    with name_scope(name, default):
        x = convert_to_tensor(x, name="input")
        x = raw.Cast(x, DstT=float32) if x.dtype.is_integer else x
        _checked(x, kind, n, axis, norm)
        if x._spec.shape is None:
            return in_one_batch(x, 1, lambda flat: _dct(flat, kind, n, axis, norm, None, default))
        if n is not None:
            x = _of_size(x, n)
        size = x._spec.shape[-1]
        if size is None:
            size = raw.StridedSlice(raw.Shape(x), [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
        return {1: _first, 2: _second, 3: _third, 4: _fourth}[kind](x, size, norm)


def _of_size(x, n):
    """Cuts the last axis of x, or pads it with zeros, to a size."""
    rank = len(x._spec.shape)
    have = x._spec.shape[-1]
    if have is None:
        paddings = np.zeros((rank, 2), np.int32)
        paddings[-1, 1] = n
        x = raw.Pad(x, paddings)
    elif have < n:
        paddings = np.zeros((rank, 2), np.int32)
        paddings[-1, 1] = n - have
        x = raw.Pad(x, paddings)
    if have != n:
        sizes = np.full(rank, -1, np.int32)
        sizes[-1] = n
        x = raw.Slice(x, np.zeros(rank, np.int32), sizes)
    return x


def _numbers(n, dtype):
    """Returns 0, 1, ..., n - 1."""
    return raw.Cast(raw.Range(0, n, 1), DstT=dtype) if is_tensor(n) else np.arange(n).astype(dtype.np_dtype)


def _turn(n, sign, dtype):
    """Computes exp(sign i pi k / (2 n)) for k = 0, 1, ..., n - 1."""
    if not is_tensor(n):
        angle = sign * math.pi / 2 * np.arange(n) / n
        return convert_to_tensor((np.cos(angle) + 1j * np.sin(angle)).astype(f"complex{16 * dtype.size}"))
    angle = raw.RealDiv(raw.Mul(_numbers(n, dtype), sign * math.pi / 2), raw.Cast(n, DstT=dtype))
    return complex_of(raw.Cos(angle), raw.Sin(angle))


def _one(n):
    return np.asarray([n], np.int32) if not is_tensor(n) else raw.Reshape(n, [1])


def _front(x, n):
    rank = len(x._spec.shape)
    keep = np.full(rank - 1, -1, np.int32)
    sizes = np.concatenate([keep, [n]]).astype(np.int32) if not is_tensor(n) else raw.ConcatV2([keep, _one(n)], 0)
    return raw.Slice(x, np.zeros(rank, np.int32), sizes)


def _norms(n, dtype, first, rest):
    """Returns factors sqrt(first / n) for the first element and sqrt(rest / n) for the others."""
    if not is_tensor(n):
        return np.sqrt(np.where(np.arange(n) == 0, first, rest) / n).astype(dtype.np_dtype)
    numbers = raw.SelectV2(raw.Equal(raw.Range(0, n, 1), 0), np.asarray(first, dtype.np_dtype),
                           np.asarray(rest, dtype.np_dtype))
    return raw.Sqrt(raw.RealDiv(numbers, raw.Cast(n, DstT=dtype)))


def _first(x, n, norm):
    # Real numbers mirrored at both ends have a real transform.
    rank = len(x._spec.shape)
    begin, end = np.zeros(rank, np.int32), np.zeros(rank, np.int32)
    begin[-1], end[-1] = 1, -1
    others = (1 << (rank - 1)) - 1
    middle = raw.StridedSlice(x, begin, end, np.ones(rank, np.int32), begin_mask=others, end_mask=others)
    mirrored = raw.ConcatV2([x, raw.ReverseV2(middle, [rank - 1])], rank - 1)
    return raw.Real(rfft(mirrored), Tout=x.dtype)


def _second(x, n, norm):
    spectrum = _front(rfft(x, _one(times(2, n))), n)
    y = raw.Mul(2, raw.Real(raw.Mul(spectrum, _turn(n, -1, x.dtype)), Tout=x.dtype))
    return y if norm is None else raw.Mul(y, _norms(n, x.dtype, 0.25, 0.5))


def _third(x, n, norm):
    # Without a norm n times the real part of an inverse transform of 2 n elements, of which half are zero.
    scale = raw.Mul(2, n) if is_tensor(n) else 2 * n
    scale = raw.Cast(scale, DstT=x.dtype) if is_tensor(n) else np.asarray(scale, x.dtype.np_dtype)
    x = raw.Mul(x, scale if norm is None else raw.Mul(scale, _norms(n, x.dtype, 1.0, 0.5)))
    spectrum = raw.Mul(complex_of(x, raw.ZerosLike(x)), _turn(n, 1, x.dtype))
    return _front(irfft(spectrum, _one(times(2, n))), n)


def _fourth(x, n, norm):
    # The third kind, of zeros and elements in turn; the first half is kept.
    rank = len(x._spec.shape)
    spread = raw.Reshape(raw.Pack([raw.ZerosLike(x), x], axis=rank), _merged(x, n))
    y = _front(_third(spread, times(2, n), None), n)
    return y if norm is None else raw.Mul(y, _norms(n, x.dtype, 0.5, 0.5))


def _merged(x, n):
    """Returns the shape of x with the last axis doubled."""
    shape = x._spec.shape
    if None not in shape:
        return np.asarray([*shape[:-1], 2 * n], np.int32)
    lead = raw.StridedSlice(raw.Shape(x), [0], [-1], [1], begin_mask=1)
    return raw.ConcatV2([lead, _one(times(2, n))], 0)


# -- mel scales ----------------------------------------------------------------------------

_BREAK, _HIGH = 700.0, 1127.0


def _to_mel(f):
    if not hasattr(f, "_spec"):
        return _HIGH * np.log(1.0 + f / _BREAK)
    return raw.Mul(_HIGH, raw.Log(raw.AddV2(1, raw.RealDiv(f, _BREAK))))


def linear_to_mel_weight_matrix(num_mel_bins: TensorLike = 20, num_spectrogram_bins: TensorLike = 129,
                                sample_rate: TensorLike = 8000, lower_edge_hertz: TensorLike = 125.0,
                                upper_edge_hertz: TensorLike = 3800.0, dtype: DTypeLike = float32,
                                name: str | None = None) -> Tensor:
    """Makes a matrix that converts linear frequencies to bands of equal width on the mel scale.

    Args:
      num_mel_bins: the number of bands.
      num_spectrogram_bins: the number of frequencies, an int or a tensor.
      sample_rate: samples per second, a number or a tensor.
      lower_edge_hertz, upper_edge_hertz: where the bands begin and end, in hertz.
      dtype: a floating type.
      name: a name for the scope of the operations.
    Returns: (num_spectrogram_bins, num_mel_bins).
    Raises: ValueError for invalid edges or numbers, or another dtype.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.signal.linear_to_mel_weight_matrix`.

    >>> sess.run(tf.signal.linear_to_mel_weight_matrix(2, 5)).shape
    (5, 2)
    """
    with name_scope(name, "linear_to_mel_weight_matrix"):
        dtype = as_dtype(dtype)
        rate = host_array(sample_rate) if hasattr(sample_rate, "_spec") else sample_rate
        _check_mel(num_mel_bins, rate, lower_edge_hertz, upper_edge_hertz, dtype)
        bins = host_array(num_spectrogram_bins) if hasattr(num_spectrogram_bins, "_spec") else num_spectrogram_bins
        edges = np.linspace(_to_mel(lower_edge_hertz), _to_mel(upper_edge_hertz), num_mel_bins + 2)
        low, centre, high = edges[:-2], edges[1:-1], edges[2:]
        if rate is None or bins is None:
            mels = raw.ExpandDims(_dynamic_mels(sample_rate, num_spectrogram_bins, dtype), 1)
            rising = raw.RealDiv(raw.Sub(mels, low.astype(dtype.np_dtype)), (centre - low).astype(dtype.np_dtype))
            falling = raw.RealDiv(raw.Sub(high.astype(dtype.np_dtype), mels), (high - centre).astype(dtype.np_dtype))
            weights = raw.Maximum(raw.Minimum(rising, falling), np.zeros((), dtype.np_dtype))
            return raw.Pad(weights, np.asarray([[1, 0], [0, 0]], np.int32))
        mels = _to_mel(np.linspace(0, float(rate) / 2, int(bins))[1:])[:, None]
        weights = np.maximum(0, np.minimum((mels - low) / (centre - low), (high - mels) / (high - centre)))
        return convert_to_tensor(np.pad(weights, [(1, 0), (0, 0)]).astype(dtype.np_dtype))


def _dynamic_mels(rate, bins, dtype):
    nyquist = raw.Mul(0.5, raw.Cast(convert_to_tensor(rate), DstT=dtype))
    bins = raw.Cast(convert_to_tensor(bins), DstT=int32)
    steps = raw.Cast(raw.Range(1, bins, 1), DstT=dtype)
    return _to_mel(raw.RealDiv(raw.Mul(steps, nyquist), raw.Cast(raw.Sub(bins, 1), DstT=dtype)))


def _check_mel(bands, rate, low, high, dtype):
    if bands <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bands}.\n  Fix: num_mel_bins=20")
    if low < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {low}.\n  Fix: lower_edge_hertz=0.0")
    if low >= high:
        raise ValueError(f"lower_edge_hertz {low:.1f} >= upper_edge_hertz {high:.1f}.\n  Fix: exchange them")
    if rate is not None:
        if rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {rate}.\n  Fix: sample_rate=8000")
        if high > rate / 2:
            raise ValueError(f"upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got "
                             f"{high} for sample_rate: {rate}.\n  Fix: upper_edge_hertz={rate / 2}")
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}.\n  Fix: dtype=tf.float32")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """Computes mel-frequency cepstral coefficients: a cosine transform of log mel spectrograms.

    Args:
      log_mel_spectrograms: (*B, n), float32 or float64.
      name: a name for the scope of the operations.
    Returns: (*B, n).
    Raises: ValueError if n is 0.
    Gradient: that of the cosine transform.
    Reference: TensorFlow 2.21 `tf.signal.mfccs_from_log_mel_spectrograms`.

    >>> sess.run(tf.signal.mfccs_from_log_mel_spectrograms([1.0, 1.0]))
    array([2., 0.], dtype=float32)
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms"):
        x = convert_to_tensor(log_mel_spectrograms)
        size = x._spec.shape[-1] if x._spec.shape else None
        if size == 0:
            raise ValueError("num_mel_bins must be positive. Got: 0.\n  Fix: give at least one band")
        y = dct(x, type=2)
        if size is not None:
            return raw.Mul(y, np.asarray(1 / math.sqrt(2 * size), x.dtype.np_dtype))
        count = raw.StridedSlice(raw.Shape(x), [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
        return raw.Mul(y, raw.Rsqrt(raw.Cast(raw.Mul(2, count), DstT=x.dtype)))
