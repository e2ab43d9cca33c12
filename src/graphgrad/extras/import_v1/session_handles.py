"""Graphs with handles of tables and iterators, rewritten to the one kind of handles that there is here."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import variant
from graphgrad.ir.graph_messages import AttrValue, NodeDef, shape_proto

_MUTABLE = frozenset({"MutableHashTableV2", "MutableHashTableOfTensorsV2", "MutableDenseHashTableV2"})
_HANDLES = _MUTABLE | {"HashTableV2", "IteratorV2", "Iterator"}
_LOOKUPS = frozenset({"LookupTableFindV2", "LookupTableSizeV2"})


def with_handles(nodes: list[Any]) -> list[Any]:
    """Replaces the operations that make tables and iterators by handles.

    Args:
      nodes: `NodeDef`s.
    Returns: the same list if there are none; else a new one.
    """
    if not any(n.op in _HANDLES for n in nodes):
        return nodes
    mutable = {n.name for n in nodes if n.op in _MUTABLE}
    made = []
    for node in nodes:
        if node.op in _HANDLES:
            node = _handle(node)
        elif node.op in _LOOKUPS and node.input[0].partition(":")[0] in mutable:
            node = NodeDef.FromString(node.SerializeToString())
            node.attr["_mutable"] = AttrValue(b=True)
        made.append(node)
    return made


def _handle(node: Any) -> Any:
    made = NodeDef(name=node.name, op="VarHandleOp", device=node.device, input=list(node.input))
    shared = node.attr["shared_name"].s if "shared_name" in node.attr else b""
    made.attr["shared_name"] = AttrValue(s=shared or node.name.encode())
    made.attr["dtype"] = AttrValue(type=variant.enum)
    made.attr["shape"] = AttrValue(shape=shape_proto(()))
    return made
