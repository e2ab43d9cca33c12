"""`tf.contrib.slim.utils` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.contrib.layers.contrib_layers import collect_named_outputs as collect_named_outputs
from graphgrad.extras.contrib.layers.contrib_layers import convert_collection_to_dict as convert_collection_to_dict
from graphgrad.frontend.control_flow.cond_while import smart_cond as smart_cond

__all__ = [
    "collect_named_outputs", "convert_collection_to_dict", "smart_cond"
]
