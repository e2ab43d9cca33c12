"""What functions of signals refuse, and round trips of transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf

_X = np.linspace(-1.0, 1.0, 24).reshape(2, 12)

_REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "dct axis": (lambda: tf.signal.dct(_X, axis=0), NotImplementedError, "axis must be -1"),
    "dct size": (lambda: tf.signal.dct(_X, n=0), ValueError, "n should be a positive integer"),
    "dct type": (lambda: tf.signal.dct(_X, 5), ValueError, "Types I, II, III and IV"),
    "dct norm": (lambda: tf.signal.dct(_X, norm="forward"), ValueError, "Unknown normalization"),
    "dct ortho": (lambda: tf.signal.dct(_X, 1, norm="ortho"), ValueError, "not supported for the Type-I"),
    "dct short": (lambda: tf.signal.dct(_X[:, :1], 1), ValueError, "greater than one"),
    "no real numbers": (lambda: tf.signal.rfft(tf.constant(1j * _X)), ValueError, "float32 or float64"),
    "no complex numbers": (lambda: tf.signal.irfft(tf.constant(_X)), ValueError, "complex64 or complex128"),
    "norm": (lambda: tf2.signal.fftnd(1j * _X, norm="both"), ValueError, "norm must be"),
    "axes": (lambda: tf2.signal.fftnd(1j * _X, axes=[2]), ValueError, "do not exist"),
    "window type": (lambda: tf.signal.hann_window(4, dtype=tf.int32), ValueError, "floating point type"),
    "window length": (lambda: tf.signal.hann_window([4]), ValueError, "must be a scalar"),
    "frame length": (lambda: tf.signal.frame(_X, 2.5, 2), ValueError, "must be an integer"),
    "frame axis": (lambda: tf.signal.frame(_X, 2, 2, axis=2), ValueError, "axis 2 is not in"),
    "frames of a vector": (lambda: tf.signal.overlap_and_add(_X[0], 2), ValueError, "rank at least 2"),
    "frame of four": (lambda: tf.signal.mdct(_X, 6), ValueError, "multiple of 4"),
    "no bands": (lambda: tf.signal.linear_to_mel_weight_matrix(0), ValueError, "num_mel_bins must be positive"),
    "edges": (lambda: tf.signal.linear_to_mel_weight_matrix(lower_edge_hertz=4e3), ValueError, ">= upper_edge_hertz"),
    "edge": (lambda: tf.signal.linear_to_mel_weight_matrix(lower_edge_hertz=-1.0), ValueError, "non-negative"),
    "rate": (lambda: tf.signal.linear_to_mel_weight_matrix(sample_rate=0), ValueError, "sample_rate must be"),
    "nyquist": (lambda: tf.signal.linear_to_mel_weight_matrix(sample_rate=100), ValueError, "Nyquist"),
    "mel type": (lambda: tf.signal.linear_to_mel_weight_matrix(dtype=tf.int32), ValueError, "floating point"),
    "no cepstrum": (lambda: tf.signal.mfccs_from_log_mel_spectrograms(_X[:, :0]), ValueError, "must be positive"),
}


@pytest.mark.parametrize("name", _REFUSED)
def test_refused(name: str) -> None:
    """Bad arguments raise errors of TensorFlow's class that say what to do."""
    function, cls, text = _REFUSED[name]
    with pytest.raises(cls, match=text) as caught:
        function()
    assert "Fix:" in str(caught.value)


@pytest.mark.parametrize("norm", [None, "backward", "forward", "ortho"])
def test_any_axes(norm: str | None) -> None:
    """Transforms of any axes are NumPy's."""
    x = np.arange(24.0).reshape(2, 3, 4) ** 1.5
    for name, z, options in (("fftn", 1j * x, {"axes": [0, 2]}), ("ifftn", 1j * x, {}), ("rfftn", x, {"axes": [2, 0]}),
                             ("irfftn", 1j * x, {"axes": [1, 2]})):
        got = getattr(tf2.signal, name + "d")(tf2.constant(z), norm=norm, **options)
        np.testing.assert_allclose(np.asarray(got), getattr(np.fft, name)(z, norm=norm, **options), atol=1e-12)


def test_round_trips() -> None:
    """An inverse short-time transform undoes a short-time transform; so does that of mdct."""
    x = np.cos(np.arange(64.0))
    spectra = tf2.signal.stft(x, 16, 8)
    back = tf2.signal.inverse_stft(spectra, 16, 8, window_fn=tf2.signal.inverse_stft_window_fn(8))
    np.testing.assert_allclose(np.asarray(back)[16:-16], x[16:-16], atol=1e-12)
    bands = tf2.signal.mdct(x, 16)
    np.testing.assert_allclose(np.asarray(tf2.signal.inverse_mdct(bands))[16:-16], x[16:-16], atol=1e-12)
