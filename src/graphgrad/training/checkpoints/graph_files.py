"""Graphs in files, and parts of graphs: `write_graph`, `graph_util`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.files.atomic_files import make_folders, write_whole
from graphgrad.ir.graph import Graph
from graphgrad.ir.graph_messages import AttrValue, GraphDef, NodeDef, TensorProto
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


def convert_variables_to_constants(sess: Any, input_graph_def: Any, output_node_names: Sequence[str],
                                   variable_names_whitelist: Any = None,
                                   variable_names_blacklist: Any = None) -> GraphDef:
    """Extracts the part of a graph that operations need, with variables replaced by constants.

    Args:
      sess: the session that has the values.
      input_graph_def: the graph.
      output_node_names: the names of operations.
      variable_names_whitelist: the variables to convert; all by default.
      variable_names_blacklist: variables to leave as they are.
    Returns: a new `GraphDef`.
    Raises: FailedPreconditionError if a variable has no value.
    Reference: TensorFlow 2.21 `tf.compat.v1.graph_util.convert_variables_to_constants`.

    >>> v = tf.Variable(2.0, name="v")
    >>> y = tf.multiply(v, 3.0, name="y")
    >>> sess.run(v.initializer)
    >>> frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph_def, ["y"])
    >>> sorted({n.op for n in frozen.node})
    ['Const', 'Identity', 'Mul']
    """
    part = extract_sub_graph(input_graph_def, list(output_node_names))
    handles = {n.name for n in part.node if n.op == "VarHandleOp"}
    if variable_names_whitelist is not None:
        handles &= set(variable_names_whitelist)
    handles -= set(variable_names_blacklist or ())
    names = sorted(handles)
    readers = {}
    for name in names:
        handle = sess.graph.get_operation_by_name(name)
        readers[name] = sess._resolve(handle.outputs[0])
    out = GraphDef()
    for node in part.node:
        if node.name in handles:
            cell = readers[node.name]
            if cell.held is None:
                from graphgrad.errors import FailedPreconditionError

                raise FailedPreconditionError(None, None, f"Variable {cell.name} has no value. "
                                              "Fix: initialize or restore it in this session first")
            array = np.asarray(cell.value)
            made = NodeDef(name=node.name, op="Const")
            made.attr["dtype"] = AttrValue(type=cell.dtype.enum)
            made.attr["value"] = AttrValue(tensor=TensorProto.of(array, cell.dtype))
            out.node.append(made)
        elif node.op == "ReadVariableOp" and _operation(node.input[0]) in handles:
            made = NodeDef(name=node.name, op="Identity")
            made.input.extend(node.input)
            made.attr["T"] = node.attr["dtype"]
            out.node.append(made)
        elif node.op == "ResourceGather" and _operation(node.input[0]) in handles:
            out.node.extend(_gather(node))
        else:
            out.node.append(node)
    out.library.CopyFrom(part.library)
    out.versions.CopyFrom(part.versions)
    return out


def _gather(node: Any) -> list[Any]:
    """Replaces `ResourceGather` by `GatherV2`, with the axis that it needs."""
    axis = NodeDef(name=f"{node.name}/axis", op="Const")
    axis.attr["dtype"] = AttrValue(type=3)
    axis.attr["value"] = AttrValue(tensor=TensorProto.of(np.int32(0), as_dtype("int32")))
    made = NodeDef(name=node.name, op="GatherV2")
    data = [i for i in node.input if not i.startswith("^")]
    made.input.extend([*data, axis.name, *(i for i in node.input if i.startswith("^"))])
    made.attr["Tparams"] = node.attr["dtype"]
    made.attr["Tindices"] = node.attr["Tindices"]
    made.attr["Taxis"] = AttrValue(type=3)
    return [axis, made]


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
