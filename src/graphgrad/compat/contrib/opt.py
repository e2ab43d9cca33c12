"""`tf.contrib.opt`, as far as programs use it."""

from graphgrad.extras.contrib.external_optimizer import ExternalOptimizerInterface as ExternalOptimizerInterface
from graphgrad.extras.contrib.external_optimizer import ScipyOptimizerInterface as ScipyOptimizerInterface

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
