"""`tf.contrib.stateless` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.ops.random.stateless: stateless_multinomial stateless_random_normal=stateless_normal
    stateless_random_uniform=stateless_uniform stateless_truncated_normal
""")
