"""`tf.autograph` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.autograph import experimental as experimental
from graphgrad.frontend.function.autograph.api import set_verbosity as set_verbosity
from graphgrad.frontend.function.autograph.api import to_code_v1 as to_code
from graphgrad.frontend.function.autograph.api import to_graph_v1 as to_graph
from graphgrad.frontend.function.autograph.api import trace as trace

__all__ = [
    "experimental", "set_verbosity", "to_code", "to_graph", "trace"
]
