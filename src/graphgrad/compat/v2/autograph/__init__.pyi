"""`tf.autograph`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.autograph import experimental as experimental
from graphgrad.frontend.function.autograph.api import set_verbosity as set_verbosity
from graphgrad.frontend.function.autograph.api import to_code as to_code
from graphgrad.frontend.function.autograph.api import to_graph as to_graph
from graphgrad.frontend.function.autograph.api import trace as trace

__all__ = [
    "experimental", "set_verbosity", "to_code", "to_graph", "trace"
]
