"""The gradient of `If`: an `If` over the differentiated branches.

It stands here and not beside its op because it calls `gradients` on sub-graphs. The forward operation
stays as it is: the gradient computes again what it needs of the branch that ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.context import current_graph, use
from ..ir.funcgraph import FuncGraph
from ..ir.graph import Operation
from ..ir.opdef import raw, registry
from .backprop import gradients_inside
from .strict import strict_gradients
from .subgraphs import carries, copy_into, dense, zeros_for


def _differentiated(source: FuncGraph, y_positions: Sequence[int], x_positions: Sequence[int], dys: Sequence[Any],
                    name: str) -> tuple[FuncGraph, list[Any]]:  # fmt: skip
    """A copy of `source` with placeholders for `dys`, and in it the gradients for some of its inputs."""
    target = FuncGraph(name, current_graph())
    with use(target):
        copies = copy_into(target, source)
        grad_ys = [target.add_input(dy.dtype, dy._spec.shape, f"grad_{i}") for i, dy in enumerate(dys)]
        ys = [copies[id(source.outputs[i])] for i in y_positions]
        xs = [target.inputs[i] for i in x_positions]
        with strict_gradients(False):  # what one branch does not use, another may
            found = gradients_inside(ys, xs, grad_ys) if ys else [None] * len(xs)
        return target, [dense(g) for g in found]


def _if_grad(op: Operation, *dys: Any) -> list[Any]:
    """An `If` over the gradients of the branches."""
    args = op.inputs[1:]
    ys = [i for i, dy in enumerate(dys) if dy is not None and carries(op.outputs[i])]
    xs = [i for i, t in enumerate(args) if carries(t)]
    used = [dense(dys[i]) for i in ys]
    sides = [
        _differentiated(op.get_attr(branch), ys, xs, used, f"{op.name}_{branch}_grad")
        for branch in ("then_branch", "else_branch")
    ]
    wanted = [k for k in range(len(xs)) if any(found[k] is not None for _, found in sides)]
    if not wanted:
        return [None] * len(op.inputs)
    for graph, found in sides:
        with use(graph):
            for k in wanted:
                g = found[k]
                if g is None:
                    like = next(f[k] for _, f in sides if f[k] is not None)
                    g = zeros_for(graph.inputs[xs[k]], like)
                graph.outputs.append(g)
    (then_graph, _), (else_graph, _) = sides
    results = raw.If(op.inputs[0], [*args, *used], then_branch=then_graph, else_branch=else_graph,
                     Tout=tuple(t.dtype for t in then_graph.outputs))  # fmt: skip
    in_grads: list[Any] = [None] * len(op.inputs)
    for k, g in zip(wanted, results, strict=True):
        in_grads[1 + xs[k]] = g
    return in_grads


registry["If"].grad(_if_grad)
