"""Lifts the initializers of variables that a `tf.function` creates out of its trace.

Such a variable lives outside of the function, its initial value is a tensor of the graph that is being traced. So the
first trace holds an assignment for each variable. If the initial values need no argument of the call, these assignments
are run with what they depend on, and calls run the second trace, which finds the variables there. If one needs an
argument, the first call runs the first trace as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.executor.runtime.random_positions import RandomPositions
from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor

from .graph_slices import GraphSlice


def initialize(assignments: Sequence[Operation], engine: str) -> bool:
    """Runs assignments of initial values, with their dependencies.

    Args:
      assignments: operations of a function that has been traced, or of its branches and loops.
      engine: the engine that runs them.
    Returns: whether that could be done: False, and nothing has run, if one depends on an argument. Variables that
      have a value, of a checkpoint that was restored before, keep it.
    """
    done = restored(assignments)
    assignments = [op for op in assignments if op not in done]
    graphs = {id(op.graph): op.graph for op in assignments}
    parts = []
    for graph in graphs.values():
        assert isinstance(graph, FuncGraph)
        ops = _with_what_they_need([op for op in assignments if op.graph is graph])
        handles = {i: _eager(c) for i, c in _captures(graph).items()}
        inputs = [t for op in ops if op.type == "Placeholder" for t in op.outputs]
        if any(handles.get(id(t)) is None for t in inputs):
            return False
        resources = {i: h for i, h in handles.items() if h is not None and h.dtype is resource}
        targets = [op for op in ops if op.type != "Placeholder"]
        part = GraphSlice(graph, inputs, (), targets, resources, RandomPositions(), engine)
        parts.append((part, [handles[id(t)] for t in inputs]))
    for part, given in parts:
        part.values([t._value for t in given])
    return True


def restored(assignments: Sequence[Operation]) -> list[Operation]:
    """Returns the assignments whose variables have a value already."""
    return [op for op in assignments if _eager(op.inputs[0])._value.held is not None]


def _captures(graph: FuncGraph) -> dict[int, Any]:
    """Returns the captures of a graph, by the ids of the placeholders."""
    first = len(graph.inputs) - len(graph.captured)
    return dict(zip(map(id, graph.inputs[first:]), graph.captured, strict=True))


def _eager(captured: Any) -> Any:
    """Returns the captured eager tensor, through any number of graphs; None for a symbolic one."""
    while isinstance(captured, Tensor):
        assert isinstance(captured.graph, FuncGraph)
        captured = _captures(captured.graph).get(id(captured))
    return captured


def _with_what_they_need(ops: Sequence[Operation]) -> list[Operation]:
    """Returns operations with dependencies and earlier changes of variables that they read, in creation order."""
    changes: dict[int, list[Operation]] = {}  # by the variable's handle
    for op in ops[0].graph._operations:
        if "reads" not in op.opdef.flags:
            for t in op.inputs:
                if t.dtype is resource:
                    changes.setdefault(id(t), []).append(op)
    found: dict[int, Operation] = {}
    waiting = list(ops)
    while waiting:
        op = waiting.pop()
        if op.index in found:
            continue
        found[op.index] = op
        waiting += [t.op for t in op.inputs]
        waiting += op.control_inputs
        for t in op.inputs:
            waiting += [o for o in changes.get(id(t), ()) if o.index < op.index]
    return [found[i] for i in sorted(found)]
