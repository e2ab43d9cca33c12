"""`tf.spectral` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.signal.dct import dct as dct
from graphgrad.extras.signal.dct import idct as idct
from graphgrad.extras.signal.fft_functions import fft as fft
from graphgrad.extras.signal.fft_functions import fft2d as fft2d
from graphgrad.extras.signal.fft_functions import fft3d as fft3d
from graphgrad.extras.signal.fft_functions import ifft as ifft
from graphgrad.extras.signal.fft_functions import ifft2d as ifft2d
from graphgrad.extras.signal.fft_functions import ifft3d as ifft3d
from graphgrad.extras.signal.fft_functions import irfft as irfft
from graphgrad.extras.signal.fft_functions import irfft2d as irfft2d
from graphgrad.extras.signal.fft_functions import irfft3d as irfft3d
from graphgrad.extras.signal.fft_functions import rfft as rfft
from graphgrad.extras.signal.fft_functions import rfft2d as rfft2d
from graphgrad.extras.signal.fft_functions import rfft3d as rfft3d

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "idct", "ifft", "ifft2d", "ifft3d", "irfft", "irfft2d", "irfft3d", "rfft", "rfft2d",
    "rfft3d"
]
