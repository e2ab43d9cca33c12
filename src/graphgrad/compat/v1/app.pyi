"""`tf.app` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1 import flags as flags
from graphgrad.platform.app import run as run

__all__ = [
    "flags", "run"
]
