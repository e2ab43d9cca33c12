"""`tf.summary`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.summary.experimental: experimental=.
graphgrad.training.summaries.summaries_v2: audio graph histogram image scalar text trace_export trace_off trace_on write
graphgrad.training.summaries.summary_writers: SummaryWriter create_file_writer create_noop_writer flush record_if
    should_record_summaries
""")
