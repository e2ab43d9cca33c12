"""`tf.xla`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.xla import experimental as experimental

__all__ = [
    "experimental"
]
