"""TensorFlow 1's tensor arrays, rewritten to lists.

There, an array is a resource, and a number, the flow, is passed along to order its reads and writes. Here the list
takes the flow's place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.dtypes import int32
from graphgrad.ir.graph_messages import AttrValue, NodeDef, TensorProto

# Op type -> the operation on a list, the indices of its inputs among the array operation's (-1: the shape of elements).
_TYPES: dict[str, tuple[str, tuple[int, ...]]] = {
    "TensorArrayReadV3": ("TensorListGetItem", (2, 1, -1)),
    "TensorArrayWriteV3": ("TensorListSetItem", (3, 1, 2)),
    "TensorArrayGatherV3": ("TensorListGather", (2, 1, -1)),
    "TensorArrayScatterV3": ("TensorListScatterIntoExistingList", (3, 2, 1)),
    "TensorArraySizeV3": ("TensorListLength", (1,)),
}


def with_arrays(nodes: list[Any]) -> list[Any]:
    """Replaces tensor arrays by lists in the nodes of a graph.

    Args:
      nodes: `NodeDef`s.
    Returns: the same list if there are no tensor arrays; else a new one.
    """
    if not any(n.op in _TYPES or n.op == "TensorArrayV3" for n in nodes):
        return nodes
    made: list[Any] = []
    arrays = {n.name for n in nodes if n.op == "TensorArrayV3"}
    for node in nodes:
        if any(_is_output(n, arrays) for n in node.input):  # handle and flow are one
            node = NodeDef.FromString(node.SerializeToString())
            node.input[:] = [n.partition(":")[0] if _is_output(n, arrays) else n for n in node.input]
        if node.op == "TensorArrayV3":
            made += _array(node)
        elif node.op in _TYPES:
            made += _used(node)
        elif node.op == "TensorArrayCloseV3":
            made.append(NodeDef(name=node.name, op="NoOp", input=[n for n in node.input if n.startswith("^")]))
        else:
            made.append(node)
    return made


def _is_output(name: str, arrays: set[str]) -> bool:
    return not name.startswith("^") and name.partition(":")[0] in arrays


def _array(node: Any) -> list[Any]:
    shape = node.attr["element_shape"].shape if "element_shape" in node.attr else None
    sizes = -1 if shape is None or shape.unknown_rank else [d.size for d in shape.dim]
    made = NodeDef(name=node.name, op="TensorListReserve", device=node.device)
    made.input.extend([f"{node.name}/element_shape", *node.input])
    made.attr["element_dtype"] = node.attr["dtype"]
    made.attr["shape_type"] = AttrValue(type=int32.enum)
    return [_const(f"{node.name}/element_shape", sizes), made]


def _used(node: Any) -> list[Any]:
    op, places = _TYPES[node.op]
    made = NodeDef(name=node.name, op=op, device=node.device)
    data = [n for n in node.input if not n.startswith("^")]
    extra = []
    for place in places:
        if place >= 0:
            made.input.append(data[place])
            continue
        shape = node.attr["element_shape"].shape if "element_shape" in node.attr else None
        sizes: Any = -1
        if shape is not None and not shape.unknown_rank and all(d.size >= 0 for d in shape.dim):
            sizes = [d.size for d in shape.dim]
        extra.append(_const(f"{node.name}/element_shape", sizes))
        made.input.append(extra[-1].name)
    made.input.extend(n for n in node.input if n.startswith("^"))
    if op != "TensorListLength":
        made.attr["element_dtype"] = node.attr["dtype"] if "dtype" in node.attr else node.attr["T"]
    return [*extra, made]


def _const(name: str, value: Any) -> Any:
    made = NodeDef(name=name, op="Const")
    array = np.asarray(value, np.int32)
    made.attr["dtype"] = AttrValue(type=int32.enum)
    made.attr["value"] = AttrValue(tensor=TensorProto.of(array, int32))
    return made

