"""`tf.contrib.slim.nets.resnet_utils` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.nets.resnet: Block conv2d_same resnet_arg_scope stack_blocks_dense subsample
""")
