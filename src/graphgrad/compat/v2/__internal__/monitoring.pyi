"""`tf.__internal__.monitoring`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.eager.monitoring import BoolGauge as BoolGauge

__all__ = [
    "BoolGauge"
]
