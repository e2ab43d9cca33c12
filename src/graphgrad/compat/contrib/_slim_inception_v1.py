"""`tf.contrib.slim.nets.inception_v1`."""

from graphgrad.extras.contrib.nets.inception import inception_v1 as inception_v1
from graphgrad.extras.contrib.nets.inception import inception_v1_arg_scope as inception_v1_arg_scope
from graphgrad.extras.contrib.nets.inception import inception_v1_base as inception_v1_base

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
