"""`tf.__internal__.autograph`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.autograph import control_status_ctx as control_status_ctx
from graphgrad.compat.internal.autograph import tf_convert as tf_convert

__all__ = [
    "control_status_ctx", "tf_convert"
]
