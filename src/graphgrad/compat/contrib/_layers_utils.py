"""`tf.contrib.layers.python.layers.utils`."""

from graphgrad.extras.contrib.layers.contrib_layers import collect_named_outputs as collect_named_outputs
from graphgrad.extras.contrib.layers.contrib_layers import convert_collection_to_dict as convert_collection_to_dict
from graphgrad.frontend.control_flow.cond_while import smart_cond as smart_cond

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
