"""`tf.io.gfile` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.platform.gfile: GFile copy exists get_registered_schemes glob isdir join listdir makedirs mkdir remove rename
    rmtree stat walk
""")
