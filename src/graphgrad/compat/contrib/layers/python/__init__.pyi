"""`tf.contrib.layers.python` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.layers.python import layers as layers

__all__ = [
    "layers"
]
