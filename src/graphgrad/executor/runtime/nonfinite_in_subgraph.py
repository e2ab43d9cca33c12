"""Locates the first infinity or NaN within a loop or branch, by running its sub-graphs in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.executor.plan.dead_outputs import prune
from graphgrad.ir.dtypes import resource
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.values.variable_store import Cell

_MOST = 10000  # iterations that are searched


def born_in(op: Operation, values: Sequence[Any], cells: Sequence[Cell | None], make: Callable[..., Any],
            is_finite: Callable[[Any], bool]) -> tuple[str, Tensor] | None:
    """Finds the first non-finite tensor of a sub-graph, and words its iteration or branch.

    Args:
      op: an `If` or a `While`, which draws no random numbers.
      values: those of its inputs; None for variables.
      cells: the variables behind its inputs; None for others.
      make: the class `Executable`.
      is_finite: returns whether a value is finite.
    Returns: (words, tensor), or None if nothing is found.
    """
    if op.type == "If":
        side = "then_branch" if bool(values[0]) else "else_branch"
        steps = _Steps(op._attr(side), cells[1:], make, is_finite)
        _, bad = steps.run(values[1:])
        return None if bad is None else (f"in its {'true' if side == 'then_branch' else 'false'} branch", bad)
    if op.type != "While":
        return None
    n = len(op.outputs)
    cond = _Steps(op._attr("cond"), cells, make, is_finite)
    body = _Steps(op._attr("body"), cells, make, is_finite)
    limit = op._attr("maximum_iterations")
    now = list(values)
    for i in range(_MOST if limit is None else min(limit, _MOST)):
        (more,), bad = cond.run(now)
        if bad is not None:
            return f"in its condition, iteration {i}", bad
        if not bool(more):
            return None
        after, bad = body.run(now)
        if bad is not None:
            return f"in iteration {i}", bad
        now[:n] = after
    return None


class _Steps:
    """A sub-graph that runs in NumPy, with all its tensors kept."""

    def __init__(self, graph: FuncGraph, cells: Sequence[Cell | None], make: Callable[..., Any],
                 is_finite: Callable[[Any], bool]):
        self.kept = [t for op in prune(graph.outputs, [], graph.inputs) for t in op.outputs
                     if t.dtype.kind in "fc" and op.type != "Placeholder"]
        self.outputs = graph.outputs
        self.is_finite = is_finite
        behind = {id(p): c for p, c in zip(graph.inputs, cells, strict=True) if c is not None}
        self.fed = [i for i, p in enumerate(graph.inputs) if p.dtype is not resource]

        def resolve(handle: Tensor) -> Cell:
            return behind[id(handle)]

        feeds = [graph.inputs[i] for i in self.fed]
        fetches = list({id(t): t for t in [*self.outputs, *self.kept]}.values())
        self.place = {id(t): k for k, t in enumerate(fetches)}
        self.executable = make(fetches, [], feeds, resolve, {}, "numpy")

    def run(self, values: Sequence[Any]) -> tuple[list[Any], Tensor | None]:
        """Returns the outputs, and the first tensor that is not finite."""
        with np.errstate(all="ignore"):
            found = self.executable.run([values[i] for i in self.fed], store=False)
        bad = next((t for t in self.kept if not self.is_finite(found[self.place[id(t)]])), None)
        return [found[self.place[id(t)]] for t in self.outputs], bad
