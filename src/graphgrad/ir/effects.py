"""Side effects of operations: what may be repeated, moved or merged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from .dtypes import resource
from .funcgraph import FuncGraph
from .graph import Graph, Operation, Tensor

NOTHING, READS, ACTS = range(3)


def effect_of(op: Operation) -> int:
    """Classifies the side effects of an operation: whether its results depend on when and how often it runs.

    Random operations have none: they can draw the same numbers again.

    Args:
      op: the operation; one with sub-graphs has the effects of the operations in them.
    Returns: NOTHING; READS, if it reads what others change; ACTS, if it changes something or calls Python.
    """
    flags = op.opdef.flags
    if "functional" in flags:
        return max((_effect_in(g) for g in bodies_of(op)), default=NOTHING)
    if "calls" in flags:
        return ACTS
    if "stateful" not in flags or "random" in flags or "idle" in flags:
        return NOTHING
    return READS if "reads" in flags else ACTS


def has_effect(op: Operation) -> bool:
    """Returns whether an operation has side effects, so that a function runs it even if no result needs it."""
    flags = op.opdef.flags
    if "functional" in flags:
        return any(map(effects_of, bodies_of(op)))
    return "stateful" in flags and not flags & {"reads", "random"} and op.type not in ("VarHandleOp", "Placeholder")


def effects_of(graph: FuncGraph) -> list[Operation]:
    """Returns the operations of a body with side effects that happen whenever the body runs.

    In a function these are all operations with effects. In a graph of 1.x they are those that the outputs wait for.
    """
    if graph.keeps_effects:
        return list(filter(has_effect, graph._operations))
    return list(filter(has_effect, runs_for(graph, graph.outputs)))


def runs_for(graph: FuncGraph, outputs: Sequence[Tensor]) -> list[Operation]:
    """Returns the operations of a body that some tensors depend on or wait for, and those run for their effects."""
    effects = filter(has_effect, graph._operations) if graph.keeps_effects else ()
    return with_all_before([*(t.op for t in outputs), *effects])


def with_all_before(operations: Iterable[Operation], fed: Collection[int] = ()) -> list[Operation]:
    """Returns operations of one graph with all that they depend on or wait for, in the order in which they run.

    Args:
      operations: the operations.
      fed: ids of tensors whose values are given; operations that only they need are omitted.
    """
    needed: dict[int, Operation] = {}
    waiting = list(operations)
    while waiting:
        op = waiting.pop()
        if op.index not in needed:
            needed[op.index] = op
            waiting.extend(t.op for t in op.inputs if id(t) not in fed)
            waiting.extend(op.control_inputs)
    graph = next(iter(needed.values())).graph if needed else None
    return [needed[i] for i in graph.in_order(needed)] if graph is not None else []


def _effect_in(graph: FuncGraph) -> int:
    known: tuple[int, int] | None = graph._scoped_state.get("effect")
    count = len(graph._operations)
    if known is None or known[0] != count:
        known = graph._scoped_state["effect"] = count, max(map(effect_of, graph._operations), default=NOTHING)
    return known[1]


def bodies_of(op: Operation) -> list[FuncGraph]:
    """Returns the sub-graphs that an operation holds."""
    return [g for g in op.attrs.values() if isinstance(g, FuncGraph)]


def is_map(op: Operation) -> bool:
    """Returns whether an operation runs a sub-graph on the rows of tensors."""
    return "functional" in op.opdef.flags and "mapped" in op.attrs


def body_inputs(op: Operation) -> tuple[Tensor, ...]:
    """Returns the inputs of an operation that are passed to its sub-graphs."""
    first = next(i for i, arg in enumerate(op.opdef.inputs) if arg.is_list)
    return op.inputs[first:]


def handle_behind(t: Tensor) -> Tensor:
    """Returns the handle behind `t`."""
    while t.op.opdef.alias:
        t = t.op.inputs[t.value_index]
    return t


def last_changes(graph: Graph) -> dict[int, int]:
    """Maps each handle, by id, whose resource a graph changes, to the index of the last operation that does."""
    last, seen = graph._scoped_state.get("last_changes", ({}, 0))
    operations = graph._operations
    for op in operations[seen:]:
        if "stateful" in op.opdef.flags:
            last.update((id(handle), op.index) for handle in changed_by(op))
    graph._scoped_state["last_changes"] = last, len(operations)
    return last  # type: ignore[no-any-return]  # other modules' state is untyped


def changed_by(op: Operation) -> Iterator[Tensor]:
    """Yields the handles among an operation's inputs whose resources it changes."""
    if effect_of(op) != ACTS:
        return
    if "functional" not in op.opdef.flags:
        yield from (handle_behind(t) for t in op.inputs if t.dtype is resource)
        return
    given = body_inputs(op)
    for body in bodies_of(op):
        inside = {id(p): t for p, t in zip(body.inputs, given, strict=False)}
        for inner in body._operations:
            for handle in changed_by(inner):
                if id(handle) in inside:
                    yield handle_behind(inside[id(handle)])
