"""`tf.__internal__.ops`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.framework.ops import is_resource_variable as is_resource_variable
from graphgrad.layers.loss_weights import broadcast_weights as broadcast_weights

__all__ = [
    "broadcast_weights", "is_resource_variable"
]
