"""`tf.contrib.slim.nets` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.contrib.slim.nets import inception as inception
from graphgrad.compat.contrib.slim.nets import inception_v3 as inception_v3
from graphgrad.compat.contrib.slim.nets import resnet_utils as resnet_utils
from graphgrad.compat.contrib.slim.nets import resnet_v1 as resnet_v1
from graphgrad.compat.contrib.slim.nets import resnet_v2 as resnet_v2
from graphgrad.compat.contrib.slim.nets import vgg as vgg

__all__ = [
    "inception", "inception_v3", "resnet_utils", "resnet_v1", "resnet_v2", "vgg"
]
