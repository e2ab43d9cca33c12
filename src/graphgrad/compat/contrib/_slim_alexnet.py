"""`tf.contrib.slim.nets.alexnet`."""

from graphgrad.extras.contrib.nets.plain import alexnet_v2 as alexnet_v2
from graphgrad.extras.contrib.nets.plain import alexnet_v2_arg_scope as alexnet_v2_arg_scope

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
