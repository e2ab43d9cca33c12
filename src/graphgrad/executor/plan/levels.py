"""Levels: how many rounds of host operations come before an operation.

An operation goes to a later level only if it must: because it needs the result of a host op, or because it needs a
*value* to be lowered at all (the target shape of a reshape, say) that the compiler cannot know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphgrad.executor.program.interpreter import may_be_folded
from graphgrad.executor.program.plan_types import Provenance
from graphgrad.ir import dtypes
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor

from .constants import Knowledge


def assign_levels(ops: Sequence[Operation], fed: set[int], known: Knowledge, cell_of: Callable[[Tensor], int],
                  indices_of: Callable[[Operation], tuple[int, ...]]) -> dict[int, list[tuple[Operation, bool]]]:
    """Finds the level of each operation.

    Args:
      ops: the operations, in creation order.
      fed: ids of fed tensors.
      known: the values known before the run.
      cell_of: gives the index of the variable behind a handle.
      indices_of: gives the indices of the operations in whose place a new one runs, whose own index is negative.
    Returns: level -> (operation, whether it runs on the host), in creation order.
    """
    levels: dict[int, int] = {}
    on_host: set[int] = set()
    last_write: dict[int, int] = {}
    last_use: dict[int, int] = {}
    result: dict[int, list[tuple[Operation, bool]]] = {}
    for op in ops:
        host = _needs_host(op) or known.only_on_host(op)
        level = _after(op, host, fed, levels, on_host)
        if not host:
            for position, source in known.needs(op):
                if source is Provenance.STEP:
                    level = max(level, levels[op.inputs[position].op.index] + 1)
        cells = [cell_of(t) for t in op.inputs if t._spec.dtype is dtypes.resource]
        writes = bool(cells) and "reads" not in op.opdef.flags
        for cell in cells:
            level = max(level, last_write.get(cell, 0))
            if writes:
                level = max(level, last_use.get(cell, 0))
        for cell in cells:
            # A host op comes after the clusters of its level.
            after = level + host
            last_use[cell] = max(last_use.get(cell, 0), after)
            if writes:
                last_write[cell] = after
        for index in (op.index,) if op.index >= 0 else indices_of(op):
            levels[index] = level
            if host:
                on_host.add(index)
        if level not in result:
            result[level] = []
        result[level].append((op, host))
    return result


def _after(op: Operation, host: bool, fed: set[int], levels: dict[int, int], on_host: set[int]) -> int:
    """Returns the first level in which an operation's inputs are there, and what it waits for is done."""
    level = 0
    for t in op.inputs:
        if id(t) not in fed:
            producer = t.op.index
            least = levels[producer]
            if not host and producer in on_host:
                least += 1
            if least > level:
                level = least
    for c in op.control_inputs:
        level = max(level, levels[c.index] + (c.index in on_host and not host))
    return level


def _needs_host(op: Operation) -> bool:
    """Returns whether an operation can only run in Python."""
    flags = op.opdef.flags
    if "host" in flags:
        return True
    if "functional" in flags:
        bodies = [g for g in op.attrs.values() if isinstance(g, FuncGraph)]
        if any(_needs_host(o) and not may_be_folded(o) for g in bodies for o in g._operations):
            return True
        # XLA's control flow carries values of one shape.
        return op.type == "If" and any(
            a._spec.shape != b._spec.shape for a, b in zip(bodies[0].outputs, bodies[1].outputs, strict=True)
        )
    for t in op.inputs:
        if t._spec.dtype is dtypes.string:
            return True
    return any(t._spec.dtype is dtypes.string for t in op.outputs)
