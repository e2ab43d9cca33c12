"""`tf.profiler` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.profiling.options: ProfileOptionBuilder
graphgrad.extras.profiling.profile_messages: AdviceProto GraphNodeProto MultiGraphNodeProto OpLogProto
graphgrad.extras.profiling.profiler: Profiler advise profile write_op_log
""")
