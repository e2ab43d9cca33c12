"""`tf.summary` of TensorFlow 1. Written by `make faces` from exports.txt."""

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
from graphgrad.training.summaries.summaries_v2 import SummaryDescription as SummaryDescription
from graphgrad.training.summaries.summaries_v2 import TaggedRunMetadata as TaggedRunMetadata
from graphgrad.training.summaries.summaries_v2 import all_v2_summary_ops as all_v2_summary_ops
from graphgrad.training.summaries.summaries_v2 import get_summary_description as get_summary_description
from graphgrad.training.summaries.summaries_v2 import initialize as initialize
from graphgrad.training.summaries.summary_messages import Event as Event
from graphgrad.training.summaries.summary_messages import SessionLog as SessionLog
from graphgrad.training.summaries.summary_messages import Summary as Summary

__all__ = [
    "Event", "FileWriter", "FileWriterCache", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata",
    "all_v2_summary_ops", "audio", "get_summary_description", "histogram", "image", "initialize", "merge", "merge_all",
    "scalar", "tensor_summary", "text"
]
