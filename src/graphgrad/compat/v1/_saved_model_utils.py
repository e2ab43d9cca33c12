"""`tf.saved_model.utils`."""

from graphgrad.extras.import_v1.saved_model import build_tensor_info as build_tensor_info
from graphgrad.extras.import_v1.saved_model import get_tensor_from_tensor_info as get_tensor_from_tensor_info

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
