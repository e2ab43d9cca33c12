"""Packs small values that pass between the same clusters into one buffer.

A buffer passed between programs costs about a microsecond on either side, whatever its size. A long graph of small
tensors keeps thousands of them for its gradient. So the producer concatenates those that have the same readers, and the
readers split them again.
"""

from __future__ import annotations

import math
from typing import Any

from graphgrad.executor.program.plan_types import Cluster, Plan
from graphgrad.ir.graph import Tensor
from graphgrad.ir.shape import is_fully_defined

_SMALL = 8192  # bytes: copying more costs as much as a separate buffer
_FEW = 4  # values: the least number worth packing


def pack(plan: Plan) -> None:
    """Packs small values that have one producer and the same readers; changes the clusters of a plan."""
    reached: dict[int, list[int]] = {}  # slot -> the steps that read it
    barred = {*plan.fetches, *(s for s, _ in plan.stores), *(s for s, _, _ in plan.checks)}
    for number, step in enumerate(plan.steps):
        for s in step.ins:
            reached.setdefault(s, []).append(number)
        if not isinstance(step, Cluster):
            barred.update(step.ins)
        elif step.split is not None:
            barred.update(step.ins, step.shapes, step.known)
        else:
            barred.update(step.shapes, step.known, step.donated)
    for step in plan.steps:
        if not isinstance(step, Cluster) or step.split is not None or len(step.outs) < _FEW:
            continue
        groups: dict[Any, list[int]] = {}
        for s in step.outs:
            t = plan.static.get(s)
            if s not in barred and t is not None and _is_small(t):
                groups.setdefault((t.dtype, *reached[s]), []).append(s)
        for (_, *readers), parts in groups.items():
            if len(parts) >= _FEW:
                _put_together(plan, step, [plan.steps[r] for r in readers], parts)


def _is_small(t: Tensor) -> bool:
    dtype, shape = t.dtype, t._spec.shape
    if dtype.kind not in "fiub" or dtype.size is None or shape is None or not is_fully_defined(shape):
        return False
    return math.prod(n or 0 for n in shape) * dtype.size <= _SMALL


def _put_together(plan: Plan, producer: Cluster, readers: list[Any], parts: list[int]) -> None:
    whole = plan.slots
    plan.slots += 1
    gone = set(parts)
    shapes = [plan.static[s]._spec.shape for s in parts]
    producer.packed[whole] = parts
    producer.outs = [*(s for s in producer.outs if s not in gone), whole]
    for reader in readers:
        reader.unpacked[whole] = list(zip(parts, shapes, strict=True))
        reader.ins = [*(s for s in reader.ins if s not in gone), whole]
        reader.frees = [s for s in reader.frees if s not in gone]
    readers[-1].frees.append(whole)
