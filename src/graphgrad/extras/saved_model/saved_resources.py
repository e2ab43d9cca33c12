"""Tables of a model that is saved: functions that make, fill, save and restore them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.dtypes import DType, int32, resource, string
from graphgrad.ir.effects import effects_of
from graphgrad.ir.funcgraph import FuncGraph
from graphgrad.ir.graph_messages import AttrValue, FunctionDef, TensorProto, shape_proto
from graphgrad.training.checkpoints.saveable import Saveable

from .function_writer import FunctionWriter
from .written_functions import WrittenFunction

_NOTHING: Any = ((), {})


def resource_functions(value: Any, writer: FunctionWriter) -> dict[str, WrittenFunction]:
    """Writes the functions that make the resource of an object and fill it.

    Args:
      value: an object whose `_saved_resource` says what makes the resource, an op type and its attributes.
      writer: the writer.
    """
    op, attrs = value._saved_resource
    inputs = value._resource_inputs() if hasattr(value, "_resource_inputs") else ()
    made = {"_create_resource": _creator(value.name, op, attrs, [constant_value(t) for t in inputs], writer)}
    fill = value._fill if hasattr(value, "_fill") else lambda: None
    made["_initialize"] = _initializer(value.name, fill, writer)
    return made


def saving_functions(value: Any, writer: FunctionWriter) -> tuple[WrittenFunction, WrittenFunction] | None:
    """Writes the functions that return a table's state for a checkpoint, and that set it; None for other objects.

    Args:
      value: the object.
      writer: the writer.
    """
    if not (isinstance(value, Saveable) and value._is_saved()):
        return None
    table: Any = value
    types, handle = (table.key_dtype, table.value_dtype), table.resource_handle
    return _saver(table, types, handle, writer), _restorer(table, types, handle, writer)


def _creator(name: str, op: str, attrs: dict[str, Any], given: Sequence[Any], writer: FunctionWriter
             ) -> WrittenFunction:
    made = _definition(f"{name}_creator", writer)
    for i, value in enumerate(given):
        _add_constant(made, f"given_{i}", value, attrs["key_dtype"])
    node = made.node_def.add(name="table", op=op, input=[f"given_{i}:output:0" for i in range(len(given))])
    for key, value in attrs.items():
        node.attr[key] = _attribute(value)
    node.attr["shared_name"] = AttrValue(s=made.signature.name.lstrip("_").encode())
    node.attr["use_node_name_sharing"] = AttrValue(b=True)
    node.attr["_output_shapes"].list.shape.append(shape_proto(()))
    made.signature.output_arg.add(name="handle", type=resource.enum)
    made.ret["handle"] = "table:table_handle:0"
    _waits_for(made, "table")
    return WrittenFunction(made, [], [], _NOTHING, TensorSpec((), resource))


def _attribute(value: Any) -> Any:
    if isinstance(value, DType):
        return AttrValue(type=value.enum)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return AttrValue(i=value) if isinstance(value, int) else AttrValue(f=value)
    return AttrValue(shape=shape_proto(value)) if isinstance(value, tuple) else AttrValue(b=value)


def _initializer(name: str, fill: Callable[[], Any], writer: FunctionWriter) -> WrittenFunction:
    graph = FuncGraph(f"{name}_initializer", None)
    graph.keeps_effects = True
    with graph.as_default():
        fill()
    name = writer.new_name(f"__inference_{graph.name}")
    made = writer.definition(name, graph, graph.inputs, [], effects_of(graph))
    _return_one(made)
    return WrittenFunction(made, graph.captured, [], _NOTHING, TensorSpec((), int32))


def _saver(table: Any, types: Sequence[DType], handle: Any, writer: FunctionWriter) -> WrittenFunction:
    made = _definition(f"{table.name}_save", writer)
    made.signature.input_arg.add(name="checkpoint_key", type=string.enum)
    made.signature.input_arg.add(name="table_handle", type=resource.enum)
    export = made.node_def.add(name="export", op="LookupTableExportV2", input=["table_handle"])
    for key, dtype in zip(("Tkeys", "Tvalues"), types, strict=True):
        export.attr[key] = AttrValue(type=dtype.enum)
    _add_constant(made, "whole", b"", string)
    results = []
    for piece, part, dtype in zip(table._pieces, ("keys", "values"), types, strict=True):
        _add_constant(made, f"{part}/suffix", piece.suffix.encode(), string)
        add = made.node_def.add(name=f"{part}/name", op="Add", input=["checkpoint_key", f"{part}/suffix:output:0"])
        add.attr["T"] = AttrValue(type=string.enum)
        # Flat results stand in the order of the names in each dictionary.
        places = {"name": (f"{part}/name:z:0", string), "slice_spec": ("whole:output:0", string),
                  "tensor": (f"export:{part}:0", dtype)}
        for key, (place, kind) in places.items():
            made.signature.output_arg.add(name=f"{part}_{key}", type=kind.enum)
            made.ret[f"{part}_{key}"] = place
        results.append({"name": TensorSpec((), string), "slice_spec": TensorSpec((), string),
                        "tensor": TensorSpec(None, dtype)})
    _waits_for(made, "export")
    arguments: Any = (TensorSpec((), string, "checkpoint_key"),), {}
    return WrittenFunction(made, [handle], ["checkpoint_key"], arguments, results)


def _restorer(table: Any, types: Sequence[DType], handle: Any, writer: FunctionWriter) -> WrittenFunction:
    made = _definition(f"{table.name}_restore", writer)
    names = [f"restored_tensors_{i}" for i in range(len(types))]
    for name, dtype in zip(names, types, strict=True):
        made.signature.input_arg.add(name=name, type=dtype.enum)
    made.signature.input_arg.add(name="table_handle", type=resource.enum)
    node = made.node_def.add(name="import", op="LookupTableImportV2", input=["table_handle", *names])
    for key, dtype in zip(("Tin", "Tout"), types, strict=True):
        node.attr[key] = AttrValue(type=dtype.enum)
    _waits_for(made, "import")
    _return_one(made)
    specs = tuple([TensorSpec(None, dtype, name) for name, dtype in zip(names, types, strict=True)])
    return WrittenFunction(made, [handle], names, (specs, {}), TensorSpec((), int32))


def _definition(name: str, writer: FunctionWriter) -> Any:
    made = FunctionDef()
    made.signature.name = writer.new_name(f"__inference_{name}")
    return made


def _waits_for(made: Any, operation: str) -> None:
    made.control_ret[operation] = operation
    made.signature.control_output.append(operation)
    made.signature.is_stateful = True


def _return_one(made: Any) -> None:
    """Adds a result, since functions without one return nothing that others could wait for."""
    _add_constant(made, "done", 1, int32)
    made.signature.output_arg.add(name="done_output", type=int32.enum)
    made.ret["done_output"] = "done:output:0"


def _add_constant(made: Any, name: str, value: Any, dtype: DType) -> None:
    array = np.empty(np.shape(value), dtype.np_dtype)
    array[...] = value
    node = made.node_def.add(name=name, op="Const")
    node.attr["dtype"] = AttrValue(type=dtype.enum)
    node.attr["value"] = AttrValue(tensor=TensorProto.of(array, dtype))
    node.attr["_output_shapes"].list.shape.append(shape_proto(array.shape))
