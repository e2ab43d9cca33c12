"""Graphs of TensorFlow 1 whose variables are references, rewritten to resources.

A reference is a tensor that operations change in place; a resource is a handle that they get.
`Variable` becomes `VarHandleOp` of the same name; what reads it gets a `ReadVariableOp`, which waits for what the
reader waits for; `Assign`, `ApplyAdam` and the others become operations on resources, whose arguments are in the same
order, and a read after them that has their name. Where a reference goes into a branch or a loop, the handle does.
"""

from __future__ import annotations

from typing import Any

from graphgrad.ir.dtypes import resource
from graphgrad.ir.graph_messages import AttrValue, NodeDef
from graphgrad.ir.opdef import registry
from graphgrad.ir.state.names import take_free

_VARIABLES = frozenset({"Variable", "VariableV2", "TemporaryVariable", "AutoReloadVariable"})
_CHANGES = {"Assign": "AssignVariableOp", "AssignAdd": "AssignAddVariableOp", "AssignSub": "AssignSubVariableOp",
            "StridedSliceAssign": "ResourceStridedSliceAssign"}
_OTHERS = {"IsVariableInitialized": "VarIsInitializedOp", "CountUpTo": "ResourceCountUpTo"}  # give no reference
_PASSES = {"RefSwitch": "Switch", "RefEnter": "Enter"}  # pass a reference on to a branch or a loop
_COPIES = frozenset({"Identity", "RefIdentity", "DestroyTemporaryVariable"})


def with_resources(nodes: list[Any]) -> list[Any]:
    """Replaces references by resources in the nodes of a graph.

    Args:
      nodes: `NodeDef`s.
    Returns: the same list if there are no references; else a new one.
    """
    if not any(n.op in _VARIABLES for n in nodes):
        return nodes
    rewriter = _Rewriter(nodes)
    for node in nodes:
        rewriter.rewrite(node)
    return rewriter.made


class _Rewriter:
    """Rewrites nodes.

    Attributes:
      handles: for each tensor that is a reference, the tensor that is the variable's handle there.
      after: for such a tensor, the operation that has changed it.
      waits: for such a tensor, the control inputs of what has passed it on.
      variables: for each tensor that is a reference, its variable.
    """

    def __init__(self, nodes: list[Any]):
        self.made: list[Any] = []
        self.handles: dict[str, str] = {}
        self.after: dict[str, str] = {}
        self.waits: dict[str, list[str]] = {}
        self.variables: dict[str, Any] = {}
        self.reads: dict[tuple[Any, ...], str] = {}
        self.names = {n.name for n in nodes}
        self._find(nodes)

    def _find(self, nodes: list[Any]) -> None:
        by_name = {n.name: n for n in nodes}
        readers: dict[str, list[Any]] = {}
        for n in nodes:
            if n.input and not n.input[0].startswith("^") and (n.op in _PASSES or n.op == "RefIdentity" or _changed(n)):
                readers.setdefault(_tensor(n.input[0]), []).append(n)
        waiting = [name for name, n in by_name.items() if n.op in _VARIABLES]
        for name in waiting:
            self.handles[name], self.variables[name] = name, by_name[name]
        while waiting:
            source = waiting.pop()
            for n in readers.get(source, ()):
                outputs = (n.name, f"{n.name}:1") if n.op == "RefSwitch" else (n.name,)
                for output in outputs:
                    if output in self.handles:
                        continue
                    self.handles[output] = output if n.op in _PASSES else self.handles[source]
                    if _changed(n):
                        self.after[output] = n.name
                    elif n.op == "RefIdentity":
                        self._hand_on(n, source)
                    self.variables[output] = self.variables[source]
                    waiting.append(output)

    def _hand_on(self, node: Any, source: str) -> None:
        """Notes what uses of a reference that a node passes on have to wait for."""
        if source in self.after:
            self.after[node.name] = self.after[source]
        waits = [*self.waits.get(source, ()), *filter(_is_control, node.input)]
        if waits:
            self.waits[node.name] = waits

    def rewrite(self, node: Any) -> None:
        """Adds what takes a node's place."""
        source = _tensor(node.input[0]) if node.input else ""
        if node.op in _VARIABLES:
            self.made.append(_handle(node))
        elif node.op in _COPIES and source in self.handles:
            self._read(node.name, source, list(node.input[1:]))
        elif node.op in _PASSES and source in self.handles:
            passed = NodeDef.FromString(node.SerializeToString())
            passed.op = _PASSES[node.op]
            waits = self._waits(source)
            rest = [self._value(n, node) for n in node.input[1:]]
            passed.input[:] = [self.handles[source], *rest, *waits]
            passed.attr["T"] = AttrValue(type=resource.enum)
            self.made.append(passed)
        elif (_changed(node) or _OTHERS.get(node.op)) and source in self.handles:
            self._change(node, source)
        else:
            copy = NodeDef.FromString(node.SerializeToString())
            copy.input[:] = [self._value(name, node) for name in node.input]
            self.made.append(copy)

    def _read(self, name: str, source: str, control: list[str]) -> None:
        node = NodeDef(name=name, op="ReadVariableOp")
        waits = [n for n in self._waits(source) if n != f"^{name}"]
        node.input.extend(dict.fromkeys([self.handles[source], *control, *waits]))
        node.attr["dtype"] = self.variables[source].attr["dtype"]
        self.made.append(node)

    def _waits(self, source: str) -> list[str]:
        """Returns the control inputs of what uses a reference."""
        return [*self.waits.get(source, ()), *([f"^{self.after[source]}"] if source in self.after else ())]

    def _value(self, name: str, reader: Any) -> str:
        """Converts an input to a value: reads a variable, after its changes and after what its reader waits for."""
        source = _tensor(name)
        if name.startswith("^") or source not in self.handles:
            return name
        if source in self.after and source not in self.waits:  # the read that has the name of the change
            return self.after[source]
        control = [n for n in reader.input if n.startswith("^")]
        key = (source, *control)
        if key not in self.reads:
            self.reads[key] = take_free(f"{source.replace(':', '_')}/value_of_reference", self.names)
            self._read(self.reads[key], source, control)
        return self.reads[key]

    def _change(self, node: Any, source: str) -> None:
        kind = _OTHERS.get(node.op) or _changed(node)
        assert kind is not None
        reads = node.op not in _OTHERS
        name = take_free(f"{node.name}/of_resource", self.names) if reads else node.name
        changed = NodeDef(name=name, op=kind, device=node.device)
        record = registry[kind]
        data = [n for n in node.input if not n.startswith("^")]
        waits = []
        for i, given in enumerate(node.input):
            tensor = _tensor(given)
            is_handle = i < min(len(record.inputs), len(data)) and record.inputs[i].dtype is resource
            if is_handle and tensor in self.handles:
                changed.input.append(self.handles[tensor])
                waits += self._waits(tensor)
            else:
                changed.input.append(self._value(given, node))
        changed.input[:] = sorted([*changed.input, *dict.fromkeys(waits)], key=_is_control)
        for key, value in node.attr.items():
            if key in record.attrs:
                changed.attr[key] = value
        if "dtype" in record.attrs:
            changed.attr["dtype"] = self.variables[source].attr["dtype"]
        if "_class" in node.attr:
            changed.attr["_class"] = node.attr["_class"]
        self.made.append(changed)
        if reads:
            read = NodeDef(name=node.name, op="ReadVariableOp", device=node.device)
            read.input.extend([self.handles[source], f"^{name}"])
            read.attr["dtype"] = self.variables[source].attr["dtype"]
            self.made.append(read)


def _tensor(name: str) -> str:
    return name.removesuffix(":0")


def _changed(node: Any) -> str | None:
    """Returns the type of the operation on a resource that changes it as a node changes a reference, if it does."""
    if node.op in _CHANGES:
        return _CHANGES[node.op]
    name = f"Resource{node.op}"
    return name if node.op.startswith(("Apply", "SparseApply", "Scatter")) and name in registry else None


def _handle(node: Any) -> Any:
    handle = NodeDef(name=node.name, op="VarHandleOp", device=node.device)
    for name in ("dtype", "shape", "container", "_class"):
        if name in node.attr:
            handle.attr[name] = node.attr[name]
    shared = next((node.attr[n].s for n in ("shared_name", "var_name") if n in node.attr and node.attr[n].s), b"")
    handle.attr["shared_name"] = AttrValue(s=shared or node.name.encode())
    return handle


def _is_control(name: str) -> bool:
    return name.startswith("^")
