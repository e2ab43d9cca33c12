"""`tf.contrib.slim.nets.alexnet` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.nets.plain import alexnet_v2 as alexnet_v2
from graphgrad.extras.contrib.nets.plain import alexnet_v2_arg_scope as alexnet_v2_arg_scope

__all__ = [
    "alexnet_v2", "alexnet_v2_arg_scope"
]
