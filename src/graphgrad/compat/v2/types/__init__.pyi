"""`tf.types`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.types import experimental as experimental

__all__ = [
    "experimental"
]
