"""Objects of loaded models."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from graphgrad.extras.import_v1.table_handles import mark, table_type, type_of
from graphgrad.extras.pipelines.mutable_tables import DenseHashTable, MutableHashTable
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.tracking.data_structures import DictWrapper, ListWrapper
from graphgrad.frontend.tracking.trackable import AutoTrackable, Trackable
from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import variant
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.variable_store import Cell, Handle
from graphgrad.ops.array.fill import zeros


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
    """

    def __init__(self, name: str):
        graph = current_graph()
        if graph is not None:
            self._name = name = graph.unique_name(name)
            self._handle = raw.VarHandleOp(dtype=variant, shape=(), shared_name=name, name=f"{name}/")
            return
        self._name = name
        self._handle = Handle(Cell(None, name, variant, ()))

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def _saved_resource(self) -> Any:
        """The op type that makes it in files, and its attributes; None if they are not known."""
        kind = type_of(self._handle)
        return None if kind is None else ("HashTableV2", {"key_dtype": kind.key_dtype, "value_dtype": kind.value_dtype})

    def _fill(self) -> Any:
        """Fills it as the model does."""
        return vars(self)["_initialize"]() if "_initialize" in vars(self) else None

    @property
    def resource_handle(self) -> Any:
        """The handle, a tensor of dtype resource."""
        return self._handle


def loaded_table(name: str, node: Any, nodes: Iterable[Any] = ()) -> Any:
    """Makes a table.

    Args:
      name: a name for it.
      node: the `NodeDef` that makes it in the file.
      nodes: the nodes that it stands among, with the constants that it gets.
    Returns: a `MutableHashTable` or a `DenseHashTable` for one that functions change.
    """
    known = {n.name: n for n in nodes}
    graph = current_graph()
    name = name if graph is None else graph.unique_name(name, False)  # by which a Saver saves it

    def array_of(found: Any) -> Any:
        while found is not None and found.op == "Identity":
            found = known.get(found.input[0].partition(":")[0])
        return None if found is None or found.op != "Const" else found.attr["value"].tensor.array()

    kind = table_type(node, lambda name: known.get(name.partition(":")[0]), array_of)
    if not kind.mutable:
        made: Any = LoadedResource(name)
    elif kind.dense:
        first = kind.first.item().kind
        made = DenseHashTable(kind.key_dtype, kind.value_dtype, zeros(kind.value_shape, kind.value_dtype), first.empty,
                              first.deleted, kind.buckets, name)
    else:
        made = MutableHashTable(kind.key_dtype, kind.value_dtype, zeros(kind.value_shape, kind.value_dtype), name)
    if not kind.dense:
        mark(made.resource_handle, kind)
    else:
        vars(made.resource_handle.op if isinstance(made.resource_handle, Tensor) else made.resource_handle)[
            "_table_type"] = kind
    return made


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
