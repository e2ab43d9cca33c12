"""`tf.graph_util` of TensorFlow 2."""

from graphgrad.extras.import_v1.import_graph import import_graph_def as import_graph_def

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
