"""`tf.profiler` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.extras.profiling.options import ProfileOptionBuilder as ProfileOptionBuilder
from graphgrad.extras.profiling.profile_messages import AdviceProto as AdviceProto
from graphgrad.extras.profiling.profile_messages import GraphNodeProto as GraphNodeProto
from graphgrad.extras.profiling.profile_messages import MultiGraphNodeProto as MultiGraphNodeProto
from graphgrad.extras.profiling.profile_messages import OpLogProto as OpLogProto
from graphgrad.extras.profiling.profiler import Profiler as Profiler
from graphgrad.extras.profiling.profiler import advise as advise
from graphgrad.extras.profiling.profiler import profile as profile
from graphgrad.extras.profiling.profiler import write_op_log as write_op_log

__all__ = [
    "AdviceProto", "GraphNodeProto", "MultiGraphNodeProto", "OpLogProto", "ProfileOptionBuilder", "Profiler", "advise",
    "profile", "write_op_log"
]
