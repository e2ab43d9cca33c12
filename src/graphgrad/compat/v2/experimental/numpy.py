"""`tf.experimental.numpy`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.ops.common.numpy_functions: finfo select
""")
