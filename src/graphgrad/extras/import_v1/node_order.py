"""The order in which the nodes of a graph can be built."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any


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
