"""Inlines a function's trace into the graph that is being built.

What such a function does besides computing runs if one of its results is asked for, and in the order in which the
function does it, as if the call were one operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.structure import nest
from graphgrad.gradients.core.outer_graphs import open_entrances
from graphgrad.ir.context import current_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import resource
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.effects import bodies_of, effects_of, has_effect
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.composite import Bundle
from graphgrad.ir.values.indexed_slices import on_values


def argument(leaf: Any) -> Any:
    """Copies a leaf of the arguments to a new tensor, so that gradients distinguish it from the tensor passed."""
    if not isinstance(leaf, (Tensor, EagerTensor)) or leaf.dtype.kind not in "fc":
        return leaf
    graph = current_graph()
    assert graph is not None, "calls are inlined where a graph is being built"
    with graph._own_gradients():
        copy = raw.Identity(leaf)
    graph._notes.arguments.add(copy.op.index)
    return copy


def inlined(graph: Graph, function: Callable[..., Any], arguments: Sequence[Any] = ()) -> Any:
    """Calls a function whose operations are added to `graph`; returns its results.

    Args:
      graph: the graph that is being built.
      function: takes no arguments.
      arguments: those of the call, by `argument`. Inside of it gradients do not see where they come from.
    """
    start, keeps = len(graph._operations), graph.keeps_effects
    entrances = {t.op for t in arguments if isinstance(t, Tensor) and t.op.type == "Identity"} - open_entrances
    graph.keeps_effects = True
    open_entrances.update(entrances)
    try:
        result = function()
    finally:
        graph.keeps_effects = keeps
        open_entrances.difference_update(entrances)
    effects = [] if keeps else settled_effects(graph, start)  # handled by the graph that keeps them already
    return nest.map_structure(lambda leaf: _result(graph, leaf, effects), result)


def settled_effects(graph: Graph, start: int = 0) -> list[Operation]:
    """Returns the operations from number `start` on with effects; orders those on other resources than variables."""
    initial = graph._scoped_state.get("initializers", ())
    tables = graph.get_collection(GraphKeys.TABLE_INITIALIZERS)
    effects = [op for op in graph._operations[start:] if has_effect(op)]
    effects = [op for op in effects if op.index not in initial and op not in tables]
    before: Operation | None = None
    for op in effects:
        if _outside_of_variables(op):
            if before is not None and before not in op.control_inputs:
                op.control_inputs += (before,)
            before = op
    return effects


def _outside_of_variables(op: Operation) -> bool:
    bodies = bodies_of(op)
    return any(_outside_of_variables(o) for g in bodies for o in effects_of(g)) if bodies else "host" in op.opdef.flags


def after_effects(graph: Graph, t: Tensor, effects: Sequence[Operation]) -> Any:
    """Makes a tensor that waits for the effects; so do gradients through it."""
    if not effects:
        return t
    with graph.control_dependencies(effects):
        result = raw.Identity(t)

    def gradient(op: Operation, dy: Any) -> Any:
        here = current_graph()
        if here is not graph:  # the body of a gradient: effects are not repeated
            return dy
        with here.control_dependencies(effects):
            return on_values(raw.Identity, dy)

    result.op._gradient = gradient
    return result


def _result(graph: Graph, leaf: Any, effects: Sequence[Operation]) -> Any:
    if hasattr(leaf, "handle") and is_tensor_like(leaf):
        leaf = convert_to_tensor(leaf)  # a variable: its current value
    if not effects or isinstance(leaf, Operation):
        return leaf
    if isinstance(leaf, Bundle):
        return leaf._with_parts([after_effects(graph, convert_to_tensor(t), effects) for t in leaf._parts()])
    if not is_tensor_like(leaf):
        return leaf
    t = convert_to_tensor(leaf)
    return t if t.dtype is resource else after_effects(graph, t, effects)
