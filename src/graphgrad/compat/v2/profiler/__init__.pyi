"""`tf.profiler`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.profiler import experimental as experimental

__all__ = [
    "experimental"
]
