"""`tf.audio`."""

from graphgrad.extras.signal.audio import decode_wav as decode_wav
from graphgrad.extras.signal.audio import encode_wav as encode_wav
