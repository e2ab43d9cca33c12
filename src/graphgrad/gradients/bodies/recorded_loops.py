"""The recording loop: repeats a `While` and stacks what its backward pass reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.ir.context import current_graph, use
from graphgrad.ir.dtypes import int32, variant
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw

from .forward_backward_fusion import Joint
from .subgraphs import copy_ops, needed_ops, through_identity
from .trip_count import Trips


class Loop:
    """A `While` operation, as its gradient sees it.

    Attributes:
      op: the operation.
      inputs: its inputs; handles of variables refer to the values that the variables had when it ran.
      n: the number of loop variables; the inputs after them are captures.
      cond, body: the sub-graphs.
      fixed: positions of loop variables that no iteration changes.
      kept: id of a tensor of the body that must not be recomputed -> it, and the output that lists its values.
      count: the number of iterations, if `op` counts them, else None.
    """

    def __init__(self, op: Operation, inputs: Sequence[Tensor] | None = None):
        self.op = op
        self.inputs = op.inputs if inputs is None else inputs
        self.n = len(op.outputs)
        self.cond: FuncGraph = op._attr("cond")
        self.body: FuncGraph = op._attr("body")
        self.fixed = {i for i in range(self.n) if through_identity(self.body.outputs[i]) is self.body.inputs[i]}
        self.kept = {id(t): (t, op.outputs[i]) for t, i in self.body.kept}
        self.count = None if self.body.counted is None else op.outputs[self.body.counted]

    def is_invariant(self, i: int) -> bool:
        """Returns whether an input is the same in all iterations: a capture, or a loop variable that never changes."""
        return i >= self.n or i in self.fixed

    def inputs_used(self, outputs: Sequence[Tensor]) -> list[Tensor]:
        """Returns the placeholders that tensors of the body or condition depend on, not counting kept values."""
        return inputs_used(outputs, self.kept)

    def condition(self) -> list[Tensor]:
        """Returns the predicate for another iteration, if the trip count is not known."""
        return self.cond.outputs if self.count is None else []

    def closure(self, wanted: Sequence[Tensor]) -> list[int]:
        """Returns the loop variables that tensors of the body and the condition need."""
        positions = {id(t): i for i, t in enumerate(self.body.inputs[: self.n])}
        in_cond = {id(t): i for i, t in enumerate(self.cond.inputs[: self.n])}
        found = {positions[id(t)] for t in self.inputs_used(wanted) if id(t) in positions}
        found |= {in_cond[id(t)] for t in self.inputs_used(self.condition()) if id(t) in in_cond}
        waiting = list(found)
        while waiting:
            for t in self.inputs_used([self.body.outputs[waiting.pop()]]):
                i = positions.get(id(t))
                if i is not None and i not in found:
                    found.add(i)
                    waiting.append(i)
        return sorted(found - self.fixed)


def inputs_used(outputs: Sequence[Tensor], known: Any = ()) -> list[Tensor]:
    """Returns the placeholders that some tensors of a sub-graph depend on; `known` as in `needed_ops`."""
    return [op.outputs[0] for op in needed_ops(outputs, known) if op.type == "Placeholder"]


def record(loop: Loop, wanted: Sequence[Tensor], trips: Trips) -> tuple[list[Any], Any]:
    """Repeats the loop; returns a list for each wanted tensor of the body, and the number of iterations."""
    if not wanted and trips.steps is not None:
        return [], trips.steps
    bound = trips.bound if trips.bound is not None else raw.LoopBound(repeat(loop, [], [])[0])
    lists = [raw.TensorListReserve(declared(t), bound, element_dtype=t.dtype) for t in wanted]
    count, *full = repeat(loop, wanted, lists)
    return full, trips.steps if trips.steps is not None else count


def declared(t: Tensor) -> Any:
    """Returns the shape of the elements of a list of the values of `t`."""
    shape = t._spec.shape
    if shape is None or t.dtype is variant:
        return np.int32(-1)
    return np.array([-1 if d is None else d for d in shape], np.int32)


def repeat(loop: Loop, wanted: Sequence[Tensor], lists: Sequence[Any]) -> list[Any]:
    """Builds a loop that repeats what the forward one computes of `wanted`, counts, and writes the values into lists.

    Returns: the number of iterations, and the full lists.
    """
    op = loop.op
    variables, counter = _repeated(loop, wanted)
    start = [np.int32(0), *(loop.inputs[i] for i in variables), *lists]
    types = [int32, *(op.inputs[i].dtype for i in variables), *(variant for _ in lists)]
    shapes = [(), *(loop.body.inputs[i]._spec.shape for i in variables), *(() for _ in lists)]
    body, cond = (FuncGraph(f"{op.name}_{what}", current_graph()) for what in ("record", "record_cond"))
    for graph in (body, cond):
        graph.inputs = [graph._placeholder(t, s, "arg") for t, s in zip(types, shapes, strict=True)]
    own_lists = body.inputs[1 + len(variables) :]
    computed = [*(loop.body.outputs[i] for i in variables), *wanted]
    in_body, in_cond = _placeholders(loop, body, cond, variables, computed)
    kept = _kept_for(loop, computed)
    with use(cond):
        if loop.count is None:
            cond.outputs = copy_ops(cond, loop.cond.outputs, in_cond)
        else:
            cond.outputs = [raw.Less(cond.inputs[0], _captured(cond, loop.count))]
            _captured(body, loop.count)
    with use(body):
        step = body.inputs[0]
        for t, found in kept:
            _captured(cond, found)
            in_body[id(t)] = item(_captured(body, found), step, t)
        copies = copy_ops(body, computed, in_body)
        after, values = copies[: len(variables)], copies[len(variables) :]
        written = [raw.TensorListSetItem(lst, step, t) for lst, t in zip(own_lists, values, strict=True)]
        body.outputs = [raw.AddV2(step, np.int32(1)), *after, *written]
    results = raw.While([*start, *body.captured], cond=cond, body=body, Tout=tuple(types),
                        output_shapes=tuple(shapes), maximum_iterations=op._attr("maximum_iterations"),
                        bounded_by=1 + len(variables) if lists else None, counter=counter, name="Record")
    made = results[0].op
    if lists and loop.count is None and made.graph is op.graph:
        op.graph._notes.joints[made.index] = Joint(op, made, variables, wanted)
    return [results[0], *results[1 + len(variables) :]]


def _repeated(loop: Loop, wanted: Sequence[Tensor]) -> tuple[list[int], int | None]:
    """Returns the loop variables that a repetition needs, and which of its own is the iteration counter.

    The latter as the attribute `counter` of a `While` has it.
    """
    variables = loop.closure(wanted)
    counter = loop.op._attr("counter")
    if counter is None or counter < 0:
        return variables, counter
    variables = sorted({counter, *variables, *loop.closure([loop.body.outputs[counter]])})
    return variables, 1 + variables.index(counter)


def _placeholders(loop: Loop, body: FuncGraph, cond: FuncGraph, variables: Sequence[int],
                  computed: Sequence[Tensor]) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
    """Returns the placeholders of a repetition's body and condition, by the ids of those of the forward loop's.

    Args:
      loop: the forward loop.
      body, cond: the sub-graphs of the repetition; their inputs are the count, loop variables, and lists.
      variables: which loop variables these are.
      computed: the tensors of the forward body that are computed.
    """
    used = set(map(id, loop.inputs_used(computed) + loop.inputs_used(loop.condition())))
    # Both get the invariants of either: captures, and loop variables that never change.
    reads = [i for i in range(len(loop.op.inputs)) if loop.is_invariant(i)
             and (id(loop.body.inputs[i]) in used or id(loop.cond.inputs[i]) in used)]
    found = []
    for graph, source in ((body, loop.body), (cond, loop.cond)):
        own = [*graph.inputs[1 : 1 + len(variables)], *(_captured(graph, loop.inputs[i]) for i in reads)]
        found.append({id(source.inputs[i]): p for i, p in zip((*variables, *reads), own, strict=True)})
    return found[0], found[1]


def _captured(graph: FuncGraph, t: Tensor) -> Tensor:
    """Adds a placeholder for a tensor that a graph captures."""
    placeholder = graph.add_input(t.dtype, t._spec.shape, "captured")
    outer = graph._outer_graph
    graph.captured.append(t if outer is None or t.graph is outer else outer.capture(t))
    return placeholder


def _kept_for(loop: Loop, computed: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Returns the kept values that some tensors of the body depend on, with the lists of these values."""
    read = {id(t) for op in needed_ops(computed, loop.kept) for t in op.inputs} | set(map(id, computed))
    return [(t, values) for i, (t, values) in loop.kept.items() if i in read]


def item(lst: Tensor, step: Tensor, t: Tensor) -> Tensor:
    """Reads the value of a tensor of the body in one iteration from a list of its values."""
    value: Tensor = raw.TensorListGetItem(lst, step, declared(t), element_dtype=t.dtype)
    return value
