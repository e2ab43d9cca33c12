"""Exposes values of the forward pass, such as reads of variables, to the gradients of sub-graphs.

The gradients of operations with sub-graphs run copies of these, which recompute what they need. That suffices for pure
operations, and for random numbers, which are drawn again. There are two ways for the others:

- Variables that the operation only reads. If they may change before the gradient runs, the gradient gets, instead of
  the variable, one that holds the value which the variable had when the operation ran (`as_it_was`).
- All other impure values: reads of variables that the operation changes, results of Python calls, elements of a queue.
  The operation itself returns them (`expose`): an `If` and a `VectorizedMap` as further outputs, a `While` as lists
  with an element for each iteration. Where sub-graphs are nested, the inner operation returns them to its sub-graph,
  which passes them on.

The copies in a gradient then read these outputs (`FuncGraph.kept`), and the operations that computed them are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from graphgrad.gradients.bodies.recorded_loops import Loop, declared, repeat
from graphgrad.gradients.bodies.subgraphs import carries, copy_list, in_graph_of, needed_ops
from graphgrad.gradients.bodies.trip_count import count_trips
from graphgrad.ir import graph as ir_graph
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, resource, string, variant
from graphgrad.ir.effects import (
    ACTS,
    NOTHING,
    READS,
    bodies_of,
    body_inputs,
    changed_by,
    effect_of,
    handle_behind,
    is_map,
    last_changes,
    runs_for,
)
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import relax

# -- variables that are only read ----------------------------------------------------------


def as_it_was(op: Operation, all_variables: bool = False) -> tuple[Tensor, ...]:
    """Returns the inputs of an operation with sub-graphs, for the operations of its gradient.

    Args:
      op: the operation.
      all_variables: whether to replace the handles of all variables.
    Returns: `op.inputs`, in which handles of variables that `op` reads and that may have changed since are replaced.
    """
    inputs = list(op.inputs)
    changed = {id(t) for t in changed_by(op)}
    for i, t in enumerate(op.inputs):
        if t.dtype is resource and id(handle_behind(t)) not in changed and (all_variables or _may_change(op, t)):
            dtype, shape = _held(op, t)
            if dtype is not None:
                with op.graph.before(op):
                    value = raw.ReadVariableOp(t, dtype=dtype, shape=shape)
                    value.op.attrs = {**value.op.attrs, "_unset_too": True}
                with in_graph_of(op):
                    inputs[i] = raw.VariableOf(value)
    return tuple(inputs)


def _may_change(op: Operation, t: Tensor) -> bool:
    """Returns whether a handle's resource may change between an operation and its gradient, being built now."""
    handle = handle_behind(t)
    if handle.op.opdef.variable == "hold":
        return False
    graph, current = op.graph, current_graph()
    if isinstance(current, FuncGraph) and current.discarded:
        return False
    if graph._around.in_two_runs or current is not graph:
        return True
    return last_changes(graph).get(id(handle), -1) > op.index


def _held(op: Operation, t: Tensor) -> tuple[Any, Any]:
    """Returns dtype and static shape of a variable that an operation reads; None if it does not read its value."""
    given = body_inputs(op)
    for body in bodies_of(op):
        inside = {id(p) for p, outer in zip(body.inputs, given, strict=False) if outer is t}
        for o in body._operations:
            if "functional" in o.opdef.flags:
                found = next((f for i in o.inputs if id(handle_behind(i)) in inside and (f := _held(o, i))[0]), None)
                if found is not None:
                    return found
            elif "dtype" in o.attrs and any(id(handle_behind(i)) in inside for i in o.inputs):
                return o.attrs["dtype"], o.attrs.get("shape")
    return None, None


# -- what tapes follow ----------------------------------------------------------------------
#
# The gradient of a branch, loop or map computes the forward pass again. TensorFlow's reads intermediate results of the
# forward operation in its place, and a tape that begins after this operation ran does not follow them; so neither does
# it follow here what computes them again. Of a branch or a map it follows what the rules inside read directly, except
# for variables; of a loop, and of a branch that a persistent tape has recorded, TensorFlow hands out all inputs as
# intermediate results.


def inputs_of_gradient(op: Operation, loops: bool) -> tuple[Sequence[Tensor], dict[int, Tensor]]:
    """Returns what the gradient of an operation gets in place of its inputs.

    Args:
      op: the operation, whose gradient is being built.
      loops: whether it is a loop in TensorFlow.
    Returns: the inputs as they were, and what the repeated forward pass gets in place of some of them, by position.
      There is no difference unless a tape that has not recorded `op` is recording.
    """
    listening = ir_graph.listening
    if not listening.recorders or not any(is_unaware(op) for is_unaware in listening.unaware):
        return as_it_was(op), {}
    before, listening.repeated = listening.repeated, op
    try:
        inputs = list(as_it_was(op, True))
        again = {}
        with in_graph_of(op):
            for i, t in enumerate(inputs):
                if carries(t) and t.dtype is not resource:
                    again[i] = raw.Identity(t)
                    again[i].op.graph._notes.repeating.add(again[i].op.index)
    finally:
        listening.repeated = before
    if loops or op.index in op.graph._notes.persistent:
        return [again.get(i, t) for i, t in enumerate(inputs)], {}
    return inputs, again


# -- exposed values -------------------------------------------------------------------------


def expose(op: Operation, changed: Collection[int] = ()) -> None:
    """Makes an operation with sub-graphs return the values that its gradient must not recompute.

    Args:
      op: the operation; it gets more outputs, a loop more inputs, too, and other sub-graphs.
      changed: ids of handles, among its inputs, that are changed around it.
    """
    if effect_of(op) != ACTS and not changed:
        return
    changed = {*changed, *(id(t) for t in changed_by(op))}
    if not _is_complete(op, changed):
        copies = {name: _copied(op, body, _changed_inside(op, body, changed)) for name, body in _named_bodies(op)}
        _exposing(op)(op, copies)


def done_once(op: Operation) -> str:
    """Describes what in a loop must not be repeated: the first such operation, by name and type."""
    changed = {id(t) for t in changed_by(op)}
    for body in bodies_of(op):
        inside = _changed_inside(op, body, changed)
        for o in body._operations:
            if _matters(o, inside):
                return f"'{o.name}' (op type: {o.type}) in it must not run again"
    return "what it does must not be done again"


def _named_bodies(op: Operation) -> list[tuple[str, FuncGraph]]:
    return [(name, g) for name, g in op.attrs.items() if isinstance(g, FuncGraph)]


def _changed_inside(op: Operation, body: FuncGraph, changed: Collection[int]) -> set[int]:
    """Returns the ids of the handles in a sub-graph whose resources are changed, there or around it."""
    given = zip(body.inputs, body_inputs(op), strict=False)
    inside = {id(p) for p, t in given if t.dtype is resource and id(handle_behind(t)) in changed}
    return inside | {id(t) for o in body._operations for t in changed_by(o)}


def _is_complete(op: Operation, changed: Collection[int]) -> bool:
    """Returns whether an operation exposes all values that its gradient must not recompute."""
    if effect_of(op) == NOTHING:
        return True
    for name, body in _named_bodies(op):
        inside = _changed_inside(op, body, changed)
        needed = needed_ops(body.outputs)
        if name == "cond":
            counted = op._attr("body").counted is not None
            if not counted and any(_matters(o, inside) for o in needed):
                return False
            continue
        known = {id(t) for t, _ in body.kept}
        if any(id(t) not in known for t in _to_keep(op, body, inside)):
            return False
        if not all(_is_complete(o, inside) for o in needed if "functional" in o.opdef.flags):
            return False
    return True


def _matters(op: Operation, changed: Collection[int]) -> bool:
    """Returns whether an operation must not run again: it has effects, or reads one of the handles in `changed`."""
    if "functional" in op.opdef.flags and effect_of(op) != NOTHING:
        return any(_matters(o, _changed_inside(op, body, changed)) for body in bodies_of(op) for o in body._operations)
    effect = effect_of(op)
    if effect == READS:
        return any(id(handle_behind(t)) in changed for t in op.inputs if t.dtype is resource)
    return effect == ACTS


def _to_keep(op: Operation, body: FuncGraph, changed: Collection[int]) -> list[Tensor]:
    """Returns the tensors of a sub-graph of `op` that must not be recomputed."""
    found = [t for o in needed_ops(body.outputs) if _matters(o, changed) for t in o.outputs]
    no_rows = {resource, variant} if is_map(op) else {resource}
    return [t for t in found if t.dtype not in no_rows]


def _copied(op: Operation, body: FuncGraph, changed: Collection[int]) -> tuple[FuncGraph, list[Tensor]]:
    """Copies a sub-graph so that its operations expose values; returns it and the values it must expose itself."""
    target = FuncGraph(body.name, body._outer_graph)
    target.captured, target.loop_start, target.counted = list(body.captured), body.loop_start, body.counted
    target.structured_outputs = body.structured_outputs
    inside = {id(t): target.add_input(t.dtype, t._spec.shape, t.op.name) for t in body.inputs}
    target.keeps_effects = body.keeps_effects
    there = {id(inside[i]) for i in changed if i in inside}
    copies: dict[Operation, Operation] = {}
    with use(target):
        for o in runs_for(body, [*body.outputs, *(t for t, _ in body.kept)]):
            if any(id(t) in inside for t in o.outputs):
                continue
            copy_list(target, [o], inside, as_it_is=True)
            made = copies[o] = target._operations[-1]
            made.control_inputs = tuple([copies[c] for c in o.control_inputs if c in copies])
            there.update(id(t) for old, t in zip(o.outputs, made.outputs, strict=True) if id(old) in changed)
            if "functional" in made.opdef.flags:
                expose(made, there)
    target.outputs = [inside[id(t)] for t in body.outputs]
    target.kept = [(inside[id(t)], at) for t, at in body.kept]
    known = {id(t) for t, _ in target.kept}
    return target, [t for t in _to_keep(op, target, there) if id(t) not in known]


_Copies = dict[str, tuple[FuncGraph, list[Tensor]]]


def _expose_branches(op: Operation, copies: _Copies) -> None:
    """Adds further outputs to an `If`: where the other branch runs, their values are arbitrary."""
    sides = copies["then_branch"], copies["else_branch"]
    for (graph, kept), (other, _) in (sides, sides[::-1]):
        first = len(graph.outputs)
        graph.kept = [*graph.kept, *((t, first + i) for i, t in enumerate(kept))]
        graph.outputs += kept
        with use(other):
            other.outputs += [_nothing(t) for t in kept]
    count = len(op.outputs)
    pairs = zip(*(graph.outputs[count:] for graph, _ in sides), strict=True)
    specs = [Spec.of(a.dtype, relax(a._spec.shape, b._spec.shape)) for a, b in pairs]
    types = tuple([t.dtype for t in sides[0][0].outputs])
    attrs = {**op.attrs, "then_branch": sides[0][0], "else_branch": sides[1][0], "Tout": types}
    op.graph._rebuild(op, op.inputs, attrs, specs)


def _nothing(t: Tensor) -> Tensor:
    """Returns a filler of the dtype of `t`, and of its shape as far as that is known."""
    if t.dtype is variant:
        value: Tensor = raw.TensorListReserve(np.int32(-1), np.int32(0), element_dtype=float32)
        return value
    shape = np.array([d or 0 for d in t._spec.shape or ()], np.int32)
    value = raw.Fill(shape, convert_to_tensor(b"" if t.dtype is string else 0, t.dtype))
    return value


def _expose_iterations(op: Operation, copies: _Copies) -> None:
    """Adds further loop variables to a `While`: the number of iterations, and the lists."""
    n = len(op.outputs)
    (cond, _), (body, kept) = copies["cond"], copies["body"]
    graph = op.graph
    with graph.before(op):
        # The length of the lists; None if it is only known after the loop.
        bound = _bound(op) if kept else None
        size = np.int32(0) if bound is None else bound
        lists = [raw.TensorListReserve(declared(t), size, element_dtype=t.dtype) for t in kept]
        start = [*([] if body.counted is not None else [convert_to_tensor(np.int32(0))]), *lists]
    types, shapes = [t.dtype for t in start], [t._spec.shape for t in start]
    for inner in (cond, body):
        inner.inputs[n:n] = [inner._placeholder(t, s, "arg") for t, s in zip(types, shapes, strict=True)]
    with use(body):
        own = body.inputs[n : n + len(start)]
        if body.counted is None:
            body.counted = n
            step = own.pop(0)
            body.outputs.append(raw.AddV2(step, np.int32(1)))
        else:
            step = body.inputs[body.counted]
        body.kept = [*body.kept, *((t, len(body.outputs) + i) for i, t in enumerate(kept))]
        body.outputs += [raw.TensorListSetItem(lst, step, t, resize_if_index_out_of_bounds=bound is None)
                         for lst, t in zip(own, kept, strict=True)]
    inputs = (*op.inputs[:n], *start, *op.inputs[n:])
    bounded_by = op._attr("bounded_by")
    if bounded_by is not None and bounded_by >= n:
        bounded_by += len(start)
    elif bounded_by is None and lists and bound is not None:
        bounded_by = n + len(start) - len(lists)
    attrs = {**op.attrs, "cond": cond, "body": body, "T": tuple([t.dtype for t in inputs]),
             "Tout": (*op.attrs["Tout"], *types), "output_shapes": (*op._attr("output_shapes"), *shapes),
             "bounded_by": bounded_by}
    graph._rebuild(op, inputs, attrs, [t._spec for t in start])


def _bound(op: Operation) -> Any:
    """Returns an upper bound of the trip count that is known before the loop runs; None if there is none."""
    trips = count_trips(op)
    if trips.bound is not None:
        return trips.bound
    loop = Loop(op)
    computed = [*loop.cond.outputs, *(loop.body.outputs[i] for i in loop.closure([]))]
    if any(effect_of(o) != NOTHING for t in computed for o in needed_ops([t])):
        return None
    return raw.LoopBound(repeat(loop, [], [])[0])


def _expose_rows(op: Operation, copies: _Copies) -> None:
    """Adds further outputs to a `VectorizedMap`: the kept values of each row."""
    body, kept = copies["body"]
    first = len(body.outputs)
    body.kept = [*body.kept, *((t, first + i) for i, t in enumerate(kept))]
    body.outputs += kept
    shape = op.outputs[0]._spec.shape
    rows = None if not shape or 0 in op._attr("summed") else shape[0]
    specs = [Spec.of(t.dtype, None if t._spec.shape is None else (rows, *t._spec.shape)) for t in kept]
    attrs = {**op.attrs, "body": body, "Tout": tuple([t.dtype for t in body.outputs])}
    op.graph._rebuild(op, op.inputs, attrs, specs)


def _exposing(op: Operation) -> Callable[[Operation, _Copies], None]:
    """Returns the function by which an operation exposes values of its sub-graphs."""
    return _expose_rows if is_map(op) else _expose_branches if op.type == "If" else _expose_iterations
