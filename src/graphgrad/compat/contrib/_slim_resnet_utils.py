"""`tf.contrib.slim.nets.resnet_utils`."""

from graphgrad.extras.contrib.nets.resnet import Block as Block
from graphgrad.extras.contrib.nets.resnet import conv2d_same as conv2d_same
from graphgrad.extras.contrib.nets.resnet import resnet_arg_scope as resnet_arg_scope
from graphgrad.extras.contrib.nets.resnet import stack_blocks_dense as stack_blocks_dense
from graphgrad.extras.contrib.nets.resnet import subsample as subsample

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
