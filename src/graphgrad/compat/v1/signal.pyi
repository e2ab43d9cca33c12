"""`tf.signal` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.signal.dct import dct as dct
from graphgrad.extras.signal.dct import idct as idct
from graphgrad.extras.signal.dct import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from graphgrad.extras.signal.dct import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from graphgrad.extras.signal.fft_functions import fft as fft
from graphgrad.extras.signal.fft_functions import fft2d as fft2d
from graphgrad.extras.signal.fft_functions import fft3d as fft3d
from graphgrad.extras.signal.fft_functions import fftnd as fftnd
from graphgrad.extras.signal.fft_functions import fftshift as fftshift
from graphgrad.extras.signal.fft_functions import ifft as ifft
from graphgrad.extras.signal.fft_functions import ifft2d as ifft2d
from graphgrad.extras.signal.fft_functions import ifft3d as ifft3d
from graphgrad.extras.signal.fft_functions import ifftnd as ifftnd
from graphgrad.extras.signal.fft_functions import ifftshift as ifftshift
from graphgrad.extras.signal.fft_functions import irfft as irfft
from graphgrad.extras.signal.fft_functions import irfft2d as irfft2d
from graphgrad.extras.signal.fft_functions import irfft3d as irfft3d
from graphgrad.extras.signal.fft_functions import irfftnd as irfftnd
from graphgrad.extras.signal.fft_functions import rfft as rfft
from graphgrad.extras.signal.fft_functions import rfft2d as rfft2d
from graphgrad.extras.signal.fft_functions import rfft3d as rfft3d
from graphgrad.extras.signal.fft_functions import rfftnd as rfftnd
from graphgrad.extras.signal.framing import frame as frame
from graphgrad.extras.signal.framing import inverse_mdct as inverse_mdct
from graphgrad.extras.signal.framing import inverse_stft as inverse_stft
from graphgrad.extras.signal.framing import inverse_stft_window_fn as inverse_stft_window_fn
from graphgrad.extras.signal.framing import mdct as mdct
from graphgrad.extras.signal.framing import overlap_and_add as overlap_and_add
from graphgrad.extras.signal.framing import stft as stft
from graphgrad.extras.signal.window_functions import hamming_window as hamming_window
from graphgrad.extras.signal.window_functions import hann_window as hann_window
from graphgrad.extras.signal.window_functions import kaiser_bessel_derived_window as kaiser_bessel_derived_window
from graphgrad.extras.signal.window_functions import kaiser_window as kaiser_window
from graphgrad.extras.signal.window_functions import vorbis_window as vorbis_window

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftnd", "fftshift", "frame", "hamming_window", "hann_window", "idct", "ifft",
    "ifft2d", "ifft3d", "ifftnd", "ifftshift", "inverse_mdct", "inverse_stft", "inverse_stft_window_fn", "irfft",
    "irfft2d", "irfft3d", "irfftnd", "kaiser_bessel_derived_window", "kaiser_window", "linear_to_mel_weight_matrix",
    "mdct", "mfccs_from_log_mel_spectrograms", "overlap_and_add", "rfft", "rfft2d", "rfft3d", "rfftnd", "stft",
    "vorbis_window"
]
