"""`tf.contrib.slim.python` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.slim.python import slim as slim

__all__ = [
    "slim"
]
