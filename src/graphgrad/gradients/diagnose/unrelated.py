"""Diagnoses unconnected gradients: near misses, and what y does depend on."""

from __future__ import annotations

from collections.abc import Collection

from graphgrad.gradients.core.gradient_paths import GraphView
from graphgrad.ir.graph import Graph, Operation, Tensor


def how_unrelated(ys: list[Tensor], x: Tensor, view: GraphView) -> tuple[str, ...]:
    """Describes, in lines of text, by which near miss y and x are not connected, and what y depends on."""
    above_y, above_x = set(view.upstream(ys)), view.upstream([x])
    ends = {y.op for y in ys}
    said = []
    if x.op in above_y:
        said.append(f"y depends on other outputs of {x.op.type} '{x.op.name}', not on output {x.value_index}.")
    elif all(y.graph is x.graph and y.op.index < x.op.index for y in ys):
        said.append("x was built after y, so y cannot depend on it.")
    shared = [op for op in above_x if op is not x.op and op in above_y and op not in ends and _is_source(op)]
    if shared:
        source = shared[0]
        said.append(f"Both are computed from '{source.name}' ({source.type}), built at {source.source}; y does not "
                    "go through x. Fix: build y from x, or differentiate with respect to that.")
    assigned = _assigned(x.graph, x, above_y)
    if assigned is not None:
        said.append(f"x is assigned to variable '{assigned.inputs[0].op.name}' by '{assigned.name}', built at "
                    f"{assigned.source}; gradients do not pass through assignments. Fix: use the assigned tensor "
                    "itself.")
    elif _waits_for(above_y, x.op, view):
        said.append("y only waits for x: control dependencies order operations, they carry no values.")
    sources = sorted({op.name for op in above_y if _is_source(op)})
    if sources:
        more = f" and {len(sources) - 6} more" if len(sources) > 6 else ""
        said.append(f"What y depends on: {', '.join(sources[:6])}{more}.")
    else:
        said.append("y depends on no variable and no placeholder.")
    return tuple(said)


def _waits_for(ops: Collection[Operation], x: Operation, view: GraphView) -> bool:
    """Returns whether one of some operations waits for another, be it for its values or by a control dependency."""
    seen, waiting = set(ops), list(ops)
    while waiting:
        op = waiting.pop()
        further = {*(t.op for t in view.inputs(op)), *op.control_inputs} - seen
        seen |= further
        waiting += further
    return x in seen


def _assigned(graph: Graph, x: Tensor, above_y: Collection[Operation]) -> Operation | None:
    """Finds an assignment of a value that depends on x to a variable that y reads."""
    below = {x.op.index}
    for op in graph._operations[x.op.index + 1 :]:
        if any(t is x or (t.op.index in below and t.op is not x.op) for t in op.inputs):
            below.add(op.index)
            if op.opdef.variable in ("assign", "update") and op.inputs[0].op in above_y:
                return op
    return None


def _is_source(op: Operation) -> bool:
    """Returns whether an operation gives a value from outside: a feed, or a variable."""
    return op.type == "VarHandleOp" or op.opdef.placeholder
