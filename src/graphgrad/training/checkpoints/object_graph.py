"""The object graph of TensorFlow 2 checkpoints."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from graphgrad.frontend.tracking.trackable import Trackable
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.proto.messages import Message
from graphgrad.training.optimizers.optimizer import Optimizer

from .saveable import Piece, Saveable, own_tensors

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


class _Bool(Message):
    FIELDS = {"value": (1, "bool")}


class ObjectReference(Message):
    """A child of an object, and its name there."""

    FIELDS = {"node_id": (1, "int"), "local_name": (2, "string")}


class _Attribute(Message):
    FIELDS = {"name": (1, "string"), "full_name": (2, "string"), "checkpoint_key": (3, "string")}


class SlotVariableReference(Message):
    """An optimizer's variable beside a variable."""

    FIELDS = {"original_variable_node_id": (1, "int"), "slot_name": (2, "string"), "slot_variable_node_id": (3, "int")}


class _Object(Message):
    FIELDS = {"children": (1, [ObjectReference]), "attributes": (2, [_Attribute]),
              "slot_variables": (3, [SlotVariableReference]), "has_checkpoint_values": (5, _Bool)}


class TrackableObjectGraph(Message):
    """Objects, by number; the first one is the root.

    Reference: TensorFlow 2.21 trackable_object_graph.proto.
    """

    FIELDS = {"nodes": (1, [_Object])}


def is_trackable(value: Any) -> bool:
    """Returns whether checkpoints can save a value, or something in it."""
    return isinstance(value, (Trackable, list, tuple, Mapping))


def children(value: Any) -> dict[str, Any]:
    """Returns the objects that an object holds, by name."""
    if isinstance(value, Trackable):
        return value._trackable_children()
    if isinstance(value, Mapping):
        own = {str(k): v for k, v in value.items()}
    elif isinstance(value, (list, tuple)):
        own = {str(i): v for i, v in enumerate(value)}
    else:
        return {}
    return {k: v for k, v in own.items() if is_trackable(v)}


def pieces(value: Any) -> list[Piece]:
    """Returns the values of an object itself."""
    if isinstance(value, Variable):
        return [Piece("VARIABLE_VALUE", "", value._shared_name.rstrip("/"))]
    if isinstance(value, Saveable):
        return list(value._pieces) if value._is_saved() else []
    name = str(getattr(value, "_shared_name", ""))
    return [Piece(attribute, "", name) for attribute in own_tensors(value) or ()]


def escaped(name: str) -> str:
    """Escapes a name for a key."""
    return re.sub("/", ".S", name.replace(".", ".."))


def _slot(optimizer: Any, variable: Any, name: str) -> Any:
    """Returns an optimizer's variable beside another one; None if it has none."""
    try:
        return optimizer.get_slot(variable, name)
    except (AttributeError, KeyError):  # of libraries' optimizers
        return None


class ObjectGraph:
    """All objects reachable from a root, in TensorFlow's order.

    Args:
      root: the root.
      with_slots: whether the variables of optimizers beside others are objects, too.
      held: returns what an object holds, by name.
    Attributes:
      objects: the objects.
      paths: their keys.
      links: for each object the numbers of its children, by name.
      slots: for each optimizer's number: triples of a variable's number, the slot's name, the slot's number.
    """

    def __init__(self, root: Any, with_slots: bool = True, held: Callable[[Any], dict[str, Any]] = children):
        self.objects: list[Any] = [root]
        self.paths: list[str] = [""]
        self.links: list[dict[str, int]] = []
        self.slots: dict[int, list[tuple[int, str, int]]] = {}
        numbers = {id(root): 0}
        at = 0
        while at < len(self.objects):
            found = {}
            for name, child in held(self.objects[at]).items():
                if id(child) not in numbers:
                    numbers[id(child)] = len(self.objects)
                    self.objects.append(child)
                    self.paths.append("/".join(p for p in (self.paths[at], escaped(name)) if p))
                found[name] = numbers[id(child)]
            self.links.append(found)
            at += 1
        for number in range(at if with_slots else 0):
            optimizer = self.objects[number]
            if isinstance(optimizer, Optimizer) or (isinstance(optimizer, Trackable)
                                                    and "get_slot_names" in dir(optimizer)):
                self._add_slots(number, optimizer, at, numbers)

    def _add_slots(self, number: int, optimizer: Any, count: int, numbers: dict[int, int]) -> None:
        for name in optimizer.get_slot_names():
            for i in range(count):
                variable = self.objects[i]
                slot = _slot(optimizer, variable, name) if isinstance(variable, Variable) else None
                if not isinstance(slot, Variable):
                    continue
                if id(slot) not in numbers:
                    numbers[id(slot)] = len(self.objects)
                    self.objects.append(slot)
                    path = f"{self.paths[i]}/.OPTIMIZER_SLOT/{self.paths[number]}/{escaped(name)}"
                    self.paths.append(path.lstrip("/"))
                    self.links.append({})
                self.slots.setdefault(number, []).append((i, name, numbers[id(slot)]))

    def key(self, number: int, piece: Piece) -> str:
        """Returns the key of a value, without its suffix."""
        return "/".join(p for p in (self.paths[number], ".ATTRIBUTES", piece.attribute) if p)

    def message(self) -> TrackableObjectGraph:
        """Returns the graph as a message."""
        made = TrackableObjectGraph()
        for number, value in enumerate(self.objects):
            node = made.nodes.add()
            for name, child in self.links[number].items():
                node.children.add(node_id=child, local_name=name)
            for piece in {p.attribute: p for p in pieces(value)}.values():
                node.attributes.add(name=piece.attribute, full_name=piece.full_name or None,
                                    checkpoint_key=self.key(number, piece))
            for variable, name, slot in self.slots.get(number, ()):
                node.slot_variables.add(original_variable_node_id=variable, slot_name=name, slot_variable_node_id=slot)
        has = [bool(n.attributes or n.slot_variables) for n in made.nodes]
        changed = True
        while changed:
            changed = False
            for number, links in enumerate(self.links):
                if not has[number] and any(has[i] for i in links.values()):
                    has[number] = changed = True
        for node, value in zip(made.nodes, has):
            node.has_checkpoint_values.SetInParent()
            if value:
                node.has_checkpoint_values.value = True
        return made
