"""`tf.contrib.slim.nets.vgg` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.nets.vgg import vgg_16 as vgg_16
from graphgrad.extras.contrib.nets.vgg import vgg_19 as vgg_19
from graphgrad.extras.contrib.nets.vgg import vgg_a as vgg_a
from graphgrad.extras.contrib.nets.vgg import vgg_arg_scope as vgg_arg_scope
from graphgrad.extras.contrib.nets.vgg import vgg_d as vgg_d
from graphgrad.extras.contrib.nets.vgg import vgg_e as vgg_e

__all__ = [
    "vgg_16", "vgg_19", "vgg_a", "vgg_arg_scope", "vgg_d", "vgg_e"
]
