"""`tf.xla` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.xla import experimental as experimental

__all__ = [
    "experimental"
]
