"""`tf.contrib.staging`."""

from graphgrad.extras.contrib.staging import StagingArea as StagingArea

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
