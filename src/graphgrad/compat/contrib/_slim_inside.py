"""`tf.contrib.slim.python.slim`."""

from graphgrad.compat.contrib import _slim_model_analyzer as model_analyzer
from graphgrad.compat.contrib import _slim_nets as nets

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
