"""Specs of sliced tensors, and of whatever has one."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, float32, int64
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.values.composite import Composite, register_spec, registered_spec
from graphgrad.ir.values.indexed_slices import IndexedSlices

from . import sparse_spec as sparse_spec  # these two register what `spec_of` gives
from . import tensor_array_spec as tensor_array_spec
from .signature import TensorSpec
from .type_spec import TypeSpec


class IndexedSlicesSpec(TypeSpec):
    """What is known of `IndexedSlices`.

    Args:
      shape: the dense shape.
      dtype: the dtype of the values.
      indices_dtype: the dtype of the indices.
      dense_shape_dtype: that of the dense shape; None without one.
      indices_shape: the shape of the indices, which is the values' first size.
    Reference: TensorFlow 2.21 `tf.IndexedSlicesSpec`.
    """

    def __init__(self, shape: Any = None, dtype: Any = float32, indices_dtype: Any = int64,
                 dense_shape_dtype: Any = None, indices_shape: Any = None):
        self._shape, self._dtype = TensorShape(shape), as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        rows = TensorShape(indices_shape)
        self._indices_shape = TensorShape([None]) if rows.rank is None else rows

    @property
    def value_type(self) -> Any:
        """`IndexedSlices`."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    def _generic(self) -> Any:
        inner = None if self._shape.rank is None else [None, *self._shape.as_list()[1:]]
        return IndexedSlicesSpec(inner, self._dtype, self._indices_dtype, self._dense_shape_dtype)

    def _by_components(self) -> Any:
        inner = None if self._shape.rank is None else [None, *self._shape.as_list()[1:]]
        return IndexedSlicesSpec(inner, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape)

    def _for_shape(self, shape: TensorShape) -> Any:
        rows = None if shape.rank is None else shape.as_list()[:1]  # the shape of the values
        inner = None if shape.rank is None else [None, *shape.as_list()[1:]]
        return IndexedSlicesSpec(inner, self._dtype, self._indices_dtype, self._dense_shape_dtype, rows)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        shape = self._shape.as_list() if self._shape.rank is not None else None
        values = None if shape is None else [self._indices_shape.as_list()[0], *shape[1:]]
        found = [TensorSpec(values, self._dtype), TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            found.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return found

    def _to_components(self, value: Any) -> list[Any]:
        return value._parts()

    def _from_components(self, components: Any) -> IndexedSlices:
        return IndexedSlices(*components)

    @classmethod
    def from_value(cls, value: Any) -> IndexedSlicesSpec:
        """Returns the spec of a value."""
        shape = value.dense_shape
        rows = value.values.shape.as_list()[1:] if value.values.shape.rank is not None else None
        whole = value.shape if shape is not None else None if rows is None else [None, *rows]
        return cls(whole, value.values.dtype, value.indices.dtype, None if shape is None else shape.dtype,
                   value.indices.shape)


register_spec(IndexedSlices, IndexedSlicesSpec.from_value)


class PartsSpec(TypeSpec):
    """The spec of a composite whose class has none of its own.

    Args:
      kind: the class.
      parts: the specs of its components.
      static: its parts besides tensors.
    """

    def __init__(self, kind: type[Composite], parts: Sequence[Any], static: tuple[Any, ...]):
        self._kind, self._parts, self._static = kind, tuple(parts), static

    @property
    def value_type(self) -> Any:
        """The class of such values."""
        return self._kind

    def _serialize(self) -> tuple[Any, ...]:
        return self._kind, self._parts, self._static

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return list(self._parts)

    def _to_components(self, value: Any) -> list[Any]:
        return value._parts()

    def _from_components(self, components: Any) -> Any:
        return self._kind._from_parts(list(components), self._static)

    @classmethod
    def from_value(cls, value: Composite) -> PartsSpec:
        """Returns the spec of a value."""
        return cls(type(value), [spec_of(t) for t in value._parts()], value._static())


register_spec(Composite, PartsSpec.from_value)


def spec_of(value: Any) -> Any:
    """Returns the spec of a value; None if it has none."""
    found = value._type_spec if isinstance(value, Composite) else registered_spec(value)
    if found is not None:
        return found
    if isinstance(value, (Tensor, EagerTensor)) or hasattr(value, "_as_tensor"):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(value.shape, value.dtype)
    return None


def type_spec_from_value(value: Any) -> TypeSpec:
    """Returns the spec of a value.

    Args:
      value: a tensor of any kind, an `Optional`, a `Dataset`, or what can be made a tensor.
    Raises: TypeError for what cannot.
    Reference: TensorFlow 2.21 `tf.type_spec_from_value`.

    >>> tf.type_spec_from_value(tf.constant([1, 2]))
    TensorSpec(shape=(2,), dtype=tf.int32, name=None)
    """
    found = spec_of(value)
    if found is None:
        with contextlib.suppress(TypeError, ValueError):
            found = spec_of(convert_to_tensor(value))
    if found is None:
        raise TypeError(f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}. "
                        "Fix: give a tensor")
    return found
