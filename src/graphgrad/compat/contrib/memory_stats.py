"""`tf.contrib.memory_stats` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.memory_stats: BytesInUse BytesLimit MaxBytesInUse
""")
