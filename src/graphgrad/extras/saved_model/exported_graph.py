"""The graph of a saved model: its variables, its signatures, and how its values are saved and restored."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.extras.pipelines.asset import Asset, name_in_model
from graphgrad.frontend.variables.variable import Variable
from graphgrad.ir.dtypes import string
from graphgrad.ir.graph_messages import (
    AssetFileDef,
    AttrValue,
    GraphDef,
    SaverDef,
    SignatureDef,
    TensorInfo,
    TensorProto,
    shape_proto,
)
from graphgrad.ir.graphdef import PRODUCER
from graphgrad.training.checkpoints.object_graph import pieces

from .saved_objects import CapturedConstant, ResourceFunction, SavedObjects, is_resource
from .saver_functions import SavedValue, restoring, saving
from .written_functions import WrittenFunction, fill_call, set_shapes_of

PREDICT_METHOD_NAME = "tensorflow/serving/predict"
_INIT_OP = "__saved_model_init_op"


class ExportedGraph:
    """The graph, as it is made.

    Args:
      objects: the objects of the model.

    Attributes:
      message: the `GraphDef`.
      constants: the operation of each constant, by the constant's id.
      assets: `AssetFileDef`s; `asset_numbers` has each asset's number, by its id; `files` the name that each file gets.
      signatures: the signatures by name.
    """

    def __init__(self, objects: SavedObjects):
        self._objects = objects
        self.message = GraphDef()
        self.message.versions.producer = PRODUCER
        self.constants: dict[int, str] = {}
        self.assets: list[Any] = []
        self.asset_numbers: dict[int, int] = {}
        self.files: dict[str, str] = {}
        self.signatures: dict[str, Any] = {}
        self._names: set[str] = set()
        self._handles: dict[int, str] = {}  # of objects, by number: the name of their tensor
        self._paths: dict[int, str] = {}  # of assets, by number: the tensor that the loader sets
        self._first: list[str] = []  # operations that initialize
        for number, value in enumerate(objects.graph.objects):
            self._add_object(number, value)

    def _new(self, name: str, op: str, inputs: Sequence[str] = (), **attrs: Any) -> Any:
        base = re.sub(r"[^A-Za-z0-9_.\\/-]", "_", name)
        found, n = base, 0
        while found in self._names:
            n += 1
            found = f"{base}_{n}"
        self._names.add(found)
        node = self.message.node.add(name=found, op=op, input=list(inputs))
        for key, value in attrs.items():
            node.attr[key] = value
        return node

    def _constant(self, name: str, value: Any, dtype: Any) -> Any:
        tensor = TensorProto.of(value, dtype)
        return self._new(name, "Const", dtype=_type(dtype), value=AttrValue(tensor=tensor))

    # -- objects ---------------------------------------------------------------------

    def _add_object(self, number: int, value: Any) -> None:
        if isinstance(value, Variable):
            name = value._shared_name.rstrip("/")
            node = self._new(name, "VarHandleOp", dtype=_type(value.dtype), shape=_shape(value._shape),
                             shared_name=AttrValue(s=name.encode()))
            node.attr["shared_name"] = AttrValue(s=node.name.encode())
            node.device = value.device if self._objects.keeps_devices else ""
            self._handles[number] = node.name
            read = self._new(f"{node.name}/Read/ReadVariableOp", "ReadVariableOp", [node.name],
                             dtype=_type(value.dtype))
            read.attr["_output_shapes"].list.shape.append(shape_proto(value._shape))
        elif isinstance(value, CapturedConstant):
            node = self._constant("Const", value.tensor._value, value.tensor.dtype)
            self._handles[number] = self.constants[id(value)] = node.name
        elif isinstance(value, Asset):
            self._add_asset(number, value)

    def _add_asset(self, number: int, value: Asset) -> None:
        """Adds a variable that holds the path, which the loader sets."""
        path = value.asset_path.numpy().decode()
        name = name_in_model(path, self.files)
        self.files[name] = path
        given = self._constant("asset_path_initializer", np.asarray(os.path.join("assets", name).encode(), object),
                               string)
        handle = self._new("asset_path", "VarHandleOp", dtype=_type(string), shape=_shape(()))
        handle.attr["shared_name"] = AttrValue(s=handle.name.encode())
        assign = self._new(f"{handle.name}/Assign", "AssignVariableOp", [handle.name, given.name], dtype=_type(string))
        read = self._new(f"{handle.name}/Read/ReadVariableOp", "ReadVariableOp", [handle.name], dtype=_type(string))
        self._first.append(assign.name)
        self._handles[number], self._paths[number] = read.name, given.name
        self.asset_numbers[id(value)] = len(self.assets)
        self.assets.append(AssetFileDef(tensor_info=TensorInfo(name=f"{given.name}:0"), filename=name))

    def call(self, function: WrittenFunction, given: Sequence[str], first: bool = False) -> Any:
        """Adds a call of a function.

        Args:
          function: the function.
          given: the names of its arguments.
          first: whether it initializes, so that no variable has a value yet.
        """
        numbers = [self._objects.number_of(t, function) for t in function.bound]
        bound = [self._paths[n] if first and n in self._paths else self._handles[n] for n in numbers]
        node = self._new("StatefulPartitionedCall", "StatefulPartitionedCall", [*given, *bound])
        fill_call(node, function.definition)
        return node

    def add_resources(self) -> None:
        """Adds the objects' resources, and what fills them."""
        graph = self._objects.graph
        for number, value in enumerate(graph.objects):
            if is_resource(value):
                made = graph.objects[graph.links[number]["_create_resource"]].function
                self._handles[number] = self.call(made, []).name
        for number, value in enumerate(graph.objects):
            child = graph.links[number].get("_initialize") if is_resource(value) else None
            if child is not None and isinstance(graph.objects[child], ResourceFunction):
                self._first.append(self.call(graph.objects[child].function, [], True).name)

    # -- signatures ------------------------------------------------------------------

    def add_signature(self, key: str, function: WrittenFunction) -> None:
        """Adds the placeholders of a signature, and a call of its function.

        Args:
          key: the signature's name.
          function: the function.
        """
        made = self.signatures[key] = SignatureDef(method_name=PREDICT_METHOD_NAME)
        given = []
        for name, spec in zip(function.keywords, function.specs, strict=True):
            place, kind = f"{key}_{name}".lstrip("_"), {"dtype": _type(spec.dtype), "shape": _shape(spec._shape)}
            default = function.defaults.get(name)
            if default is None:
                node = self._new(place, "Placeholder", **kind)
            else:
                value = self._constant(f"{place}/input", default._value, spec.dtype)
                node = self._new(place, "PlaceholderWithDefault", [value.name], **kind)
                made.defaults[name] = TensorProto.of(default._value, spec.dtype)
            given.append(node.name)
            made.inputs[name] = _info(f"{node.name}:0", spec)
        call = self.call(function, given)
        set_shapes_of(call, [spec._shape for spec in function.results.values()])
        for i, (name, spec) in enumerate(function.results.items()):
            made.outputs[name] = _info(f"{call.name}:{i}", spec)

    def add_initialization(self) -> str:
        """Adds the operation that initializes tables and paths; returns its name."""
        node = self._new("NoOp", "NoOp", [f"^{name}" for name in self._first])
        made = self.signatures[_INIT_OP] = SignatureDef()
        info = made.outputs[_INIT_OP]
        info.name = node.name
        info.tensor_shape.unknown_rank = True
        return str(node.name)

    # -- saving ----------------------------------------------------------------------

    def add_saver(self) -> Any:
        """Adds functions that save and restore the values, and calls of them; returns the `SaverDef`."""
        graph = self._objects.graph
        numbers, values = [], []
        for number, value in enumerate(graph.objects):
            keys = [graph.key(number, piece) + piece.suffix for piece in pieces(value)]
            if isinstance(value, Variable):
                values.append(SavedValue(keys, [value.dtype], value._shape))
            elif keys and is_resource(value):
                values.append(SavedValue(keys, [value.key_dtype, value.value_dtype], None))
            else:
                continue
            numbers.append(number)
        file = self._new("saver_filename", "Placeholder", dtype=_type(string), shape=_shape(()))
        if not values:  # TensorFlow saves no empty lists of tensors
            same = self._new("Identity", "Identity", [file.name], T=_type(string))
            return SaverDef(filename_tensor_name=f"{file.name}:0", save_tensor_name=f"{same.name}:0",
                            restore_op_name=same.name, version=SaverDef.V2)
        calls = []
        for make, name in ((saving, "__inference__traced_save"), (restoring, "__inference__traced_restore")):
            function = make(self._objects.writer.new_name(name), values)
            self._objects.library.function.append(function)
            node = self._new("StatefulPartitionedCall", "StatefulPartitionedCall",
                             [file.name, *(self._handles[n] for n in numbers)])
            fill_call(node, function)
            calls.append(node.name)
        return SaverDef(filename_tensor_name=f"{file.name}:0", save_tensor_name=f"{calls[0]}:0",
                        restore_op_name=calls[1], version=SaverDef.V2)


def _type(dtype: Any) -> Any:
    return AttrValue(type=dtype.enum)


def _shape(shape: Any) -> Any:
    return AttrValue(shape=shape_proto(shape))


def _info(name: str, spec: Any) -> Any:
    return TensorInfo(name=name, dtype=spec.dtype.enum, tensor_shape=shape_proto(spec._shape))
