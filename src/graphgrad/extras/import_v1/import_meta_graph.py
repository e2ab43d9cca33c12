"""Reading meta graphs: a graph with its collections, and a `Saver` for its variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from graphgrad.extras.pipelines.mutable_tables import TableSaveable
from graphgrad.frontend.graph.collection_protos import from_message, is_read
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables.variable_protos import variable_of
from graphgrad.ir.context import get_default_graph
from graphgrad.ir.graph_messages import GraphDef, MetaGraphDef, NodeDef, VariableDef
from graphgrad.ir.proto.messages import DecodeError
from graphgrad.ir.proto.text import ParseError, parse
from graphgrad.system.log import Log
from graphgrad.training.checkpoints.saver import Saver
from graphgrad.training.coordination.queue_runner import QueueRunner, QueueRunnerDef

from .import_graph import import_graph_def
from .table_handles import table_of, type_of

_OF_VARIABLES = frozenset({"variables", "trainable_variables", "local_variables", "model_variables", "metric_variables",
                           "moving_average_variables", "global_step", "concatenated_variables"})

_SAVING = frozenset({"Save", "SaveV2", "SaveSlices", "Restore", "RestoreV2", "RestoreSlice", "MergeV2Checkpoints",
                     "ShardedFilename", "ShardedFilespec", "DisableCopyOnRead"})


_log = Log("tensorflow")
_LONGEST_NAME = 1000  # of a field, with comments and blanks before it


def read_meta_graph(path: Any) -> Any:
    """Reads the `MetaGraphDef` of a file, in text or not; raises OSError if there is none."""
    try:
        return read_message(MetaGraphDef, path)
    except OSError:
        with open(path, "rb") as f:
            text = f.read(_LONGEST_NAME + 2).lstrip()
        if not re.match(rb"[a-z_]+ *[:{]|#", text):  # no name of a field
            raise
        return read_message(MetaGraphDef, path, True)


def read_message(kind: Any, path: Any, as_text: bool = False) -> Any:
    """Reads a message from a file; raises OSError, as in TensorFlow, if there is no file or message."""
    with open(path, "rb") as f:
        data = f.read()
    try:
        return parse(kind, data.decode()) if as_text else kind.FromString(data)
    except (DecodeError, ParseError, UnicodeDecodeError) as e:
        raise OSError(f"Cannot parse file {os.fsdecode(path)}: {e}. Fix: use another copy of the file") from None


def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: Any = None,
                      **kwargs: Any) -> Saver | Any:
    """Adds a graph with its collections, from a file or a `MetaGraphDef`, to the current graph.

    Args:
      meta_graph_or_file: the path, or the message; TensorFlow's too.
      clear_devices: whether to drop devices.
      import_scope: a name scope to put everything in.
      **kwargs: `input_map` as for `import_graph_def`.
    Returns: a `Saver` for the variables that the graph's own saved; None if there are no variables.
    Raises: OSError if there is no such file, or a damaged one; ValueError for unknown operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.train.import_meta_graph`.
    """
    message = meta_graph_or_file
    if isinstance(message, (str, bytes, os.PathLike)):
        message = read_meta_graph(message)
    saved = import_collections(message, clear_devices, import_scope, kwargs.get("input_map"))
    graph = get_default_graph()
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, import_scope)
    tables = tables_of(saved, graph, f"{import_scope}/" if import_scope else "")
    if not variables and not tables:
        return None
    if not all(hasattr(v, "_get_save_slice_info") for v in variables):
        raise ValueError("the collection of variables holds what is none: "
                         f"{', '.join(sorted({type(v).__name__ for v in variables}))}. Fix: export the graph again")
    chosen = [v for v in variables if saved is None or in_checkpoint(v, import_scope) in saved.names]
    if saved is not None:
        _warn_of_others(saved, {in_checkpoint(v, import_scope) for v in chosen}, tables)
    settings: dict[str, Any] = {}
    if message.HasField("saver_def"):
        settings["max_to_keep"] = message.saver_def.max_to_keep
        if message.saver_def.keep_checkpoint_every_n_hours > 0:
            settings["keep_checkpoint_every_n_hours"] = message.saver_def.keep_checkpoint_every_n_hours
    return saver_of(chosen or variables, tables, import_scope, **settings)


def saver_of(variables: Any, tables: dict[str, Any], scope: Any, **settings: Any) -> Saver:
    """Makes a `Saver` of imported variables and tables, under the names that they had before they were in a scope."""
    names: dict[str, list[Any]] = {name: [table] for name, table in tables.items()}
    for v in variables:
        names.setdefault(in_checkpoint(v, scope), []).append(v)
    return Saver(names, **settings)


def in_checkpoint(v: Any, scope: Any) -> str:
    """Returns the name of an imported variable in checkpoints; for a part, that of the whole variable."""
    if not hasattr(v, "_get_save_slice_info"):
        raise ValueError(f"The collection of variables holds a {type(v).__name__}, which is no variable. "
                         "Fix: write the model again")
    info = v._get_save_slice_info()
    name = str(info.full_name if info is not None else v.op.name)
    return name.removeprefix(f"{scope}/") if scope else name


def import_collections(message: Any, clear_devices: bool = False, scope: Any = None, input_map: Any = None) -> Any:
    """Adds the graph and the collections of a `MetaGraphDef`.

    Returns: what the graph's own Saver saved, or None if it had none.
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
        if kind == "bytes_list":
            values = _read(key, values, scope, prefix, made)
        elif kind == "node_list":
            values = [_element(graph, prefix + v) for v in values]
        for value in values:
            if value is not None:
                graph.add_to_collection(key, value)
    return saved


def _read(key: str, values: list[bytes], scope: Any, prefix: str, made: dict[str, Any]) -> list[Any]:
    """Returns the items of a collection that was written as messages or texts."""
    if key in _OF_VARIABLES:
        return [variable_of(v, prefix, made) for v in variable_messages(values)]
    if key == GraphKeys.QUEUE_RUNNERS:
        return [QueueRunner.from_proto(QueueRunnerDef.FromString(v), scope) for v in values]
    if is_read(key):
        return [from_message(key, v, scope) for v in values]
    return [v.decode("utf-8", "replace") for v in values]


def variable_messages(values: Iterable[bytes]) -> list[Any]:
    """Reads the `VariableDef`s of a collection; raises ValueError for what is none."""
    try:
        return [VariableDef.FromString(v) for v in values]
    except DecodeError as e:
        raise ValueError(f"the graph's collections are invalid: {e}. Fix: use another copy of the file") from None


def _variables_first(item: tuple[str, Any]) -> tuple[bool, str]:
    return item[0] not in _OF_VARIABLES, item[0]


def _element(graph: Any, name: str) -> Any:
    try:
        return graph.as_graph_element(name)
    except (KeyError, ValueError):
        return None  # of an operation that saved


class Saved(NamedTuple):
    """What a graph's own Saver saved.

    Attributes:
      names: the names of tensors in checkpoints.
      tables: for the name of each table in checkpoints the name of the operation that makes it.
    """

    names: set[str]
    tables: dict[str, str]


def saved_by(nodes: Mapping[str, Any]) -> Saved | None:
    """Returns what the operations of a graph save; None if there are none that save.

    Args:
      nodes: `NodeDef`s, by name.
    """
    found = None
    for node in nodes.values():
        if node.op != "SaveV2" or len(node.input) < 2 or node.input[1] not in nodes:
            continue
        found = found or Saved(set(), {})
        names = [v.decode() for v in nodes[node.input[1]].attr["value"].tensor.array().ravel().tolist()]
        found.names.update(names)
        for name, given in zip(names, node.input[3:], strict=False):  # the rest are control inputs
            source = nodes.get(given.partition(":")[0])
            if source is not None and source.op == "LookupTableExportV2" and name.endswith("-keys"):
                found.tables[name.removesuffix("-keys")] = _past_identities(source.input[0], nodes)
    return found


def _past_identities(name: str, nodes: Mapping[str, Any]) -> str:
    name = name.partition(":")[0]
    for _ in nodes:  # in a hostile graph they may form a cycle
        if name not in nodes or nodes[name].op != "Identity" or not nodes[name].input:
            break
        name = nodes[name].input[0].partition(":")[0]
    return name


def _warn_of_others(saved: Saved, variables: set[str], tables: dict[str, Any]) -> None:
    """Warns of what the graph's own Saver saved and what is read here cannot restore."""
    others = saved.names - variables - {name + end for name in tables for end in ("-keys", "-values")}
    if others:
        _log.warning("The Saver of the imported graph does not restore %d tensors that the graph's own did, the first "
                     "is '%s': they belong neither to a variable nor to a table.", len(others), min(others))


def tables_of(saved: Saved | None, graph: Any, prefix: str) -> dict[str, Any]:
    """Returns the tables that a graph's own Saver saved, by their names in checkpoints; other Savers get them, too."""
    found: dict[str, Any] = {}
    for name, node in (saved.tables if saved is not None else {}).items():
        handle = _element(graph, prefix + node)
        kind = type_of(handle.outputs[0]) if handle is not None else None
        if kind is not None and kind.mutable:
            found[name] = table_of(handle.outputs[0], name, kind)
            graph.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TableSaveable(found[name], prefix + name))
    return found


def _without_saving(graph_def: Any) -> tuple[Any, Any]:
    """Returns the graph without the operations that save and restore, and what they saved."""
    gone = {n.name for n in graph_def.node if n.op in _SAVING}
    saved = saved_by({n.name: n for n in graph_def.node})
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
