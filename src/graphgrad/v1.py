"""TensorFlow 1: `import graphgrad.v1 as tf`. Importing it turns graph mode on."""

from graphgrad.compat.v1 import *  # noqa: F403  # the same names
from graphgrad.frontend import modes as _modes

_modes.disable_v2_behavior()

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
