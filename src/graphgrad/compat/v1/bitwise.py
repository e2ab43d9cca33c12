"""`tf.bitwise` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.ops.math.bitwise: bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
""")
