"""Writes data sets inside of functions as TensorFlow's operations, and what reads their elements.

A pass through a data set, whose elements are found by number here, becomes a list of optionals that `ReduceDataset`
fills; an iterator from which elements are only taken becomes an iterator there, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from graphgrad.extras.data.data_structure import Parts, components, flatten
from graphgrad.extras.data.dataset_base import INFINITE, OTHERS, handles
from graphgrad.extras.data.dataset_components import DatasetParts, NoneParts
from graphgrad.ir import dtypes
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Operation, Tensor
from graphgrad.ir.graph_messages import AttrValue, FunctionDef, NodeDef, TensorProto, shape_proto
from graphgrad.ir.op_signature import Spec

from .cannot_be_written import CannotBeWritten

Names = Callable[[Tensor], str]
_VARIANT = AttrValue(type=dtypes.variant.enum)
_INT32 = AttrValue(type=dtypes.int32.enum)
_TAKES = {"DatasetTake": "IteratorGetNext", "OwnedIteratorGetNextAsOptional": "IteratorGetNextAsOptional"}
_HAS, _ITEMS = ("DatasetHas", "DatasetHasActing"), ("DatasetItem", "DatasetItemActing")
# Operations that others get their last input from: the name of their result.
_HELPERS = {"DummySeedGenerator": "handle", "DummyMemoryCache": "handle"}


def constant_node(name: str, value: Any, dtype: Any = dtypes.int32) -> Any:
    """Makes the message of a constant."""
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"] = AttrValue(type=dtype.enum)
    node.attr["value"] = AttrValue(tensor=TensorProto.of(np.asarray(value, dtype.np_dtype), dtype))
    return node


class WrittenDatasets:
    """The nodes of data sets, for one operation.

    Args:
      writer: the writer of functions.
      prefix: what their names begin with.
      given: the names of the tensors that they use, by ids.

    Attributes:
      nodes: the nodes.
    """

    def __init__(self, writer: Any, prefix: str, given: Mapping[int, str]):
        self._writer, self._prefix, self._given = writer, prefix, dict(given)
        self._done: dict[int, str] = {}
        self.nodes: list[Any] = []

    def name(self, dataset: Any) -> str:
        """Adds the nodes of a data set, once; returns the name of its variant."""
        if id(dataset) not in self._done:
            self._done[id(dataset)] = self._add(dataset)
        return self._done[id(dataset)]

    def _add(self, dataset: Any) -> str:
        recipe = dataset._recipe
        if recipe is None:
            made_by = dataset._passes.__qualname__.partition(".")[0].strip("_")
            raise CannotBeWritten(f"a data set of `{made_by}`")
        check_components(dataset._specs)
        if not recipe.op:
            (value,) = recipe.inputs
            return self._input(value, recipe)[0]
        inputs = [name for value in recipe.inputs for name in self._input(value, recipe)]
        node = self._node(recipe.op, inputs)
        for name, value in recipe.attrs.items():
            node.attr[name] = self._writer.attr(name, value)
        if recipe.called is not None:
            self._call(node, recipe.called)
        set_outputs(node, recipe.types, "output_shapes", flatten(dataset._specs))
        return f"{node.name}:handle:0"

    def _call(self, node: Any, called: Any) -> None:
        node.attr[called.attr].func.name = self._writer.function_of_data(called)
        node.attr["Targuments"].list.SetInParent()
        node.attr["Targuments"].list.type.extend(t.dtype.enum for t in called.captured)

    def _input(self, value: Any, recipe: Any) -> list[str]:
        """Returns the names of an input; several for what a function captures."""
        if hasattr(value, "_recipe"):
            return [self.name(value)]
        if isinstance(value, Tensor):
            return [self.given(value)]
        if value is OTHERS:
            return [self._captured(t) for t in recipe.called.captured]
        if isinstance(value, str):
            return [f"{self._node(value, []).name}:{_HELPERS[value]}:0"]
        array = np.asarray(value)
        return [self._constant(array, dtypes.as_dtype(array.dtype))]

    def _captured(self, tensor: Any) -> str:
        if not isinstance(tensor, EagerTensor) or tensor.dtype is dtypes.resource:
            return self.given(tensor)
        return self._constant(tensor._value, tensor.dtype)

    def given(self, tensor: Any) -> str:
        """Returns the name of a tensor that the data sets use; raises CannotBeWritten where it has none."""
        if id(tensor) not in self._given:
            raise CannotBeWritten("a data set that a function of another one makes, and that uses a table or variable")
        return self._given[id(tensor)]

    def _constant(self, value: Any, dtype: Any) -> str:
        node = constant_node(self._new_name("Const"), value, dtype)
        self.nodes.append(node)
        return f"{node.name}:output:0"

    def _node(self, op: str, inputs: Sequence[str]) -> Any:
        node = NodeDef(name=self._new_name(op), op=op, input=list(inputs))
        self.nodes.append(node)
        return node

    def _new_name(self, op: str) -> str:
        return f"{self._prefix}/{op}_{len(self.nodes)}"


def check_components(specs: Any) -> None:
    """Raises CannotBeWritten for elements that hold sparse or ragged tensors, or other composites."""
    for part in components(specs):
        if isinstance(part, Parts) and not isinstance(part, (DatasetParts, NoneParts)):
            raise CannotBeWritten(f"a data set with elements of {part.spec()}")


def set_outputs(node: Any, types: str, shapes: str, leaves: Sequence[Spec]) -> None:
    """Sets the attributes that say what elements are.

    Args:
      node: the node.
      types, shapes: the names of the attributes.
      leaves: the leaves of elements.
    """
    for name in (types, shapes):
        node.attr[name].list.SetInParent()
    node.attr[types].list.type.extend(s.dtype.enum for s in leaves)
    node.attr[shapes].list.shape.extend(shape_proto(s.shape) for s in leaves)


# -- operations ------------------------------------------------------------------------


def nodes_of(writer: Any, op: Operation, names: Names) -> list[Any]:
    """Makes the nodes for an operation on a data set, the last of which has the operation's name.

    Args:
      writer: the writer of functions, which notes the functions that are needed besides.
      op: the operation.
      names: returns the names of tensors.
    Raises: CannotBeWritten for data sets that have no such form.
    """
    try:
        return _NODES[op.type](writer, op, names)
    except CannotBeWritten as e:
        raise CannotBeWritten(f"{e}, built at {op.source}") from None


def reads_data(op: Operation) -> bool:
    """Returns whether an operation is written by `nodes_of`."""
    if op.type == "OwnedIteratorGetNextAsOptional":
        return op.inputs[0].op.type == "DatasetPass"
    return op.type in _NODES


def name_of_result(t: Tensor) -> str:
    """Returns the name of a result of such an operation."""
    op = t.op
    if op.type in _ITEMS:
        return f"{op.name}/component_{t.value_index}:output:0"
    result = {**dict.fromkeys(_HAS, "z"), "DatasetVariant": "output",
              "OwnedIteratorGetNextAsOptional": "optional"}.get(op.type, "components")
    if op.type == "DatasetPass" and _is_iterator(op):
        result = "handle"
    return f"{op.name}:{result}:{t.value_index}"


def _datasets(writer: Any, op: Operation, outside: Sequence[Any], names: Names) -> WrittenDatasets:
    """Begins the nodes of an operation's data set, which uses tensors that are the operation's inputs."""
    return WrittenDatasets(writer, op.name, {id(t): names(i) for t, i in zip(outside, op.inputs, strict=False)})


def _pass(writer: Any, op: Operation, names: Names) -> list[Any]:
    """Writes the beginning of a pass: an iterator, or a list of all elements."""
    dataset = op.attrs["dataset"]
    made = _datasets(writer, op, [*dataset._captured, *handles(dataset)], names)
    variant, leaves = made.name(dataset), flatten(dataset._specs)
    waits = [f"^{c.name}" for c in op.control_inputs]
    if _is_iterator(op):
        iterator = NodeDef(name=op.name, op="AnonymousIteratorV3", input=waits)
        set_outputs(iterator, "output_types", "output_shapes", leaves)
        begin = NodeDef(name=f"{op.name}/begin", op="MakeIterator", input=[variant, f"{op.name}:handle:0"])
        return [*made.nodes, iterator, begin]
    if dataset._size == INFINITE:
        raise CannotBeWritten("a loop over an infinite data set")
    shape, most = f"{op.name}/list/shape", f"{op.name}/list/most"
    empty = NodeDef(name=f"{op.name}/list", op="EmptyTensorList", input=[f"{shape}:output:0", f"{most}:output:0"])
    empty.attr["element_dtype"], empty.attr["shape_type"] = _VARIANT, _INT32
    fill = NodeDef(name=op.name, op="ReduceDataset", input=[variant, f"{empty.name}:handle:0", *waits])
    fill.attr["f"].func.name = writer.add_definition(_appending(writer.new_name("dataset_elements"), leaves))
    fill.attr["Targuments"].list.SetInParent()
    set_outputs(fill, "output_types", "output_shapes", [Spec.of(dtypes.variant, ())])
    fill.attr["Tstate"].CopyFrom(fill.attr["output_types"])
    none: list[int] = []
    return [*made.nodes, constant_node(shape, none), constant_node(most, -1), empty, fill]


def _appending(name: str, leaves: Sequence[Spec]) -> Any:
    """Makes the function that appends an element to a list, as an optional."""
    made = FunctionDef()
    made.signature.name = name
    made.signature.input_arg.add(name="elements", type=dtypes.variant.enum)
    parts = [f"component_{i}" for i in range(len(leaves))]
    for part, leaf in zip(parts, leaves, strict=True):
        made.signature.input_arg.add(name=part, type=leaf.dtype.enum)
    one = made.node_def.add(name="element", op="OptionalFromValue", input=parts)
    one.attr["Toutput_types"].list.type.extend(s.dtype.enum for s in leaves)
    add = made.node_def.add(name="append", op="TensorListPushBack", input=["elements", "element:optional:0"])
    add.attr["element_dtype"] = _VARIANT
    made.signature.output_arg.add(name="longer", type=dtypes.variant.enum)
    made.ret["longer"] = "append:output_handle:0"
    return made


def _has(writer: Any, op: Operation, names: Names) -> list[Any]:
    length = NodeDef(name=f"{op.name}/length", op="TensorListLength", input=[names(op.inputs[0])])
    less = NodeDef(name=op.name, op="Less", input=[names(op.inputs[1]), f"{length.name}:length:0"])
    less.attr["T"] = _INT32
    return [length, less]


def _item(writer: Any, op: Operation, names: Names) -> list[Any]:
    leaves = [t._spec for t in op.outputs]
    none: list[int] = []
    shape = constant_node(f"{op.name}/shape", none)
    item = NodeDef(name=f"{op.name}/optional", op="TensorListGetItem",
                   input=[*map(names, op.inputs[:2]), f"{shape.name}:output:0"])
    item.attr["element_dtype"] = _VARIANT
    value = NodeDef(name=op.name, op="OptionalGetValue", input=[f"{item.name}:item:0"])
    set_outputs(value, "output_types", "output_shapes", leaves)
    ends = []
    for i, leaf in enumerate(leaves):  # no gradient gets to the data set, as here
        end = NodeDef(name=f"{op.name}/component_{i}", op="StopGradient", input=[f"{op.name}:components:{i}"])
        end.attr["T"] = AttrValue(type=leaf.dtype.enum)
        ends.append(end)
    return [shape, item, value, *ends]


def _take(writer: Any, op: Operation, names: Names) -> list[Any]:
    begun = op.inputs[0].op
    if begun.type != "DatasetPass":
        raise CannotBeWritten("the next element, in a branch or loop, of an iterator made outside of it")
    takes = [o for o in op.graph._operations if o.type in _TAKES and o.inputs[0].op is begun]
    before = takes[: takes.index(op)][-1:]
    waits = [f"^{c.name}" for c in (*before, *op.control_inputs)]
    node = NodeDef(name=op.name, op=_TAKES[op.type], input=[names(op.inputs[0]), f"^{begun.name}/begin", *waits])
    set_outputs(node, "output_types", "output_shapes", flatten(begun.attrs["dataset"]._specs))
    return [node]


def _is_iterator(op: Operation) -> bool:
    """Returns whether elements are only taken from a pass, in the graph where it begins."""
    readers = op.outputs[0].consumers()
    return bool(readers) and all(r.type in _TAKES for r in readers)


def _variant(writer: Any, op: Operation, names: Names) -> list[Any]:
    dataset = op.attrs["of_values"].dataset
    made = _datasets(writer, op, [*dataset._captured, *handles(dataset)], names)
    last = NodeDef(name=op.name, op="Identity", input=[made.name(dataset), *(f"^{c.name}" for c in op.control_inputs)])
    last.attr["T"] = _VARIANT
    return [*made.nodes, last]


def _result(writer: Any, op: Operation, names: Names) -> list[Any]:
    compute = op.attrs["compute"]
    if compute.recipe is None:
        raise CannotBeWritten("what is computed of a whole data set")
    made = _datasets(writer, op, compute.captured, names)
    recipe = compute.recipe
    inputs = [name for value in recipe.inputs for name in made._input(value, recipe)]
    last = NodeDef(name=op.name, op=recipe.op, input=[*inputs, *(f"^{c.name}" for c in op.control_inputs)])
    for name, value in recipe.attrs.items():
        last.attr[name] = writer.attr(name, value)
    if recipe.called is not None:
        made._call(last, recipe.called)
    set_outputs(last, recipe.types, "output_shapes", [t._spec for t in op.outputs])
    return [*made.nodes, last]


_NODES: dict[str, Callable[[Any, Operation, Names], list[Any]]] = {
    **dict.fromkeys(_HAS, _has), **dict.fromkeys(_ITEMS, _item), "DatasetPass": _pass, "DatasetTake": _take,
    "DatasetVariant": _variant,
    "DatasetResult": _result, "OwnedIteratorGetNextAsOptional": _take}
