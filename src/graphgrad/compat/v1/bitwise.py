"""`tf.bitwise` of TensorFlow 1."""

# -- arithmetic, reductions ------------------------------------------------------------
from graphgrad.ops.math.bitwise import bitwise_and as bitwise_and
from graphgrad.ops.math.bitwise import bitwise_or as bitwise_or
from graphgrad.ops.math.bitwise import bitwise_xor as bitwise_xor
from graphgrad.ops.math.bitwise import invert as invert
from graphgrad.ops.math.bitwise import left_shift as left_shift
from graphgrad.ops.math.bitwise import right_shift as right_shift

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)

# What is ragged takes another way.
from graphgrad.extras.ragged.ragged_dispatch import takes_ragged as _takes_ragged

_takes_ragged(globals())
