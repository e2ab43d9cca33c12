"""`tf.__internal__.mixed_precision`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.state import register_loss_scale_wrapper as register_loss_scale_wrapper

__all__ = [
    "register_loss_scale_wrapper"
]
