"""`tf.contrib.slim.model_analyzer`."""

from graphgrad.extras.contrib.layer_summaries import analyze_ops as analyze_ops
from graphgrad.extras.contrib.layer_summaries import analyze_vars as analyze_vars
from graphgrad.extras.contrib.layer_summaries import tensor_description as tensor_description

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
