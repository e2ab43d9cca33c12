"""`tf.contrib.util`."""

from graphgrad.frontend.graph.tensor_protos import make_ndarray as make_ndarray
from graphgrad.frontend.graph.tensor_protos import make_tensor_proto as make_tensor_proto
from graphgrad.ir.constant_value import constant_value as constant_value

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
