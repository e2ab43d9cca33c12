"""`tf.summary.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.training.summaries.summaries_v2 import summary_scope as summary_scope
from graphgrad.training.summaries.summaries_v2 import write_raw_pb as write_raw_pb
from graphgrad.training.summaries.summary_writers import get_step as get_step
from graphgrad.training.summaries.summary_writers import set_step as set_step

__all__ = [
    "get_step", "set_step", "summary_scope", "write_raw_pb"
]
