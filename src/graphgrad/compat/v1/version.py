"""`tf.version`."""

from graphgrad.ir.version import GIT_VERSION as GIT_VERSION
from graphgrad.ir.version import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from graphgrad.ir.version import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from graphgrad.ir.version import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from graphgrad.ir.version import VERSION as VERSION
