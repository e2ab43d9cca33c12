"""`tf.autograph`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.autograph.experimental: experimental=.
graphgrad.frontend.function.autograph.api: set_verbosity to_code to_graph trace
""")
