"""`tf.contrib.metrics` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.contrib_metrics import accuracy as accuracy

__all__ = [
    "accuracy"
]
