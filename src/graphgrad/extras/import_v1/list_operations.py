"""Operations on TensorFlow 1's stacks and tensor arrays, of all versions, as operations on lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.ir.dtypes import float32, int32, int64
from graphgrad.ir.graph_messages import AttrValue, NodeDef, TensorProto

# Type without its version -> whether it changes the list.
_USES = {"StackPush": True, "StackPop": True, "StackClose": False, "TensorArrayRead": False, "TensorArrayWrite": True,
         "TensorArrayGather": False, "TensorArrayPack": False, "TensorArrayScatter": True, "TensorArrayUnpack": True,
         "TensorArrayConcat": False, "TensorArraySplit": True, "TensorArraySize": False, "TensorArrayClose": False}
_MAKERS = frozenset({"Stack", "TensorArray"})


# How many inputs follow the handle, apart from the flow.
_INPUTS = {"StackPush": 1, "Write": 2, "Scatter": 2, "Unpack": 1, "Split": 2, "Read": 1, "Gather": 1}


def base_of(op: str) -> str:
    """Returns a type without its version."""
    return re.sub(r"V[23]$", "", op) if op.startswith(("Stack", "TensorArray")) else op


def is_maker(node: Any) -> bool:
    """Returns whether a node makes a stack or an array."""
    return base_of(node.op) in _MAKERS


def use_of(op: str) -> bool | None:
    """Returns whether an operation changes the stack or the array that it is given; None if it is none of theirs."""
    return _USES.get(base_of(op))


def initial(maker: Any, made: list[Any], source: str = "", like: str = "") -> str:
    """Adds the list that a stack or an array is at first, or the list of an array's gradients.

    Args:
      maker: the node that makes the stack or array.
      made: the nodes to add to.
      source: the source of the gradients.
      like: the array's own list.
    Returns: the name of the list.
    """
    array = base_of(maker.op) == "TensorArray"
    waits = [n for n in maker.input if n.startswith("^")]
    name = f"{maker.name}/{source}" if source else maker.name
    sizes = _sizes(maker) if array else -1
    shape = _const(f"{name}/element_shape", sizes, made)
    if source:
        size = _node(made, f"{name}/size", "TensorListLength", [like])
    elif array:
        sizes_given = [n for n in maker.input if not n.startswith("^")]
        _check_inputs(maker, sizes_given, 1)
        size = sizes_given[0]
    else:
        size = _const(f"{name}/most", -1, made)
    node = _node(made, f"{name}/list", "TensorListReserve" if array else "EmptyTensorList", [shape, size, *waits])
    node_dtype = maker.attr["dtype" if array else "elem_type"]
    made[-1].attr["element_dtype"] = node_dtype
    made[-1].attr["shape_type"] = AttrValue(type=int32.enum)
    if not source:
        made.append(constant(maker.name, np.float32(0.0), float32))  # in the place of the handle
        made[-1].input.extend(waits)
        if array:
            made.append(constant(f"{maker.name}/flow", np.float32(0.0), float32))
            made[-1].input.extend([f"^{size.partition(':')[0]}", *waits])  # in the maker's loop
    return node


def apply(node: Any, current: str, adds: bool, made: list[Any]) -> str:
    """Adds what does to a list what a node does to a stack or an array.

    Args:
      node: the node.
      current: the list.
      adds: whether a value is added to what is there: a list of gradients.
      made: the nodes to add to.
    Returns: the list after it.
    """
    kind = base_of(node.op).removeprefix("TensorArray")
    data = [n for n in node.input[1:] if not n.startswith("^")]
    waits = [n for n in node.input if n.startswith("^")]
    _check_inputs(node, data, _INPUTS.get(kind, 0))
    if kind in ("StackClose", "Close"):
        made.append(NodeDef(name=node.name, op="NoOp", input=waits))
        return current
    if kind == "Size":
        _node(made, node.name, "TensorListLength", [current, *waits])
        return current
    if kind in ("StackPush", "Write", "Scatter", "Unpack", "Split"):
        after = _changed(kind, node, current, data, waits, adds, made)
        _node(made, node.name, "Identity", [data[-1] if kind != "StackPush" else data[0], *waits])
        return after
    dtype = node.attr["elem_type" if kind == "StackPop" else "dtype"]
    shape = _const(f"{node.name}/element_shape", _sizes(node), made)
    if kind == "StackPop":
        after = _node(made, f"{node.name}/list", "TensorListPopBack", [current, shape, *waits])
        made[-1].attr["element_dtype"] = dtype
        _node(made, node.name, "Identity", [f"{after}:1"])
        return after
    if kind == "Concat":
        lengths = _const(f"{node.name}/lengths", np.zeros(0), made, int64)
        _node(made, node.name, "TensorListConcatV2", [current, shape, lengths, *waits])
        made[-1].attr["shape_type"] = AttrValue(type=int32.enum)
    elif kind == "Pack":
        _node(made, node.name, "TensorListStack", [current, shape, *waits])
    else:
        _node(made, node.name, f"TensorList{ {'Read': 'GetItem', 'Gather': 'Gather'}[kind] }",
              [current, data[0], shape, *waits])
    made[-1].attr["element_dtype"] = dtype
    return current


def _check_inputs(node: Any, data: Sequence[str], least: int) -> None:
    if len(data) < least:
        raise ValueError(f"NodeDef '{node.name}' ({node.op}) has {len(data)} of the {least} inputs that it needs.\n"
                         "  Fix: write the graph again")


def _changed(kind: str, node: Any, current: str, data: Sequence[str], waits: Sequence[str], adds: bool,
             made: list[Any]) -> str:
    """Adds the list with an element pushed, an element written, or rows put into it."""
    name = f"{node.name}/list"
    if kind == "StackPush":
        _node(made, name, "TensorListPushBack", [current, data[0], *waits])
    elif kind == "Write":
        value = data[1]
        if adds:
            shape = _node(made, f"{node.name}/shape", "Shape", [value])
            before = _node(made, f"{node.name}/before", "TensorListGetItem", [current, data[0], shape])
            made[-1].attr["element_dtype"] = node.attr["T"]
            value = _node(made, f"{node.name}/sum", "AddV2", [before, value])
        _node(made, name, "TensorListSetItem", [current, data[0], value, *waits])
        made[-1].attr["resize_if_index_out_of_bounds"] = AttrValue(b=True)
    elif kind == "Scatter":
        value = data[1]
        if adds:
            shape = _node(made, f"{node.name}/shape", "Shape", [value])
            row = _node(made, f"{node.name}/row", "Slice", [
                shape, _const(f"{node.name}/first", [1], made), _const(f"{node.name}/rest", [-1], made)])
            made[-1].attr["Index"] = AttrValue(type=int32.enum)
            before = _node(made, f"{node.name}/before", "TensorListGather", [current, data[0], row])
            made[-1].attr["element_dtype"] = node.attr["T"]
            value = _node(made, f"{node.name}/sum", "AddV2", [before, value])
        _node(made, name, "TensorListScatterIntoExistingList", [current, value, data[0], *waits])
    else:
        shape = _const(f"{node.name}/element_shape", -1, made)
        more = [data[1]] if kind == "Split" else []
        _node(made, name, "TensorListSplit" if kind == "Split" else "TensorListFromTensor",
              [data[0], shape, *more, *waits])
        made[-1].attr["shape_type"] = AttrValue(type=int32.enum)
    made[-1].attr["element_dtype"] = node.attr["T"]
    return name


def _node(made: list[Any], name: str, op: str, inputs: Sequence[str]) -> str:
    made.append(NodeDef(name=name, op=op))
    made[-1].input.extend(inputs)
    return name


def _sizes(node: Any) -> Any:
    """Returns the shape of elements that a node declares, -1 where it is not known."""
    shape = next((node.attr[n].shape for n in ("element_shape", "element_shape_except0") if n in node.attr), None)
    if shape is None or shape.unknown_rank or base_of(node.op) == "TensorArrayConcat":
        return -1
    sizes = [d.size for d in shape.dim]
    return sizes if base_of(node.op) == "TensorArray" or all(n >= 0 for n in sizes) else -1


def _const(name: str, value: Any, made: list[Any], dtype: Any = int32) -> str:
    made.append(constant(name, value, dtype))
    return name


def constant(name: str, value: Any, dtype: Any) -> Any:
    """Returns the `NodeDef` of a constant."""
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"] = AttrValue(type=dtype.enum)
    node.attr["value"] = AttrValue(tensor=TensorProto.of(np.asarray(value, dtype.np_dtype), dtype))
    return node
