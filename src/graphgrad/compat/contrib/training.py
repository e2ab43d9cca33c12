"""`tf.contrib.training`, as far as programs use it."""

from graphgrad.extras.contrib.hparams import HParams as HParams

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
