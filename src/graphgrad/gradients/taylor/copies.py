"""Repeats operations on replaced tensors, up to what is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from graphgrad.gradients.core.rules import beside
from graphgrad.ir.graph import Graph, Operation, Tensor

from .direction_stacks import rebuilt


def copied(graph: Graph, ops: Sequence[Operation], replaced: dict[int, Tensor]) -> list[Operation]:
    """Builds operations on replaced inputs once more.

    Args:
      graph: the graph, which is the current one.
      ops: the operations, in the order of their execution.
      replaced: by the id of a tensor what replaces it; those of the copies are added.
    Returns: the operations that read a replaced tensor and may not be repeated, as they have effects or sub-graphs.
    """
    stuck: list[Operation] = []
    for op in ops:
        if not any(id(t) in replaced for t in op.inputs) or all(id(t) in replaced for t in op.outputs):
            continue
        if not _may_be_repeated(op):
            stuck.append(op)
            continue
        around = graph._around
        scope = graph._names.unique(f"{around.scope}/{op.name}" if around.scope else op.name)
        with around.having(scope=scope, source=op.source), beside(graph, op, True):
            outputs = rebuilt(op, [replaced.get(id(t), t) for t in op.inputs])
        outputs[0].op._gradient = op._gradient
        for old, new in zip(op.outputs, outputs, strict=True):
            if new._spec is not old._spec:
                new.set_shape(old._spec.shape)
            replaced[id(old)] = new
    return stuck


def _may_be_repeated(op: Operation) -> bool:
    record = op.opdef
    return bool(record.pure and not op.control_inputs and not callable(op._gradient) and op.outputs
                and not record.flags & {"stateful", "functional", "host"}
                and all(t.dtype.kind not in "o" for t in (*op.inputs, *op.outputs)))
