"""`tf.contrib.slim.nets.resnet_v1` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.contrib.slim.nets.resnet_utils: resnet_utils=.
graphgrad.extras.contrib.nets.resnet: bottleneck=bottleneck_v1 resnet_arg_scope resnet_v1 resnet_v1_101 resnet_v1_152
    resnet_v1_200 resnet_v1_50 resnet_v1_block
""")
