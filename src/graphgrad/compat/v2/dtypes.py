"""`tf.dtypes` of TensorFlow 2."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.cast import cast as cast
from graphgrad.ops.cast import saturate_cast as saturate_cast
from graphgrad.ops.complexes import complex as complex

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
