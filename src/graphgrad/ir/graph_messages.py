"""The protobuf messages that describe graphs: `GraphDef`, `MetaGraphDef` and their parts.

Reference: TensorFlow 2.21 tensor.proto, tensor_shape.proto, attr_value.proto, node_def.proto, op_def.proto,
function.proto, graph.proto, meta_graph.proto, saver.proto, variable.proto, example.proto, feature.proto.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from graphgrad.ir.proto.messages import MapOf, Message
from graphgrad.ir.proto.wire import read_varint

from .dtypes import _BY_ENUM, as_dtype, string

_TYPE_NAMES = {enum: f"DT_{t.name.upper()}" for enum, t in _BY_ENUM.items()}
_TYPE_NAMES.update({1: "DT_FLOAT", 2: "DT_DOUBLE", 19: "DT_HALF"})
_TYPE_NAMES.update({enum + 100: f"{name}_REF" for enum, name in list(_TYPE_NAMES.items())})


class Dim(Message):
    """One size of a `TensorShapeProto`."""

    FIELDS = {"size": (1, "int"), "name": (2, "string")}


class TensorShapeProto(Message):
    """A shape; a size of -1 is unknown."""

    FIELDS = {"dim": (2, [Dim]), "unknown_rank": (3, "bool")}
    Dim = Dim

    def shape(self) -> tuple[int | None, ...] | None:
        """Returns the shape as a tuple; None for an unknown rank."""
        return None if self.unknown_rank else tuple(None if d.size < 0 else d.size for d in self.dim)


class TensorProto(Message):
    """A tensor; `tensor_content` holds the bytes of numbers, `string_val` strings."""

    FIELDS = {"dtype": (1, "int"), "tensor_shape": (2, TensorShapeProto), "version_number": (3, "int32"),
              "tensor_content": (4, "bytes"), "float_val": (5, ["float"]), "double_val": (6, ["double"]),
              "int_val": (7, ["int32"]), "string_val": (8, ["bytes"]), "scomplex_val": (9, ["float"]),
              "int64_val": (10, ["int"]), "bool_val": (11, ["bool"]), "dcomplex_val": (12, ["double"]),
              "half_val": (13, ["int32"]), "uint32_val": (16, ["uint32"]), "uint64_val": (17, ["uint64"]),
              "float8_val": (18, "bytes")}
    ENUMS = {"dtype": _TYPE_NAMES}

    @classmethod
    def of(cls, array: Any, dtype: Any) -> TensorProto:
        """Makes the message of an array."""
        array = np.asarray(array)
        proto = cls(dtype=dtype.enum, tensor_shape=shape_proto(array.shape))
        if array.size > 1 and not any(array.strides) and dtype.name in _FIELDS:  # a repeated value, see `array`
            one = array[(0,) * array.ndim]
            if dtype.name in ("float16", "bfloat16"):
                one = np.asarray(one).view(np.uint16)[()]
            getattr(proto, _FIELDS[dtype.name]).append(one if dtype is string else one.item())
        elif dtype is string:
            proto.string_val.extend(v.encode() if isinstance(v, str) else v for v in array.ravel().tolist())
        else:
            proto.tensor_content = array.astype(dtype.np_dtype).tobytes()
        return proto

    def array(self) -> Any:
        """Returns the array, read-only; repeated elements share the memory of one value.

        Raises: TypeError for an invalid dtype; ValueError for an invalid shape, content that does not fit, or few
          values that differ for very many elements.
        """
        dtype = as_dtype(int(self.dtype))
        shape = tuple(d.size for d in self.tensor_shape.dim)
        count = _elements(shape)
        np_dtype = dtype.np_dtype
        if self.tensor_content and dtype is string:
            return _texts(self.tensor_content, count).reshape(shape)
        if self.tensor_content:
            if len(self.tensor_content) != count * np_dtype.itemsize:
                raise ValueError(f"{len(self.tensor_content)} bytes are no {dtype.name} of shape {shape}. "
                                 "Fix: use another copy")
            return np.frombuffer(self.tensor_content, np_dtype).reshape(shape)
        values = self._values_of(dtype, np_dtype, count)
        if len(values) == count:
            return values.reshape(shape)
        if len(values) <= 1:
            one = values.reshape(()) if len(values) else np.asarray(b"" if dtype is string else 0, np_dtype)
            return np.broadcast_to(one, shape)
        if count * np_dtype.itemsize > _LARGE and count > _REPEATS * len(values):
            raise ValueError(f"{len(values)} values stand for an array of shape {shape}")
        return np.concatenate([values, np.broadcast_to(values[-1:], (count - len(values),))]).reshape(shape)

    def _values_of(self, dtype: Any, np_dtype: Any, count: int) -> Any:
        """Returns the values given one by one, at most one per element; the last is repeated."""
        if self.float8_val:
            return np.frombuffer(self.float8_val[:count], np_dtype)
        if self.half_val:
            return np.array(self.half_val[:count], np.int64).astype(np.uint16).view(np_dtype)
        if self.scomplex_val or self.dcomplex_val:
            given = np.array((self.scomplex_val or self.dcomplex_val)[: 2 * count])
            return (given[0::2] + 1j * given[1::2]).astype(np_dtype)
        lists: Any = (self.float_val, self.double_val, self.int_val, self.string_val, self.int64_val, self.bool_val,
                 self.uint32_val, self.uint64_val)
        found: Any = next((v for v in lists if v), [])[:count]
        if dtype is string:
            if not all(isinstance(v, bytes) for v in found):
                raise ValueError("strings are given as numbers")
            made = np.empty(len(found), object)
            made[:] = found
            return made
        return np.array(found).astype(np_dtype) if found else np.empty(0, np_dtype)


_LARGE, _REPEATS = 1 << 27, 1000  # bytes of an array, and how many elements each of its values may fill
# The fields of single values of these dtypes.
_FIELDS = {"float32": "float_val", "float64": "double_val", "float16": "half_val", "bfloat16": "half_val",
           **dict.fromkeys(("int32", "int16", "int8", "uint16", "uint8"), "int_val"), "int64": "int64_val",
           "bool": "bool_val", "uint32": "uint32_val", "uint64": "uint64_val", "string": "string_val"}


def _texts(content: bytes, count: int) -> Any:
    """Reads texts in the form of a tensor's memory: all lengths, then all bytes."""
    lengths, at = [], 0
    try:
        for _ in range(min(count, len(content))):
            length, at = read_varint(content, at)
            lengths.append(length)
    except (IndexError, ValueError):
        lengths = []
    if len(lengths) != count or at + sum(lengths) != len(content):
        raise ValueError(f"{len(content)} bytes are not {count} texts. Fix: use another copy")
    found = np.empty(count, object)
    for i, length in enumerate(lengths):
        found[i], at = content[at : at + length], at + length
    return found


def _elements(shape: Any) -> int:
    """Returns the number of elements of an array; raises ValueError for an impossible shape."""
    count: int = math.prod(shape)
    if any(n < 0 for n in shape) or math.prod(max(1, n) for n in shape) >= 1 << 56 or len(shape) > 64:
        raise ValueError(f"no array has the shape {shape[:8]}")
    return count


class _DtypeAndShape(Message):
    FIELDS = {"dtype": (1, "int"), "shape": (2, TensorShapeProto)}
    ENUMS = {"dtype": _TYPE_NAMES}


class ResourceHandleProto(Message):
    """A handle: where its resource is, and what is known of its content."""

    DtypeAndShape = _DtypeAndShape
    FIELDS = {"device": (1, "string"), "container": (2, "string"), "name": (3, "string"), "hash_code": (4, "uint64"),
              "maybe_type_name": (5, "string"), "dtypes_and_shapes": (6, [_DtypeAndShape])}


class VariantTensorDataProto(Message):
    """A value of dtype variant, by the name of its type."""

    FIELDS = {"type_name": (1, "string"), "metadata": (2, "bytes"), "tensors": (3, [TensorProto])}


TensorProto.FIELDS["resource_handle_val"] = (14, [ResourceHandleProto])
TensorProto.FIELDS["variant_val"] = (15, [VariantTensorDataProto])


def shape_proto(shape: Any) -> TensorShapeProto:
    """Makes the message of a shape: None, or sizes of which some may be None."""
    if shape is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[Dim(size=-1 if n is None else int(n)) for n in shape])


class NameAttrList(Message):
    """A function, by name."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {"name": (1, "string")}


class _ListValue(Message):
    FIELDS = {"s": (2, ["bytes"]), "i": (3, ["int"]), "f": (4, ["float"]), "b": (5, ["bool"]), "type": (6, ["int"]),
              "shape": (7, [TensorShapeProto]), "tensor": (8, [TensorProto]), "func": (9, [NameAttrList])}
    ENUMS = {"type": _TYPE_NAMES}


class AttrValue(Message):
    """An attribute's value, one of its fields."""

    ListValue = _ListValue
    FIELDS = {"list": (1, _ListValue), "s": (2, "bytes"), "i": (3, "int"), "f": (4, "float"), "b": (5, "bool"),
              "type": (6, "int"), "shape": (7, TensorShapeProto), "tensor": (8, TensorProto),
              "placeholder": (9, "string"), "func": (10, NameAttrList)}
    ONEOF = {"value": ("list", "s", "i", "f", "b", "type", "shape", "tensor", "placeholder", "func")}
    ENUMS = {"type": _TYPE_NAMES}


NameAttrList.FIELDS["attr"] = (2, MapOf(AttrValue))


class FullTypeDef(Message):
    """What is known of a type beyond dtypes; kept, and not used here."""

    FIELDS: ClassVar[dict[str, tuple[int, Any]]] = {"type_id": (1, "int"), "s": (3, "string"), "i": (4, "int")}
    ONEOF = {"attr": ("s", "i")}
    ENUMS = {"type_id": {
        0: "TFT_UNSET", 1: "TFT_VAR", 2: "TFT_ANY", 3: "TFT_PRODUCT", 4: "TFT_NAMED", 20: "TFT_FOR_EACH",
        100: "TFT_CALLABLE", 1000: "TFT_TENSOR", 1001: "TFT_ARRAY", 1002: "TFT_OPTIONAL", 1003: "TFT_LITERAL",
        1004: "TFT_ENCODED", 1005: "TFT_SHAPE_TENSOR", 200: "TFT_BOOL", 201: "TFT_UINT8", 202: "TFT_UINT16",
        203: "TFT_UINT32", 204: "TFT_UINT64", 205: "TFT_INT8", 206: "TFT_INT16", 207: "TFT_INT32", 208: "TFT_INT64",
        209: "TFT_HALF", 210: "TFT_FLOAT", 211: "TFT_DOUBLE", 215: "TFT_BFLOAT16", 212: "TFT_COMPLEX64",
        213: "TFT_COMPLEX128", 214: "TFT_STRING", 10102: "TFT_DATASET", 10103: "TFT_RAGGED", 10104: "TFT_ITERATOR",
        10202: "TFT_MUTEX_LOCK", 10203: "TFT_LEGACY_VARIANT"}}


FullTypeDef.FIELDS["args"] = (2, [FullTypeDef])


class _DebugInfo(Message):
    FIELDS = {"original_node_names": (1, ["string"]), "original_func_names": (2, ["string"])}


class NodeDef(Message):
    """An operation."""

    ExperimentalDebugInfo = _DebugInfo
    FIELDS = {"name": (1, "string"), "op": (2, "string"), "input": (3, ["string"]), "device": (4, "string"),
              "attr": (5, MapOf(AttrValue)), "experimental_debug_info": (6, _DebugInfo),
              "experimental_type": (7, FullTypeDef)}


class VersionDef(Message):
    """The version of the writer."""

    FIELDS = {"producer": (1, "int32"), "min_consumer": (2, "int32"), "bad_consumers": (3, ["int32"])}


class _ArgDef(Message):
    FIELDS = {"name": (1, "string"), "description": (2, "string"), "type": (3, "int"), "type_attr": (4, "string"),
              "number_attr": (5, "string"), "type_list_attr": (6, "string"), "handle_data": (7, [_DtypeAndShape]),
              "is_ref": (16, "bool"), "experimental_full_type": (17, FullTypeDef)}
    ENUMS = {"type": _TYPE_NAMES}


class _AttrDef(Message):
    FIELDS = {"name": (1, "string"), "type": (2, "string"), "default_value": (3, AttrValue),
              "description": (4, "string"), "has_minimum": (5, "bool"), "minimum": (6, "int"),
              "allowed_values": (7, AttrValue)}


class _Deprecation(Message):
    FIELDS = {"version": (1, "int32"), "explanation": (2, "string")}


class OpDefMessage(Message):
    """The signature of an op type or a function."""

    ArgDef, AttrDef = _ArgDef, _AttrDef
    FIELDS = {"name": (1, "string"), "input_arg": (2, [_ArgDef]), "output_arg": (3, [_ArgDef]), "attr": (4, [_AttrDef]),
              "summary": (5, "string"), "description": (6, "string"), "deprecation": (8, _Deprecation),
              "is_aggregate": (16, "bool"), "is_stateful": (17, "bool"), "is_commutative": (18, "bool"),
              "allows_uninitialized_input": (19, "bool"), "control_output": (20, ["string"]),
              "is_distributed_communication": (21, "bool")}


class OpList(Message):
    """The op types that a graph uses."""

    FIELDS = {"op": (1, [OpDefMessage])}


class _ArgAttrs(Message):
    FIELDS = {"attr": (1, MapOf(AttrValue))}


class FunctionDef(Message):
    """A function: its signature, its operations, and which of their outputs it returns."""

    FIELDS = {"signature": (1, OpDefMessage), "node_def": (3, [NodeDef]), "ret": (4, MapOf("string")),
              "attr": (5, MapOf(AttrValue)), "control_ret": (6, MapOf("string")),
              "arg_attr": (7, MapOf(_ArgAttrs, "uint32")),
              "resource_arg_unique_id": (8, MapOf("uint32", "uint32"))}


class _GradientDef(Message):
    FIELDS = {"function_name": (1, "string"), "gradient_func": (2, "string")}


class _RegisteredGradient(Message):
    FIELDS = {"gradient_func": (1, "string"), "registered_op_type": (2, "string")}


class FunctionDefLibrary(Message):
    """The functions of a graph."""

    FIELDS = {"function": (1, [FunctionDef]), "gradient": (2, [_GradientDef]),
              "registered_gradients": (3, [_RegisteredGradient])}


class _FileLineCol(Message):
    FIELDS = {"file_index": (1, "int32"), "line": (2, "int32"), "col": (3, "int32"), "func": (4, "string"),
              "code": (5, "string")}


class _StackTrace(Message):
    FIELDS = {"file_line_cols": (1, [_FileLineCol]), "frame_id": (2, ["fixed64"])}


class GraphDebugInfo(Message):
    """Where operations were built."""

    FileLineCol, StackTrace = _FileLineCol, _StackTrace
    FIELDS = {"files": (1, ["string"]), "traces": (2, MapOf(_StackTrace)),
              "frames_by_id": (4, MapOf(_FileLineCol, "fixed64")), "name_to_trace_id": (5, MapOf("fixed64")),
              "traces_by_id": (6, MapOf(_StackTrace, "fixed64"))}


class GraphDef(Message):
    """A graph, as `Graph.as_graph_def` writes it and `import_graph_def` reads it.

    Args:
      **fields: `node`, `library`, `versions`.
    Reference: TensorFlow 2.21 `tf.compat.v1.GraphDef`.

    >>> _ = tf.constant(1.0, name="one")
    >>> [n.name for n in tf.GraphDef.FromString(tf.get_default_graph().as_graph_def().SerializeToString()).node]
    ['one']
    """

    FIELDS = {"node": (1, [NodeDef]), "library": (2, FunctionDefLibrary), "version": (3, "int32"),
              "versions": (4, VersionDef), "debug_info": (5, GraphDebugInfo)}


class SaverDef(Message):
    """The settings of a `Saver`."""

    V1, V2, LEGACY = 1, 2, 0
    FIELDS = {"filename_tensor_name": (1, "string"), "save_tensor_name": (2, "string"),
              "restore_op_name": (3, "string"), "max_to_keep": (4, "int32"), "sharded": (5, "bool"),
              "keep_checkpoint_every_n_hours": (6, "float"), "version": (7, "int")}
    ENUMS = {"version": {0: "LEGACY", 1: "V1", 2: "V2"}}


class SaveSliceInfoDef(Message):
    """The slice of a partitioned variable that a variable holds."""

    FIELDS = {"full_name": (1, "string"), "full_shape": (2, ["int"]), "var_offset": (3, ["int"]),
              "var_shape": (4, ["int"])}


class VariableDef(Message):
    """A variable, by the names of its operations."""

    FIELDS = {"variable_name": (1, "string"), "initializer_name": (2, "string"), "snapshot_name": (3, "string"),
              "save_slice_info_def": (4, SaveSliceInfoDef), "is_resource": (5, "bool"),
              "initial_value_name": (6, "string"), "trainable": (7, "bool"), "synchronization": (8, "int"),
              "aggregation": (9, "int")}
    ENUMS = {"synchronization": dict(enumerate(f"VARIABLE_SYNCHRONIZATION_{n}" for n in (
                 "AUTO", "NONE", "ON_WRITE", "ON_READ"))),
             "aggregation": dict(enumerate(f"VARIABLE_AGGREGATION_{n}" for n in (
                 "NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA")))}


class _Nodes(Message):
    FIELDS = {"value": (1, ["string"])}


class _Bytes(Message):
    FIELDS = {"value": (1, ["bytes"])}


class _Ints(Message):
    FIELDS = {"value": (1, ["int"])}


class _Floats(Message):
    FIELDS = {"value": (1, ["float"])}


class AnyMessage(Message):
    """A message of any type: its bytes, and the name of the type."""

    FIELDS = {"type_url": (1, "string"), "value": (2, "bytes")}

    def Pack(self, msg: Any, type_url_prefix: str = "type.googleapis.com/", deterministic: bool | None = None) -> None:
        """Sets it to a message."""
        self.type_url = f"{type_url_prefix.rstrip('/')}/{msg.DESCRIPTOR.full_name}"
        self.value = msg.SerializeToString()

    def Unpack(self, msg: Any) -> bool:
        """Reads what it holds into a message of that type; returns whether it is of that type."""
        found = self.Is(msg.DESCRIPTOR)
        if found:
            msg.ParseFromString(self.value)
        return found

    def TypeName(self) -> str:
        """Returns the full name of the type."""
        return str(self.type_url).rpartition("/")[2]

    def Is(self, descriptor: Any) -> bool:
        """Returns whether what it holds is of a type."""
        return "/" in self.type_url and self.TypeName() == descriptor.full_name


class _Anys(Message):
    FIELDS = {"value": (1, [AnyMessage])}


class CollectionDef(Message):
    """A collection: of names, of messages, or of numbers."""

    NodeList, BytesList, Int64List, FloatList, AnyList = _Nodes, _Bytes, _Ints, _Floats, _Anys
    FIELDS = {"node_list": (1, _Nodes), "bytes_list": (2, _Bytes), "int64_list": (3, _Ints), "float_list": (4, _Floats),
              "any_list": (5, _Anys)}
    ONEOF = {"kind": tuple(FIELDS)}


class _CooSparse(Message):
    FIELDS = {"values_tensor_name": (1, "string"), "indices_tensor_name": (2, "string"),
              "dense_shape_tensor_name": (3, "string")}


class TensorInfo(Message):
    """A tensor, by name, with dtype and shape."""

    CooSparse = _CooSparse
    FIELDS = {"name": (1, "string"), "dtype": (2, "int"), "tensor_shape": (3, TensorShapeProto),
              "coo_sparse": (4, _CooSparse)}
    ONEOF = {"encoding": ("name", "coo_sparse")}
    ENUMS = {"dtype": _TYPE_NAMES}


class SignatureDef(Message):
    """A computation of a saved model: named inputs and outputs."""

    FIELDS = {"inputs": (1, MapOf(TensorInfo)), "outputs": (2, MapOf(TensorInfo)), "method_name": (3, "string"),
              "defaults": (4, MapOf(TensorProto))}


class _MetaInfoDef(Message):
    FIELDS = {"meta_graph_version": (1, "string"), "stripped_op_list": (2, OpList), "any_info": (3, AnyMessage),
              "tags": (4, ["string"]),
              "tensorflow_version": (5, "string"), "tensorflow_git_version": (6, "string"),
              "stripped_default_attrs": (7, "bool"), "function_aliases": (8, MapOf("string"))}


class AssetFileDef(Message):
    """A file that belongs to a saved model."""

    FIELDS = {"tensor_info": (1, TensorInfo), "filename": (2, "string")}


class MetaGraphDef(Message):
    """A graph with its collections and the settings of its `Saver`.

    Reference: TensorFlow 2.21 `tf.compat.v1.MetaGraphDef`.
    """

    MetaInfoDef = _MetaInfoDef
    FIELDS = {"meta_info_def": (1, _MetaInfoDef), "graph_def": (2, GraphDef), "saver_def": (3, SaverDef),
              "collection_def": (4, MapOf(CollectionDef)), "signature_def": (5, MapOf(SignatureDef)),
              "asset_file_def": (6, [AssetFileDef])}


class SavedModel(Message):
    """The content of the file saved_model.pb, of a model without objects."""

    FIELDS = {"saved_model_schema_version": (1, "int"), "meta_graphs": (2, [MetaGraphDef])}


def graph_def_of(graph_def: Any) -> Any:
    """Returns a `GraphDef` given as one, as its bytes, or as a message of another library; TypeError for others."""
    if isinstance(graph_def, bytes):
        return GraphDef.FromString(graph_def)
    if isinstance(graph_def, GraphDef):
        return graph_def
    if hasattr(graph_def, "SerializeToString") and hasattr(graph_def, "node"):
        return GraphDef.FromString(graph_def.SerializeToString())
    raise TypeError(f"Argument `graph_def` must be a GraphDef proto. Received type: {type(graph_def).__name__}")
