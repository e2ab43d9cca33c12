"""`tf.contrib.memory_stats`."""

from graphgrad.extras.contrib.memory_stats import BytesInUse as BytesInUse
from graphgrad.extras.contrib.memory_stats import BytesLimit as BytesLimit
from graphgrad.extras.contrib.memory_stats import MaxBytesInUse as MaxBytesInUse

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
