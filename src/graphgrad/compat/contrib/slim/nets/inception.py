"""`tf.contrib.slim.nets.inception` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.nets.inception: inception_v3 inception_v3_arg_scope inception_v3_base
""")
