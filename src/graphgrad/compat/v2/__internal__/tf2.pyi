"""`tf.__internal__.tf2`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.tf2 import enabled as enabled

__all__ = [
    "enabled"
]
