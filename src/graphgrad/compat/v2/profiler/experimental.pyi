"""`tf.profiler.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.profiler import Profile as Profile
from graphgrad.compat.internal.profiler import ProfilerOptions as ProfilerOptions
from graphgrad.compat.internal.profiler import Trace as Trace
from graphgrad.compat.internal.profiler import start as start
from graphgrad.compat.internal.profiler import stop as stop

__all__ = [
    "Profile", "ProfilerOptions", "Trace", "start", "stop"
]
