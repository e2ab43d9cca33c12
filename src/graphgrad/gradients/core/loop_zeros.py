"""Finds where TensorFlow's loops give zero gradients instead of None.

In TensorFlow the gradient of a `While` is zero, not None, for inputs that its results do not depend on. And its
backward loop reads every forward value that the gradient rules of the body mention, even unused ones: so the second
derivative of a linear body is zero. Here only what is needed is computed. So what such a loop would have read is noted
(`Notes.touched`), and where a gradient would be None, `backprop` checks whether it is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.gradients.bodies.subgraphs import carries
from graphgrad.ir.effects import is_map
from graphgrad.ir.funcgraph import FuncGraph, around
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.shape import is_fully_defined

from .outer_graphs import Outside
from .unconnected import zeros_of

AS_FIT = 0  # instead of a number of rows, in a map that is TensorFlow's `map_fn`: as many as fit in little memory


class Trial(FuncGraph):
    """A temporary graph, in which loops give zeros instead of None."""

    def __init__(self, graph: Graph):
        super().__init__("trial", graph, discarded=True)


def is_trial(graph: Graph) -> bool:
    """Returns whether loops give zeros in a graph."""
    return graph.outer_graph is not None and any(isinstance(g, Trial) for g in around(graph))


def is_loop(op: Operation) -> bool:
    """Returns whether an operation is a loop in TensorFlow."""
    return op.type == "While" or (is_map(op) and op._attr("chunk") == AS_FIT)


def may_hold_loops(ys: Sequence[Tensor], outside: Outside) -> bool:
    """Returns whether ys depend on a loop, an operation that holds one, or zeros that replace None."""
    seen: set[Operation] = set()
    stack = [y.op for y in ys]
    while stack:
        op = stack.pop()
        if op not in seen:
            if "functional" in op.opdef.flags or op.index in op.graph._notes.touched:
                return True
            seen.add(op)
            stack.extend([outside.get(id(t), t).op for t in op.inputs])
    return False


def zeros_for_loops(op: Operation, in_grads: Sequence[Any], inputs: Sequence[Tensor],
                    active: Sequence[bool]) -> list[Any]:
    """Returns the gradients of the inputs of an operation in a trial.

    Args:
      op: the operation.
      in_grads: what its rule gives.
      inputs: its inputs, and what TensorFlow's would have read besides.
      active: for each of these whether it depends on an x.
    """
    found = [*in_grads, *[None] * (len(inputs) - len(in_grads))]
    last = 0  # how many of its own inputs may get zeros
    if op.index in op.graph._notes.touched:
        # Of the forward loop only touched values count: a branch predicate is not one.
        last = len(op.outputs) if op.type == "While" else 0
    elif is_loop(op):
        last = len(op.inputs)
    for i in (*range(last), *range(len(op.inputs), len(inputs))):
        if found[i] is None and active[i]:
            found[i] = zero(inputs[i])
    return found


def zero(x: Tensor) -> Any:
    """Returns zeros for the gradient of `x`; None where the shape of the variable behind it is unknown."""
    try:
        zeros = zeros_of(x)
    except ValueError:
        return None
    zeros.graph._notes.touched[zeros.op.index] = (x,)  # their derivative is zero, too
    return zeros


def touched(op: Operation, inner: FuncGraph, first: int, forward: Sequence[Tensor], shared: Sequence[int],
            arrived: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Returns the inputs of a loop through which TensorFlow's backward loop would have depended on x.

    Args:
      op: the loop.
      inner: the body of the backward loop, whose operations from `first` on are those of gradient rules.
      forward: its placeholders for the inputs of the forward body.
      shared: the positions of those that are loop invariants.
      arrived: its placeholders for the incoming gradients.
    """
    ends = set(map(id, arrived))
    places = {id(forward[i]): i for i in shared}
    found: set[int] = set()
    for o in inner._operations[first:]:
        if _is_known_while_building(o):
            continue
        for t in o.inputs:
            if t.op.index < first and carries(t) and t.op.type != "Const" and id(t) not in ends:
                found.update([places[id(t)]] if id(t) in places else range(len(op.inputs)))
    return tuple([op.inputs[i] for i in sorted(found) if carries(op.inputs[i])])


def _is_known_while_building(op: Operation) -> bool:
    """Returns whether TensorFlow knows the value of an operation of a gradient rule while it builds."""
    opdef = op.opdef
    if opdef.fill == 0:
        return is_fully_defined(op.outputs[0]._spec.shape)
    return op.type == "Const" or opdef.shape_only or opdef.tensor_list == "element_shape"
