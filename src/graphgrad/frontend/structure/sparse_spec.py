"""`tf.SparseTensorSpec`, and the rows of sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import DType, as_dtype, float32, int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape, as_shape
from graphgrad.ir.values.composite import SparseTensorValue, register_spec
from graphgrad.ops.array.tile import repeat
from graphgrad.ops.common.sparse_tensor import SparseTensor

from .signature import TensorSpec
from .type_spec_registry import register
from .uneven_rows import RowResults, UnevenSpec


@register("tf.SparseTensorSpec")
class SparseTensorSpec(UnevenSpec):
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

    def _by_components(self) -> Any:
        rank = self._shape.rank
        return SparseTensorSpec(None if rank is None else [None] * rank, self._dtype)

    def _for_shape(self, shape: TensorShape) -> Any:
        (rank,) = shape.with_rank(1).as_list()  # the shape of the dense shape
        return SparseTensorSpec(None if rank is None else [None] * rank, self._dtype)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [TensorSpec([None, rank], int64), TensorSpec([None], self._dtype), TensorSpec([rank], int64)]

    def _row_count(self, value: Any) -> Any:
        return raw.Cast(value.dense_shape[0], DstT=int32)

    def _row(self, value: Any, i: Any) -> Any:
        inside = raw.Where(raw.Equal(value.indices[:, 0], raw.Cast(i, DstT=int64)))
        at = inside[:, 0]
        parts = [raw.GatherV2(value.indices, at, 0)[:, 1:], raw.GatherV2(value.values, at, 0), value.dense_shape[1:]]
        return self._row_spec()._from_components(parts)

    def _row_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self._row_shape(), self._dtype)

    def _collected(self) -> RowResults:
        return _Sparse(self)

    def _to_components(self, value: Any) -> list[Any]:
        return SparseTensor.from_value(value)._parts()

    def _from_components(self, components: Any) -> SparseTensor:
        made: SparseTensor = SparseTensor.__new__(SparseTensor)
        made._indices, made._values, made._dense_shape = components
        made._static = as_shape(self._shape)
        return made

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """Returns the spec of a value."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            return cls(np.asarray(value.dense_shape).tolist(), np.asarray(value.values).dtype)
        raise TypeError(f"Expected SparseTensor, got {type(value).__name__}. Fix: tf.sparse.from_dense(x)")


class _Sparse(RowResults):
    """Sparse results: values, indices, their number, and the shape; the joined shape covers all."""

    def __init__(self, spec: Any):
        self.spec = spec
        rank = spec.shape.rank
        self.columns = [(spec.dtype, [None]), (int64, None if rank is None else [None, rank]), (int64, []),
                        (int64, None if rank is None else [rank])]

    def parts(self, row: Any) -> list[Any]:
        self.check(row)
        return [row.values, row.indices, raw.Shape(row.values, out_type=int64)[0], row.dense_shape]

    def joined(self, *arrays: Any) -> Any:
        values, indices, counts, shapes = arrays[0].concat(), arrays[1].concat(), arrays[2].stack(), arrays[3].stack()
        n = raw.Shape(counts, out_type=int64)
        numbers = repeat(raw.Range(np.int64(0), n[0], np.int64(1)), counts)
        size = raw.Maximum(raw.Max(shapes, 0), np.int64(0))
        places = raw.ConcatV2([raw.ExpandDims(numbers, 1), indices], 1)
        return self._of_all([places, values, raw.ConcatV2([n, size], 0)])

    def of_no_rows(self) -> Any:
        rank = self.spec.shape.rank or 0
        sizes = [0, *(d or 0 for d in self.spec.shape.as_list()[:rank])] if rank else [0]
        arrays = [np.zeros((0, 1 + rank), np.int64), np.zeros(0, self.spec.dtype.np_dtype), np.array(sizes, np.int64)]
        return self._of_all([convert_to_tensor(a) for a in arrays])

    def _of_all(self, components: Any) -> Any:
        rank = self.spec.shape.rank
        spec = SparseTensorSpec(None if rank is None else [None] * (1 + rank), self.spec.dtype)
        return spec._from_components(components)


register_spec(SparseTensor, SparseTensorSpec.from_value)
register_spec(SparseTensorValue, SparseTensorSpec.from_value)
