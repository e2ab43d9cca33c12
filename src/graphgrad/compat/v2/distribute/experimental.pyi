"""`tf.distribute.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.frontend.distribute.strategy import ValueContext as ValueContext

__all__ = [
    "ValueContext"
]
