"""`tf.summary` of TensorFlow 1."""

from graphgrad.ops.summary_messages import Event as Event
from graphgrad.ops.summary_messages import SessionLog as SessionLog
from graphgrad.ops.summary_messages import Summary as Summary
from graphgrad.train.file_writer import FileWriter as FileWriter
from graphgrad.train.file_writer import FileWriterCache as FileWriterCache
from graphgrad.train.summaries import audio as audio
from graphgrad.train.summaries import histogram as histogram
from graphgrad.train.summaries import image as image
from graphgrad.train.summaries import merge as merge
from graphgrad.train.summaries import merge_all as merge_all
from graphgrad.train.summaries import scalar as scalar
from graphgrad.train.summaries import tensor_summary as tensor_summary
from graphgrad.train.summaries import text as text

# What a name that is missing gets to hear.
from graphgrad.compat.missing import missing_attribute as _missing_attribute

_LATER = {name: f"graphgrad.train.summaries_of_2:{name}" for name in (
    "SummaryDescription",
    "TaggedRunMetadata",
    "all_v2_summary_ops",
    "get_summary_description",
    "initialize",
)}  # fmt: skip
__getattr__ = _missing_attribute(__name__, _LATER)
