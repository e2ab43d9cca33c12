"""`tf.RaggedTensorSpec`, and the rows of ragged tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.type_spec_registry import register
from graphgrad.frontend.structure.uneven_rows import RowResults, UnevenSpec
from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype, float32, int32, int64
from graphgrad.ir.graph import Tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape


@register("tf.RaggedTensorSpec")
class RaggedTensorSpec(UnevenSpec):
    """The spec of a `RaggedTensor`.

    Args:
      shape: the shape; None where rows differ.
      dtype: the dtype of the values.
      ragged_rank: the number of ragged axes; the rank less 1 by default. With 0 the values are dense tensors.
      row_splits_dtype: int32 or int64.
      flat_values_spec: a `TensorSpec` of the values, in place of `dtype`.
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
        """The number of ragged axes."""
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
        from .ragged_tensor import RaggedTensor  # which needs this module

        return RaggedTensor if self._ragged_rank > 0 else Tensor

    def _serialize(self) -> tuple[Any, ...]:
        parts = self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    def _inner(self) -> list[int | None] | None:
        """Returns the sizes within the values."""
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

    def _row_count(self, value: Any) -> Any:
        return raw.Cast(value.nrows(), DstT=int32)

    def _row(self, value: Any, i: Any) -> Any:
        return value[i]

    def _row_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self._row_shape(), self._dtype, self._ragged_rank - 1, self._row_splits_dtype)

    def _collected(self) -> RowResults:
        return _Ragged(self)

    def _from_components(self, components: Any) -> Any:
        from .ragged_tensor import RaggedTensor

        result, *splits = components
        for rows in reversed(splits):
            result = RaggedTensor(result, rows, internal=True)
        return result

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether a value, or another spec, fits; a dense tensor does for a `ragged_rank` of 0."""
        other = self._of_value(spec_or_value)
        if self._ragged_rank == 0 and isinstance(other, TensorSpec):
            return other.dtype is self._dtype and self._shape.is_compatible_with(other.shape)
        return super().is_compatible_with(other)

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """Returns the spec of a `RaggedTensor` or `RaggedTensorValue`."""
        rank = len(value.nested_row_splits)
        shape: Any = getattr(value, "shape", None)
        if shape is None:  # a value that a session returned
            shape = (len(value.row_splits) - 1, *[None] * rank, *value.flat_values.shape[1:])
        return cls(shape, as_dtype(value.flat_values.dtype), rank, as_dtype(value.row_splits.dtype))


class _Ragged(RowResults):
    """Ragged results, and tensors that differ in length: values, and lengths on each level."""

    def __init__(self, spec: Any):
        self.spec = spec
        inner = spec._inner() if spec.ragged_rank else None if spec.shape.rank is None else spec.shape.as_list()[1:]
        flat = None if inner is None else [None, *inner]
        lengths = spec.row_splits_dtype
        self.columns = [(spec.dtype, flat), (lengths, []), *[(lengths, [None])] * spec.ragged_rank]

    def parts(self, row: Any) -> list[Any]:
        self.check(row)
        if not self.spec.ragged_rank:
            return [row, raw.Cast(raw.Shape(row)[0], DstT=self.spec.row_splits_dtype)]
        return [row.flat_values, row.nrows(), *row.nested_row_lengths()]

    def joined(self, *arrays: Any) -> Any:
        from .ragged_tensor import RaggedTensor

        flat, rows, *inner = arrays
        lengths = [rows.stack(), *[a.concat() for a in inner]]
        return RaggedTensor.from_nested_row_lengths(flat.concat(), lengths, validate=False)

    def of_no_rows(self) -> Any:
        from .ragged_tensor import RaggedTensor

        (dtype, flat), *levels = self.columns
        values = convert_to_tensor(np.zeros([n or 0 for n in flat or [0]], dtype.np_dtype))
        splits = [convert_to_tensor(np.zeros(1, d.np_dtype)) for d, _ in levels]
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
