"""`tf.contrib.slim.nets.resnet_v2` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.slim.nets import resnet_utils as resnet_utils
from graphgrad.extras.contrib.nets.resnet import bottleneck_v2 as bottleneck
from graphgrad.extras.contrib.nets.resnet import resnet_arg_scope as resnet_arg_scope
from graphgrad.extras.contrib.nets.resnet import resnet_v2 as resnet_v2
from graphgrad.extras.contrib.nets.resnet import resnet_v2_101 as resnet_v2_101
from graphgrad.extras.contrib.nets.resnet import resnet_v2_152 as resnet_v2_152
from graphgrad.extras.contrib.nets.resnet import resnet_v2_200 as resnet_v2_200
from graphgrad.extras.contrib.nets.resnet import resnet_v2_50 as resnet_v2_50
from graphgrad.extras.contrib.nets.resnet import resnet_v2_block as resnet_v2_block

__all__ = [
    "bottleneck", "resnet_arg_scope", "resnet_utils", "resnet_v2", "resnet_v2_101", "resnet_v2_152", "resnet_v2_200",
    "resnet_v2_50", "resnet_v2_block"
]
