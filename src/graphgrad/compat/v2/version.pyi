"""`tf.version`. Written by `make faces` from exports.txt."""

from graphgrad.ir.proto.versions import GIT_VERSION as GIT_VERSION
from graphgrad.ir.proto.versions import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from graphgrad.ir.proto.versions import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from graphgrad.ir.proto.versions import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from graphgrad.ir.proto.versions import VERSION as VERSION

__all__ = [
    "GIT_VERSION", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER", "GRAPH_DEF_VERSION_MIN_PRODUCER", "VERSION"
]
