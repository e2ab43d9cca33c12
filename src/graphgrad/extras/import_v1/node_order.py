"""The order in which the nodes of a graph can be built, and what else they say."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

from graphgrad.ir.graph_messages import NodeDef

from .control_flow_v1 import ControlFlowNode


def in_order(nodes: list[Any]) -> Iterator[Any]:
    """Sorts nodes after their inputs, else in their order; raises ValueError for a cycle."""
    names = {n.name for n in nodes}
    readers: dict[str, list[int]] = {}
    waits: dict[str, int] = {}
    ready = []
    for i, node in enumerate(nodes):
        needs = {name.removeprefix("^").partition(":")[0] for name in node.input} & names
        waits[node.name] = len(needs)
        for name in needs:
            readers.setdefault(name, []).append(i)
        if not needs:
            ready.append(i)
    done = 0
    while ready:
        node = nodes[heapq.heappop(ready)]
        done += 1
        yield node
        for i in readers.get(node.name, ()):
            waits[nodes[i].name] -= 1
            if not waits[nodes[i].name]:
                heapq.heappush(ready, i)
    if done < len(nodes):
        raise ValueError("graph_def is invalid: its operations form a cycle through "
                         f"{next(n for n, w in waits.items() if w)!r}. Fix: write loops as While")


def without_outer_control(nodes: list[Any]) -> list[Any]:
    """Removes control inputs from outside: the operation around the nodes waits for those."""
    names = {n.name for n in nodes}
    result = []
    for node in nodes:
        kept = [n for n in node.input if not n.startswith("^") or n[1:] in names]
        if len(kept) < len(node.input) and not isinstance(node, ControlFlowNode):
            node = NodeDef.FromString(node.SerializeToString())
            node.input[:] = kept
        elif isinstance(node, ControlFlowNode):
            node.input = kept
        result.append(node)
    return result


def shape_of_argument(message: Any, i: int) -> Any:
    """Returns the static shape of an argument of a function, None if it is not known."""
    if f"_arg_{i}_shape" in message.attr:
        shapes = message.attr[f"_arg_{i}_shape"].list.shape
    else:
        shapes = message.arg_attr[i].attr["_output_shapes"].list.shape if i in message.arg_attr else []
    return shapes[0].shape() if shapes else None
