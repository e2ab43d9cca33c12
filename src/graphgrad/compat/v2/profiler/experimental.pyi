"""`tf.profiler.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.extras.profiling.recorder import Profile as Profile
from graphgrad.extras.profiling.recorder import ProfilerOptions as ProfilerOptions
from graphgrad.extras.profiling.recorder import Trace as Trace
from graphgrad.extras.profiling.recorder import start as start
from graphgrad.extras.profiling.recorder import stop as stop

__all__ = [
    "Profile", "ProfilerOptions", "Trace", "start", "stop"
]
