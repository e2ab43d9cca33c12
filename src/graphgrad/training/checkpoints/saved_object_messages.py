"""The messages of TensorFlow 2's saved models: `SavedObjectGraph`, `StructuredValue` and their parts.

Reference: TensorFlow 2.21 saved_object_graph.proto, struct.proto, fingerprint.proto, saved_model.proto.
"""

from __future__ import annotations

from typing import Any, ClassVar

from graphgrad.ir import graph_messages
from graphgrad.ir.graph_messages import (
    AnyMessage,
    MetaGraphDef,
    TensorProto,
    TensorShapeProto,
    VariableDef,
    VersionDef,
)
from graphgrad.ir.proto.messages import MapOf, Message

from .object_graph import ObjectReference, SlotVariableReference

_DTYPES = TensorProto.ENUMS["dtype"]

# -- struct.proto: nested Python values ------------------------------------------------


class NoneValue(Message):
    """None."""


class PairValue(Message):
    """A field of a named tuple; its value is a `StructuredValue`."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {"key": (1, "string")}


class ListValue(Message):
    """A list; its values are `StructuredValue`s."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {}


class TupleValue(Message):
    """A tuple; its values are `StructuredValue`s."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {}


class DictValue(Message):
    """A dictionary from strings to `StructuredValue`s."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {}


class NamedTupleValue(Message):
    """A named tuple."""

    FIELDS = {"name": (1, "string"), "values": (2, [PairValue])}


class TensorSpecProto(Message):
    """A `tf.TensorSpec`."""

    FIELDS = {"name": (1, "string"), "shape": (2, TensorShapeProto), "dtype": (3, "int")}
    ENUMS = {"dtype": _DTYPES}


class BoundedTensorSpecProto(Message):
    """A spec of tensors whose elements have bounds."""

    FIELDS = {"name": (1, "string"), "shape": (2, TensorShapeProto), "dtype": (3, "int"), "minimum": (4, TensorProto),
              "maximum": (5, TensorProto)}
    ENUMS = {"dtype": _DTYPES}


class TypeSpecProto(Message):
    """A `tf.TypeSpec` of another class, with what its constructor takes."""

    (UNKNOWN, SPARSE_TENSOR_SPEC, INDEXED_SLICES_SPEC, RAGGED_TENSOR_SPEC, TENSOR_ARRAY_SPEC, DATA_DATASET_SPEC,
     DATA_ITERATOR_SPEC, OPTIONAL_SPEC, PER_REPLICA_SPEC, VARIABLE_SPEC, ROW_PARTITION_SPEC) = range(11)
    REGISTERED_TYPE_SPEC, EXTENSION_TYPE_SPEC = 12, 13
    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {
        "type_spec_class": (1, "int"), "type_spec_class_name": (3, "string"), "num_flat_components": (4, "int32")}
    ENUMS = {"type_spec_class": {
        0: "UNKNOWN", 1: "SPARSE_TENSOR_SPEC", 2: "INDEXED_SLICES_SPEC", 3: "RAGGED_TENSOR_SPEC",
        4: "TENSOR_ARRAY_SPEC", 5: "DATA_DATASET_SPEC", 6: "DATA_ITERATOR_SPEC", 7: "OPTIONAL_SPEC",
        8: "PER_REPLICA_SPEC", 9: "VARIABLE_SPEC", 10: "ROW_PARTITION_SPEC", 12: "REGISTERED_TYPE_SPEC",
        13: "EXTENSION_TYPE_SPEC"}}


class StructuredValue(Message):
    """A nested Python value: one of its fields."""

    FIELDS = {"none_value": (1, NoneValue), "float64_value": (11, "double"), "int64_value": (12, "sint64"),
              "string_value": (13, "string"), "bool_value": (14, "bool"),
              "tensor_shape_value": (31, TensorShapeProto), "tensor_dtype_value": (32, "int"),
              "tensor_spec_value": (33, TensorSpecProto), "type_spec_value": (34, TypeSpecProto),
              "bounded_tensor_spec_value": (35, BoundedTensorSpecProto), "list_value": (51, ListValue),
              "tuple_value": (52, TupleValue), "dict_value": (53, DictValue),
              "named_tuple_value": (54, NamedTupleValue), "tensor_value": (55, TensorProto),
              "numpy_value": (56, TensorProto)}
    ONEOF = {"kind": tuple(FIELDS)}
    ENUMS = {"tensor_dtype_value": _DTYPES}


PairValue.FIELDS["value"] = (2, StructuredValue)
ListValue.FIELDS["values"] = TupleValue.FIELDS["values"] = (1, [StructuredValue])
DictValue.FIELDS["fields"] = (1, MapOf(StructuredValue))
TypeSpecProto.FIELDS["type_state"] = (2, StructuredValue)

# -- saved_object_graph.proto ----------------------------------------------------------


class SavedUserObject(Message):
    """An object of a class that is known by a name."""

    FIELDS = {"identifier": (1, "string"), "version": (2, VersionDef), "metadata": (3, "string")}


class SavedAsset(Message):
    """A file, by its number in `MetaGraphDef.asset_file_def`."""

    FIELDS = {"asset_file_def_index": (1, "int32")}


class FunctionSpec(Message):
    """The Python signature of a function."""

    DEFAULT, ON, OFF = 0, 1, 2
    FIELDS = {"fullargspec": (1, StructuredValue), "is_method": (2, "bool"), "input_signature": (5, StructuredValue),
              "jit_compile": (6, "int")}
    ENUMS = {"jit_compile": {0: "DEFAULT", 1: "ON", 2: "OFF"}}


class SavedFunction(Message):
    """A `tf.function`: the names of its traces."""

    FIELDS = {"concrete_functions": (1, ["string"]), "function_spec": (2, FunctionSpec)}


class CapturedTensor(Message):
    """A tensor that a function captured."""

    FIELDS = {"name": (1, "string"), "concrete_function": (2, "string")}


class SavedConcreteFunction(Message):
    """A trace: the objects that it captured, its arguments and its results."""

    FIELDS = {"bound_inputs": (2, ["int32"]), "canonicalized_input_signature": (3, StructuredValue),
              "output_signature": (4, StructuredValue)}


class SavedBareConcreteFunction(Message):
    """A trace that is an attribute by itself."""

    FIELDS = {"concrete_function_name": (1, "string"), "argument_keywords": (2, ["string"]),
              "allowed_positional_arguments": (3, "int"), "function_spec": (4, FunctionSpec)}


class SavedConstant(Message):
    """A constant, by the name of its operation in the graph."""

    FIELDS = {"operation": (1, "string")}


class SavedVariable(Message):
    """A variable; its value is in the checkpoint."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {
        "dtype": (1, "int"), "shape": (2, TensorShapeProto), "trainable": (3, "bool"), "synchronization": (4, "int"),
        "aggregation": (5, "int"), "name": (6, "string"), "device": (7, "string")}
    ENUMS = {"dtype": _DTYPES, **VariableDef.ENUMS}


SavedVariable.FIELDS["experimental_distributed_variable_components"] = (8, [SavedVariable])


class SavedResource(Message):
    """A resource that functions of its object create and initialize."""

    FIELDS = {"device": (1, "string")}


class SavingFunctions(Message):
    """The functions that save and restore an object, by their numbers."""

    FIELDS = {"save_function": (2, "int32"), "restore_function": (3, "int32")}


class SavedObject(Message):
    """An object: its children by name, and what it is."""

    FIELDS = {"children": (1, [ObjectReference]), "slot_variables": (3, [SlotVariableReference]),
              "user_object": (4, SavedUserObject), "asset": (5, SavedAsset), "function": (6, SavedFunction),
              "variable": (7, SavedVariable), "bare_concrete_function": (8, SavedBareConcreteFunction),
              "constant": (9, SavedConstant), "resource": (10, SavedResource),
              "saveable_objects": (11, MapOf(SavingFunctions)), "captured_tensor": (12, CapturedTensor),
              "registered_name": (13, "string"), "serialized_user_proto": (14, AnyMessage),
              "dependencies": (15, [ObjectReference]), "registered_saver": (16, "string")}
    ONEOF = {"kind": ("user_object", "asset", "function", "variable", "bare_concrete_function", "constant", "resource",
                      "captured_tensor")}


class SavedObjectGraph(Message):
    """Objects, by number; the first one is the root. Traces, by the names of their functions in the library."""

    FIELDS = {"nodes": (1, [SavedObject]), "concrete_functions": (2, MapOf(SavedConcreteFunction))}


# -- saved_model.proto, meta_graph.proto, fingerprint.proto ----------------------------


class _CompositeTensor(Message):
    """A value that consists of tensors: its type, and the tensors."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {"type_spec": (1, TypeSpecProto)}


class _TensorInfo(graph_messages.TensorInfo):
    """A tensor or a value that consists of several."""

    CompositeTensor = _CompositeTensor
    FIELDS = {**graph_messages.TensorInfo.FIELDS, "composite_tensor": (5, _CompositeTensor)}
    ONEOF = {"encoding": ("name", "coo_sparse", "composite_tensor")}


_CompositeTensor.FIELDS["components"] = (2, [_TensorInfo])


class _SignatureDef(graph_messages.SignatureDef):
    """A computation: named inputs and outputs."""

    FIELDS = {**graph_messages.SignatureDef.FIELDS, "inputs": (1, MapOf(_TensorInfo)),
              "outputs": (2, MapOf(_TensorInfo))}


def composite_info(type_spec: Any, components: Any) -> Any:
    """Makes the `TensorInfo` of a value that consists of tensors.

    Args:
      type_spec: its type, a `TypeSpecProto`.
      components: the `TensorInfo`s of the tensors.
    """
    return _TensorInfo(composite_tensor=_CompositeTensor(type_spec=type_spec, components=components))


class _MetaGraphDef(MetaGraphDef):
    """A graph with its collections, signatures and files, and objects besides."""

    FIELDS = {**MetaGraphDef.FIELDS, "signature_def": (5, MapOf(_SignatureDef)),
              "object_graph_def": (7, SavedObjectGraph)}


class _SavedModel(graph_messages.SavedModel):
    """The content of the file saved_model.pb."""

    MetaGraphDef = _MetaGraphDef
    FIELDS = {**graph_messages.SavedModel.FIELDS, "meta_graphs": (2, [_MetaGraphDef])}


SavedModel = _SavedModel


class FingerprintDef(Message):
    """The content of the file fingerprint.pb."""

    FIELDS = {"saved_model_checksum": (1, "uint64"), "graph_def_program_hash": (2, "uint64"),
              "signature_def_hash": (3, "uint64"), "saved_object_graph_hash": (4, "uint64"),
              "checkpoint_hash": (5, "uint64"), "version": (6, VersionDef), "uuid": (7, "string")}
