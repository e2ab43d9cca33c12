"""Writes meta graphs: a graph with its collections and the settings of its `Saver`, in one file."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

from graphgrad.frontend.graph.collection_protos import to_messages
from graphgrad.frontend.variables.variable import Variable
from graphgrad.frontend.variables.variable_protos import variable_def
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.dtypes import string
from graphgrad.ir.files.atomic_files import make_folders, write_whole
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.graph_messages import AnyMessage, AttrValue, MetaGraphDef, SaverDef, TensorProto
from graphgrad.system.log import Log
from graphgrad.training.coordination.queue_runner import QueueRunner

from .default_attributes import strip_defaults
from .saveable_object import SaveableObject
from .saved_items import Item, ObjectItem, TableItem
from .saver import Saver

_log = Log("tensorflow")

# -- writing ---------------------------------------------------------------------------


def export_meta_graph(filename: Any = None, meta_info_def: Any = None, graph_def: Any = None, saver_def: Any = None,
                      collection_list: Any = None, as_text: bool = False, graph: Any = None, export_scope: Any = None,
                      clear_devices: bool = False, clear_extraneous_savers: bool = False,
                      strip_default_attrs: bool = False, save_debug_info: bool = False, **kwargs: Any) -> MetaGraphDef:
    """Exports the graph with its collections as a `MetaGraphDef`, which `import_meta_graph` and TensorFlow read.

    Args:
      filename: where to write it; nowhere if not given.
      meta_info_def: a `MetaInfoDef`.
      graph_def: a `GraphDef` in place of the graph's own.
      saver_def: the settings of a `Saver`.
      collection_list: which collections; all by default.
      as_text: whether the file is text.
      graph: the graph; the default one if not given.
      export_scope: not supported but as None.
      clear_devices: whether to leave devices out.
      strip_default_attrs: whether to leave out attributes that have their defaults.
      clear_extraneous_savers, save_debug_info, **kwargs: accepted; without effect.
    Returns: the `MetaGraphDef`.
    Raises: ValueError for an `export_scope`.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.export_meta_graph`.
    """
    if export_scope:
        raise ValueError("export_scope is not supported. Fix: export the whole graph, and give import_scope when you "
                         "import it")
    graph = graph or get_default_graph()
    made = MetaGraphDef()
    if meta_info_def is not None:
        made.meta_info_def.CopyFrom(meta_info_def)
    made.meta_info_def.tensorflow_version = made.meta_info_def.tensorflow_version or "2.21.0"
    made.graph_def.CopyFrom(graph_def if graph_def is not None else graph.as_graph_def(add_shapes=True))
    if clear_devices:
        for node in made.graph_def.node:
            node.device = ""
    if strip_default_attrs:
        strip_defaults(made.graph_def)
        made.meta_info_def.stripped_default_attrs = True
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    written = {n.name for n in made.graph_def.node}
    for key in collection_list if collection_list is not None else graph.get_all_collection_keys():
        _write_collection(made, key, graph.get_collection(key), written)
    if filename:
        folder = os.path.dirname(os.fspath(filename))
        if folder:
            make_folders(folder)
        write_whole(os.fspath(filename), str(made).encode() if as_text else made.SerializeToString())
    return made


def _write_collection(made: Any, key: Any, items: list[Any], written: set[str]) -> None:
    """Adds a collection, if all of its items are of one kind that a message can hold.

    Args:
      made: the meta graph.
      key: the collection's name.
      items: what is in it.
      written: the names of the operations in the meta graph; others are left out of the collection, too.
    """
    if not isinstance(key, str) or not items:
        return
    items = [i for i in items if not isinstance(i, SaveableObject)]  # are written as operations
    if not items:
        return
    collection = made.collection_def[key]
    messages = to_messages(key, items)
    if messages is not None:
        collection.bytes_list.value.extend(m.SerializeToString() for m in messages)
    elif (field := _field_of(items)) is not None:
        name, values = field
        values = [v for v in values if name != "node_list" or v.partition(":")[0] in written]
        if not values:
            made.collection_def.pop(key)
            return
        getattr(collection, name).value.extend(values)
    else:
        made.collection_def.pop(key)
        _log.warning("Issue encountered when serializing %s. Type is unsupported, or the types of the items don't "
                     "match the field type in CollectionDef.", key)


def _field_of(items: list[Any]) -> tuple[str, list[Any]] | None:
    """Returns the field of a `CollectionDef` for items, and what it holds; None if there is none for all of them."""

    def all_are(*types: type) -> bool:
        return all(isinstance(i, types) for i in items)

    for kind, message in _MESSAGES.items():
        if all_are(kind):
            return "bytes_list", [message(i).SerializeToString() for i in items]
    if all_are(Tensor, Operation):
        return "node_list", [i.name for i in items]
    for number, field in ((int, "int64_list"), (float, "float_list")):
        if all(type(i) is number for i in items):
            return field, items
    if all_are(AnyMessage):
        return "any_list", items
    return ("bytes_list", [i.encode() if isinstance(i, str) else i for i in items]) if all_are(str, bytes) else None


def saver_def_of(saver: Any) -> Any:
    """Returns the settings of a `Saver`."""
    return SaverDef(filename_tensor_name="save/Const:0", save_tensor_name="save/control_dependency:0",
                    restore_op_name="save/restore_all", max_to_keep=int(saver._max_to_keep or 0),
                    keep_checkpoint_every_n_hours=saver._every_seconds / 3600, version=SaverDef.V2)


_MESSAGES: dict[type, Callable[[Any], Any]] = {
    Variable: variable_def, Saver: saver_def_of, QueueRunner: operator.methodcaller("to_proto")}


def add_saving(graph_def: Any, saver: Any) -> None:
    """Adds to a `GraphDef` the operations by which TensorFlow saves and restores; here a `Saver` needs none.

    Args:
      graph_def: the `GraphDef`.
      saver: the `Saver`.
    """
    items = [i for i in saver._built() if i.graph is not None]
    if not items or any(n.name.startswith("save/SaveV2") for n in graph_def.node):
        return
    add = graph_def.node.add
    _const(add, "save/filename/input", ["model"], ())
    filename = add(name="save/filename", op="PlaceholderWithDefault", input=["save/filename/input"])
    default = add(name="save/Const", op="PlaceholderWithDefault", input=["save/filename"])
    for node in (filename, default):
        node.attr["dtype"] = AttrValue(type=string.enum)
        node.attr["shape"].shape.SetInParent()
    entries = [e for i in items for e in i.entries()]
    for half in ("SaveV2", "RestoreV2"):
        _const(add, f"save/{half}/tensor_names", [e.name for e in entries], (len(entries),))
        _const(add, f"save/{half}/shape_and_slices", [_slice_text(e.part) for e in entries], (len(entries),))
    inputs = ["save/Const", "save/SaveV2/tensor_names", "save/SaveV2/shape_and_slices"]
    save = add(name="save/SaveV2", op="SaveV2", input=[*inputs, *(v for n, i in enumerate(items)
                                                                  for v in _saved(add, n, i))])
    restore = add(name="save/RestoreV2", op="RestoreV2",
                  input=["save/Const", "save/RestoreV2/tensor_names", "save/RestoreV2/shape_and_slices"])
    for node in (save, restore):
        node.attr["dtypes"].list.type.extend(e.dtype.enum for e in entries)
    kept = add(name="save/control_dependency", op="Identity", input=["save/Const", "^save/SaveV2"])
    kept.attr["T"] = AttrValue(type=string.enum)
    done: list[str] = []
    at = 0
    for n, item in enumerate(items):
        given = [f"save/RestoreV2:{at + k}" if at + k else "save/RestoreV2" for k in range(len(item.entries()))]
        at += len(given)
        done += _restored(graph_def, n, item, given)
    add(name="save/restore_all", op="NoOp", input=[f"^{name}" for name in done])


def _saved(add: Any, n: int, item: Item) -> list[str]:
    """Returns the names of the tensors of an item that are saved."""
    if isinstance(item, ObjectItem):
        return [f"{t.op.name}:{t.op.outputs.index(t)}" for t in item.tensors]
    if not isinstance(item, TableItem):
        return [item.value._snapshot.op.name]
    node = add(name=f"save/LookupTableExportV2_{n}", op="LookupTableExportV2", input=[item.handle.op.name])
    for name, entry in zip(("Tkeys", "Tvalues"), item.entries(), strict=True):
        node.attr[name] = AttrValue(type=entry.dtype.enum)
    return [node.name, f"{node.name}:1"]


def _restored(graph_def: Any, n: int, item: Item, given: list[str]) -> list[str]:
    """Adds what restores an item; returns the names of the operations that do."""
    add = graph_def.node.add
    if isinstance(item, ObjectItem):
        nodes = {node.name: node for node in graph_def.node}
        for placeholder, name in zip(item.given, given, strict=True):
            node = nodes[placeholder.op.name]
            node.op = "Identity"
            node.input.append(name)
            node.attr.clear()
            node.attr["T"] = AttrValue(type=placeholder.dtype.enum)
        return [] if item.restoring is None else [item.restoring.name]
    if isinstance(item, TableItem):
        node = add(name=f"save/LookupTableImportV2_{n}", op="LookupTableImportV2",
                   input=[item.handle.op.name, *given])
        for name, entry in zip(("Tin", "Tout"), item.entries(), strict=True):
            node.attr[name] = AttrValue(type=entry.dtype.enum)
        return [node.name]
    value = add(name=f"save/Identity_{n}", op="Identity", input=given)
    value.attr["T"] = AttrValue(type=item.value.dtype.enum)
    assign = add(name=f"save/AssignVariableOp_{n}", op="AssignVariableOp",
                 input=[item.value._handle.op.name, value.name])
    assign.attr["dtype"] = AttrValue(type=item.value.dtype.enum)
    return [assign.name]


def _slice_text(part: Any) -> str:
    if part is None:
        return ""
    full, offset, shape = part
    pieces = [f"{o},{n}" for o, n in zip(offset, shape)]
    return f"{' '.join(map(str, full))} {':'.join(pieces)}"


def _const(add: Any, name: str, values: list[str], shape: tuple[int, ...]) -> None:
    import numpy as np

    node = add(name=name, op="Const")
    node.attr["dtype"] = AttrValue(type=string.enum)
    array = np.empty(len(values), object)
    array[:] = [v.encode() for v in values]
    node.attr["value"] = AttrValue(tensor=TensorProto.of(array.reshape(shape), string))


# -- reading ---------------------------------------------------------------------------
