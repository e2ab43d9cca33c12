"""Run times of steps, as TensorFlow's `StepStats`.

Reference: TensorFlow 2.21 step_stats.proto.
"""

from __future__ import annotations

from graphgrad.ir.proto.messages import Message

from .run_report import RunReport, _most


class AllocatorMemoryUsed(Message):
    """What a step needs of memory."""

    FIELDS = {"allocator_name": (1, "string"), "total_bytes": (2, "int"), "peak_bytes": (3, "int"),
              "live_bytes": (4, "int"), "allocator_bytes_in_use": (5, "int")}


class NodeExecStats(Message):
    """When a step ran: a cluster of operations, or host operations."""

    FIELDS = {"node_name": (1, "string"), "all_start_micros": (2, "int"), "op_start_rel_micros": (3, "int"),
              "op_end_rel_micros": (4, "int"), "all_end_rel_micros": (5, "int"), "memory": (6, [AllocatorMemoryUsed]),
              "timeline_label": (8, "string"), "scheduled_micros": (9, "int"), "thread_id": (10, "uint32")}


class DeviceStepStats(Message):
    """The steps of a device."""

    FIELDS = {"device": (1, "string"), "node_stats": (2, [NodeExecStats])}


class StepStats(Message):
    """The steps of a run."""

    FIELDS = {"dev_stats": (1, [DeviceStepStats])}


def step_stats(report: RunReport) -> StepStats:
    """Returns the steps of a report, by device.

    A label is that of TensorFlow's: "name = kind(inputs)". The kind says what a step consists of, the inputs are names
    of other steps. `allocator_bytes_in_use` is what is alive after the step, and `total_bytes` what it allocates.
    """
    found = StepStats()
    by_device: dict[str, DeviceStepStats] = {}
    names = [step.names[-1] if step.names else f"{step.kind}_{i}" for i, step in enumerate(report.steps)]
    for step, name in zip(report.steps, names, strict=True):
        device = f"/job:localhost/replica:0/task:0/device:{step.device or 'CPU:0'}"
        if device not in by_device:
            by_device[device] = found.dev_stats.add(device=device)
        micros = round(step.seconds * 1e6)
        inputs = ", ".join(names[i] for i in step.reads)
        used = AllocatorMemoryUsed(
            allocator_name="graphgrad", total_bytes=step.output_bytes + step.temporary_bytes,
            peak_bytes=step.output_bytes + step.temporary_bytes, live_bytes=step.output_bytes,
            allocator_bytes_in_use=step.live_bytes)
        by_device[device].node_stats.add(
            node_name=name, all_start_micros=round(step.start * 1e6), op_end_rel_micros=micros,
            all_end_rel_micros=micros, scheduled_micros=round(step.start * 1e6), memory=[used],
            timeline_label=f"{name} = {step.kind}: {_most(step.operations)}({inputs})")
    return found
