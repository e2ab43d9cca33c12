"""Graphs with handles of iterators and tables, rewritten to the one kind of handles that there is here."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import variant
from graphgrad.ir.funcgraph import stands_for
from graphgrad.ir.graph_messages import AttrValue, NodeDef, shape_proto
from graphgrad.ir.values.mesh_layout import MESH, SHARDING, SLOTS, SPEC

ONE_SHOT = "OneShotIterator"
ITERATORS = frozenset({"IteratorV2", "Iterator", ONE_SHOT})
_ITERATORS = ITERATORS - {ONE_SHOT}


def with_handles(nodes: list[Any]) -> list[Any]:
    """Replaces the operations that make iterators by handles.

    Args:
      nodes: `NodeDef`s.
    Returns: the same list if there are none; else a new one.
    """
    if not any(n.op in _ITERATORS for n in nodes):
        return nodes
    return [handle_of(n) if n.op in _ITERATORS else n for n in nodes]


def one_shot_of(handle: Any) -> Any:
    """Returns what begins the pass of an iterator with a data set of its own, given its handle; None for others."""
    return getattr(stands_for(handle), "_one_shot", None)


def make_one_shot(handle: Any, variant_tensor: Any) -> None:
    """Makes a handle that of an iterator with a data set of its own.

    Args:
      handle: the handle.
      variant_tensor: the data set.
    """
    from graphgrad.extras.data.graph_iterator import only_pass

    from .dataset_nodes import dataset_of

    handle._one_shot = only_pass(dataset_of(variant_tensor))


def layout_of(node: Any) -> dict[str, Any]:
    """Returns the attributes of a variable's node that say how it is split over a mesh."""
    found = {name: node.attr[name].s for name in (MESH, SPEC, SLOTS, SHARDING) if name in node.attr}
    return {name: value if name == SHARDING else value.decode() for name, value in found.items()}


def handle_of(node: Any) -> Any:
    """Returns the node that takes the place of one that makes a resource."""
    made = NodeDef(name=node.name, op="VarHandleOp", device=node.device)
    made.input.extend(n for n in node.input if n.startswith("^"))
    shared = node.attr["shared_name"].s if "shared_name" in node.attr else b""
    made.attr["shared_name"] = AttrValue(s=shared or node.name.encode())
    made.attr["dtype"] = AttrValue(type=variant.enum)
    made.attr["shape"] = AttrValue(shape=shape_proto(()))
    return made
