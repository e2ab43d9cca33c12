"""`tf.autograph` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v1.autograph.experimental: experimental=.
graphgrad.frontend.function.autograph.api: set_verbosity to_code=to_code_v1 to_graph=to_graph_v1 trace
""")
