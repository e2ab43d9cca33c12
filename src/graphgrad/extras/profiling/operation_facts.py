"""What is known of each operation of a graph: parameters, float operations, and time and bytes of runs.

A step of a run is one compiled program. Its time is divided among its operations by their float operations and the
sizes of their results, which is an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from graphgrad.executor.runtime.run_report import RunReport
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.ir.graph import Graph, Operation

from .float_ops import float_operations

COUNTS = ("exec_micros", "accelerator_exec_micros", "cpu_exec_micros", "requested_bytes", "peak_bytes",
          "residual_bytes", "output_bytes", "parameters", "float_ops", "run_count")
TRAINABLE = "_trainable_variables"
_WITHOUT_BYTES = frozenset(("resource", "string", "variant"))


class Facts:
    """What is known of an operation.

    Attributes:
      name: its name; `kind` its type.
      op: the operation.
      types: what it can be chosen by: type, devices, and what the program says of it.
      counts: name of a number (`COUNTS`) -> the number.
      devices: where it ran.
    """

    def __init__(self, op: Operation):
        self.op = op
        self.name, self.kind = op.name, op.type
        self.types = {op.type}
        self.counts: dict[str, float] = dict.fromkeys(COUNTS, 0)
        self.devices: list[str] = []
        if op.device:
            self.types.add(op.device)
        if op.opdef.variable == "handle" or op.type in ("Variable", "VariableV2"):
            self.counts["parameters"] = _parameters(op)


def _parameters(op: Operation) -> int:
    shape = op._attr("shape")
    dims = None if shape is None else tuple(shape)
    return 0 if dims is None or None in dims else math.prod(int(n) for n in dims if n is not None)


def facts_of(graph: Graph, op_log: Any = None) -> tuple[dict[str, Facts], int]:
    """Returns what is known of a graph's operations without a run, by their names.

    Args:
      graph: the graph.
      op_log: an `OpLogProto` with more, or None.
    Returns: the facts; and the number of operations whose float operations are not known, since shapes are not.
    """
    found: dict[str, Facts] = {}
    unknown = 0
    for op in graph.get_operations():
        facts = found[op.name] = Facts(op)
        count = float_operations(op)
        unknown += count is None
        facts.counts["float_ops"] = count or 0
    for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
        for op in _variable_ops(variable):
            if op.name in found:
                found[op.name].types.add(TRAINABLE)
    for entry in getattr(op_log, "log_entries", ()):
        if entry.name in found:
            found[entry.name].types.update(entry.types)
            if entry.float_ops:
                found[entry.name].counts["float_ops"] = entry.float_ops
    return found, unknown


def _variable_ops(variable: Any) -> Iterable[Operation]:
    handle = getattr(variable, "handle", None)
    return [op for op in (getattr(handle, "op", None), getattr(variable, "op", None)) if isinstance(op, Operation)]


def add_run(facts: dict[str, Facts], run_metadata: Any, share: float = 1.0) -> None:
    """Adds what a run measured.

    Args:
      facts: of the graph's operations.
      run_metadata: a `RunMetadata`; one that was read from a file has times of steps alone.
      share: what it counts for, where the mean of several is wanted.
    """
    report = getattr(run_metadata, "report", None)
    if isinstance(report, RunReport):
        for step in report.steps:
            _add_step(facts, [n for n in step.names if n in facts], step.seconds * 1e6, step.device, share)
        _add_bytes(facts, report, share)
        return
    for device in run_metadata.step_stats.dev_stats:
        for node in device.node_stats:
            if node.node_name in facts:
                _add_step(facts, [node.node_name], node.all_end_rel_micros, device.device, share)
                output = sum(used.live_bytes or used.total_bytes for used in node.memory)
                _add_output(facts[node.node_name], output * share)


def _add_step(facts: dict[str, Facts], names: list[str], micros: float, device: str, share: float) -> None:
    weights = [facts[n].counts["float_ops"] + _elements(facts[n].op) + 1 for n in names]
    total = sum(weights)
    place = f"/job:localhost/replica:0/task:0/device:{device or 'CPU:0'}" if not device.startswith("/") else device
    which = "cpu_exec_micros" if "CPU" in place.upper() else "accelerator_exec_micros"
    for name, weight in zip(names, weights, strict=True):
        one = facts[name]
        one.counts["run_count"] += share
        one.counts["exec_micros"] += share * micros * weight / total
        one.counts[which] += share * micros * weight / total
        one.types.add(place)
        if place not in one.devices:
            one.devices.append(place)


def _elements(op: Operation) -> int:
    """The number of elements of an operation's results, as far as it is known."""
    return sum(math.prod(n or 1 for n in t._spec.shape or ()) for t in op.outputs)


def _add_bytes(facts: dict[str, Facts], report: RunReport, share: float) -> None:
    sizes = {name: size for step in report.steps for name, size in step.alive}
    ran = {name for step in report.steps for name in step.names}
    for name in ran & facts.keys():
        output = 0
        for t in facts[name].op.outputs:
            shape = t._spec.shape
            known = shape is not None and None not in shape and t.dtype.name not in _WITHOUT_BYTES
            output += t.dtype.size * math.prod(n or 0 for n in shape or ()) if known else sizes.get(t.name, 0)
        _add_output(facts[name], output * share)


def _add_output(one: Facts, count: float) -> None:
    for name in ("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes"):
        one.counts[name] += count
