"""The version of TensorFlow that is emulated."""

from __future__ import annotations

VERSION = "2.21.0"
GIT_VERSION = f"v{VERSION}-graphgrad-0.1.0"
GRAPH_DEF_VERSION = 2474  # of the graphs that TensorFlow 2.21 writes
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
