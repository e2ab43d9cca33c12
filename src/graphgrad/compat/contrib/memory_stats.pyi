"""`tf.contrib.memory_stats` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.memory_stats import BytesInUse as BytesInUse
from graphgrad.extras.contrib.memory_stats import BytesLimit as BytesLimit
from graphgrad.extras.contrib.memory_stats import MaxBytesInUse as MaxBytesInUse

__all__ = [
    "BytesInUse", "BytesLimit", "MaxBytesInUse"
]
