"""`tf.contrib.staging` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.staging import StagingArea as StagingArea

__all__ = [
    "StagingArea"
]
