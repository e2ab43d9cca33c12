"""Dead-code elimination within branches, loops and maps: removes outputs that a run does not read.

So an effect that feeds only such an output does not run, unless its body keeps effects (`FuncGraph.keeps_effects`), and
it raises no errors.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from typing import Any

from graphgrad.ir.effects import bodies_of, body_inputs, effects_of, has_effect, is_map, with_all_before
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor


def prune(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]) -> list[Operation]:
    """Returns the operations that a run needs, in creation order.

    Args:
      fetches: tensors to fetch.
      targets: operations to run.
      feeds: tensors whose values are given; operations that only they need are omitted.
    """
    fed = {id(t) for t in feeds}
    return with_all_before([*(t.op for t in fetches if id(t) not in fed), *targets], fed)


def needed_in(body: FuncGraph) -> list[Operation]:
    """Returns the operations that a sub-graph needs for its outputs and its effects, without unused outputs."""
    # In a graph of 1.x, effects that outputs wait for are included with these.
    targets = effects_of(body) if body.keeps_effects else ()
    return without_unused(prune(body.outputs, targets, body.inputs), body.outputs, targets, body.inputs)


def without_unused(ops: Sequence[Operation], fetches: Sequence[Tensor], targets: Sequence[Operation],
                   feeds: Sequence[Tensor]) -> list[Operation]:
    """Replaces the operations of a run that have sub-graphs and unused outputs by smaller ones.

    Args:
      ops: the result of `prune`.
      fetches, targets, feeds: as there.
    Returns: operations in the same order, without those that only unused outputs needed.
    """
    if not any("functional" in op.opdef.flags for op in ops):
        return list(ops)
    fed = {id(t) for t in feeds}
    used = {id(t) for t in fetches} - fed
    whole = set(map(id, targets))
    there = set(map(id, ops))
    joints = [joint for op in ops if (joint := op.graph._notes.joints.get(op.index)) is not None]
    # A loop and its recording loop run as one, with the outputs of both.
    together = {id(op) for j in joints if id(j.forward) in there for op in (j.forward, j.record)}
    result = []
    for op in reversed(ops):
        if id(op) not in whole and not any(id(t) in used for t in op.outputs):
            continue
        kept = op
        if "functional" in op.opdef.flags and id(op) not in together:
            if id(op) not in whole or all(body.keeps_effects for body in bodies_of(op)):
                kept = _with_outputs(op, [i for i, t in enumerate(op.outputs) if id(t) in used])
        result.append(kept)
        used.update(id(t) for t in kept.inputs if id(t) not in fed)
        whole.update(map(id, op.control_inputs))
    return result[::-1]


def _with_outputs(op: Operation, outputs: list[int]) -> Operation:
    """Returns an operation with some of the outputs of `op` and the inputs these need; `op` itself for all."""
    if len(outputs) == len(op.outputs):
        return op
    if op.type == "While":
        if op._attr("body").keeps_effects and has_effect(op):
            return op  # as in TensorFlow: iterations wait for all inputs
        inputs = _carried(op, outputs)
        outputs = [i for i in inputs if i < len(op.outputs)]
    else:
        bodies = [_narrowed(body, range(len(body.inputs)), outputs) for body in bodies_of(op)]
        read = set().union(*map(_inputs_read, bodies))
        if is_map(op) and not any(op._attr("mapped")[i] for i in read):
            read.add(op._attr("mapped").index(True))  # the number of rows
        inputs = sorted(read)
    if len(outputs) == len(op.outputs):
        return op
    made = copy.copy(op)
    first = len(op.inputs) - len(body_inputs(op))
    made.inputs = (*op.inputs[:first], *(op.inputs[first + i] for i in inputs))
    made.outputs = tuple([op.outputs[i] for i in outputs])
    made.attrs = {name: _narrowed(value, inputs, outputs if name != "cond" else [0]) if isinstance(value, FuncGraph)
                  else value for name, value in op.attrs.items()}
    for name, places in _PLACES.items():
        if name in op.attrs and op.attrs[name] is not None:
            made.attrs[name] = places(op.attrs[name], inputs, outputs)
    return made


def _carried(op: Operation, outputs: Sequence[int]) -> list[int]:
    """Returns the inputs of a loop that some of its outputs need."""
    n = len(op.outputs)
    cond, body = op._attr("cond"), op._attr("body")
    counter = op._attr("counter")
    needed = {*outputs, *_inputs_read(cond), *([counter] if counter is not None and counter >= 0 else ())}
    while True:
        variables = sorted(i for i in needed if i < n)
        more = needed | _inputs_read(_narrowed(body, range(len(body.inputs)), variables))
        if more == needed:
            return sorted(needed)
        needed = more


def _inputs_read(body: FuncGraph) -> set[int]:
    """Returns the positions of the inputs that a sub-graph needs."""
    read = {id(t) for op in needed_in(body) for t in op.inputs} | {id(t) for t in body.outputs}
    return {i for i, t in enumerate(body.inputs) if id(t) in read}


def _narrowed(body: FuncGraph, inputs: Sequence[int], outputs: Sequence[int]) -> FuncGraph:
    """Returns a sub-graph with some of its inputs and outputs."""
    made = copy.copy(body)
    made.inputs = [body.inputs[i] for i in inputs]
    made.outputs = [body.outputs[i] for i in outputs]
    return made


def _of_inputs(value: Sequence[Any], inputs: Sequence[int], outputs: Sequence[int]) -> tuple[Any, ...]:
    return tuple([value[i] for i in inputs])


def _of_outputs(value: Sequence[Any], inputs: Sequence[int], outputs: Sequence[int]) -> tuple[Any, ...]:
    return tuple([value[i] for i in outputs])


def _input_place(value: int, inputs: Sequence[int], outputs: Sequence[int]) -> int | None:
    return inputs.index(value) if value in inputs else -1 if value < 0 else None


def _output_places(value: Collection[int], inputs: Sequence[int], outputs: Sequence[int]) -> tuple[int, ...]:
    return tuple([outputs.index(i) for i in value if i in outputs])


# Adapts attributes with an entry for each input or output.
_PLACES: dict[str, Callable[..., Any]] = {
    "T": _of_inputs, "Tin": _of_inputs, "mapped": _of_inputs, "Tout": _of_outputs, "output_shapes": _of_outputs,
    "counter": _input_place, "bounded_by": _input_place, "summed": _output_places}
