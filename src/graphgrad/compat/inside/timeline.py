"""`tensorflow.python.client.timeline`."""

from __future__ import annotations

import json
from typing import Any


class Timeline:
    """A trace for chrome://tracing; how long each step took is not measured here, so it is empty.

    `Session.explain`, or `RunMetadata.report`, shows the steps of a run.

    Args:
      step_stats: the `step_stats` of a `RunMetadata`.
      graph: accepted.
    """

    def __init__(self, step_stats: Any, graph: Any = None):
        self._step_stats = step_stats

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False,
                                     op_time: str = "schedule") -> str:  # fmt: skip
        """JSON text in Chrome's format, without events.

        Args:
          show_dataflow, show_memory, op_time: accepted.
        """
        return json.dumps({"traceEvents": []})
