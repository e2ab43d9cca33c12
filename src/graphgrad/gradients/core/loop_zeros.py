"""Finds where TensorFlow's loops give zero gradients instead of None.

In TensorFlow the gradient of a `While` is zero, not None, for inputs that its results do not depend on. And its
backward loop reads every forward value that the gradient rules of the body mention, even unused ones: so the second
derivative of a linear body is zero. Here only what is needed is computed. So what such a loop would have read is noted
(`Notes.touched`), and where a gradient would be None, a trial sweep finds out whether it is zero.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from graphgrad.gradients.bodies.subgraphs import carries
from graphgrad.ir.context import use
from graphgrad.ir.effects import is_map
from graphgrad.ir.funcgraph import FuncGraph, around
from graphgrad.ir.graph import Graph, Operation, Tensor
from graphgrad.ir.shape import is_fully_defined

from .gradient_paths import GraphView, upstream
from .rules import Call, carries_gradient
from .sweep import GraphSweep, sweep
from .unconnected import zeros_of

AS_FIT = 0  # instead of a number of rows, in a map that is TensorFlow's `map_fn`: as many as fit in little memory


class Trial(FuncGraph):
    """A temporary graph, in which loops give zeros instead of None."""

    def __init__(self, graph: Graph):
        super().__init__("trial", graph, discarded=True)


def is_trial(graph: Graph) -> bool:
    """Returns whether loops give zeros in a graph."""
    return graph._outer_graph is not None and any(isinstance(g, Trial) for g in around(graph))


def is_loop(op: Operation) -> bool:
    """Returns whether an operation is a loop in TensorFlow."""
    return op.type == "While" or (is_map(op) and op._attr("chunk") == AS_FIT)


class TrialSweep(GraphSweep):
    """A sweep in a trial: where the rule of a loop gives None, zeros go on, also to what TensorFlow would have read."""

    sees_touched = True

    def expose(self, op: Operation) -> None:
        """Leaves an operation as it is: what a trial builds never runs."""

    def in_grads(self, op: Operation, rule: Any, out_grads: list[Any]) -> Sequence[Any]:
        """Applies the rule; what would have been read gets no gradient from it."""
        found = super().in_grads(op, rule, out_grads)
        return [*found, *[None] * (len(self.paths.view.inputs(op)) - len(found))]

    def ended(self, op: Operation, i: int, rule: Any) -> None:
        """Sends zeros where TensorFlow's loop would."""
        super().ended(op, i, rule)
        if op.index not in op.graph._notes.touched:
            own = len(op.inputs) if is_loop(op) else 0
        else:  # of the forward loop only touched values count: a branch predicate is not one
            own = len(op.outputs) if op.type == "While" else 0
        if i < own or i >= len(op.inputs):
            t = self.paths.view.inputs(op)[i]
            zeros = zero(t)
            if zeros is not None:
                self.send(t, zeros)


def zeros_of_loops(call: Call, ys: list[Tensor], xs: list[Tensor], results: list[Any],
                   stopped: Collection[Operation]) -> list[Any]:
    """Replaces None by zeros in the results of a sweep where TensorFlow's loops give zeros."""
    missing = [x for x, g in zip(xs, results, strict=True) if g is None and carries_gradient(x)]
    zeros = zero_by_loops(call, ys, missing, stopped) if missing else ()
    return [zero(x) if g is None and id(x) in zeros else g for x, g in zip(xs, results, strict=True)]


def zero_by_loops(call: Call, ys: list[Tensor], xs: list[Tensor], stopped: Collection[Operation]) -> set[int]:
    """Returns the ids of xs for which TensorFlow's loops give zeros, if no gradient arrives at any of them."""
    if not _may_hold_loops(call, ys):
        return set()
    with trial_of(call) as (trial, graph):
        arriving = [graph._placeholder(y.dtype, y._spec.shape, "dy") for y in ys]
        try:
            found = sweep(trial, ys, arriving, xs, stopped, TrialSweep)
        except LookupError:  # of an operation off every gradient path
            return set()
    return {id(x) for x, g in zip(xs, found, strict=True) if g is not None}


@contextlib.contextmanager
def trial_of(call: Call) -> Iterator[tuple[Call, Trial]]:
    """Yields the call of a trial sweep beside that of a sweep, and its graph: the current one, which is dropped."""
    graph = Trial(call.graph)
    trial = Call(graph, "trial", False, False, 0, call.source)
    trial.scope, trial.fresh, trial.outside = "trial", False, call.outside
    with use(graph), graph._building_gradient_of(None, call.source):
        yield trial, graph


def _may_hold_loops(call: Call, ys: Sequence[Tensor]) -> bool:
    """Returns whether ys depend on a loop, an operation that holds one, or zeros that replace None."""
    ops = upstream([y.op for y in ys], GraphView(call.graph, call.outside).inputs)
    return any("functional" in op.opdef.flags or op.index in op.graph._notes.touched for op in ops)


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
