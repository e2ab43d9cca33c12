"""`tf.summary`. Written by `make faces` from exports.txt."""

from graphgrad.compat.v2.summary import experimental as experimental
from graphgrad.training.summaries.summaries_v2 import audio as audio
from graphgrad.training.summaries.summaries_v2 import graph as graph
from graphgrad.training.summaries.summaries_v2 import histogram as histogram
from graphgrad.training.summaries.summaries_v2 import image as image
from graphgrad.training.summaries.summaries_v2 import scalar as scalar
from graphgrad.training.summaries.summaries_v2 import text as text
from graphgrad.training.summaries.summaries_v2 import trace_export as trace_export
from graphgrad.training.summaries.summaries_v2 import trace_off as trace_off
from graphgrad.training.summaries.summaries_v2 import trace_on as trace_on
from graphgrad.training.summaries.summaries_v2 import write as write
from graphgrad.training.summaries.summary_writers import SummaryWriter as SummaryWriter
from graphgrad.training.summaries.summary_writers import create_file_writer as create_file_writer
from graphgrad.training.summaries.summary_writers import create_noop_writer as create_noop_writer
from graphgrad.training.summaries.summary_writers import flush as flush
from graphgrad.training.summaries.summary_writers import record_if as record_if
from graphgrad.training.summaries.summary_writers import should_record_summaries as should_record_summaries

__all__ = [
    "SummaryWriter", "audio", "create_file_writer", "create_noop_writer", "experimental", "flush", "graph", "histogram",
    "image", "record_if", "scalar", "should_record_summaries", "text", "trace_export", "trace_off", "trace_on", "write"
]
