"""The functions that save and restore all values of a model, for programs that know its graph alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphgrad.ir.dtypes import DType, resource, string
from graphgrad.ir.graph_messages import AttrValue, FunctionDef, TensorProto, shape_proto

from .written_functions import set_shapes_of


class SavedValue(NamedTuple):
    """An object with values in the checkpoint.

    Attributes:
      keys: the names of the values.
      dtypes: their dtypes: one of a variable, two of a table.
      shape: the shape of a variable's value.
    """

    keys: Sequence[str]
    dtypes: Sequence[DType]
    shape: Any


def saving(name: str, values: Sequence[SavedValue]) -> Any:
    """Makes the function that saves: it takes the file's name and all handles.

    Args:
      name: its name.
      values: what there is to save.
    """
    made, add = _begun(name, values)
    found: list[str] = []
    for i, value in enumerate(values):
        if len(value.keys) == 1:
            node = add(name=f"read_{i}", op="ReadVariableOp", input=[f"handle_{i}"])
            node.attr["dtype"] = _type(value.dtypes[0])
            set_shapes_of(node, [value.shape])
            found.append(f"read_{i}:value:0")
        else:
            node = add(name=f"export_{i}", op="LookupTableExportV2", input=[f"handle_{i}"])
            node.attr["Tkeys"], node.attr["Tvalues"] = map(_type, value.dtypes)
            found += [f"export_{i}:keys:0", f"export_{i}:values:0"]
    save = add(name="save", op="SaveV2", input=["file_prefix", *_names(add, values), *found])
    _set_dtypes(save, values)
    return _ended(made, ["save"])


def restoring(name: str, values: Sequence[SavedValue]) -> Any:
    """Makes the function that restores: it takes the file's name and all handles.

    Args:
      name: its name.
      values: what there is to restore.
    """
    made, add = _begun(name, values)
    restore = add(name="restore", op="RestoreV2", input=["file_prefix", *_names(add, values)])
    _set_dtypes(restore, values)
    done = []
    number = 0
    for i, value in enumerate(values):
        given = [f"restore:tensors:{number + k}" for k in range(len(value.keys))]
        number += len(given)
        if len(given) == 1:
            node = add(name=f"assign_{i}", op="AssignVariableOp", input=[f"handle_{i}", *given])
            node.attr["dtype"] = _type(value.dtypes[0])
        else:
            node = add(name=f"import_{i}", op="LookupTableImportV2", input=[f"handle_{i}", *given])
            node.attr["Tin"], node.attr["Tout"] = map(_type, value.dtypes)
        done.append(node.name)
    return _ended(made, done)


def _begun(name: str, values: Sequence[SavedValue]) -> tuple[Any, Callable[..., Any]]:
    made = FunctionDef()
    made.signature.name = name
    made.signature.is_stateful = True
    made.signature.input_arg.add(name="file_prefix", type=string.enum)
    made.arg_attr[0].attr["_output_shapes"].list.shape.append(shape_proto(()))
    for i in range(len(values)):
        made.signature.input_arg.add(name=f"handle_{i}", type=resource.enum)
        made.arg_attr[i + 1].attr["_output_shapes"].list.shape.append(shape_proto(()))
    return made, made.node_def.add


def _ended(made: Any, done: Sequence[str]) -> Any:
    """Makes the function return the file's name, after what it does."""
    node = made.node_def.add(name="done", op="Identity", input=["file_prefix", *(f"^{name}" for name in done)])
    node.attr["T"] = _type(string)
    set_shapes_of(node, [()])
    made.signature.output_arg.add(name="file", type=string.enum)
    made.ret["file"] = "done:output:0"
    for name in done:
        made.control_ret[name] = name
        made.signature.control_output.append(name)
    return made


def _names(add: Callable[..., Any], values: Sequence[SavedValue]) -> list[str]:
    keys = [key for value in values for key in value.keys]
    for name, texts in (("tensor_names", keys), ("shape_and_slices", [""] * len(keys))):
        array = np.empty(len(texts), object)
        array[:] = [text.encode() for text in texts]
        node = add(name=name, op="Const")
        node.attr["dtype"] = _type(string)
        node.attr["value"] = AttrValue(tensor=TensorProto.of(array, string))
        set_shapes_of(node, [array.shape])
    return ["tensor_names:output:0", "shape_and_slices:output:0"]


def _set_dtypes(node: Any, values: Sequence[SavedValue]) -> None:
    node.attr["dtypes"].list.type.extend(dtype.enum for value in values for dtype in value.dtypes)


def _type(dtype: DType) -> Any:
    return AttrValue(type=dtype.enum)
