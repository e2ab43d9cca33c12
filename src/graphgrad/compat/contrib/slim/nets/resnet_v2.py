"""`tf.contrib.slim.nets.resnet_v2` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.contrib.slim.nets.resnet_utils: resnet_utils=.
graphgrad.extras.contrib.nets.resnet: bottleneck=bottleneck_v2 resnet_arg_scope resnet_v2 resnet_v2_101 resnet_v2_152
    resnet_v2_200 resnet_v2_50 resnet_v2_block
""")
