"""`tf.contrib.slim.nets.inception` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.nets.inception import inception_v3 as inception_v3
from graphgrad.extras.contrib.nets.inception import inception_v3_arg_scope as inception_v3_arg_scope
from graphgrad.extras.contrib.nets.inception import inception_v3_base as inception_v3_base

__all__ = [
    "inception_v3", "inception_v3_arg_scope", "inception_v3_base"
]
