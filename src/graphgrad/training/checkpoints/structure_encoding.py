"""Writes nested Python values as `StructuredValue` messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphgrad.frontend.structure.nest import is_composite_spec
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.frontend.structure.type_spec_registry import get_name
from graphgrad.ir.dtypes import DType, as_dtype
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph_messages import TensorProto, shape_proto
from graphgrad.ir.shape import TensorShape, as_shape

from .saved_object_messages import StructuredValue, TypeSpecProto

# The classes of specs that TensorFlow has itself.
_BUILT_IN = {
    "SparseTensorSpec": TypeSpecProto.SPARSE_TENSOR_SPEC, "IndexedSlicesSpec": TypeSpecProto.INDEXED_SLICES_SPEC,
    "RaggedTensorSpec": TypeSpecProto.RAGGED_TENSOR_SPEC, "TensorArraySpec": TypeSpecProto.TENSOR_ARRAY_SPEC,
    "DatasetSpec": TypeSpecProto.DATA_DATASET_SPEC, "IteratorSpec": TypeSpecProto.DATA_ITERATOR_SPEC,
    "OptionalSpec": TypeSpecProto.OPTIONAL_SPEC, "RowPartitionSpec": TypeSpecProto.ROW_PARTITION_SPEC}


class NotEncodableError(Exception):
    """A value is of a kind that `StructuredValue` has no field for."""


def encode_structure(nested_structure: Any) -> StructuredValue:
    """Writes a nested value as a message.

    Args:
      nested_structure: lists, tuples, named tuples and dictionaries of None, numbers, strings, shapes, dtypes, specs
        and arrays.
    Returns: a `StructuredValue`.
    Raises: NotEncodableError for anything else.
    Reference: TensorFlow 2.21 `tf.__internal__.saved_model.encode_structure`.
    """
    made = StructuredValue()
    _encode(nested_structure, made)
    return made


def _encode(value: Any, made: Any) -> None:
    if value is None:
        made.none_value.SetInParent()
        made._only("none_value")
    elif isinstance(value, (bool, np.bool_)):
        made.bool_value = bool(value)
    elif isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise NotEncodableError(f"the integer {value} has more than 64 bits")
        made.int64_value = value
    elif isinstance(value, float):
        made.float64_value = value
    elif isinstance(value, str):
        made.string_value = value
    elif isinstance(value, TensorShape):
        _put(made, "tensor_shape_value", shape_proto(as_shape(value)))
    elif isinstance(value, DType):
        made.tensor_dtype_value = value.enum
    elif isinstance(value, (list, tuple, Mapping)):
        _encode_nested(value, made)
    elif isinstance(value, TypeSpec):
        _encode_spec(value, made)
    elif isinstance(value, EagerTensor) and isinstance(value._value, (np.ndarray, np.generic)):
        _put(made, "tensor_value", TensorProto.of(value._value, value.dtype))
    elif isinstance(value, (np.ndarray, np.generic)):
        _put(made, "numpy_value", TensorProto.of(np.asarray(value), as_dtype(np.asarray(value).dtype)))
    else:
        raise NotEncodableError(f"No encoder for object {value} of type {type(value)}.")


def _put(made: Any, name: str, message: Any) -> None:
    getattr(made, name).CopyFrom(message)


def _encode_nested(value: Any, made: Any) -> None:
    if isinstance(value, Mapping):
        made.dict_value.SetInParent()
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotEncodableError(f"the key {key!r} of a dictionary is no string")
            _encode(item, made.dict_value.fields[key])
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        made.named_tuple_value.name = type(value).__name__
        made.named_tuple_value.SetInParent()
        for key in value._fields:
            _encode(getattr(value, key), made.named_tuple_value.values.add(key=key).value)
    else:
        values = made.tuple_value if isinstance(value, tuple) else made.list_value
        values.SetInParent()
        for item in value:
            _encode(item, values.values.add())


def _encode_spec(spec: Any, made: Any) -> None:
    if type(spec) is TensorSpec:
        inner = made.tensor_spec_value
        inner.name, inner.dtype = spec.name or "", spec.dtype.enum
        inner.shape.CopyFrom(shape_proto(spec._shape))
        return
    name = type(spec).__name__
    kind = _BUILT_IN.get(name)
    if kind is None:
        try:
            name = get_name(type(spec))
        except ValueError as e:
            raise NotEncodableError(f"No encoder for object {spec} of type {type(spec)}. {e} Fix: for an extension "
                                    'type an attribute __name__ = "project.Name"') from None
        kind = TypeSpecProto.EXTENSION_TYPE_SPEC if spec._of_fields else TypeSpecProto.REGISTERED_TYPE_SPEC
    inner = made.type_spec_value
    inner.type_spec_class, inner.type_spec_class_name = kind, name
    # Data sets and tensor arrays are one variant each.
    inner.num_flat_components = len(spec._flat_tensor_specs) if is_composite_spec(spec) else 1
    _encode(spec._serialize(), inner.type_state)
