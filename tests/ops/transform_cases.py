"""Calls of `tf.signal` that are made beside TensorFlow and here."""

from __future__ import annotations

from typing import Any

import numpy as np

from .function_cases import Case, N


def _parts(tf: Any, z: Any) -> Any:
    return [tf.math.real(z), tf.math.imag(z)]


def _complex(tf: Any, x: Any) -> Any:
    """A complex tensor of the last axis' two halves."""
    return tf.complex(*tf.split(x, 2, axis=-1))


def _fft(name: str, **options: Any) -> Any:
    return lambda tf, tf2, x: _parts(tf, getattr(tf2.signal, name)(_complex(tf, x), **options))


def _rfft(name: str, **options: Any) -> Any:
    return lambda tf, tf2, x: _parts(tf, getattr(tf2.signal, name)(x, **options))


def _irfft(name: str, **options: Any) -> Any:
    return lambda tf, tf2, x: getattr(tf2.signal, name)(_complex(tf, x), **options)


FOURIER = {
    "fft": Case(_fft("fft"), [N(2, 6)], 3), "ifft": Case(_fft("ifft"), [N(2, 6)]),
    "fft2d": Case(_fft("fft2d"), [N(3, 4)]), "ifft3d": Case(_fft("ifft3d"), [N(2, 3, 4)]),
    "rfft": Case(_rfft("rfft"), [N(2, 5)], 3), "rfft_long": Case(_rfft("rfft", fft_length=[8]), [N(2, 5)]),
    "rfft_short": Case(_rfft("rfft", fft_length=[3]), [N(2, 5)], tf_grad=False),
    "irfft": Case(_irfft("irfft"), [N(2, 8)], 3), "irfft_odd": Case(_irfft("irfft", fft_length=[5]), [N(2, 6)]),
    "irfft_long": Case(_irfft("irfft", fft_length=[9]), [N(2, 6)]),
    "rfft2d": Case(_rfft("rfft2d"), [N(3, 4)]), "rfft2d_long": Case(_rfft("rfft2d", fft_length=[4, 6]), [N(3, 5)]),
    "irfft2d": Case(_irfft("irfft2d"), [N(3, 6)]), "rfft3d": Case(_rfft("rfft3d"), [N(2, 3, 4)], tf_grad=False),
    "irfft3d": Case(_irfft("irfft3d"), [N(2, 3, 6)], tf_grad=False),
    "spectral": Case(lambda tf, tf2, x: tf.abs(tf.spectral.rfft(x)), [N(2, 5)]),
    "shift": Case(lambda tf, tf2, x: tf2.signal.fftshift(x), [N(3, 4)]),
    "shift_axis": Case(lambda tf, tf2, x: tf2.signal.ifftshift(x, axes=[1]), [N(3, 5)]),
    "shift_number": Case(lambda tf, tf2, x: tf2.signal.fftshift(x, axes=0), [N(3, 5)]),
}

COSINE = {
    f"dct_{kind}{'_ortho' if norm else ''}{n or ''}": Case(
        lambda tf, tf2, x, kind=kind, norm=norm, n=n: tf.signal.dct(x, kind, n, norm=norm), [N(2, 5)])
    for kind in (1, 2, 3, 4) for norm in (None, "ortho") for n in (None, 4, 7) if not (norm and kind == 1)
} | {
    f"idct_{kind}_{norm}": Case(lambda tf, tf2, x, kind=kind, norm=norm: tf.signal.idct(x, kind, norm=norm), [N(2, 6)])
    for kind, norm in ((1, None), (2, "ortho"), (3, None), (4, "ortho"))
} | {
    "mel": Case(lambda tf, tf2: tf2.signal.linear_to_mel_weight_matrix(10, 65, 8000, 80.0, 3600.0, tf.float64), [], 0),
    "mel_tensors": Case(lambda tf, tf2: tf2.signal.linear_to_mel_weight_matrix(
        10, tf.constant(65), tf.constant(8000.0), dtype=tf.float64), [], 0, rtol=1e-6),
    "mfccs": Case(lambda tf, tf2, x: tf2.signal.mfccs_from_log_mel_spectrograms(x), [N(2, 6)]),
}

WINDOWS = {
    f"{name}_{n}": Case(
        lambda tf, tf2, name=name, n=n: getattr(tf.signal, name)(n, dtype=tf.float64), [], 0, rtol=1e-7)
    for name in ("hann_window", "hamming_window", "kaiser_window", "kaiser_bessel_derived_window", "vorbis_window")
    for n in (1, 8, 7) if name.endswith(("g_window", "n_window", "r_window")) or n == 8
} | {
    f"dynamic_{name}_{n}": Case(lambda tf, tf2, k, name=name: getattr(tf.signal, name)(k, dtype=tf.float64),
                                [lambda rng, n=n: np.asarray(n, np.int32)], 0, rtol=1e-7)
    for name in ("hann_window", "hamming_window", "kaiser_window", "kaiser_bessel_derived_window", "vorbis_window")
    for n in (1, 8) if n == 8 or name.startswith("ha")
} | {
    "symmetric": Case(lambda tf, tf2: tf.signal.hann_window(8, periodic=False, dtype=tf.float64), [], 0),
    "beta": Case(lambda tf, tf2, x: tf2.signal.kaiser_window(7, x, tf.float64), [lambda rng: np.asarray(3.5)]),
}

FRAMES = {
    "frame": Case(lambda tf, tf2, x: tf.signal.frame(x, 4, 3), [N(2, 11)], 3),
    "pad_end": Case(lambda tf, tf2, x: tf.signal.frame(x, 4, 3, True, 0.5), [N(2, 11)]),
    "axis": Case(lambda tf, tf2, x: tf.signal.frame(x, 2, 2, axis=0), [N(7, 2)]),
    "too_short": Case(lambda tf, tf2, x: tf.signal.frame(x, 9, 2), [N(2, 5)], 0),
    "gaps": Case(lambda tf, tf2, x: tf.signal.frame(x, 2, 3, pad_end=True), [N(8)]),
    "add": Case(lambda tf, tf2, x: tf.signal.overlap_and_add(x, 3), [N(2, 5, 7)], 3),
    "add_even": Case(lambda tf, tf2, x: tf.signal.overlap_and_add(x, 2), [N(4, 4)]),
    "add_apart": Case(lambda tf, tf2, x: tf.signal.overlap_and_add(x, 5), [N(2, 3, 4)]),
    "stft": Case(lambda tf, tf2, x: _parts(tf, tf.signal.stft(x, 6, 3)), [N(2, 13)]),
    "stft_options": Case(lambda tf, tf2, x: _parts(tf, tf.signal.stft(x, 6, 4, 10, None, True)), [N(13)]),
    "inverse_stft": Case(lambda tf, tf2, x: tf.signal.inverse_stft(
        _complex(tf, x), 6, 3, window_fn=tf.signal.inverse_stft_window_fn(3)), [N(4, 10)], rtol=1e-7),
    "inverse_stft_short": Case(lambda tf, tf2, x: tf.signal.inverse_stft(_complex(tf, x), 6, 2, 4, None), [N(2, 3, 6)]),
    "inverse_window": Case(lambda tf, tf2: tf.signal.inverse_stft_window_fn(3)(8, dtype=tf.float64), [], 0, rtol=1e-7),
    "inverse_window_hamming": Case(lambda tf, tf2: tf.signal.inverse_stft_window_fn(
        2, tf.signal.hamming_window)(8, dtype=tf.float64), [], 0, rtol=1e-7),
    "mdct": Case(lambda tf, tf2, x: tf.signal.mdct(x, 8, window_fn=None), [N(2, 18)]),
    "mdct_options": Case(lambda tf, tf2, x: tf.signal.mdct(x, 8, pad_end=True, norm="ortho"), [N(18)]),
    "inverse_mdct": Case(lambda tf, tf2, x: tf.signal.inverse_mdct(x), [N(3, 4)], rtol=1e-6),
    "inverse_mdct_options": Case(lambda tf, tf2, x: tf.signal.inverse_mdct(x, None, "ortho"), [N(2, 3, 6)]),
}

CASES = {
    f"{family}/{name}": case
    for family, cases in (("fourier", FOURIER), ("cosine", COSINE), ("windows", WINDOWS), ("frames", FRAMES))
    for name, case in cases.items()
}
