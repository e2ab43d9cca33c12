"""What is to be shown: a graph, or what some tensors of it need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphgrad.gradients.diagnose.explanation import GradientExplanation
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.funcgraph import stands_for
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.values.composite import Composite


def explained_ends(explanation: GradientExplanation) -> list[Tensor]:
    """Returns the ys and x; an x outside of the ys' sub-graph is replaced by its placeholder there."""
    graph, x = explanation.ys[0].graph, explanation.x
    inside = [x] if x.graph is graph else [p for p in getattr(graph, "inputs", ()) if stands_for(p) is stands_for(x)]
    return [*explanation.ys, *inside]


def ends_of(what: Any) -> tuple[Graph, set[Operation]]:
    """Returns the graph, and the operations to draw the ancestors of (none for a whole graph)."""
    if what is None:
        return get_default_graph(), set()
    if isinstance(what, Graph):
        return what, set()
    graph = getattr(what, "graph", None)
    if isinstance(graph, Graph) and not isinstance(what, (Tensor, Operation)):
        return graph, set()  # a Session, a concrete function
    ends = dict.fromkeys(_operations(what))
    graphs = {op.graph for op in ends}
    if len(graphs) != 1:
        raise ValueError("the tensors to draw belong to several graphs" if graphs else "there are no tensors to draw")
    return graphs.pop(), set(ends)


def _operations(what: Any) -> Iterable[Operation]:
    if isinstance(what, (list, tuple, set)):
        for w in what:
            yield from _operations(w)
    elif isinstance(what, dict):
        yield from _operations(list(what.values()))
    elif isinstance(what, Operation):
        yield what
    elif isinstance(what, Tensor):
        yield what.op
    elif isinstance(what, Composite):
        yield from _operations(what._parts())
    elif what is not None:
        element = getattr(what, "_as_graph_element", None)
        if element is None:
            raise TypeError(f"cannot draw a {type(what).__name__}; give a Graph, tensors or operations")
        yield from _operations(element())


def upstream(ends: set[Operation]) -> list[Operation]:
    """Returns the operations that some depend on, and these."""
    seen: dict[Operation, None] = {}
    stack = list(ends)
    while stack:
        op = stack.pop()
        if op not in seen:
            seen[op] = None
            stack += [t.op for t in op.inputs]
            stack += op.control_inputs
    return list(seen)
