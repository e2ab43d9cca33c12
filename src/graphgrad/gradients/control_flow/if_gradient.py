"""The gradient of `If`: an `If` over the differentiated branches.

It is here and not beside its op because it calls `gradients` on sub-graphs. The gradient recomputes what it needs of
the branch that ran, except for what is not pure (`forward_values`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from graphgrad.gradients.bodies.subgraphs import Copy, carries, kept_outputs, zeros_for
from graphgrad.gradients.core.backprop import gradients_inside
from graphgrad.gradients.core.forward_values import inputs_of_gradient
from graphgrad.gradients.core.strictness import none_allowed
from graphgrad.ir.context import current_graph, use
from graphgrad.ir.funcgraph import FuncGraph, unite_captures
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.opdef import raw, registry
from graphgrad.ir.values.indexed_slices import dense


class _Side:
    """A branch of an `If`, differentiated.

    Attributes:
      graph: a copy of the branch, with placeholders for its inputs, for those of the copy alone, for kept values, and
        for `dys`.
      found: the gradients for some of its inputs, in that graph.
    """

    def __init__(self, source: FuncGraph, kept: Sequence[Tensor], y_positions: Sequence[int],
                 x_positions: Sequence[int], dys: Sequence[Any], again: Collection[int], name: str):
        self.graph = target = FuncGraph(name, current_graph())
        with use(target):
            self._copy = Copy(target, source, kept, lambda t: target.add_input(t.dtype, t._spec.shape, "kept"), again)
            grad_ys = [target.add_input(dy.dtype, dy._spec.shape, f"grad_{i}") for i, dy in enumerate(dys)]
            ys = [self._copy.inside[id(source.outputs[i])] for i in y_positions]
            xs = [target.inputs[i] for i in x_positions]
            with none_allowed():  # an input that one branch does not use, another may
                found = gradients_inside(ys, xs, grad_ys) if ys else [None] * len(xs)
            self.found = [dense(g) for g in found]

    def settle(self, outputs: Sequence[Any]) -> None:
        """Sets the outputs of the copy."""
        self.graph.outputs.extend(outputs)
        self._copy.settle()


def _if_grad(op: Operation, *dys: Any) -> list[Any]:
    """Builds an `If` over the gradients of the branches."""
    (pred, *args), repeated = inputs_of_gradient(op, False)
    again = {i - 1: t for i, t in repeated.items()}
    branches = [op._attr("then_branch"), op._attr("else_branch")]
    kept = kept_outputs(op)
    ys = [i for i, dy in enumerate(dys) if dy is not None and carries(op.outputs[i])]
    xs = [i for i, t in enumerate(args) if carries(t)]
    used = [dense(dys[i]) for i in ys]
    sides = [_Side(branch, kept, ys, xs, used, again, f"{op.name}_{name}_grad")
             for branch, name in zip(branches, ("then_branch", "else_branch"), strict=True)]
    wanted = [k for k in range(len(xs)) if any(side.found[k] is not None for side in sides)]
    if not wanted:
        return [None] * len(op.inputs)
    for side in sides:
        outputs = []
        with use(side.graph):
            for k in wanted:
                g = side.found[k]
                if g is None:
                    like = next(s.found[k] for s in sides if s.found[k] is not None)
                    g = zeros_for(side.graph.inputs[xs[k]], like)
                outputs.append(g)
        side.settle(outputs)
    then_graph, else_graph = (side.graph for side in sides)
    given = [*args, *again.values(), *kept, *used]
    given += unite_captures((then_graph, else_graph), len(given))  # by users' gradient functions
    results = raw.If(pred, given, then_branch=then_graph, else_branch=else_graph,
                     Tout=tuple(t.dtype for t in then_graph.outputs))
    in_grads: list[Any] = [None] * len(op.inputs)
    for k, g in zip(wanted, results, strict=True):
        in_grads[1 + xs[k]] = g
    return in_grads


registry["If"].grad(_if_grad)
