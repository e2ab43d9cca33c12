"""`tensorflow.python.client.timeline`: traces of runs as JSON that Perfetto and chrome://tracing open.

Reference: the Trace Event Format, as perfetto.dev's documentation of external formats describes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

_STEPS = 0  # the thread of a device's steps
_CATEGORY, _FLOW = "Op", "DataFlow"


class AllocationMaximum(NamedTuple):
    """The most memory that was in use at once.

    Attributes:
      timestamp: when, in microseconds.
      num_bytes: how much.
      tensors: TensorFlow's set of tensors; empty here, where values are listed in `RunReport`.
    """

    timestamp: int
    num_bytes: int
    tensors: frozenset[str]


class StepStatsAnalysis(NamedTuple):
    """What `Timeline.analyze_step_stats` found.

    Attributes:
      chrome_trace: the trace, with `format_to_string(pretty=False)`.
      allocator_maximums: the name of an allocator -> its `AllocationMaximum`.
    """

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """Events of a trace.

    Attributes:
      events: a dictionary for each, as in the Trace Event Format.
    """

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._flows = 0

    def process(self, pid: int, name: str) -> None:
        """Gives a name to a process, such as a device; processes are shown in the order of their numbers.

        Args:
          pid: its number.
          name: its name.
        """
        self.events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})
        self.events.append({"name": "process_sort_index", "ph": "M", "pid": pid, "args": {"sort_index": pid}})

    def thread(self, pid: int, tid: int, name: str) -> None:
        """Gives a name to a thread of a process.

        Args:
          pid, tid: the numbers of both.
          name: its name.
        """
        self.events.append({"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}})

    def span(self, pid: int, tid: int, name: str, start: int, duration: int, args: dict[str, Any],
             category: str = _CATEGORY) -> None:
        """Adds something that took time.

        Args:
          pid, tid: where.
          name: what.
          start, duration: when, in microseconds.
          args: what is said of it.
          category: its kind.
        """
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start,
                            "dur": duration, "args": args})

    def counter(self, pid: int, name: str, time: int, **values: int) -> None:
        """Adds the values of a counter from a time on.

        Args:
          pid: whose.
          name: its name.
          time: in microseconds.
          **values: the values.
        """
        self.events.append({"ph": "C", "cat": "Memory", "name": name, "pid": pid, "tid": _STEPS, "ts": time,
                            "args": values})

    def flow(self, start: tuple[int, int, int], end: tuple[int, int, int]) -> None:
        """Adds an arrow between two spans.

        Args:
          start, end: (pid, tid, time within the span).
        """
        self._flows += 1
        for kind, (pid, tid, time) in (("s", start), ("f", end)):
            event = {"ph": kind, "cat": _FLOW, "name": "value", "id": self._flows, "pid": pid, "tid": tid, "ts": time}
            self.events.append({**event, "bp": "e"} if kind == "f" else event)

    def format_to_string(self, pretty: bool = False) -> str:
        """Returns the trace as JSON.

        Args:
          pretty: whether to indent it.
        """
        return json.dumps({"traceEvents": self.events}, indent=4 if pretty else None)


class Timeline:
    """A trace of the steps of a run: clusters of operations, operations on the host, moves between devices.

    Args:
      step_stats: the `step_stats` of a `RunMetadata`, of this package or of TensorFlow's.
      graph: accepted.
    Reference: TensorFlow 2.21 `tensorflow.python.client.timeline.Timeline`.
    """

    def __init__(self, step_stats: Any, graph: Any = None):
        self._step_stats = step_stats

    def analyze_step_stats(self, show_dataflow: bool = True, show_memory: bool = True,
                           op_time: str = "schedule") -> StepStatsAnalysis:
        """Makes the trace.

        Args:
          show_dataflow: whether arrows lead from steps to those that get their results.
          show_memory: whether counters show the memory that is alive after each step, and what the step allocates.
          op_time: "all" also shows the time until a step was begun, where that is known.
        Returns: a `StepStatsAnalysis`.
        """
        trace = ChromeTrace()
        maximums = add_steps(trace, self._step_stats, show_dataflow, show_memory, op_time)
        return StepStatsAnalysis(trace, maximums)

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False,
                                     op_time: str = "schedule") -> str:
        """Returns the trace as JSON text.

        Args:
          show_dataflow, show_memory, op_time: as for `analyze_step_stats`.
        """
        return self.analyze_step_stats(show_dataflow, show_memory, op_time).chrome_trace.format_to_string(pretty=True)


def add_steps(trace: ChromeTrace, step_stats: Any, show_dataflow: bool, show_memory: bool, op_time: str = "schedule",
              pids: dict[str, int] | None = None) -> dict[str, AllocationMaximum]:
    """Adds the steps of a run to a trace.

    Args:
      trace: the trace.
      step_stats: the steps.
      show_dataflow, show_memory, op_time: as for `Timeline.analyze_step_stats`.
      pids: the numbers of the devices of earlier runs; it is added to.
    Returns: the most memory in use, by the names of allocators.
    """
    pids = {} if pids is None else pids
    ends: dict[str, tuple[int, int, int]] = {}
    maximums: dict[str, AllocationMaximum] = {}
    for pid, node in _in_order(trace, _devices(step_stats), pids):
        name, kind, inputs = parts_of(node.timeline_label, node.node_name)
        start, duration = node.all_start_micros, max(0, node.all_end_rel_micros)
        if op_time == "all" and node.scheduled_micros and node.scheduled_micros < start:
            start, duration = node.scheduled_micros, duration + start - node.scheduled_micros
        args = {"name": name, "op": kind, **{f"input{i}": value for i, value in enumerate(inputs)}}
        trace.span(pid, node.thread_id, kind, start, duration, args)
        if show_dataflow:
            for value in inputs:
                if value in ends:
                    trace.flow(ends[value], (pid, node.thread_id, start))
        ends[name] = pid, node.thread_id, start + duration
        if show_memory:
            for used in node.memory:
                _memory(trace, maximums, pid, start, duration, used)
    return maximums


def _devices(step_stats: Any) -> Iterable[Any]:
    """Returns the devices of a message; none of what is no `StepStats`, as a run without a trace has it."""
    found = getattr(step_stats, "dev_stats", None)
    return found if found is not None and hasattr(found, "__iter__") else ()


def _in_order(trace: ChromeTrace, devices: Iterable[Any], pids: dict[str, int]) -> list[tuple[int, Any]]:
    """Returns the steps with the numbers of their devices, by the times at which they began; names new devices."""
    found = []
    for device in devices:
        if device.device not in pids:
            pid = pids[device.device] = len(pids)
            trace.process(pid, f"{device.device} Compute")
            trace.thread(pid, _STEPS, "steps")
        found += [(pids[device.device], node) for node in device.node_stats]
    return sorted(found, key=_start)


def _start(entry: tuple[int, Any]) -> int:
    start: int = entry[1].all_start_micros
    return start


def _memory(trace: ChromeTrace, maximums: dict[str, AllocationMaximum], pid: int, start: int, duration: int,
            used: Any) -> None:
    name = used.allocator_name
    in_use = used.allocator_bytes_in_use or used.live_bytes
    trace.counter(pid, f"{name}: allocated by the step", start, bytes=used.total_bytes)
    trace.counter(pid, f"{name}: allocated by the step", start + duration, bytes=0)
    trace.counter(pid, f"{name}: alive", start + duration, bytes=in_use)
    if name not in maximums or in_use > maximums[name].num_bytes:
        maximums[name] = AllocationMaximum(start + duration, in_use, frozenset())


def parts_of(label: str, default: str) -> tuple[str, str, list[str]]:
    """Returns name, kind and inputs of a label such as "name = kind(inputs)".

    Args:
      label: the label.
      default: the name of the step, for labels of other forms.
    """
    name, equals, rest = label.partition(" = ")
    kind, bracket, inputs = rest.rpartition("(")
    if not equals or not bracket:
        return default, label or default, []
    return name, kind, [i.strip() for i in inputs.rstrip(")").split(",") if i.strip()]
