"""`tf.profiler.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.compat.internal.eager.profiler import Profile as Profile
from graphgrad.compat.internal.eager.profiler import ProfilerOptions as ProfilerOptions
from graphgrad.compat.internal.eager.profiler import Trace as Trace
from graphgrad.compat.internal.eager.profiler import start as start
from graphgrad.compat.internal.eager.profiler import stop as stop

__all__ = [
    "Profile", "ProfilerOptions", "Trace", "start", "stop"
]
