"""`tf.contrib.stateless`."""

from graphgrad.ops.random.stateless import stateless_multinomial as stateless_multinomial
from graphgrad.ops.random.stateless import stateless_normal as stateless_random_normal
from graphgrad.ops.random.stateless import stateless_truncated_normal as stateless_truncated_normal
from graphgrad.ops.random.stateless import stateless_uniform as stateless_random_uniform

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
