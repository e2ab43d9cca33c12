"""`tf.__internal__.smart_cond`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.control_flow.cond_while: smart_cond
""")
