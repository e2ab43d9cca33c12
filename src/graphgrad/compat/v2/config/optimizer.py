"""`tf.config.optimizer`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.frontend.config.settings: get_experimental_options get_jit set_experimental_options set_jit
""")
