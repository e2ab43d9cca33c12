"""Graphs with handles of iterators and tables, rewritten to the one kind of handles that there is here."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import variant
from graphgrad.ir.graph_messages import AttrValue, NodeDef, shape_proto

_ITERATORS = frozenset({"IteratorV2", "Iterator"})


def with_handles(nodes: list[Any]) -> list[Any]:
    """Replaces the operations that make iterators by handles.

    Args:
      nodes: `NodeDef`s.
    Returns: the same list if there are none; else a new one.
    """
    if not any(n.op in _ITERATORS for n in nodes):
        return nodes
    return [handle_of(n) if n.op in _ITERATORS else n for n in nodes]


def handle_of(node: Any) -> Any:
    """Returns the node that takes the place of one that makes a resource."""
    made = NodeDef(name=node.name, op="VarHandleOp", device=node.device)
    made.input.extend(n for n in node.input if n.startswith("^"))
    shared = node.attr["shared_name"].s if "shared_name" in node.attr else b""
    made.attr["shared_name"] = AttrValue(s=shared or node.name.encode())
    made.attr["dtype"] = AttrValue(type=variant.enum)
    made.attr["shape"] = AttrValue(shape=shape_proto(()))
    return made
