"""`tf.summary` of TensorFlow 1."""

from graphgrad.training.summaries.summary_messages import Event as Event
from graphgrad.training.summaries.summary_messages import SessionLog as SessionLog
from graphgrad.training.summaries.summary_messages import Summary as Summary
from graphgrad.training.summaries.file_writer import FileWriter as FileWriter
from graphgrad.training.summaries.file_writer import FileWriterCache as FileWriterCache
from graphgrad.training.summaries.summaries_v1 import audio as audio
from graphgrad.training.summaries.summaries_v1 import histogram as histogram
from graphgrad.training.summaries.summaries_v1 import image as image
from graphgrad.training.summaries.summaries_v1 import merge as merge
from graphgrad.training.summaries.summaries_v1 import merge_all as merge_all
from graphgrad.training.summaries.summaries_v1 import scalar as scalar
from graphgrad.training.summaries.summaries_v1 import tensor_summary as tensor_summary
from graphgrad.training.summaries.summaries_v1 import text as text

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

_LATER = {name: f"graphgrad.training.summaries.summaries_v2:{name}" for name in (
    "SummaryDescription",
    "TaggedRunMetadata",
    "all_v2_summary_ops",
    "get_summary_description",
    "initialize",
)}
__getattr__ = _missing_attribute(__name__, _LATER)
