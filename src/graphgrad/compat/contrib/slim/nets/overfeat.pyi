"""`tf.contrib.slim.nets.overfeat` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.nets.plain import overfeat as overfeat
from graphgrad.extras.contrib.nets.plain import overfeat_arg_scope as overfeat_arg_scope

__all__ = [
    "overfeat", "overfeat_arg_scope"
]
