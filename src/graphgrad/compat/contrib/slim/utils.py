"""`tf.contrib.slim.utils` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.contrib.layers.contrib_layers: collect_named_outputs convert_collection_to_dict
graphgrad.frontend.control_flow.cond_while: smart_cond
""")
