"""`tf.contrib.framework.python` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.framework.python import ops as ops

__all__ = [
    "ops"
]
