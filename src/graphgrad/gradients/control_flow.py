"""The gradients of `If` and `While`: operations of the same kind, on differentiated sub-graphs.

They stand here and not beside their ops because they call `gradients` on the sub-graphs. The
forward operations stay as they are: a gradient's sub-graph computes again what it needs of
the forward one. Random operations draw the same numbers again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.context import use
from ..ir.dtypes import resource, variant
from ..ir.funcgraph import FuncGraph
from ..ir.graph import Graph, Operation, Tensor
from ..ir.opdef import raw, registry
from ..ir.slices import IndexedSlices
from .backprop import gradients
from .strict import strict_gradients


def _copy_into(target: FuncGraph, source: FuncGraph) -> dict[int, Tensor]:
    """Copies what the outputs of `source` depend on; returns the copies by id of the original tensor."""
    copies: dict[int, Tensor] = {}
    for t in source.inputs:
        copies[id(t)] = target.add_input(t.dtype, t._spec.shape, t.op.name)
    needed: set[int] = set()
    stack = [t.op for t in source.outputs]
    while stack:
        op = stack.pop()
        if op.index not in needed:
            needed.add(op.index)
            stack.extend(t.op for t in op.inputs)
    here: set[str] = set()
    for op in source._operations:
        if op.index not in needed or all(id(t) in copies for t in op.outputs):
            continue
        attrs = op.attrs
        if "random" in op.opdef.flags:
            attrs = {**attrs, "_drawn_by": attrs.get("_drawn_by", op)}
        copy = target._add(op.opdef, tuple([copies[id(t)] for t in op.inputs]), attrs, target._unique(op.name),
                           [t._spec for t in op.outputs])  # fmt: skip
        copy._gradient = op._gradient
        copy._original_op = op
        copy.device = op.device
        copy._colocation = tuple(g for g in op._colocation if g.removeprefix("loc:@") in here)
        here.add(copy.name)
        for old, new in zip(op.outputs, copy.outputs, strict=True):
            copies[id(old)] = new
    return copies


def _differentiated(graph: Graph, source: FuncGraph, y_positions: Sequence[int], x_positions: Sequence[int],
                    dys: Sequence[Any], name: str) -> tuple[FuncGraph, list[Any]]:  # fmt: skip
    """A copy of `source` with placeholders for `dys`, and in it the gradients for some of its inputs."""
    target = FuncGraph(name, graph)
    with use(target):
        copies = _copy_into(target, source)
        grad_ys = [target.add_input(dy.dtype, dy._spec.shape, f"grad_{i}") for i, dy in enumerate(dys)]
        ys = [copies[id(source.outputs[i])] for i in y_positions]
        xs = [target.inputs[i] for i in x_positions]
        with strict_gradients(False):  # what one branch does not use, another may
            found = gradients(ys, xs, grad_ys, colocate_gradients_with_ops=True) if ys else [None] * len(xs)
        return target, [g._as_tensor() if isinstance(g, IndexedSlices) else g for g in found]


def _zeros_like_input(graph: FuncGraph, x: Tensor, like: Any) -> Tensor:
    if x.dtype is resource:
        x = raw.ReadVariableOp(x, dtype=like.dtype, shape=like._spec.shape)
    zeros: Tensor = raw.ZerosLike(x)
    return zeros


def _carries(t: Tensor) -> bool:
    return t.dtype.kind in "fc" or t.dtype is resource or t.dtype is variant


def _if_grad(op: Operation, *dys: Any) -> list[Any]:
    """An `If` over the gradients of the branches."""
    args = op.inputs[1:]
    ys = [i for i, dy in enumerate(dys) if dy is not None and _carries(op.outputs[i])]
    xs = [i for i, t in enumerate(args) if _carries(t)]
    used = [_dense(dys[i]) for i in ys]
    sides = [
        _differentiated(op.graph, op.get_attr(branch), ys, xs, used, f"{op.name}_{branch}_grad")
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
                    g = _zeros_like_input(graph, graph.inputs[xs[k]], like)
                graph.outputs.append(g)
    (then_graph, _), (else_graph, _) = sides
    results = raw.If(op.inputs[0], [*args, *used], then_branch=then_graph, else_branch=else_graph,
                     Tout=tuple(t.dtype for t in then_graph.outputs))  # fmt: skip
    in_grads: list[Any] = [None] * len(op.inputs)
    for k, g in zip(wanted, results, strict=True):
        in_grads[1 + xs[k]] = g
    return in_grads


def _while_grad(op: Operation, *dys: Any) -> list[Any]:
    """A `WhileGrad`, which goes through the iterations backwards."""
    n = len(op.outputs)
    variables = [i for i in range(n) if op.outputs[i].dtype.kind in "fc"]
    captures = [i for i in range(n, len(op.inputs)) if _carries(op.inputs[i])]
    used = [_dense(dys[i]) for i in variables]
    graph, found = _differentiated(op.graph, op.get_attr("body"), variables, variables + captures, used,
                                   f"{op.name}_body_grad")  # fmt: skip
    wanted = [i for i, g in zip(captures, found[len(variables) :], strict=True) if g is not None]
    with use(graph):
        for i, g in zip(variables, found[: len(variables)], strict=True):
            graph.outputs.append(raw.ZerosLike(graph.inputs[i]) if g is None else g)
        graph.outputs.extend(g for g in found[len(variables) :] if g is not None)
    attrs = {k: op.get_attr(k) for k in ("cond", "body", "output_shapes", "maximum_iterations")}
    results = raw.WhileGrad(list(op.inputs), used, grad_body=graph, variables=tuple(variables),
                            Tout=tuple(t.dtype for t in graph.outputs), **attrs)  # fmt: skip
    in_grads: list[Any] = [None] * len(op.inputs)
    for i, g in zip([*variables, *wanted], results, strict=True):
        in_grads[i] = g
    return in_grads


def _dense(g: Any) -> Any:
    return g._as_tensor() if isinstance(g, IndexedSlices) else g


registry["If"].grad(_if_grad)
registry["While"].grad(_while_grad)
