"""`tf.audio` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.signal.audio import decode_wav as decode_wav
from graphgrad.extras.signal.audio import encode_wav as encode_wav

__all__ = [
    "decode_wav", "encode_wav"
]
