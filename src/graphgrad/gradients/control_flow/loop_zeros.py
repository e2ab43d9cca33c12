"""Finds where TensorFlow's loops give zero gradients in the place of None.

The gradient of a `While` of TensorFlow is zero, not None, for what the loop gets and its results do not depend on. And
the loop that goes back reads whatever the gradient rules of the body name of the forward loop, also where it does not
matter in the end: the second derivative of what is linear is zero by way of that. Here only what matters is computed.
So what such a loop would have read is noted (`Graph._touched`), and where a gradient would be None, `backprop` looks
whether it is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.gradients.core.outer_graphs import Outside, around
from graphgrad.gradients.core.unconnected import zeros_of
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.shape import is_fully_defined

from .subgraphs import carries

AS_FIT = 0  # in the place of a number of rows, in a map that is TensorFlow's `map_fn`: as many as fit in little memory

_ABOUT = frozenset({"Const", "Shape", "ShapeN", "Size", "Rank", "TensorListLength", "TensorListElementShape"})


class Trial(FuncGraph):
    """A graph that is thrown away, in which loops give zeros in the place of None."""

    def __init__(self, graph: Graph):
        super().__init__("trial", graph, discarded=True)


def is_trial(graph: Graph) -> bool:
    """Whether loops give zeros in a graph."""
    return graph.outer_graph is not None and any(isinstance(g, Trial) for g in around(graph))


def is_loop(op: Operation) -> bool:
    """Whether an operation is a loop in TensorFlow."""
    return op.type == "While" or (op.type == "VectorizedMap" and op._attr("chunk") == AS_FIT)


def may_hold_loops(ys: Sequence[Tensor], outside: Outside) -> bool:
    """Whether a loop, an operation that holds one, or zeros in the place of None are among what ys depend on."""
    seen: set[Operation] = set()
    stack = [y.op for y in ys]
    while stack:
        op = stack.pop()
        if op not in seen:
            if "functional" in op.opdef.flags or op.index in op.graph._touched:
                return True
            seen.add(op)
            stack.extend([outside.get(id(t), t).op for t in op.inputs])
    return False


def zeros_for_loops(op: Operation, in_grads: Sequence[Any], inputs: Sequence[Tensor],
                    active: Sequence[bool]) -> list[Any]:
    """The gradients of the inputs of an operation in a trial.

    Args:
      op: the operation.
      in_grads: what its rule gives.
      inputs: its inputs, and what it would have read besides.
      active: for each of these whether it leads to an x.
    """
    found = [*in_grads, *[None] * (len(inputs) - len(in_grads))]
    last = 0  # so many of its own inputs count
    if op.index in op.graph._touched:
        # What it reads of the forward loop counts as far as it is touched: what decides a branch is not.
        last = len(op.outputs) if op.type == "While" else 0
    elif is_loop(op):
        last = len(op.inputs)
    for i in (*range(last), *range(len(op.inputs), len(inputs))):
        if found[i] is None and active[i]:
            found[i] = zero(inputs[i])
    return found


def zero(x: Tensor) -> Any:
    """Zeros for the gradient with respect to `x`; None where the shape of the variable behind it is not known."""
    try:
        zeros = zeros_of(x)
    except ValueError:
        return None
    zeros.graph._touched[zeros.op.index] = (x,)  # their derivative is zero in turn
    return zeros


def touched(op: Operation, inner: FuncGraph, first: int, forward: Sequence[Tensor], shared: Sequence[int],
            arrived: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The inputs of a loop by way of which the one that goes back would have depended on x.

    Args:
      op: the loop.
      inner: the body of the one that goes back, whose operations from `first` on are those of gradient rules.
      forward: what stands in it for the inputs of the forward body.
      shared: the positions of those that no iteration changes.
      arrived: what stands in it for the gradients that arrive.
    """
    ends = set(map(id, arrived))
    places = {id(forward[i]): i for i in shared}
    found: set[int] = set()
    for o in inner._operations[first:]:
        if o.type in _ABOUT or (o.type == "ZerosLike" and is_fully_defined(o.outputs[0]._spec.shape)):
            continue  # what is known while building
        for t in o.inputs:
            if t.op.index < first and carries(t) and t.op.type != "Const" and id(t) not in ends:
                found.update([places[id(t)]] if id(t) in places else range(len(op.inputs)))
    return tuple([op.inputs[i] for i in sorted(found) if carries(op.inputs[i])])
