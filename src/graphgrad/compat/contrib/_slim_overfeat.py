"""`tf.contrib.slim.nets.overfeat`."""

from graphgrad.extras.contrib.nets.plain import overfeat as overfeat
from graphgrad.extras.contrib.nets.plain import overfeat_arg_scope as overfeat_arg_scope

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
