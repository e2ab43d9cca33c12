"""`tf.graph_util` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.import_v1.import_graph: import_graph_def
graphgrad.training.checkpoints.freezing: convert_variables_to_constants
graphgrad.training.checkpoints.graph_files: extract_sub_graph remove_training_nodes tensor_shape_from_node_def_name
""")
