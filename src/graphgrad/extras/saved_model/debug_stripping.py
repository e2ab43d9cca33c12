"""Leaves operations that only look for mistakes out of models."""

from __future__ import annotations

from typing import Any

_ACTS, _PASSES = frozenset({"Assert", "PrintV2"}), frozenset({"CheckNumerics", "Print"})


def strip_debugging(graph_def: Any) -> None:
    """Makes assertions and prints do nothing, in a graph and its functions, and checks of numbers pass them on.

    Args:
      graph_def: the `GraphDef`, which is changed.
    """
    for nodes in (graph_def.node, *(f.node_def for f in graph_def.library.function)):
        for node in nodes:
            if node.op in _ACTS:
                node.op, first = "NoOp", 0
                kept = {name: value for name, value in node.attr.items() if name.startswith("_")}
            elif node.op in _PASSES:
                node.op, first = "Identity", 1
                kept = {name: value for name, value in node.attr.items() if name == "T"}
            else:
                continue
            node.attr.clear()
            node.attr.update(kept)
            node.input[first:] = [i if i.startswith("^") else f"^{i.partition(':')[0]}" for i in node.input[first:]]
