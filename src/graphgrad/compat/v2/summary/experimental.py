"""`tf.summary.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.training.summaries.summaries_v2: summary_scope write_raw_pb
graphgrad.training.summaries.summary_writers: get_step set_step
""")
