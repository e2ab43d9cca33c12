"""`tf.graph_util` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.import_v1.import_graph import import_graph_def as import_graph_def
from graphgrad.training.checkpoints.freezing import convert_variables_to_constants as convert_variables_to_constants
from graphgrad.training.checkpoints.graph_files import extract_sub_graph as extract_sub_graph
from graphgrad.training.checkpoints.graph_files import remove_training_nodes as remove_training_nodes
from graphgrad.training.checkpoints.graph_files import tensor_shape_from_node_def_name as tensor_shape_from_node_def_name

__all__ = [
    "convert_variables_to_constants", "extract_sub_graph", "import_graph_def", "remove_training_nodes",
    "tensor_shape_from_node_def_name"
]
