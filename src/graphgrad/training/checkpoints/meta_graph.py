"""Meta graphs: a graph with its collections and the settings of its `Saver`, in one file."""

from __future__ import annotations

import os
from typing import Any

from graphgrad.extras.import_v1.import_graph import import_graph_def
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables.variable import Variable
from graphgrad.frontend.variables.variable_protos import variable_def, variable_of
from graphgrad.ir.atomic_files import make_folders, write_whole
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.dtypes import string
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.proto.graph_messages import AttrValue, MetaGraphDef, NodeDef, SaverDef, TensorProto, VariableDef
from graphgrad.ir.proto.messages import DecodeError
from graphgrad.system.log import Log
from graphgrad.training.coordination.queue_runner import QueueRunner, QueueRunnerDef

from .saver import Saver

_log = Log("tensorflow")

_OF_VARIABLES = frozenset({"variables", "trainable_variables", "local_variables", "model_variables", "metric_variables",
                           "moving_average_variables", "global_step", "concatenated_variables"})
_SAVING = frozenset({"Save", "SaveV2", "SaveSlices", "Restore", "RestoreV2", "RestoreSlice", "MergeV2Checkpoints",
                     "ShardedFilename", "ShardedFilespec", "DisableCopyOnRead"})


# -- writing ---------------------------------------------------------------------------


def export_meta_graph(filename: Any = None, meta_info_def: Any = None, graph_def: Any = None, saver_def: Any = None,
                      collection_list: Any = None, as_text: bool = False, graph: Any = None,
                      export_scope: Any = None, clear_devices: bool = False, clear_extraneous_savers: bool = False,
                      strip_default_attrs: bool = False, save_debug_info: bool = False,
                      **kwargs: Any) -> Any:
    """The graph with its collections as a `MetaGraphDef`, which `import_meta_graph` and TensorFlow read.

    Args:
      filename: where to write it; nowhere if not given.
      meta_info_def: a `MetaInfoDef`.
      graph_def: a `GraphDef` in the place of the graph's own.
      saver_def: the settings of a `Saver`.
      collection_list: which collections; all by default.
      as_text: whether the file is text.
      graph: the graph; the default one if not given.
      export_scope: not supported but as None.
      clear_devices: whether to leave devices out.
      clear_extraneous_savers, strip_default_attrs, save_debug_info, **kwargs: accepted; without effect.
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
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    for key in collection_list if collection_list is not None else graph.get_all_collection_keys():
        _write_collection(made, key, graph.get_collection(key))
    if filename:
        folder = os.path.dirname(os.fspath(filename))
        if folder:
            make_folders(folder)
        write_whole(os.fspath(filename), str(made).encode() if as_text else made.SerializeToString())
    return made


def _write_collection(made: Any, key: Any, items: list[Any]) -> None:
    if not isinstance(key, str):
        return
    collection = made.collection_def[key]
    if items and all(isinstance(i, Variable) for i in items):
        collection.bytes_list.value.extend(variable_def(v).SerializeToString() for v in items)
    elif items and all(isinstance(i, (Tensor, Operation)) for i in items):
        collection.node_list.value.extend(i.name for i in items)
    elif items and all(isinstance(i, Saver) for i in items):
        collection.bytes_list.value.extend(saver_def_of(i).SerializeToString() for i in items)
    elif items and all(isinstance(i, QueueRunner) for i in items):
        collection.bytes_list.value.extend(i.to_proto().SerializeToString() for i in items)
    elif items and all(type(i) is int for i in items):
        collection.int64_list.value.extend(items)
    elif items and all(type(i) is float for i in items):
        collection.float_list.value.extend(items)
    elif items and all(isinstance(i, (str, bytes)) for i in items):
        collection.bytes_list.value.extend(i.encode() if isinstance(i, str) else i for i in items)
    else:
        made.collection_def.pop(key)
        if items:
            _log.warning("Issue encountered when serializing %s. Type is unsupported, or the types of the items don't "
                         "match the field type in CollectionDef.", key)





def saver_def_of(saver: Any) -> Any:
    """The settings of a `Saver`."""
    return SaverDef(filename_tensor_name="save/Const:0", save_tensor_name="save/control_dependency:0",
                    restore_op_name="save/restore_all", max_to_keep=int(saver._max_to_keep or 0),
                    keep_checkpoint_every_n_hours=saver._every_seconds / 3600, version=SaverDef.V2)


def add_saving(graph_def: Any, saver: Any) -> None:
    """Adds to a `GraphDef` the operations by which TensorFlow saves and restores; here a `Saver` needs none.

    Args:
      graph_def: the `GraphDef`.
      saver: the `Saver`.
    """
    items = [i for i in saver._built() if i.variable._graph is not None]
    if not items or any(n.name.startswith("save/") for n in graph_def.node):
        return
    add = graph_def.node.add
    _const(add, "save/filename/input", ["model"], ())
    filename = add(name="save/filename", op="PlaceholderWithDefault", input=["save/filename/input"])
    default = add(name="save/Const", op="PlaceholderWithDefault", input=["save/filename"])
    for node in (filename, default):
        node.attr["dtype"] = AttrValue(type=string.enum)
        node.attr["shape"].shape.SetInParent()
    slices = [_slice_text(i.part) for i in items]
    for half in ("SaveV2", "RestoreV2"):
        _const(add, f"save/{half}/tensor_names", [i.name for i in items], (len(items),))
        _const(add, f"save/{half}/shape_and_slices", slices, (len(items),))
    inputs = ["save/Const", "save/SaveV2/tensor_names", "save/SaveV2/shape_and_slices"]
    save = add(name="save/SaveV2", op="SaveV2", input=[*inputs, *(i.variable._snapshot.op.name for i in items)])
    restore = add(name="save/RestoreV2", op="RestoreV2",
                  input=["save/Const", "save/RestoreV2/tensor_names", "save/RestoreV2/shape_and_slices"])
    for node in (save, restore):
        node.attr["dtypes"].list.type.extend(i.variable.dtype.enum for i in items)
    kept = add(name="save/control_dependency", op="Identity", input=["save/Const", "^save/SaveV2"])
    kept.attr["T"] = AttrValue(type=string.enum)
    done = []
    for n, i in enumerate(items):
        value = add(name=f"save/Identity_{n}", op="Identity", input=[f"save/RestoreV2:{n}" if n else "save/RestoreV2"])
        value.attr["T"] = AttrValue(type=i.variable.dtype.enum)
        assign = add(name=f"save/AssignVariableOp_{n}", op="AssignVariableOp",
                     input=[i.variable._handle.op.name, value.name])
        assign.attr["dtype"] = AttrValue(type=i.variable.dtype.enum)
        done.append(f"^{assign.name}")
    add(name="save/restore_all", op="NoOp", input=done)


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


def read_meta_graph(path: Any) -> Any:
    """The `MetaGraphDef` in a file; OSError if there is none."""
    return read_message(MetaGraphDef, path)


def read_message(kind: Any, path: Any) -> Any:
    """The message of a kind that a file holds; OSError, as in TensorFlow, if there is no file or no message."""
    with open(path, "rb") as f:
        data = f.read()
    try:
        return kind.FromString(data)
    except DecodeError as e:
        raise OSError(f"Cannot parse file {os.fsdecode(path)}: {e}. Fix: use another copy of the file") from None


def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: Any = None,
                      **kwargs: Any) -> Any:
    """Adds a graph with its collections, from a file or a `MetaGraphDef`, to the current graph.

    Args:
      meta_graph_or_file: the path, or the message; TensorFlow's too.
      clear_devices: whether to leave devices out.
      import_scope: a name scope to put everything in.
      **kwargs: `input_map` as of `import_graph_def`.
    Returns: a `Saver` for the variables that the graph's own saved; None if there are no variables.
    Raises: OSError if there is no such file, or a damaged one; ValueError for operations that are not there.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.import_meta_graph`.
    """
    message = meta_graph_or_file
    if isinstance(message, (str, bytes, os.PathLike)):
        message = read_meta_graph(message)
    saved = import_collections(message, clear_devices, import_scope, kwargs.get("input_map"))
    variables = get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, import_scope)
    if not variables:
        return None
    chosen = [v for v in variables if saved is None or in_checkpoint(v, import_scope) in saved]
    settings: dict[str, Any] = {}
    if message.HasField("saver_def"):
        settings["max_to_keep"] = message.saver_def.max_to_keep
        if message.saver_def.keep_checkpoint_every_n_hours > 0:
            settings["keep_checkpoint_every_n_hours"] = message.saver_def.keep_checkpoint_every_n_hours
    return saver_of(chosen or variables, import_scope, **settings)


def saver_of(variables: Any, scope: Any, **settings: Any) -> Saver:
    """A `Saver` of imported variables, under the names that they had before they were put in a scope."""
    names: dict[str, list[Any]] = {}
    for v in variables:
        names.setdefault(in_checkpoint(v, scope), []).append(v)
    return Saver(names, **settings)


def in_checkpoint(v: Any, scope: Any) -> str:
    """The name of an imported variable in checkpoints; that of the whole for a part."""
    info = v._get_save_slice_info()
    name = str(info.full_name if info is not None else v.op.name)
    return name.removeprefix(f"{scope}/") if scope else name


def import_collections(message: Any, clear_devices: bool = False, scope: Any = None, input_map: Any = None) -> Any:
    """Adds the graph and the collections of a `MetaGraphDef`.

    Returns: the names under which the graph's own Saver saved variables, or None if it had none.
    """
    graph_def, saved = _without_saving(message.graph_def)
    if clear_devices:
        for node in graph_def.node:
            node.device = ""
    import_graph_def(graph_def, input_map, name=scope or "")
    graph = get_default_graph()
    prefix = f"{scope}/" if scope else ""
    made: dict[str, Any] = {}
    for key, collection in sorted(message.collection_def.items(), key=_variables_first):
        kind = collection.WhichOneof("kind")
        if kind is None:
            continue
        values = list(getattr(collection, kind).value)
        if key in (GraphKeys.SAVERS, GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT):
            continue
        if kind == "bytes_list" and key in _OF_VARIABLES:
            values = [variable_of(VariableDef.FromString(v), prefix, made) for v in values]
        elif kind == "bytes_list" and key == GraphKeys.QUEUE_RUNNERS:
            values = [QueueRunner.from_proto(QueueRunnerDef.FromString(v), scope) for v in values]
        elif kind == "bytes_list":
            values = [v.decode("utf-8", "replace") for v in values]
        elif kind == "node_list":
            values = [_element(graph, prefix + v) for v in values]
        for value in values:
            if value is not None:
                graph.add_to_collection(key, value)
    return saved


def _variables_first(item: tuple[str, Any]) -> tuple[bool, str]:
    return item[0] not in _OF_VARIABLES, item[0]


def _element(graph: Any, name: str) -> Any:
    try:
        return graph.as_graph_element(name)
    except (KeyError, ValueError):
        return None  # of an operation that saved


def _without_saving(graph_def: Any) -> tuple[Any, Any]:
    """The graph without the operations that save and restore, and the names of what they saved."""
    from graphgrad.ir.proto.graph_messages import GraphDef

    gone = {n.name for n in graph_def.node if n.op in _SAVING}
    saved = None
    by_name = {n.name: n for n in graph_def.node}
    for node in graph_def.node:
        if node.op == "SaveV2" and len(node.input) > 1 and node.input[1] in by_name:
            names = by_name[node.input[1]].attr["value"].tensor.array()
            saved = (saved or set()) | {v.decode() for v in names.ravel().tolist()}
    if not gone:
        return GraphDef.FromString(graph_def.SerializeToString()), saved
    readers: dict[str, list[str]] = {}
    for node in graph_def.node:
        for name in node.input:
            readers.setdefault(name.removeprefix("^").partition(":")[0], []).append(node.name)
    waiting = list(gone)
    while waiting:
        for name in readers.get(waiting.pop(), ()):
            if name not in gone:
                gone.add(name)
                waiting.append(name)
    out = GraphDef()
    out.node.extend(NodeDef.FromString(n.SerializeToString()) for n in graph_def.node if n.name not in gone)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out, saved
