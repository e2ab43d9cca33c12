"""`tf.contrib.tensorboard.plugins` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.tensorboard.plugins import projector as projector

__all__ = [
    "projector"
]
