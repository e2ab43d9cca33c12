"""`tf.contrib.slim.nets.vgg` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.nets.vgg: vgg_16 vgg_19 vgg_a vgg_arg_scope vgg_d vgg_e
""")
