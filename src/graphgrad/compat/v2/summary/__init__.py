"""`tf.summary`. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.compat.v2.summary.experimental: experimental=.
graphgrad.training.summaries.summaries_v2: SummaryWriter audio create_file_writer create_noop_writer flush graph
    histogram image record_if scalar should_record_summaries text trace_export trace_off trace_on write
""")
