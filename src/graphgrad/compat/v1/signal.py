"""`tf.signal` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.signal.dct: dct idct linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms
graphgrad.extras.signal.fft_functions: fft fft2d fft3d fftnd fftshift ifft ifft2d ifft3d ifftnd ifftshift irfft irfft2d
    irfft3d irfftnd rfft rfft2d rfft3d rfftnd
graphgrad.extras.signal.framing: frame inverse_mdct inverse_stft inverse_stft_window_fn mdct overlap_and_add stft
graphgrad.extras.signal.window_functions: hamming_window hann_window kaiser_bessel_derived_window kaiser_window
    vorbis_window
""")
