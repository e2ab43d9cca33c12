"""`tf.__internal__.eager_context`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.internal.eager.context: eager_mode get_config get_device_name get_executor set_soft_device_placement
""")
