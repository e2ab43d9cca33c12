"""`tf.contrib.metrics`, as far as programs use it."""

from graphgrad.extras.contrib.contrib_metrics import accuracy as accuracy

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
