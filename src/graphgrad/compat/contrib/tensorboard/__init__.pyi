"""`tf.contrib.tensorboard` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.tensorboard import plugins as plugins

__all__ = [
    "plugins"
]
