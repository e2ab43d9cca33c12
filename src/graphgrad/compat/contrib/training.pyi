"""`tf.contrib.training` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.hparams import HParams as HParams

__all__ = [
    "HParams"
]
