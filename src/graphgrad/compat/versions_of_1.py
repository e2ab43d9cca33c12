"""`tf.version` of `import graphgrad.v1 as tf`: the numbers of the TensorFlow whose programs it runs."""

from graphgrad.ir.proto import versions as _versions

VERSION = "1.15.5"
GIT_VERSION = _versions.GIT_VERSION.replace(_versions.VERSION, VERSION)
GRAPH_DEF_VERSION = _versions.GRAPH_DEF_VERSION
GRAPH_DEF_VERSION_MIN_CONSUMER = _versions.GRAPH_DEF_VERSION_MIN_CONSUMER
GRAPH_DEF_VERSION_MIN_PRODUCER = _versions.GRAPH_DEF_VERSION_MIN_PRODUCER
