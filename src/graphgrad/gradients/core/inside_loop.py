"""Rejects gradients, inside a loop's body, with respect to tensors that are only initial values of loop variables."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.funcgraph import FuncGraph, around
from graphgrad.ir.graph import Graph, Tensor
from graphgrad.ir.opdef import NOT_DIFFERENTIABLE

from .gradient_paths import GraphView, Paths
from .outer_graphs import Outside
from .registry import gradient_function
from .rules import Call, carries_gradient


class OldControlFlow:
    """Whether loops of a 1.x graph follow the rules of the time before functional control flow."""

    on = False


def use_old_control_flow(on: bool) -> None:
    """Decides whether loops behave as those of TensorFlow 1's old control flow."""
    OldControlFlow.on = on


def refuse_initial_values(call: Call, ys: list[Tensor], xs: list[Tensor], results: list[Any]) -> None:
    """Rejects xs outside a loop that ys inside of it depend on through the loop variables alone.

    In the body a loop variable is an input of unknown origin. So the gradient is None, although the values do depend on
    x. TensorFlow's old control flow raises an error, except in functions.

    Raises: ValueError naming the x.
    """
    graphs = list(around(call.graph))
    if not OldControlFlow.on or graphs[-1].building_function:
        return
    variables = [pair for g in graphs if isinstance(g, FuncGraph)
                 for pair in zip(g.inputs, g.loop_start, strict=False)]
    for x, result in zip(xs, results, strict=True):
        if result is not None or x.graph is call.graph:
            continue
        for variable, start in variables:
            if _depends(call, ys, variable) and _depends(call, [start], x):
                raise ValueError(
                    f"Cannot compute gradient inside while loop with respect to op '{x.op.name}': it is, or leads "
                    "to, the initial value of a loop variable, which is not reachable from inside.\n"
                    f"  Built at {x.op.source}\n"
                    "  Fix: differentiate the loop's results outside of it, or with respect to the body's arguments, "
                    "or put tf.stop_gradient around the initial value"
                )


def _depends(call: Call, ys: list[Tensor], x: Tensor) -> bool:
    """Returns whether a gradient could flow from one of `ys` to `x`."""

    def passes(t: Tensor) -> bool:
        return t is x or carries_gradient(t)

    starts = [y for y in (call.outside.get(id(y), y) for y in ys) if passes(y)]
    paths = Paths(_Differentiable(call.graph, call.outside), starts, [x], passes=passes)
    return any(id(y) in paths.live for y in starts)


class _Differentiable(GraphView):
    """Graphs in which operations declared not differentiable have no inputs."""

    def __init__(self, graph: Graph, outside: Outside):
        super().__init__(graph, outside)
        all_inputs = self.inputs
        self.inputs = lambda op: () if gradient_function(op) is NOT_DIFFERENTIABLE else all_inputs(op)
