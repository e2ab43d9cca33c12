"""`tf.profiler.experimental`: marks for a profiler that is not here; `RunMetadata` says how long operations took."""

from __future__ import annotations

import warnings
from typing import Any


class Trace:
    """A block with a name for the profiler; it does nothing.

    Args:
      name: the name.
      **kwargs: accepted.
    """

    def __init__(self, name: str, **kwargs: Any):
        self.name = name

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *details: Any) -> None:
        pass

    def set_metadata(self, **kwargs: Any) -> None:
        """Does nothing.

        Args:
          **kwargs: accepted.
        """


class ProfilerOptions:
    """What the profiler looks at; kept, and without effect.

    Args:
      host_tracer_level, python_tracer_level, device_tracer_level, delay_ms: accepted.
    """

    def __init__(self, host_tracer_level: int = 2, python_tracer_level: int = 0, device_tracer_level: int = 1,
                 delay_ms: int | None = None):
        self.host_tracer_level, self.python_tracer_level = host_tracer_level, python_tracer_level
        self.device_tracer_level, self.delay_ms = device_tracer_level, delay_ms


def start(logdir: str, options: Any = None) -> None:
    """Warns that no profile is written.

    Args:
      logdir, options: accepted.
    """
    warnings.warn("graphgrad writes no profiles. Fix: session.run with RunOptions(trace_level=FULL_TRACE)",
                  stacklevel=2)


def stop(save: bool = True) -> None:
    """Does nothing: no profile is written.

    Args:
      save: accepted.
    """


class Profile:
    """A block that would be profiled; warns that no profile is written.

    Args:
      logdir, options: accepted.
    """

    def __init__(self, logdir: str, options: Any = None):
        self._logdir = logdir

    def __enter__(self) -> None:
        start(self._logdir)

    def __exit__(self, *details: Any) -> None:
        stop()
