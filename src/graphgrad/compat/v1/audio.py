"""`tf.audio`."""

from graphgrad.ops.wav import decode_wav as decode_wav
from graphgrad.ops.wav import encode_wav as encode_wav
