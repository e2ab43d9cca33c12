"""`tf.graph_util`. Written by `make faces` from exports.txt."""

from graphgrad.extras.import_v1.import_graph import import_graph_def as import_graph_def

__all__ = [
    "import_graph_def"
]
