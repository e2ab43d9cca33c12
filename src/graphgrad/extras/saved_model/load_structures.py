"""Reads nested Python values from `StructuredValue` messages."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from graphgrad.extras.data.dataset_specs import DatasetSpec, IteratorSpec
from graphgrad.extras.data.optional import OptionalSpec
from graphgrad.extras.ragged.ragged_spec import RaggedTensorSpec
from graphgrad.extras.ragged.row_partition_value import RowPartitionSpec
from graphgrad.frontend.structure.composite_specs import IndexedSlicesSpec
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.sparse_spec import SparseTensorSpec
from graphgrad.frontend.structure.tensor_array_spec import TensorArraySpec
from graphgrad.frontend.structure.type_spec_registry import lookup
from graphgrad.frontend.variables.variable_spec import VariableSpec
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import as_dtype
from graphgrad.ir.shape import TensorShape
from graphgrad.training.checkpoints.saved_object_messages import TypeSpecProto

_SPECS = {
    TypeSpecProto.SPARSE_TENSOR_SPEC: SparseTensorSpec, TypeSpecProto.INDEXED_SLICES_SPEC: IndexedSlicesSpec,
    TypeSpecProto.RAGGED_TENSOR_SPEC: RaggedTensorSpec, TypeSpecProto.TENSOR_ARRAY_SPEC: TensorArraySpec,
    TypeSpecProto.DATA_DATASET_SPEC: DatasetSpec, TypeSpecProto.DATA_ITERATOR_SPEC: IteratorSpec,
    TypeSpecProto.OPTIONAL_SPEC: OptionalSpec, TypeSpecProto.ROW_PARTITION_SPEC: RowPartitionSpec,
}


def _shape(message: Any) -> TensorShape:
    return TensorShape(message.shape())


def _pairs(message: Any) -> Any:
    values = [structure_of(p.value) for p in message.values]
    fields = [p.key for p in message.values]
    try:
        return collections.namedtuple(message.name, fields)(*values)
    except ValueError as e:
        raise ValueError(f"The SavedModel has a tuple {message.name!r} with the fields {fields}: {e}. Fix: use another "
                         "copy of the model, or write it again") from e


def _spec(message: Any) -> Any:
    state = structure_of(message.type_state)
    kind = message.type_spec_class
    if kind == TypeSpecProto.VARIABLE_SPEC:
        return VariableSpec(*state)
    if kind in _SPECS:
        return _SPECS[kind](*state)
    try:
        if kind in (TypeSpecProto.REGISTERED_TYPE_SPEC, TypeSpecProto.EXTENSION_TYPE_SPEC):
            cls: Any = lookup(message.type_spec_class_name)
            return cls._deserialize(state)
    except ValueError:
        pass  # said below
    name = TypeSpecProto.ENUMS["type_spec_class"].get(kind, kind)
    raise ValueError(f"The type '{message.type_spec_class_name}' ({name}) has not been registered. It must be "
                     "registered before you load this object. Fix: import the library that defines it")


def _bounded(message: Any) -> TensorSpec:
    return TensorSpec(_shape(message.shape), as_dtype(int(message.dtype)), message.name or None)


_READERS: dict[str, Callable[[Any], Any]] = {
    "none_value": lambda v: None, "float64_value": float, "int64_value": int, "string_value": str, "bool_value": bool,
    "tensor_shape_value": _shape, "tensor_dtype_value": lambda v: as_dtype(int(v)),
    "tensor_spec_value": _bounded, "bounded_tensor_spec_value": _bounded, "type_spec_value": _spec,
    "list_value": lambda v: [structure_of(e) for e in v.values],
    "tuple_value": lambda v: tuple([structure_of(e) for e in v.values]),
    "dict_value": lambda v: {k: structure_of(e) for k, e in v.fields.items()}, "named_tuple_value": _pairs,
    "tensor_value": lambda v: constant(v.array()), "numpy_value": lambda v: v.array().copy(),
}


def structure_of(message: Any) -> Any:
    """Returns the value of a `StructuredValue`.

    Args:
      message: the message.
    Raises: ValueError for what it cannot hold.
    """
    kind = message.WhichOneof("kind")
    return None if kind is None else _READERS[kind](getattr(message, kind))
