"""`tf.summary` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.training.summaries.file_writer: FileWriter FileWriterCache
graphgrad.training.summaries.summaries_v1: audio histogram image merge merge_all scalar tensor_summary text
graphgrad.training.summaries.summaries_v2: SummaryDescription TaggedRunMetadata all_v2_summary_ops
    get_summary_description initialize
graphgrad.training.summaries.summary_messages: Event SessionLog Summary
""")
