"""`tf.linalg.experimental` of TensorFlow 2."""

from graphgrad.frontend.linear_operator import conjugate_gradient as conjugate_gradient

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
