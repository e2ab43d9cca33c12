"""`tf.random.experimental` of TensorFlow 1."""

from graphgrad.ops.stateless import fold_in as stateless_fold_in
from graphgrad.ops.stateless import split as stateless_split
from graphgrad.ops.stateless_more import index_shuffle as index_shuffle
from graphgrad.ops.stateless_more import stateless_shuffle as stateless_shuffle

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
