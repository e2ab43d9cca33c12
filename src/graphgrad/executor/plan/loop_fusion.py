"""Replaces a loop and the recording loop of its gradient by the fused one (`Notes.joints`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from graphgrad.ir.effects import ACTS, NOTHING, effect_of
from graphgrad.ir.graph import Operation


def join_loops(ops: Sequence[Operation], fed: Collection[int], refused: Collection[int],
               devices: dict[int, str]) -> tuple[list[Operation], dict[int, Any]]:
    """Replaces two loops over the same iterations by one.

    Args:
      ops: the operations of a run, or of a sub-graph of it, in execution order.
      fed: ids of tensors whose values are given.
      rejected: indices of joint loops that cannot be compiled.
      devices: operation index -> its device; joint loops are added.
    Returns: the operations in execution order, and id of a joint loop -> its `Joint`.
    """
    joined: dict[int, Any] = {}
    whole: dict[int, int] = {}  # index of a loop -> that of the joint loop
    result = list(ops)
    for record in ops:
        if record.type != "While" or record.index not in record.graph._notes.joints:
            continue
        joint = record.graph._notes.joints[record.index]
        forward = joint.forward
        if not joint.holds:
            continue
        if forward.index in record.graph._notes.recomputed or record.index in record.graph._notes.recomputed:
            continue
        if -2 - record.index in refused or devices.get(forward.index) != devices.get(record.index):
            continue
        if any(id(t) in fed for t in (*forward.outputs, *record.outputs)):
            continue
        order = _in_place(result, forward, record, joint, whole)
        if order is not None:
            made = joint.operation()
            joined[id(made)] = joint
            whole[forward.index] = whole[record.index] = made.index
            if forward.index in devices:
                devices[made.index] = devices[forward.index]
            result = order
    return result, joined


def _in_place(ops: list[Operation], forward: Operation, record: Operation, joint: Any,
              whole: dict[int, int]) -> list[Operation] | None:
    """Puts the joint loop in place of `record`; None if another operation must run in between."""
    places = {op.index: i for i, op in enumerate(ops)}  # without_unused has replaced some
    start, end = places.get(forward.index), places.get(record.index)
    if start is None or end is None or start > end:
        return None
    between = ops[start + 1 : end]
    later: list[Operation] = []
    after = {forward.index}
    for op in (*between, record):
        before = (o.index for o in (*(t.op for t in op.inputs), *op.control_inputs))
        if any(whole.get(i, i) in after for i in before):
            after.add(op.index)
            later.append(op)
    if later and later[-1] is record:
        return None
    # Operations with effects keep their order among those with effects and reads of variables.
    moved = set(map(id, later))
    moving = max(effect_of(op) for op in (forward, *later))
    staying = max((effect_of(op) for op in between if id(op) not in moved), default=NOTHING)
    if moving + staying > ACTS:
        return None
    return [*ops[:start], *(op for op in between if id(op) not in moved), joint.operation(), *later, *ops[end + 1 :]]
