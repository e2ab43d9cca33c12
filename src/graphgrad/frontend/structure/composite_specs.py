"""Type specs of ragged, sparse and sliced tensors, tensor lists, optionals and data sets."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from graphgrad.extras.ragged.ragged_tensor import RaggedTensor
from graphgrad.extras.sparse.sparse_ops import SparseTensor
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.composite import Composite, SparseTensorValue, makers_of_specs
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype, float32, int64
from graphgrad.ir.eager import EagerTensor
from graphgrad.ir.graph import Tensor
from graphgrad.ir.indexed_slices import IndexedSlices
from graphgrad.ir.shape import TensorShape, as_shape

from .signature import TensorSpec
from .type_spec import TypeSpec


class SparseTensorSpec(TypeSpec):
    """What is known of a `SparseTensor`.

    Args:
      shape: the dense shape.
      dtype: the dtype of the values.
    Reference: TensorFlow 2.21 `tf.SparseTensorSpec`.

    >>> tf.SparseTensorSpec([None, 3], tf.int32)
    SparseTensorSpec(TensorShape([None, 3]), tf.int32)
    """

    def __init__(self, shape: Any = None, dtype: Any = float32):
        self._shape, self._dtype = TensorShape(shape), as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The dense shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def value_type(self) -> Any:
        """`SparseTensor`."""
        return SparseTensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    def _generic(self) -> Any:
        rank = self._shape.rank
        return SparseTensorSpec(None if rank is None else [None] * rank, self._dtype)

    def _by_components(self) -> Any:
        return self._generic()

    def _for_shape(self, shape: TensorShape) -> Any:
        (rank,) = shape.with_rank(1).as_list()  # the shape of the dense shape
        return SparseTensorSpec(None if rank is None else [None] * rank, self._dtype)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [TensorSpec([None, rank], int64), TensorSpec([None], self._dtype), TensorSpec([rank], int64)]

    def _to_components(self, value: Any) -> list[Any]:
        return SparseTensor.from_value(value)._parts()

    def _from_components(self, components: Any) -> SparseTensor:
        made: SparseTensor = SparseTensor.__new__(SparseTensor)
        made._indices, made._values, made._dense_shape = components
        made._static = as_shape(self._shape)
        return made

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a `SparseTensor` or `SparseTensorValue`; TypeError for anything else."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            return cls(np.asarray(value.dense_shape).tolist(), np.asarray(value.values).dtype)
        raise TypeError(f"Expected SparseTensor, got {type(value).__name__}. Fix: tf.sparse.from_dense(x)")


class RaggedTensorSpec(TypeSpec):
    """What is known of a `RaggedTensor`.

    Args:
      shape: the shape; None where rows differ.
      dtype: the dtype of the values.
      ragged_rank: how many axes are ragged; the rank less 1 by default. With 0 the values are dense tensors.
      row_splits_dtype: int32 or int64.
      flat_values_spec: a `TensorSpec` of the values, in the place of `dtype`.
    Raises: ValueError for a `ragged_rank` that is not less than the rank, or another dtype of splits.
    Reference: TensorFlow 2.21 `tf.RaggedTensorSpec`.

    >>> tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(tf.ragged.constant([[1], [2, 3]]))
    True
    """

    def __init__(self, shape: Any = None, dtype: Any = float32, ragged_rank: Any = None, row_splits_dtype: Any = int64,
                 flat_values_spec: Any = None):
        self._shape, self._row_splits_dtype = TensorShape(shape), as_dtype(row_splits_dtype)
        self._flat_values_spec = flat_values_spec
        self._dtype = as_dtype(dtype) if flat_values_spec is None else flat_values_spec.dtype
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank. Fix: ragged_rank=1")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, (int, np.integer)):
            raise TypeError(f"Argument `ragged_rank` must be an int. Got {ragged_rank!r}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}). "
                             "Fix: leave it out, or give a longer shape")
        if self._row_splits_dtype.name not in ("int32", "int64"):
            raise ValueError("Arg `row_splits_dtype` must be tf.int32 or tf.int64.")
        self._ragged_rank = whole(ragged_rank)

    @property
    def shape(self) -> TensorShape:
        """The shape; None where rows differ."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        """How many axes are ragged."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The dtype of the splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """The `TensorSpec` of the values, if one was given."""
        return self._flat_values_spec

    @property
    def value_type(self) -> Any:
        """`RaggedTensor`, or `Tensor` for a `ragged_rank` of 0."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def _serialize(self) -> tuple[Any, ...]:
        parts = self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    def _inner(self) -> list[int | None] | None:
        """The sizes within the values."""
        return None if self._shape.rank is None else self._shape.as_list()[self._ragged_rank + 1 :]

    def _generic(self) -> Any:
        inner = self._inner()
        shape = None if inner is None else [*[None] * (self._ragged_rank + 1), *inner]
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    def _for_shape(self, shape: TensorShape) -> Any:
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        inner = self._inner()
        rows = None if self._shape.rank is None else self._shape.as_list()[0]
        if not self._ragged_rank:
            return [TensorSpec(self._shape, self._dtype)]
        flat = TensorSpec(None if inner is None else [None, *inner], self._dtype)
        outer = TensorSpec([None if rows is None else rows + 1], self._row_splits_dtype)
        return [flat, outer, *[TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1)]

    def _to_components(self, value: Any) -> list[Any]:
        return value._parts() if self._ragged_rank else [convert_to_tensor(value)]

    def _from_components(self, components: Any) -> Any:
        result, *splits = components
        for rows in reversed(splits):
            result = RaggedTensor(result, rows, internal=True)
        return result

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or another spec, fits; a dense tensor does for a `ragged_rank` of 0."""
        other = self._of_value(spec_or_value)
        if self._ragged_rank == 0 and isinstance(other, TensorSpec):
            return other.dtype is self._dtype and self._shape.is_compatible_with(other.shape)
        return super().is_compatible_with(other)

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a `RaggedTensor` or `RaggedTensorValue`."""
        rank = len(value.nested_row_splits)
        shape: Any = getattr(value, "shape", None)
        if shape is None:  # a value that a session gave
            shape = (len(value.row_splits) - 1, *[None] * rank, *value.flat_values.shape[1:])
        return cls(shape, as_dtype(value.flat_values.dtype), rank, as_dtype(value.row_splits.dtype))


class IndexedSlicesSpec(TypeSpec):
    """What is known of `IndexedSlices`.

    Args:
      shape: the dense shape.
      dtype: the dtype of the values.
      indices_dtype: the dtype of the indices.
      dense_shape_dtype: that of the dense shape; None if there is none.
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
        """The spec of `IndexedSlices`."""
        shape = value.dense_shape
        rows = value.values.shape.as_list()[1:] if value.values.shape.rank is not None else None
        whole = value.shape if shape is not None else None if rows is None else [None, *rows]
        return cls(whole, value.values.dtype, value.indices.dtype, None if shape is None else shape.dtype,
                   value.indices.shape)


class OptionalSpec(TypeSpec):
    """What is known of an `Optional`.

    Args:
      element_spec: specs of the value, in its structure.
    Reference: TensorFlow 2.21 `tf.OptionalSpec`.
    """

    def __init__(self, element_spec: Any):
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """Specs of the value, in its structure."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        """`Optional`."""
        from graphgrad.extras.data.optional import Optional

        return Optional

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """The spec of an `Optional`."""
        return OptionalSpec(value.element_spec)


class DatasetSpec(TypeSpec):
    """What is known of a `Dataset`.

    Args:
      element_spec: specs of its elements, in their structure.
      dataset_shape: () for one data set.
    Reference: TensorFlow 2.21 `tf.data.DatasetSpec`.

    >>> tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    def __init__(self, element_spec: Any, dataset_shape: Any = ()):
        self._element_spec, self._dataset_shape = element_spec, TensorShape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        """`Dataset`."""
        from graphgrad.extras.data.dataset import Dataset

        return Dataset

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a `Dataset`."""
        return DatasetSpec(value.element_spec)


class IteratorSpec(TypeSpec):
    """What is known of an iterator.

    Args:
      element_spec: specs of its elements, in their structure.
    Reference: TensorFlow 2.21 `tf.data.IteratorSpec`.
    """

    def __init__(self, element_spec: Any):
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        """`tf.data.Iterator`."""
        from graphgrad.extras.data.eager_iterator import OwnedIterator

        return OwnedIterator

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @staticmethod
    def from_value(value: Any) -> IteratorSpec:
        """The spec of an iterator."""
        return IteratorSpec(value.element_spec)


makers_of_specs[SparseTensor] = SparseTensorSpec.from_value
makers_of_specs[RaggedTensor] = RaggedTensorSpec.from_value
makers_of_specs[IndexedSlices] = IndexedSlicesSpec.from_value


def spec_of(value: Any) -> Any:
    """The spec of a value; None if it has none."""
    from graphgrad.extras.data.dataset import Dataset
    from graphgrad.extras.data.optional import Optional
    from graphgrad.extras.ragged.row_partitions import RaggedTensorValue

    from .tensor_array import TensorArray, TensorArraySpec

    if isinstance(value, Composite):
        return value._type_spec
    if isinstance(value, RaggedTensorValue):
        return RaggedTensorSpec.from_value(value)
    if isinstance(value, SparseTensorValue):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, TensorArray):
        return TensorArraySpec.from_value(value)
    if isinstance(value, Optional):
        return OptionalSpec.from_value(value)
    if isinstance(value, Dataset):
        return DatasetSpec.from_value(value)
    if isinstance(value, (Tensor, EagerTensor)) or hasattr(value, "_as_tensor"):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(value.shape, value.dtype)
    return None


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a value.

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
    return found  # type: ignore[no-any-return]  # untyped where it comes from
