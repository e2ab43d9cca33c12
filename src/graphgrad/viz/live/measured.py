"""What a run measured, for a live picture: steps with time, bytes and devices, and what was computed once more."""

from __future__ import annotations

from typing import Any

from graphgrad.executor.runtime.run_report import RunReport
from graphgrad.viz.nesting import Nesting
from graphgrad.viz.sections import is_copy


def measured(nesting: Nesting, run_metadata: Any) -> dict[str, Any]:
    """Returns the steps of a run by operations' numbers, None without a run, and the recomputed operations.

    Raises: TypeError for anything but a `RunMetadata` or a `RunReport`; ValueError for one without a report.
    """
    again = {i: 2 if is_copy(op) else 1 for i, op in enumerate(nesting.ops)  # 2: says itself what it repeats
             if op.index in op.graph._notes.recomputed or is_copy(op)}
    if run_metadata is None:
        return {"run": None, "again": again, "bytes": {}}
    report = getattr(run_metadata, "report", run_metadata)
    if report is None:
        raise ValueError("the RunMetadata has no report. Fix: run with "
                         "options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=it")
    if not isinstance(report, RunReport):
        raise TypeError(f"run_metadata must be a RunMetadata or its report, not a {type(run_metadata).__name__}")
    number = {op.name: i for i, op in reversed(list(enumerate(nesting.ops)))}
    sizes: dict[int, int] = {}
    steps = []
    for step in report.steps:
        alive = []
        for name, size in step.alive:
            i = number.get(name.partition(":")[0], -1)
            alive.append([i, size, name])
            if i >= 0 and name.endswith(":0"):
                sizes[i] = size
        steps.append({"kind": step.kind, "origin": step.origin, "device": step.device,
                      "seconds": round(step.seconds, 9),
                      "out": step.output_bytes, "temp": step.temporary_bytes, "live": step.live_bytes,
                      "ops": [number[name] for name in step.names if name in number], "alive": alive})
    return {"run": {"steps": steps, "peak": report.peak_bytes}, "again": again, "bytes": sizes}
