"""Follows captured placeholders to the tensors outside, through any number of nested graphs.

A gradient taken in a branch, a loop's body or a function may involve tensors of the outer graphs. The sweep then
follows a captured placeholder to its tensor, and continues there, as if all of these graphs were one. It adds all
operations to the innermost one, which captures what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.funcgraph import FuncGraph, around
from graphgrad.ir.graph import Graph, Operation, Tensor

# The identities of the arguments of calls that are being inlined: gradients taken there begin with them.
open_entrances: set[Operation] = set()

# Placeholders, by id, and their tensors; empty where a sweep need not leave its graph.
Outside = dict[int, Tensor]


def seen_from(graph: Graph, t: Any) -> Tensor:
    """Returns the tensor that represents `t` in a gradient taken in `graph`.

    Args:
      graph: a function's graph or another sub-graph.
      t: a tensor of it or of an outer graph, which is returned unchanged; an eager tensor, represented by the outermost
        placeholder.
    Raises: ValueError for a tensor of an unrelated graph.
    """
    for g in around(graph):
        t = g._around.copies.get(id(t), t)
    if isinstance(t, EagerTensor):
        known = _known_as(graph, t)
        return known[-1] if known else graph.capture(t)
    return t if t.graph in around(graph) else graph.capture(t)


def _known_as(graph: Graph, t: EagerTensor) -> list[Tensor]:
    """Returns the placeholders of an eager tensor in the graph and in the outer ones."""
    graphs = [g for g in around(graph) if isinstance(g, FuncGraph)]
    return [g._captures[id(t)] for g in graphs if id(t) in g._captures]


def leave(graph: Graph, given: Sequence[Any], *groups: Sequence[Tensor]) -> tuple[Outside, list[list[Tensor]]]:
    """Lets a sweep continue in outer graphs if the xs are there.

    Args:
      graph: the graph in which a gradient is taken.
      given: the xs as the user gave them: eager tensors may have a placeholder in each of the graphs.
      groups: ys, xs and other tensors.
    Returns: the tensors behind placeholders, and the groups, with placeholders replaced by these.
    """
    outside: Outside = {}
    if graph._outer_graph is None:
        return outside, [list(group) for group in groups]
    for inner in reversed(list(around(graph))):
        if isinstance(inner, FuncGraph) and inner.captured:
            for placeholder, source in zip(inner.inputs[-len(inner.captured) :], inner.captured, strict=True):
                if isinstance(source, Tensor):
                    outside[id(placeholder)] = outside.get(id(source), source)
    for x in given:
        handle = getattr(x, "handle", x)
        if isinstance(handle, EagerTensor) and (known := _known_as(graph, handle)):
            outside.update((id(t), known[-1]) for t in known[:-1])
    found = [[outside.get(id(t), t) for t in group] for group in groups]
    return ({} if all(x.graph is graph for x in found[1]) else outside), found
