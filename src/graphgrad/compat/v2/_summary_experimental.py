"""`tf.summary.experimental` of TensorFlow 2."""

from graphgrad.training.summaries.summaries_v2 import get_step as get_step
from graphgrad.training.summaries.summaries_v2 import set_step as set_step
from graphgrad.training.summaries.summaries_v2 import summary_scope as summary_scope
from graphgrad.training.summaries.summaries_v2 import write_raw_pb as write_raw_pb

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

__getattr__ = _missing_attribute(__name__)
