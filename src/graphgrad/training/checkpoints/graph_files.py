"""Graphs in files, and parts of graphs: `write_graph`, `graph_util`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from graphgrad.ir.files.atomic_files import make_folders, write_whole
from graphgrad.ir.graph import Graph
from graphgrad.ir.graph_messages import GraphDef, NodeDef
from graphgrad.ir.shape import TensorShape


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Writes a graph to a file.

    Args:
      graph_or_graph_def: a `Graph` or a `GraphDef`.
      logdir: the directory; it is made if necessary.
      name: the file's name.
      as_text: whether to write text, which people can read, or the serialized message.
    Returns: the path.
    Reference: TensorFlow 2.21 `tf.io.write_graph`.

    >>> import tempfile
    >>> path = tf.train.write_graph(tf.get_default_graph(), tempfile.mkdtemp(), "graph.pb", as_text=False)
    >>> with open(path, "rb") as f:
    ...     _ = tf.GraphDef.FromString(f.read())
    """
    message = graph_or_graph_def
    if isinstance(message, Graph):
        message = message.as_graph_def()
    path = os.path.join(logdir, name)
    make_folders(logdir)
    write_whole(path, str(message).encode() if as_text else message.SerializeToString())
    return path


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> GraphDef:
    """Extracts the part of a graph that operations need.

    Args:
      graph_def: a `GraphDef`.
      dest_nodes: the names of operations.
    Returns: a new `GraphDef`.
    Raises: TypeError for other arguments; ValueError if a name is not in it.
    Reference: TensorFlow 2.21 `tf.compat.v1.graph_util.extract_sub_graph`.
    """
    if not hasattr(graph_def, "node"):
        raise TypeError(f"graph_def must be a graph_pb2.GraphDef proto, but got type {type(graph_def)}.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be an iterable of strings, but got type <class 'str'>.")
    by_name = {n.name: n for n in graph_def.node}
    missing = [n for n in dest_nodes if n not in by_name]
    if missing:
        raise ValueError(f"{missing[0]} is not in graph")
    keep: set[str] = set()
    waiting = list(dest_nodes)
    while waiting:
        name = waiting.pop()
        if name in keep or name not in by_name:
            continue
        keep.add(name)
        waiting += [_operation(i) for i in by_name[name].input]
    out = GraphDef()
    out.node.extend(NodeDef.FromString(n.SerializeToString()) for n in graph_def.node if n.name in keep)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def _operation(name: str) -> str:
    return name.removeprefix("^").partition(":")[0]


def remove_training_nodes(input_graph: Any, protected_nodes: Any = None) -> GraphDef:
    """Removes identities and checks for NaN, which inference does not need.

    Args:
      input_graph: a `GraphDef`.
      protected_nodes: names to keep.
    Returns: a new `GraphDef`.
    Reference: TensorFlow 2.21 `tf.compat.v1.graph_util.remove_training_nodes`.
    """
    protected = set(protected_nodes or ())
    awaited = {_operation(i) for n in input_graph.node for i in n.input if i.startswith("^")}
    through: dict[str, str] = {}
    kept = []
    for node in input_graph.node:
        alone = [i for i in node.input if not i.startswith("^")]
        removable = node.op == "CheckNumerics" or (node.op == "Identity" and len(alone) == len(node.input))
        if removable and node.name not in protected and node.name not in awaited and alone:
            through[node.name] = alone[0]
        else:
            kept.append(node)
    out = GraphDef()
    for node in kept:
        made = NodeDef.FromString(node.SerializeToString())
        made.input[:] = [_past(i, through) for i in node.input]
        out.node.append(made)
    out.library.CopyFrom(input_graph.library)
    out.versions.CopyFrom(input_graph.versions)
    return out


def _past(name: str, through: dict[str, str]) -> str:
    while not name.startswith("^") and _operation(name) in through:
        name = through[_operation(name)]
    return name


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> TensorShape:
    """Returns the static shape of a tensor.

    Args:
      graph: the graph.
      input_name: the name of the operation, or of the tensor.
    Reference: TensorFlow 2.21 `tf.compat.v1.graph_util.tensor_shape_from_node_def_name`.
    """
    return graph.get_tensor_by_name(input_name if ":" in input_name else f"{input_name}:0").get_shape()
