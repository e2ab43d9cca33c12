"""`tf.__internal__.distribute.interim`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.distribute.contexts: maybe_merge_call
""")
