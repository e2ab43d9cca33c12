"""What a gradient that is taken inside a loop's body cannot see: how the loop variables came to their values."""

from __future__ import annotations

from typing import Any

from ..ir.funcgraph import FuncGraph
from ..ir.graph import Graph, Tensor
from ..ir.opdef import NOT_DIFFERENTIABLE
from .registry import gradient_function
from .rules import carries_gradient


def refuse_initial_values(graph: Graph, ys: list[Tensor], xs: list[Tensor], results: list[Any]) -> None:
    """Refuses xs around a loop that ys inside of it depend on through the loop variables alone.

    In the body a loop variable is an input: where it comes from, the body does not say. The gradient would be None,
    although the values do depend on x.

    Raises: ValueError naming the x.
    """
    if not isinstance(graph, FuncGraph) or not graph.loop_start or all(g is not None for g in results):
        return
    inputs = graph.inputs[: len(graph.loop_start)]
    around = dict(zip(map(id, graph.inputs[len(inputs) :]), graph.captured, strict=False))
    for x, result in zip(xs, results, strict=True):
        source = around.get(id(x))
        if result is not None or not isinstance(source, Tensor):
            continue
        for variable, start in zip(inputs, graph.loop_start, strict=True):
            if _depends(ys, variable) and _depends([start], source):
                raise ValueError(
                    f"Cannot compute gradient inside while loop with respect to op '{source.op.name}': it is, or leads "
                    "to, the initial value of a loop variable, which is not reachable from inside.\n"
                    f"  Built at {source.op.source}\n"
                    "  Fix: differentiate the loop's results outside of it, or with respect to the body's arguments, "
                    "or put tf.stop_gradient around the initial value"
                )


def _depends(ys: list[Tensor], x: Tensor) -> bool:
    """Whether a gradient could flow from one of `ys` to `x`."""
    waiting, seen = list(ys), set()
    while waiting:
        t = waiting.pop()
        if t is x:
            return True
        if t.op.index in seen or t.op.index < x.op.index or not carries_gradient(t):
            continue
        seen.add(t.op.index)
        if gradient_function(t.op) is not NOT_DIFFERENTIABLE:
            waiting.extend(t.op.inputs)
    return False
