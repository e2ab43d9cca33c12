"""`tf.__internal__.smart_cond`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.control_flow.cond_while import smart_cond as smart_cond

__all__ = [
    "smart_cond"
]
