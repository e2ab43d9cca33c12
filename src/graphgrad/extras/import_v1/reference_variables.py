"""Graphs of TensorFlow 1 whose variables are references, rewritten to resources.

A reference is a tensor that operations change in place; a resource is a handle that they get.
`Variable` becomes `VarHandleOp` of the same name; its readers get a `ReadVariableOp`; `Assign`, `ApplyAdam`
and the others become the operations on resources, whose arguments are in the same order.
"""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph_messages import AttrValue, NodeDef
from graphgrad.ir.opdef import registry

_VARIABLES = frozenset({"Variable", "VariableV2", "TemporaryVariable", "AutoReloadVariable"})
_CHANGES = {"Assign": "AssignVariableOp", "AssignAdd": "AssignAddVariableOp", "AssignSub": "AssignSubVariableOp",
            "IsVariableInitialized": "VarIsInitializedOp"}
_IDENTITIES = frozenset({"Identity", "RefIdentity"})


def with_resources(nodes: list[Any]) -> list[Any]:
    """Replaces references by resources in the nodes of a graph.

    Args:
      nodes: `NodeDef`s.
    Returns: the same list if there are no references; else a new one.
    """
    variables = {n.name: n for n in nodes if n.op in _VARIABLES}
    if not variables:
        return nodes
    # Nodes that pass on a reference: their name -> the variable's.
    owner = {name: name for name in variables}
    dtypes = {name: n.attr["dtype"].type for name, n in variables.items()}
    changes = {n.name: n for n in nodes if _resource_type(n) is not None}
    for n in changes.values():
        target = _operation(n.input[0])
        if target in variables:
            owner[n.name] = target
    made: list[Any] = []
    reads: dict[str, str] = {}
    for node in nodes:
        if node.name in variables:
            made.append(_handle(node))
        elif node.name in owner and node.name in changes:
            made.append(_change(node, owner, dtypes, reads, made))
        elif node.op in _IDENTITIES and _operation(node.input[0]) in variables:
            made.append(_read(node.name, _operation(node.input[0]), dtypes, list(node.input[1:])))
        else:
            copy = NodeDef.FromString(node.SerializeToString())
            copy.input[:] = [_value(name, owner, dtypes, reads, made) for name in node.input]
            made.append(copy)
    return made


def _operation(name: str) -> str:
    return name.partition(":")[0]


def _resource_type(node: Any) -> str | None:
    """Returns the type of the operation on a resource that does the same, if there is one."""
    if node.op in _CHANGES:
        return _CHANGES[node.op]
    name = f"Resource{node.op}"
    return name if node.op.startswith(("Apply", "SparseApply", "Scatter")) and name in registry else None


def _handle(node: Any) -> Any:
    handle = NodeDef(name=node.name, op="VarHandleOp", device=node.device)
    for name in ("dtype", "shape", "container", "_class", "_output_shapes"):
        if name in node.attr and name != "_output_shapes":
            handle.attr[name] = node.attr[name]
    shared = node.attr["shared_name"].s if "shared_name" in node.attr else b""
    handle.attr["shared_name"] = AttrValue(s=shared or node.name.encode())
    return handle


def _read(name: str, variable: str, dtypes: dict[str, int], control: list[str]) -> Any:
    node = NodeDef(name=name, op="ReadVariableOp")
    node.input.extend([variable, *control])
    node.attr["dtype"] = AttrValue(type=dtypes[variable])
    return node


def _value(name: str, owner: dict[str, str], dtypes: dict[str, int], reads: dict[str, str], made: list[Any]) -> str:
    """Converts an input to a value: reads a variable, after its changes."""
    source = _operation(name)
    if name.startswith("^") or source not in owner:
        return name
    if source not in reads:
        variable = owner[source]
        after = [f"^{source}"] if source != variable else []
        reads[source] = f"{source}/value_of_reference"
        made.append(_read(reads[source], variable, dtypes, after))
    return reads[source]


def _change(node: Any, owner: dict[str, str], dtypes: dict[str, int], reads: dict[str, str], made: list[Any]) -> Any:
    kind = _resource_type(node)
    assert kind is not None
    changed = NodeDef(name=node.name, op=kind, device=node.device)
    record = registry[kind]
    data = [n for n in node.input if not n.startswith("^")]
    for i, name in enumerate(node.input):
        is_handle = i < min(len(record.inputs), len(data)) and record.inputs[i].dtype is resource
        if is_handle and _operation(name) in owner:
            source = _operation(name)
            changed.input.append(owner[source])
            if source != owner[source]:
                changed.input.append(f"^{source}")
        else:
            changed.input.append(_value(name, owner, dtypes, reads, made))
    changed.input[:] = sorted(changed.input, key=_is_control)
    for name, value in node.attr.items():
        if name in record.attrs:
            changed.attr[name] = value
    if "dtype" in record.attrs:
        changed.attr["dtype"] = AttrValue(type=dtypes[owner[_operation(node.input[0])]])
    if "_class" in node.attr:
        changed.attr["_class"] = node.attr["_class"]
    return changed


def _is_control(name: str) -> bool:
    return name.startswith("^")
