"""`tf.__internal__.mixed_precision`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.internal.state: register_loss_scale_wrapper
""")
