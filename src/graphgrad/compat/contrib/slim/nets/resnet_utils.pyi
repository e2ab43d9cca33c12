"""`tf.contrib.slim.nets.resnet_utils` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.nets.resnet import Block as Block
from graphgrad.extras.contrib.nets.resnet import conv2d_same as conv2d_same
from graphgrad.extras.contrib.nets.resnet import resnet_arg_scope as resnet_arg_scope
from graphgrad.extras.contrib.nets.resnet import stack_blocks_dense as stack_blocks_dense
from graphgrad.extras.contrib.nets.resnet import subsample as subsample

__all__ = [
    "Block", "conv2d_same", "resnet_arg_scope", "stack_blocks_dense", "subsample"
]
