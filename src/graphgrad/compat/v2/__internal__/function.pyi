"""`tf.__internal__.function`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.function.function import Function as Function

__all__ = [
    "Function"
]
