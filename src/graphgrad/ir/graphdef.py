"""A graph as TensorFlow's `GraphDef` message."""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from graphgrad.system.log import Log

from . import dtypes
from .dtypes import DType, as_dtype
from .effects import effects_of
from .funcgraph import FuncGraph
from .graph import Graph, Operation, Tensor
from .graph_messages import AttrValue, FunctionDef, GraphDef, NodeDef, TensorProto, shape_proto
from .source import line_of
from .state.names import take_free

_LARGEST = 1024  # the largest constant in bytes that a picture needs
PRODUCER = 2474  # the format version that TensorFlow 2.21 writes

# Attributes that TensorFlow's ops lack: written with an underscore, so that it skips them.
OWN = {
    "ParseSingleExample": ("has_default",), "While": ("Tout", "maximum_iterations", "counter", "bounded_by", "memory"),
    "Print": ("count",), "MakeIterator": ("Tcaptured", "dataset"), "DatasetPass": ("Tcaptured", "dataset"),
    "IteratorGetNext": ("one_shot",),
    "DatasetResult": ("compute",), "DatasetVariant": ("of_values",), "IteratorToStringHandle": ("one_shot",),
    "IteratorGetNextAsOptional": ("one_shot",), "WriteSummary": ("writer", "make"), "FlushSummaryWriter": ("writer",),
    "CloseSummaryWriter": ("writer",),
    "BlockLSTMGrad": ("cell_clip", "forget_bias"), "BlockLSTMGradV2": ("cell_clip", "forget_bias"),
    "CTCLossV2": ("T",), "ExtractGlimpse": ("seed", "seed2"), "ExtractGlimpseV2": ("seed", "seed2"),
    "InitializeTableFromTextFileV2": ("key_dtype", "value_dtype"), "LookupTableExportV2": ("value_shape", "dense"),
    "LookupTableFindV2": ("mutable", "key_rank"), "LookupTableSizeV2": ("mutable",), "ResourceGatherNd": ("shape",),
    "MaxPoolGradGrad": ("explicit_paddings",), "ReadVariableOp": ("shape",), "ResourceGather": ("shape",),
    "VariableShape": ("shape",), "ResourceScatterNdUpdate": ("dtype",), "ResourceScatterNdAdd": ("dtype",),
    "ResourceScatterNdSub": ("dtype",), "ResourceScatterNdMin": ("dtype",), "ResourceScatterNdMax": ("dtype",),
}

# Attributes with defaults that TensorFlow's ops have and the ops here do not need.
_THEIRS: dict[str, dict[str, Any]] = {
    "AssignVariableOp": {"validate_shape": False}, "DecodeImage": {"dtype": dtypes.uint8},
    "EagerPyFunc": {"is_async": False}, "If": {"output_shapes": ()},
    "ResourceGather": {"batch_dims": 0, "validate_indices": True},
    **{f"ResourceScatterNd{kind}": {"bad_indices_policy": ""} for kind in ("Add", "Max", "Min", "Sub", "Update")},
    "SerializeManySparse": {"out_type": dtypes.string}, "SerializeSparse": {"out_type": dtypes.string},
    "TensorListGetItem": {"Tshape": dtypes.int32}, "VarHandleOp": {"allowed_devices": (), "debug_name": ""},
    "VariableShape": {"out_type": dtypes.int32}, "While": {"parallel_iterations": 10},
}

_LIMITED = "loop_counter/and"  # the result of the condition of a loop whose iterations are counted

_LOG = Log("graphgrad")


class HandleKind(NamedTuple):
    """The op type that a handle has in graphs that are written.

    Attributes:
      certainty: of several that operations find, the highest one is right.
      type: the op type.
      attrs: its attributes.
      inputs: the tensors that it gets.
    """

    certainty: int
    type: str
    attrs: dict[str, Any]
    inputs: tuple[Tensor, ...] = ()


WRITTEN_AS = "_written_as"  # the attribute of an operation that is known to be written as a `HandleKind`

_kinds: dict[str, Callable[[Operation], HandleKind]] = {}


def declare_handle(op_type: str, kind: Callable[[Operation], HandleKind]) -> None:
    """Declares how the first input of operations, a handle, is written.

    Args:
      op_type: the type of the operations.
      kind: returns it, given an operation.
    """
    _kinds[op_type] = kind


def _kinds_of_handles(operations: Iterable[Operation]) -> dict[Operation, HandleKind]:
    """Returns what the handles in a graph are written as, but those of variables."""
    found: dict[Operation, HandleKind] = {}
    for op in operations:
        if op.opdef.variable == "handle" and WRITTEN_AS in vars(op):
            kind = vars(op)[WRITTEN_AS]
            found[op] = kind._replace(attrs={**kind.attrs, "container": "", "shared_name": op._attr("shared_name")})
    for op in operations:
        find = _kinds.get(op.type)
        handle = op.inputs[0].op if find is not None else op
        if find is not None and handle.opdef.variable == "handle":
            kind = find(op)
            if handle not in found or kind.certainty > found[handle].certainty:
                shared = {"container": "", "shared_name": handle._attr("shared_name")}
                found[handle] = kind._replace(attrs={**kind.attrs, **shared})
    return found


def graph_def(graph: Graph) -> bytes:
    """Serializes the `GraphDef` of a graph for pictures.

    Functions and large constants are only named, so it cannot be run.

    Args:
      graph: the graph.
    """
    serialized: bytes = GraphWriter(_LARGEST).graph(graph, add_shapes=True).SerializeToString()
    return serialized


def to_graph_def(graph: Graph, add_shapes: bool = False, first: int = 0) -> Any:
    """Makes the `GraphDef` of a graph, with all that `import_graph_def` needs.

    Operations that call Python functions of this process are written without these, as in TensorFlow, with a warning.
    Those that nothing could read without such objects, like the initializer of an iterator, are left out, with a
    warning, and so is what uses their results.

    Args:
      graph: the graph.
      add_shapes: whether to write the static shapes of outputs.
      first: the first operation to write.
    """
    writer = GraphWriter(None)
    made = writer.graph(graph, add_shapes, first)
    if writer.python:
        one = writer.python[0]
        _LOG.warning("The graph that is written calls Python functions of this process (%d operations; the first is %s "
                     "'%s', built at %s). Elsewhere these cannot run.", len(writer.python), one.type, one.name,
                     line_of(one.source))
    if writer.gone:
        one = next(iter(writer.gone))
        _LOG.warning("The graph is written without %d operations that belong to objects of this process; the first is "
                     "%s '%s', built at %s.", len(writer.gone), one.type, one.name, line_of(one.source))
    return made


def node_def(op: Operation) -> Any:
    """Makes the `NodeDef` of an operation."""
    return GraphWriter(None).node(op, _tensor_name, False)


_custom_rules: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()  # those written, by their marks


def _mark(rule: Any) -> str | None:
    """Returns the name by which a gradient is known that is not that of the op type, and keeps it for `custom_rule`."""
    if rule is None or isinstance(rule, str):
        return rule
    mark: str | None = getattr(rule, "mark", None)
    if mark is not None and mark.startswith("CustomGradient-"):
        _custom_rules[mark] = rule
    return mark


def custom_rule(mark: str) -> Any:
    """Returns the gradient that this process has written under a name; the name if there is none."""
    return _custom_rules.get(mark, mark)


def attribute(op: Any, name: str) -> Any:
    """Returns the value of an operation's attribute, see `Operation.get_attr`."""
    if name in OWN.get(op.type, ()):
        return op._attr(name)
    if isinstance(op, Operation):
        attrs = node_def(op).attr
    else:  # recorded by a tape
        writer = GraphWriter(None)
        attrs = {k: writer.attr(k, v) for k, v in writer.attributes(op).items() if k == name}
    message = attrs.get(name)
    if message is None:
        raise ValueError(f"Operation '{op.name}' has no attr named '{name}'.")
    kind = message.WhichOneof("value")
    if kind != "list":
        return _given(kind, getattr(message, kind))
    lists = ((k, getattr(message.list, k)) for k in ("s", "i", "f", "b", "type", "shape", "tensor", "func"))
    return next(([_given(k, v) for v in values] for k, values in lists if values), [])


def _given(kind: str, value: Any) -> Any:
    if kind == "type":
        return as_dtype(int(value))
    return float(np.float32(value)) if kind == "f" else value


class GraphWriter:
    """Writes graphs and the functions that they use; constants above `largest` bytes without their values.

    Attributes:
      limits_loops: whether a loop's limit of iterations becomes part of its condition.
    """

    limits_loops = True

    def __init__(self, largest: int | None):
        self.largest = largest
        self.functions: dict[Any, tuple[str, FuncGraph]] = {}
        self.python: list[Operation] = []  # operations that call functions that cannot be written
        self.gone: dict[Operation, None] = {}  # what is left out
        self._handles: dict[Operation, HandleKind] = {}  # other than of variables
        self.bodies: set[int] = set()  # bodies of loops: TensorFlow requires them to return their captures, too
        self._names: set[str] = set()  # of functions
        self._counters: list[Any] = []  # nodes for loops whose number of iterations is limited, see `_add_limit`
        self._counted: dict[str, tuple[str, int, int]] = {}  # functions of these: what each is, variables, iterations
        self._written = 0  # how many functions have been

    def graph(self, graph: Graph, add_shapes: bool, first: int = 0) -> Any:
        """Makes the message, with the operations from `first` on."""
        made = GraphDef()
        operations = _in_order(graph, first)
        if self.largest is None:
            self._handles = _kinds_of_handles(operations)
            operations = self._writable(operations)
        for op in operations:
            made.node.append(self.node(op, _tensor_name, add_shapes))
            made.node.extend(self._counters)
            self._counters = []
        made.versions.producer = PRODUCER
        if self.largest is None:
            self.write_functions(made.library)
        return made

    def write_functions(self, library: Any) -> None:
        """Adds the functions that have been named to a library."""
        while self._written < len(self.functions):  # a function may use others
            name, function = list(self.functions.values())[self._written]
            self._written += 1
            library.function.append(self.function(name, function))

    def node(self, op: Operation, names: Any, add_shapes: bool) -> Any:
        """Makes the message of an operation; `names` holds its inputs' names."""
        kind = self._handles.get(op)
        op_type, inputs = (op.type, op.inputs) if kind is None else (kind.type, kind.inputs)
        node = NodeDef(name=op.name, op=op_type)
        waits = [f"^{c.name}" for c in op.control_inputs if c not in self.gone]
        node.input.extend([*map(names, inputs), *waits])
        if op.device:
            node.device = op.device
        own = OWN.get(op.type, ())
        attrs = self.attributes(op) if kind is None else kind.attrs
        for name, value in sorted(attrs.items()):  # fixes the numbering of functions
            if callable(value) and not isinstance(value, (Graph, DType, type)):
                self.python.append(op)
                continue
            message = self.attr(name, value)
            if message is not None:
                node.attr[f"_{name}" if name in own or name == "sum_duplicates" else name] = message
        self._add_their_attributes(op, node)
        if add_shapes and op.outputs and op.type != "While":
            shapes = AttrValue()
            shapes.list.shape.extend(shape_proto(t._spec.shape) for t in op.outputs)
            node.attr["_output_shapes"] = shapes
        if op.type == "While" and self.limits_loops and op.attrs.get("maximum_iterations") is not None:
            self._add_limit(op, node, names is _tensor_name)
        if mark := _mark(op._gradient):
            node.attr["_gradient_op_type"].s = mark.encode()
        return node

    def _add_their_attributes(self, op: Operation, node: Any) -> None:
        """Adds what follows from an operation's inputs, and TensorFlow wants to be told, and its colocation."""
        if op._colocation:
            node.attr["_class"].list.s.extend(c.encode() for c in op._colocation)
        if op.type == "While":
            self.bodies.add(id(op.attrs["body"]))
            for t in op.inputs[len(op.outputs) :]:
                node.attr["output_shapes"].list.shape.append(shape_proto(t._spec.shape))
        if op.type in ("If", "StatelessIf"):
            node.attr["Tcond"] = AttrValue(type=op.inputs[0].dtype.enum)
        elif op.type.startswith("ResourceScatterNd"):
            node.attr["T"] = AttrValue(type=op.inputs[2].dtype.enum)

    def _add_limit(self, op: Operation, node: Any, in_graph: bool) -> None:
        """Adds a variable that counts the iterations, since TensorFlow's loops know no limit but their condition."""
        if self.largest is not None or op.attrs["cond"].outputs[0].op.name == _LIMITED:  # read from such a message
            return
        n, counter = len(op.outputs), f"{op.name}/loop_counter"
        self._counters.append(_int32(counter, 0))
        node.input.insert(n, counter if in_graph else f"{counter}:output:0")
        for name in ("T", "_Tout"):
            node.attr[name].list.type.insert(n, dtypes.int32.enum)
        node.attr["output_shapes"].list.shape.insert(n, shape_proto(()))
        if "_bounded_by" in node.attr and node.attr["_bounded_by"].i >= n:  # a position among the inputs
            node.attr["_bounded_by"].i += 1
        for role in ("cond", "body"):
            name = self.new_name(f"{node.attr[role].func.name}_counted")
            node.attr[role].func.name = name
            self.functions[id(node), role] = name, op.attrs[role]
            self._counted[name] = role, n, int(op.attrs["maximum_iterations"])

    @staticmethod
    def _count(made: Any, role: str, n: int, limit: int) -> None:
        """Changes the condition or the body of a loop: it gets the counter, after the other variables."""
        made.signature.input_arg.insert(n, type(made.signature).ArgDef(name="loop_counter", type=dtypes.int32.enum))
        add = made.node_def.add
        made.node_def.append(_int32("loop_counter/constant", 1 if role == "body" else limit))
        given = ["loop_counter", "loop_counter/constant:output:0"]
        if role == "body":
            add(name="loop_counter/next", op="AddV2", input=given).attr["T"] = AttrValue(type=dtypes.int32.enum)
            made.signature.output_arg.insert(n, type(made.signature).ArgDef(name="counted", type=dtypes.int32.enum))
            made.ret["counted"] = "loop_counter/next:z:0"
        else:
            add(name="loop_counter/less", op="Less", input=given).attr["T"] = AttrValue(type=dtypes.int32.enum)
            add(name=_LIMITED, op="LogicalAnd", input=["loop_counter/less:z:0", made.ret["output_0"]])
            made.ret["output_0"] = f"{_LIMITED}:z:0"

    def _writable(self, operations: list[Operation]) -> list[Operation]:
        """Returns the operations that can be read again, and notes the others."""
        for op in operations:
            if not self._can_be_read(op):
                self.gone[op] = None
        return [op for op in operations if op not in self.gone]

    def _can_be_read(self, op: Operation) -> bool:
        """Returns whether the attributes that an operation needs can be written, and what it uses is there."""
        if any(t.op in self.gone for t in op.inputs):
            return False
        required = [name for name, default in op.opdef.attrs.items() if default is inspect.Parameter.empty]
        for name in required if "token" not in op.opdef.attrs else ():  # a string by which a function is found
            value = op.attrs.get(name)
            if value is not None and not isinstance(value, Graph) and (
                    callable(value) or self.attr(name, value) is None) and not isinstance(value, (DType, type)):
                return False
        bodies = [g for g in op.attrs.values() if isinstance(g, FuncGraph)]
        return all(self._can_be_read(inner) for g in bodies for inner in g._operations)

    def attributes(self, op: Operation) -> dict[str, Any]:
        """Returns all attributes of an operation: those it was given, and the defaults of the rest."""
        if self.largest is not None:
            return op.attrs
        defaults, attrs = op.opdef.attrs, self.defaults(op.opdef)
        for name, value in op.attrs.items():
            attrs[name] = float(value) if isinstance(defaults.get(name), float) and type(value) is int else value
        return attrs

    @staticmethod
    def defaults(opdef: Any) -> dict[str, Any]:
        """Returns the attributes with defaults that TensorFlow's op of a type has."""
        own = OWN.get(opdef.name, ())
        attrs = {k: v for k, v in opdef.attrs.items() if v is not inspect.Parameter.empty and k not in own}
        return {**attrs, **_THEIRS.get(opdef.name, {})}

    def attr(self, name: str, value: Any) -> Any:
        """Makes the message of an attribute's value; None where there is none."""
        field = self.single(name, value)
        if field is not None:
            return AttrValue(**{field[0]: field[1]})
        if value is None and name.endswith("shape"):
            return AttrValue(shape=shape_proto(None))
        if not isinstance(value, (list, tuple)):
            return None
        made = AttrValue()
        made.list.SetInParent()
        for v in value:
            item = self.single("shape" if v is None else "", v)
            if item is not None:
                getattr(made.list, item[0]).append(item[1])
        return made

    def single(self, name: str, value: Any) -> tuple[str, Any] | None:
        """Returns the field of `AttrValue` and its content; None for lists and values without a field."""
        if isinstance(value, DType):
            return "type", value.enum
        if isinstance(value, (bool, np.bool_)):
            return "b", bool(value)
        if isinstance(value, (int, np.integer)):
            return "i", int(value)
        if isinstance(value, float):
            return "f", value
        if isinstance(value, (str, bytes)):
            return "s", value.encode() if isinstance(value, str) else value
        if isinstance(value, (np.ndarray, np.generic)):
            return "tensor", self.tensor(np.asarray(value))
        if isinstance(value, FuncGraph):
            return "func", _named(self.name_of(value))
        if _is_shape(value) and (name.endswith("shape") or name == ""):
            return "shape", shape_proto(value)
        if value is None and name == "shape":
            return "shape", shape_proto(None)
        inner = getattr(value, "name", None)
        return ("func", _named(inner)) if isinstance(inner, str) else None

    def tensor(self, array: Any) -> Any:
        """Makes the message of a constant."""
        dtype = as_dtype(array.dtype)
        if self.largest is not None and _bytes_of(array) > self.largest:
            return TensorProto(dtype=dtype.enum, tensor_shape=shape_proto(array.shape))
        return TensorProto.of(array, dtype)

    def name_of(self, function: FuncGraph) -> str:
        """Returns a function's unique name in the library."""
        if id(function) not in self.functions:
            self.functions[id(function)] = self.new_name(function.name), function
        return self.functions[id(function)][0]

    def new_name(self, wanted: str) -> str:
        """Returns a name that no function in the library has."""
        base = re.sub(r"[^A-Za-z0-9_.]", "_", wanted) or "function"
        return take_free(base, self._names)

    def function(self, name: str, function: FuncGraph) -> Any:
        """Makes the message of a function."""
        made = FunctionDef()
        made.signature.name = name
        arguments: dict[int, str] = {}
        for i, t in enumerate(function.inputs):
            arguments[id(t)] = f"arg_{i}"
            made.signature.input_arg.add(name=f"arg_{i}", type=t.dtype.enum)

        def names(t: Tensor) -> str:
            return arguments.get(id(t)) or name_in_function(t)

        taken = {id(t.op) for t in function.inputs}
        ops = [op for op in _in_order(function) if id(op) not in taken]
        for op in ops:
            made.node_def.append(self.node(op, names, True))
            made.node_def.extend(self._counters)
            self._counters = []
        outputs = list(function.outputs)
        if id(function) in self.bodies:
            outputs += function.inputs[len(outputs) :]
        for i, t in enumerate(outputs):
            made.signature.output_arg.add(name=f"output_{i}", type=t.dtype.enum)
            made.ret[f"output_{i}"] = names(t)
        for op in effects_of(function) if function.keeps_effects else ():
            made.control_ret[op.name] = op.name
            made.signature.control_output.append(op.name)
        made.signature.is_stateful = any("stateful" in op.opdef.flags for op in ops)
        shapes = [t._spec.shape for t in function.inputs]
        if name in self._counted:
            self._count(made, *self._counted[name])
            shapes.insert(self._counted[name][1], ())
        for i, known in enumerate(shapes):
            shape = AttrValue()
            shape.list.shape.append(shape_proto(known))
            made.attr[f"_arg_{i}_shape"] = shape
        return made


def _int32(name: str, value: int) -> Any:
    """Makes the message of a constant."""
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"] = AttrValue(type=dtypes.int32.enum)
    node.attr["value"] = AttrValue(tensor=TensorProto.of(np.int32(value), dtypes.int32))
    return node


def _bytes_of(array: Any) -> int:
    size = array.nbytes
    return size if size > _LARGEST or array.dtype.kind != "O" else sum(map(len, array.ravel().tolist()))


def _in_order(graph: Graph, first: int = 0) -> list[Operation]:
    """Lists the operations from `first` on in execution order."""
    operations = graph._operations
    return [operations[i] for i in graph.in_order(range(first, len(operations)))]


def _named(name: str) -> Any:
    from .graph_messages import NameAttrList

    return NameAttrList(name=name)


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(n is None or type(n) is int for n in value)


def _tensor_name(t: Tensor) -> str:
    return t.op.name if t.value_index == 0 else t.name


def output_places(op: Operation) -> list[tuple[str, int]]:
    """Returns for each output the name of its argument in the op's signature, and its position in it."""
    places = []
    for arg in op.opdef.outputs:
        n = 1
        if arg.number_attr is not None:
            n = op._attr(arg.number_attr)
        elif arg.list_attr is not None:
            n = len(op._attr(arg.list_attr))
        places += [(arg.name, i) for i in range(n)]
    return places


def name_in_function(t: Tensor) -> str:
    """Returns the name that a tensor has in the message of a function."""
    name, place = output_places(t.op)[t.value_index]
    return f"{t.op.name}:{name}:{place}"
