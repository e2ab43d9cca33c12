"""`tf.contrib.tensorboard`."""

from graphgrad.compat.contrib import _tensorboard_plugins as plugins

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
