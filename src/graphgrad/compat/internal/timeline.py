"""`tensorflow.python.client.timeline`."""

from __future__ import annotations

import json
from typing import Any


class Timeline:
    """A trace for chrome://tracing of the steps of a run: clusters of operations, operations on the host, moves.

    Args:
      step_stats: the `step_stats` of a `RunMetadata`.
      graph: accepted.
    """

    def __init__(self, step_stats: Any, graph: Any = None):
        self._step_stats = step_stats

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False,
                                     op_time: str = "schedule") -> str:
        """Returns JSON text in Chrome's format.

        Args:
          show_dataflow, show_memory, op_time: accepted.
        """
        events: list[dict[str, Any]] = []
        devices = getattr(self._step_stats, "dev_stats", None)
        for pid, device in enumerate(devices if isinstance(devices, list) else ()):  # nothing without a trace
            events.append({"name": "process_name", "ph": "M", "pid": pid,
                           "args": {"name": f"{device.device} Compute"}})
            for node in device.node_stats:
                name, _, kind = node.timeline_label.partition(" = ")
                events.append({"ph": "X", "cat": "Op", "name": kind.partition("(")[0], "pid": pid, "tid": 0,
                               "ts": node.all_start_micros, "dur": node.all_end_rel_micros,
                               "args": {"name": name, "op": kind}})
        return json.dumps({"traceEvents": events}, indent=4)
