"""`tf.linalg.experimental` of TensorFlow 2."""


# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

_SOLVERS = {"conjugate_gradient": "graphgrad.extras.linear.conjugate_gradient:conjugate_gradient"}

__getattr__ = _missing_attribute(__name__, _SOLVERS)
