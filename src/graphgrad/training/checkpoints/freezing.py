"""Graphs whose variables are replaced by constants: `graph_util.convert_variables_to_constants`.

Handles of variables are followed through the graph: along identities and loops of TensorFlow 1, and into the functions
of branches, loops, maps and calls, which are copied for the handles that they get.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.errors import FailedPreconditionError
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.graph_messages import AttrValue, FunctionDef, GraphDef, NodeDef, TensorProto, shape_proto

from .graph_files import extract_sub_graph

_INT32 = as_dtype("int32").enum
_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
# An op type that reads a variable -> the one that gives the same of a tensor, its attributes of types, and the name of
# its result.
_READERS = {
    "ReadVariableOp": ("Identity", {"T": "dtype"}, "output"),
    "ResourceGather": ("GatherV2", {"Tparams": "dtype", "Tindices": "Tindices"}, "output"),
    "ResourceGatherNd": ("GatherNd", {"Tparams": "dtype", "Tindices": "Tindices"}, "output"),
    "VariableShape": ("Shape", {"out_type": "out_type"}, "output"),
}
_PASSING = ("Identity", "Enter", "Exit", "NextIteration", "Switch", "Merge", "RefSwitch", "RefEnter")


class _Content(NamedTuple):
    """What a handle that is gone held: a tensor of this dtype (its number) and shape."""

    dtype: int
    shape: tuple[int, ...]


def convert_variables_to_constants(sess: Any, input_graph_def: Any, output_node_names: Sequence[str],
                                   variable_names_whitelist: Any = None,
                                   variable_names_blacklist: Any = None) -> GraphDef:
    """Extracts the part of a graph that operations need, with variables replaced by constants.

    Functions that get variables, such as the bodies of loops and branches, are copied with tensors in their place.

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
    names = {n.name for n in part.node if n.op in _VARIABLES}
    if variable_names_whitelist is not None:
        names &= set(variable_names_whitelist)
    names -= set(variable_names_blacklist or ())
    values = {name: _value(sess, name) for name in sorted(names)}
    return frozen(part, values)


def frozen(part: GraphDef, values: Mapping[str, tuple[np.ndarray, Any]]) -> GraphDef:
    """Returns a graph in which operations have become constants: variables, or placeholders of these.

    Args:
      part: the graph.
      values: the name of an operation -> the value and the dtype.
    """
    return _Freezer(part, values).graph()


def _value(sess: Any, name: str) -> tuple[np.ndarray, Any]:
    """Returns a variable's value in a session, and its dtype."""
    cell = sess._resolve(sess.graph.get_operation_by_name(name).outputs[0])
    if cell.held is None:
        raise FailedPreconditionError(None, None, f"Variable {cell.name} has no value. "
                                      "Fix: initialize or restore it in this session first")
    return np.asarray(cell.value), cell.dtype


class _Freezer:
    """Replaces variables in a graph and in its functions.

    Args:
      part: the graph.
      values: the name of a variable's operation -> its value and dtype.
    """

    def __init__(self, part: GraphDef, values: Mapping[str, tuple[np.ndarray, Any]]) -> None:
        self._part, self._values = part, values
        self._functions: dict[str, FunctionDef] = {f.signature.name: f for f in part.library.function}
        self._copies: dict[Any, tuple[str, dict[int, _Content]]] = {}  # what was copied -> its name, results replaced
        self._made: list[FunctionDef] = []

    def graph(self) -> GraphDef:
        """Returns the new graph."""
        contents = {name: _Content(dtype.enum, array.shape) for name, (array, dtype) in self._values.items()}
        out = GraphDef()
        for node in self._replaced(self._part.node, contents, in_function=False)[0]:
            if node.name in self._values:
                array, dtype = self._values[node.name]
                node = NodeDef(name=node.name, op="Const")
                node.attr["dtype"] = AttrValue(type=dtype.enum)
                node.attr["value"] = AttrValue(tensor=TensorProto.of(array, dtype))
            out.node.append(node)
        out.library.CopyFrom(self._part.library)
        out.library.function.extend(self._made)
        out.versions.CopyFrom(self._part.versions)
        return out

    def _replaced(self, nodes: Iterable[NodeDef], contents: Mapping[str, _Content],
                  in_function: bool) -> tuple[list[NodeDef], dict[str, _Content], dict[str, str]]:
        """Replaces what uses handles that are gone.

        Args:
          nodes: operations.
          contents: value -> what it held, for the values that were handles; without ":0".
          in_function: whether values are named as in functions, "node:result:number".
        Returns: the new operations; `contents`, with what passes handles on; old name of a value -> new name.
        """
        nodes, contents, renamed = list(nodes), dict(contents), {}
        found = -1
        while found != len(contents):  # loops of TensorFlow 1 have edges that go back
            found = len(contents)
            for node in nodes:
                self._pass_on(node, contents, in_function)
        out: list[NodeDef] = []
        for node in nodes:
            gone = self._gone(node, contents)
            if not gone:
                out.append(node)
            elif node.op in _READERS:
                out += _reader(node, gone[0], in_function)
                if in_function:
                    result = "value" if node.op == "ReadVariableOp" else "output"
                    renamed[f"{node.name}:{result}:0"] = f"{node.name}:{_READERS[node.op][2]}:0"
            else:
                out.append(self._passing(node, gone))
        if renamed:
            out = [_reading(node, renamed) for node in out]
        return out, contents, renamed

    @staticmethod
    def _gone(node: NodeDef, contents: Mapping[str, _Content]) -> dict[int, _Content]:
        """Returns which of an operation's inputs were handles."""
        return {k: contents[name] for k, i in enumerate(node.input)
                if not i.startswith("^") and (name := i.removesuffix(":0") if i.count(":") == 1 else i) in contents}

    def _pass_on(self, node: NodeDef, contents: dict[str, _Content], in_function: bool) -> None:
        """Notes which results of an operation are handles that are gone."""
        gone = self._gone(node, contents)
        if not gone or node.op in _READERS:
            return
        if node.op in _PASSING:
            first = next(iter(gone.values()))
            results = {0: first, 1: first} if node.op in ("Switch", "RefSwitch") else {0: first}
            names = ["output_false", "output_true"] if node.op in ("Switch", "RefSwitch") else ["output"]
        else:
            results = self._called(node, gone)[1]
            names = []
        for k, content in results.items():
            if not in_function:
                contents[f"{node.name}:{k}" if k else node.name] = content
            elif names:
                contents[f"{node.name}:{names[k]}:0"] = content
            else:
                contents[f"{node.name}:output:{k}"] = content

    def _called(self, node: NodeDef, gone: Mapping[int, _Content]) -> tuple[dict[str, str], dict[int, _Content]]:
        """Copies the functions of an operation for the handles that it gets no more.

        Returns: old name of a function -> the copy's name; the results that were handles.
        """
        names = [f.name for attr in node.attr.values() for f in [attr.func, *attr.list.func] if f.name]
        if node.op in self._functions:
            names.append(node.op)
        copies: dict[str, str] = {}
        results: dict[int, _Content] = {}
        for name in names:
            function = self._functions.get(name)
            if function is None:
                continue
            offset = len([i for i in node.input if not i.startswith("^")]) - len(function.signature.input_arg)
            if offset < 0:
                continue
            copies[name], found = self._copy(function, {k - offset: c for k, c in gone.items() if k >= offset})
            results |= found
        return copies, results

    def _copy(self, function: FunctionDef, gone: Mapping[int, _Content]) -> tuple[str, dict[int, _Content]]:
        """Copies a function with tensors instead of handles as arguments; returns its name, and such results."""
        key = function.signature.name, tuple(sorted(gone.items()))
        if key in self._copies:
            return self._copies[key]
        new = FunctionDef.FromString(function.SerializeToString())
        contents = {}
        for k, content in gone.items():
            argument = new.signature.input_arg[k]
            argument.type = content.dtype
            argument.handle_data[:] = []
            contents[argument.name] = content
            if f"_arg_{k}_shape" in new.attr:
                new.attr[f"_arg_{k}_shape"].list.shape[:] = [shape_proto(content.shape)]
            new.arg_attr.pop(k, None)
            new.resource_arg_unique_id.pop(k, None)
        nodes, contents, renamed = self._replaced(new.node_def, contents, in_function=True)
        new.node_def[:] = nodes
        results = {}
        for k, result in enumerate(new.signature.output_arg):
            value = new.ret[result.name]
            if value in contents:
                result.type = contents[value].dtype
                result.handle_data[:] = []
                results[k] = contents[value]
            new.ret[result.name] = renamed.get(value, value)
        # TensorFlow wants functions of one name to be equal, in all graphs of a process.
        name = f"{function.signature.name}_frozen_{hashlib.sha256(new.SerializeToString()).hexdigest()[:12]}"
        new.signature.name = name
        self._copies[key] = name, results
        self._made.append(new)
        return name, results

    def _passing(self, node: NodeDef, gone: Mapping[int, _Content]) -> NodeDef:
        """Returns an operation that passes tensors on, to functions too, where it passed handles."""
        new = NodeDef.FromString(node.SerializeToString())
        if node.op in _PASSING:
            new.attr["T"] = AttrValue(type=next(iter(gone.values())).dtype)
            return new
        copies, results = self._called(node, gone)
        for attr in new.attr.values():
            for f in [attr.func, *attr.list.func]:
                if f.name in copies:
                    f.name = copies[f.name]
        new.op = copies.get(node.op, node.op)
        data = len([i for i in node.input if not i.startswith("^")])
        for name, changed in (("Tin", gone), ("T", gone), ("Tout", results)):
            if name in new.attr and (types := new.attr[name].list.type):
                offset = 0 if name == "Tout" else data - len(types)
                for k, content in changed.items():
                    if k >= offset:
                        types[k - offset] = content.dtype
        for name in ("output_shapes", "_output_shapes"):
            if name in new.attr and (shapes := new.attr[name].list.shape):
                for k, content in results.items():
                    shapes[k] = shape_proto(content.shape)
        return new


def _reader(node: NodeDef, content: _Content, in_function: bool) -> list[NodeDef]:
    """Replaces an operation that reads a variable by one that has the tensor.

    Args:
      node: the operation.
      content: what the variable held.
      in_function: as for `_Freezer._replaced`.
    """
    op, types, _ = _READERS[node.op]
    new = NodeDef(name=node.name, op=op, device=node.device)
    data = [i for i in node.input if not i.startswith("^")]
    control = [i for i in node.input if i.startswith("^")]
    for name, old in types.items():
        if old in node.attr:
            new.attr[name] = node.attr[old]
    if "_output_shapes" in node.attr:
        new.attr["_output_shapes"] = node.attr["_output_shapes"]
    if op == "Shape":
        new.attr["T"] = AttrValue(type=content.dtype)
    if op != "GatherV2":
        new.input.extend([*data, *control])
        return [new]
    axis = NodeDef(name=f"{node.name}/axis", op="Const", device=node.device)
    axis.attr["dtype"] = AttrValue(type=_INT32)
    axis.attr["value"] = AttrValue(tensor=TensorProto.of(np.int32(0), as_dtype("int32")))
    new.attr["Taxis"] = AttrValue(type=_INT32)
    new.input.extend([*data, f"{axis.name}:output:0" if in_function else axis.name, *control])
    new.attr["batch_dims"] = AttrValue(i=node.attr["batch_dims"].i if "batch_dims" in node.attr else 0)
    return [axis, new]


def _reading(node: NodeDef, renamed: Mapping[str, str]) -> NodeDef:
    """Returns an operation whose inputs have new names."""
    if not any(i in renamed for i in node.input):
        return node
    new = NodeDef.FromString(node.SerializeToString())
    new.input[:] = [renamed.get(i, i) for i in node.input]
    return new
