"""Objects of loaded models."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.tracking.data_structures import DictWrapper, ListWrapper
from graphgrad.frontend.tracking.trackable import AutoTrackable, Trackable
from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import variant
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.variable_store import Cell, Handle


class LoadedSignatures(collections.abc.Mapping[str, Any], Trackable):
    """The signatures of a loaded model, by name: functions that take tensors by name."""

    _object_identifier = "signature_map"

    def __init__(self) -> None:
        self._signatures: dict[str, Any] = {}

    def _add_signature(self, name: str, trace: Any) -> None:
        self._signatures[name] = trace

    def __getitem__(self, key: str) -> Any:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"

    __hash__ = object.__hash__  # by identity, as for other trackable objects


class LoadedResource(AutoTrackable):
    """A table of a loaded model, or another resource; the functions that fill and read it are those of the model.

    Args:
      name: a name for it.
      mutable: whether it is a table that functions change, which is empty at first.
    """

    def __init__(self, name: str, mutable: bool):
        graph = current_graph()
        if graph is not None:
            name = graph.unique_name(name)
            self._handle = raw.VarHandleOp(dtype=variant, shape=(), shared_name=name, name=f"{name}/")
            return
        held = None
        if mutable:
            held = np.empty((), object)
            held[()] = {}
        self._handle = Handle(Cell(held, name, variant, ()))

    @property
    def resource_handle(self) -> Any:
        """The handle, a tensor of dtype resource."""
        return self._handle


def filling(graph: Any, function: Callable[[], Any]) -> None:
    """Calls a function that fills tables; in a graph, what does so is added to the initializers of tables.

    Args:
      graph: the graph; None in eager mode.
      function: takes no arguments.
    """
    first = 0 if graph is None else len(graph._operations)
    function()
    for op in () if graph is None else graph._operations[first:]:
        if "stateful" in op.opdef.flags and not op.outputs:
            graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)


def user_object() -> Any:
    """Makes an object whose attributes are set; each has a class of its own, which may get a `__call__`."""

    class _UserObject(AutoTrackable):
        """An object of a loaded model."""

    return _UserObject()


def set_attribute(value: Any, name: str, child: Any) -> None:
    """Sets an attribute of a loaded object; one named `__call__` makes the object callable."""
    setattr(value, name, child)
    if name == "__call__" and not callable(value):
        type(value).__call__ = _call_attribute


def _call_attribute(instance: Any, *args: Any, **kwargs: Any) -> Any:
    return instance.__dict__["__call__"](*args, **kwargs)


def _set_element(value: Any, name: str, child: Any) -> None:
    if not name.isdecimal() or int(name) > 1_000_000:
        setattr(value, name, child)
        return
    while len(value) <= int(name):
        value.append(None)
    value[int(name)] = child


def _set_entry(value: Any, name: str, child: Any) -> None:
    value[name] = child


def _set_signature(value: Any, name: str, child: Any) -> None:
    value._add_signature(name, child)


# The kinds of objects that every model may have -> how one is made, and how its children are set.
KINDS: dict[str, tuple[Any, Any]] = {
    "trackable_list_wrapper": (ListWrapper, _set_element),
    "trackable_dict_wrapper": (DictWrapper, _set_entry),
    "signature_map": (LoadedSignatures, _set_signature),
}
TUPLE = "trackable_tuple_wrapper"
