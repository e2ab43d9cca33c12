"""`tf.autograph.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.function.autograph.api: Feature=AutographFeature do_not_convert set_loop_options
""")
