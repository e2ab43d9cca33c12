"""`tf.contrib.slim.nets.resnet_v1` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.slim.nets import resnet_utils as resnet_utils
from graphgrad.extras.contrib.nets.resnet import bottleneck_v1 as bottleneck
from graphgrad.extras.contrib.nets.resnet import resnet_arg_scope as resnet_arg_scope
from graphgrad.extras.contrib.nets.resnet import resnet_v1 as resnet_v1
from graphgrad.extras.contrib.nets.resnet import resnet_v1_101 as resnet_v1_101
from graphgrad.extras.contrib.nets.resnet import resnet_v1_152 as resnet_v1_152
from graphgrad.extras.contrib.nets.resnet import resnet_v1_200 as resnet_v1_200
from graphgrad.extras.contrib.nets.resnet import resnet_v1_50 as resnet_v1_50
from graphgrad.extras.contrib.nets.resnet import resnet_v1_block as resnet_v1_block

__all__ = [
    "bottleneck", "resnet_arg_scope", "resnet_utils", "resnet_v1", "resnet_v1_101", "resnet_v1_152", "resnet_v1_200",
    "resnet_v1_50", "resnet_v1_block"
]
