"""`tf.RaggedTensor`: a tensor whose rows differ in length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from graphgrad.frontend.function.autograph.loop_sources import LoopSource
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like, register_tensor_conversion_function
from graphgrad.ir.dtypes import DType, as_dtype, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.values.composite import Composite, register_spec
from graphgrad.ops.array.mask import boolean_mask, sequence_mask
from graphgrad.ops.common.sparse_tensor import SparseTensor

from . import ragged_operators
from .ragged_loops import LoopRows, rows_of
from .ragged_spec import RaggedTensorSpec
from .row_partition_value import RowPartition
from .row_partitions import (
    RaggedTensorValue,
    _after,
    _before,
    _ends,
    _index,
    _part,
    _refuse,
    _rowids,
    _without,
)


class RaggedTensor(LoopSource, Composite, ragged_operators.RaggedOperators):
    """A tensor whose rows differ in length, made by `RaggedTensor.from_row_splits` or `tf.ragged.constant`, say.

    Args:
      values: the elements of all rows, one after the other: a tensor, or a `RaggedTensor`.
      row_partition: where each row begins, and where the last one ends.
      internal: must be True; programs use the class's methods instead.
    Raises: ValueError if it is not.
    Elementwise functions, reductions and many others accept it like a tensor; it has the same operators.
    Gradient: for `values`, through `to_tensor`, `to_sparse`, rows and `map_flat_values`.
    Reference: TensorFlow 2.21 `tf.RaggedTensor`.

    >>> x = tf.constant([1.0, 2.0, 3.0])
    >>> rows = tf.RaggedTensor.from_row_lengths(x, [2, 0, 1])
    >>> sess.run(rows.to_tensor())
    array([[1., 2.],
           [0., 0.],
           [3., 0.]], dtype=float32)
    >>> sess.run(tf.gradients(rows.to_tensor() ** 2, x))
    [array([2., 4., 6.], dtype=float32)]
    """

    def __init__(self, values: Any, row_partition: Any, internal: bool = False):
        if not internal:
            raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead. "
                             "Fix: tf.RaggedTensor.from_row_splits(values, row_splits)")
        self._values, self._row_splits = values, row_partition

    # -- construction ------------------------------------------------------------------------

    @classmethod
    def _of(cls, values: Any, row_splits: Any) -> RaggedTensor:
        return cls(values, row_splits, internal=True)

    @classmethod
    def _from_row_partition(cls, values: Any, row_partition: Any, validate: bool = True) -> RaggedTensor:
        """Makes rows from a `RowPartition`; checks the number of values on demand."""
        values = _values(values)
        return cls._of(values, row_partition._splits_of(_count(values, row_partition.dtype), validate))

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None,
                        validate: bool = True) -> RaggedTensor:
        """Makes rows that begin at `row_splits[i]` and end before `row_splits[i + 1]`.

        Args:
          values: the elements.
          row_splits: (nrows + 1,), int32 or int64; the first is 0, the last the number of values.
          name: a name for the scope.
          validate: whether to check that; in a graph when it is run.
        Raises: ValueError for another rank or number that is known; InvalidArgumentError for rows that are none.
        """
        with name_scope(name, "RaggedFromRowSplits"):
            return cls._from_row_partition(values, RowPartition.from_row_splits(row_splits, validate), validate)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None,
                         validate: bool = True) -> RaggedTensor:
        """Makes rows of the given lengths.

        Args:
          values, name, validate: as for `from_row_splits`, with its errors.
          row_lengths: (nrows,), int32 or int64; they add up to the number of values.
        """
        with name_scope(name, "RaggedFromRowLengths"):
            return cls._from_row_partition(values, RowPartition.from_row_lengths(row_lengths, validate), validate)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None,
                        validate: bool = True) -> RaggedTensor:
        """Makes rows that begin at `row_starts`; the first at 0.

        Args:
          values, name, validate: as for `from_row_splits`, with its errors.
          row_starts: (nrows,), int32 or int64.
        """
        with name_scope(name, "RaggedFromRowStarts"):
            values, starts = _values(values), _index(row_starts, "row_starts")
            rows = RowPartition.from_row_starts(starts, _count(values, starts.dtype), validate)
            return cls._from_row_partition(values, rows, False)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None,
                        validate: bool = True) -> RaggedTensor:
        """Makes rows that end before `row_limits`; the last at the number of values.

        Args:
          values, name, validate: as for `from_row_splits`, with its errors.
          row_limits: (nrows,), int32 or int64.
        """
        with name_scope(name, "RaggedFromRowLimits"):
            return cls._from_row_partition(values, RowPartition.from_row_limits(row_limits, validate), validate)

    @classmethod
    def from_value_rowids(cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None,
                          validate: bool = True) -> RaggedTensor:
        """Makes rows from the row number of each value.

        Args:
          values, name, validate: as for `from_row_splits`, with its errors.
          value_rowids: (nvals,), int32 or int64, in order.
          nrows: the number of rows; the last id plus 1 by default.
        """
        with name_scope(name, "RaggedFromValueRowIds"):
            rows = RowPartition.from_value_rowids(value_rowids, nrows, validate)
            return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_uniform_row_length(cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True,
                                name: str | None = None) -> RaggedTensor:
        """Makes rows of one length.

        Args:
          values, name, validate: as for `from_row_splits`, with its errors.
          uniform_row_length: the length, a scalar.
          nrows: the number of rows; needed if the length is 0.
        """
        with name_scope(name, "RaggedFromUniformRowLength"):
            values, length = _values(values), _index(uniform_row_length, "uniform_row_length")
            rows = RowPartition.from_uniform_row_length(length, _count(values, length.dtype), nrows, validate)
            return cls._from_row_partition(values, rows, False)

    @classmethod
    def from_nested_row_splits(cls, flat_values: Any, nested_row_splits: Any, name: str | None = None,
                               validate: bool = True) -> Any:
        """Makes nested rows from one vector of splits for each ragged axis, the outermost first."""
        return cls._nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None,
                                validate: bool = True) -> Any:
        """Makes nested rows from one vector of lengths for each ragged axis, the outermost first."""
        return cls._nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(cls, flat_values: Any, nested_value_rowids: Any, nested_nrows: Any = None,
                                 name: str | None = None, validate: bool = True) -> Any:
        """Makes nested rows from the row of each value, for each ragged axis, the outermost first."""
        counts = nested_nrows or [None] * len(nested_value_rowids)
        result = flat_values
        for ids, n in zip(reversed(nested_value_rowids), reversed(counts), strict=True):
            result = cls.from_value_rowids(result, ids, n, validate=validate)
        return result

    @staticmethod
    def _nested(make: Any, flat_values: Any, partitions: Sequence[Any], validate: bool) -> Any:
        result = flat_values
        for partition in reversed(partitions):
            result = make(result, partition, validate=validate)
        return result

    @classmethod
    def from_tensor(cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1,
                    name: str | None = None, row_splits_dtype: Any = int64) -> RaggedTensor:
        """Converts a dense tensor, without the padding at the ends of rows.

        Args:
          tensor: of rank 2 or more.
          lengths: the number of elements to keep of each row.
          padding: the value that ends of rows are padded with; by default nothing is removed.
          ragged_rank: how many ragged axes the result has; with lengths or a padding 1.
          name: a name for the scope.
          row_splits_dtype: int32 or int64.
        Raises: ValueError for both lengths and a padding, or for a rank that does not go with them.
        """
        if lengths is not None and padding is not None:
            raise ValueError("Specify argument `lengths` or `padding`, but not both. Fix: leave one out")
        if ragged_rank != 1 and (lengths is not None or padding is not None):
            raise ValueError("lengths and padding are for one ragged axis. Fix: leave ragged_rank out")
        with name_scope(name, "RaggedFromTensor"):
            tensor, dtype = convert_to_tensor(tensor, name="tensor"), as_dtype(row_splits_dtype)
            if lengths is None and padding is None:
                return cls._all_rows(tensor, ragged_rank, dtype)
            width = raw.Cast(_part(raw.Shape(tensor), 1), DstT=dtype)
            if lengths is None:
                lengths = _without(tensor, convert_to_tensor(padding, tensor.dtype), width, dtype)
            lengths = convert_to_tensor(lengths, dtype, name="lengths")
            lengths = raw.Minimum(raw.Maximum(lengths, raw.ZerosLike(lengths)), width)
            return cls._of(boolean_mask(tensor, sequence_mask(lengths, width)), _ends(lengths))

    @classmethod
    def _all_rows(cls, tensor: Any, ragged_rank: int, dtype: DType) -> Any:
        shape = raw.Cast(raw.Shape(tensor), DstT=dtype)
        flat = raw.ConcatV2([[-1], raw.Slice(raw.Shape(tensor), [ragged_rank + 1], [-1])], 0)
        result: Any = raw.Reshape(tensor, flat)
        for axis in range(ragged_rank, 0, -1):
            rows = raw.Prod(raw.Slice(shape, [0], [axis]), [0])
            result = cls.from_uniform_row_length(result, _part(shape, axis), rows, validate=False)
        return result

    @classmethod
    def from_sparse(cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = int64) -> RaggedTensor:
        """Converts a sparse matrix whose elements are at the beginning of each row, in order.

        Args:
          st_input: a `SparseTensor` of rank 2.
          name: a name for the scope.
          row_splits_dtype: int32 or int64.
        Raises: TypeError if it is not sparse.
        """
        if not isinstance(st_input, SparseTensor):
            raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}. Fix: RaggedTensor.from_tensor(x)")
        with name_scope(name, "RaggedFromSparse"):
            dtype = as_dtype(row_splits_dtype)
            rows = raw.StridedSlice(st_input.indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1,
                                    shrink_axis_mask=2)
            return cls.from_value_rowids(st_input.values, raw.Cast(rows, DstT=dtype),
                                         raw.Cast(_part(st_input.dense_shape, 0), DstT=dtype), validate=False)

    # -- properties ------------------------------------------------------------------------

    @property
    def values(self) -> Any:
        """The elements of all rows: a tensor, or a `RaggedTensor`."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """Where each row begins, and where the last one ends."""
        return self._row_splits

    @property
    def _row_partition(self) -> Any:
        """The rows, a `RowPartition`."""
        return RowPartition.from_row_splits(self._row_splits, validate=False)

    @property
    def flat_values(self) -> Any:
        """The tensor beneath all ragged axes."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of all ragged axes, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self.flat_values.dtype)

    @property
    def shape(self) -> TensorShape:
        """The static shape; None for ragged axes."""
        n = self._row_splits.shape.as_list()[0] if self._row_splits.shape.rank == 1 else None
        inner = self._values.shape
        rest = inner.as_list()[1:] if inner.rank is not None else None
        return TensorShape(None) if rest is None else TensorShape([None if n is None else n - 1, None, *rest])

    @property
    def uniform_row_length(self) -> None:
        """None: rows may differ."""
        return None

    def get_shape(self) -> TensorShape:
        """Returns the static shape; the same as `shape`."""
        return self.shape

    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """Returns the number of rows, a scalar."""
        splits = self._row_splits
        n = raw.Sub(raw.Size(splits, out_type=as_dtype(splits.dtype)), 1, name=name)
        return n if out_type is None else raw.Cast(n, DstT=as_dtype(out_type))

    def row_starts(self, name: str | None = None) -> Any:
        """Returns the index of the first value of each row, (nrows,)."""
        return raw.StridedSlice(self._row_splits, [0], [-1], [1], begin_mask=1, name=name)

    def row_limits(self, name: str | None = None) -> Any:
        """Returns the index after the last value of each row, (nrows,)."""
        return raw.StridedSlice(self._row_splits, [1], [0], [1], end_mask=1, name=name)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Returns the length of each row, (nrows,); for axis=2 and above those of inner rows, a `RaggedTensor`."""
        if axis > 1:
            return self.with_values(self._values.row_lengths(axis - 1))
        return raw.Sub(self.row_limits(), self.row_starts(), name=name)

    def value_rowids(self, name: str | None = None) -> Any:
        """Returns the row of each value, (nvals,)."""
        return _rowids(self._row_splits)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """Returns the lengths of rows for each ragged axis, the outermost first."""
        return tuple(raw.Sub(_after(s), _before(s)) for s in self.nested_row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """Returns the row of each value for each ragged axis, the outermost first."""
        return tuple(_rowids(s) for s in self.nested_row_splits)

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Any:
        """Returns the shape of the dense tensor that holds all rows, or its size along `axis`."""
        with name_scope(name, "RaggedBoundingBox"):
            dtype = as_dtype(out_type or self._row_splits.dtype)
            zero = np.asarray([0], self._row_splits.dtype.np_dtype)
            sizes = [self.nrows(), *(raw.Max(raw.ConcatV2([zero, n], 0), [0]) for n in self.nested_row_lengths())]
            inner = raw.Slice(raw.Shape(self.flat_values, out_type=dtype), [1], [-1])
            shape = raw.ConcatV2([raw.Cast(raw.Pack(sizes), DstT=dtype), inner], 0)
            return shape if axis is None else raw.GatherV2(shape, axis, 0)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Merges some axes into one.

        Args:
          outer_axis, inner_axis: the first and the last of these axes.
        """
        rank = self.shape.rank
        if rank is not None:
            outer_axis, inner_axis = (a + rank if a < 0 else a for a in (outer_axis, inner_axis))
        if outer_axis <= self.ragged_rank < inner_axis < (rank or 0):  # first the axes that are not ragged
            flat, n = self.flat_values, inner_axis - self.ragged_rank
            sizes = raw.Shape(flat, out_type=self._row_splits.dtype)
            inner = raw.Prod(raw.Slice(sizes, [1], [n]), [0])
            shape = raw.ConcatV2([raw.Slice(raw.Mul(sizes, inner), [0], [1]), raw.Slice(sizes, [n + 1], [-1])], 0)
            rows = raw.Reshape(raw.Slice(sizes, [0], [1]), np.zeros(0, np.int32))
            values = RaggedTensor.from_uniform_row_length(raw.Reshape(flat, shape), inner, rows, validate=False)
            return self.with_flat_values(values).merge_dims(outer_axis, self.ragged_rank + 1)
        if not 0 <= outer_axis < inner_axis <= self.ragged_rank:
            raise ValueError(f"axes {outer_axis} to {inner_axis} cannot be merged; those up to {self.ragged_rank} are "
                             "ragged. Fix: give ragged axes, the outer one first")
        if outer_axis > 1:
            return self.with_values(self._values.merge_dims(outer_axis - 1, inner_axis - 1))
        if outer_axis:
            merged = self
            for _ in range(inner_axis - 1):  # rows now end where their last rows did
                ends = raw.GatherV2(merged._values.row_splits, merged._row_splits, 0)
                merged = RaggedTensor._of(merged._values.values, ends)
            return merged
        inner = self._values
        return inner if inner_axis == 1 else inner.merge_dims(0, inner_axis - 1)

    def consumers(self) -> Any:
        """Returns the operations that use the values."""
        return self.flat_values.consumers()

    # -- conversions -----------------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Returns a tensor with the same rows and other values, as many as before."""
        return RaggedTensor._of(_values(new_values), self._row_splits)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Returns a tensor with the same rows and other values beneath all ragged axes."""
        inner = self._values.with_flat_values(new_values) if isinstance(self._values, RaggedTensor) else new_values
        return self.with_values(inner)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """Converts splits to another dtype, int32 or int64."""
        dtype = as_dtype(dtype)
        inner = self._values
        inner = inner.with_row_splits_dtype(dtype) if isinstance(inner, RaggedTensor) else inner
        return RaggedTensor._of(inner, raw.Cast(self._row_splits, DstT=dtype))

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> Any:
        """Converts to a dense tensor, padded at the ends of rows.

        Args:
          default_value: the padding; 0 by default.
          name: a name for the operation.
          shape: the shape of the result, None or -1 for the size of the longest row; longer rows are cut.
        """
        if default_value is None:
            default_value = b"" if self.dtype.name == "string" else self.dtype.np_dtype.type(0)
        default = convert_to_tensor(default_value, self.dtype, name="default_value")
        if shape is None:
            wanted: Any = np.asarray(-1, np.int64)
        elif is_tensor_like(shape):
            wanted = shape
        else:
            wanted = np.asarray([-1 if n is None else n for n in TensorShape(shape).as_list()], np.int64)
        splits = self.nested_row_splits
        return raw.RaggedTensorToTensor(wanted, self.flat_values, default, list(splits),
                                        row_partition_types=("ROW_SPLITS",) * len(splits), name=name)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Converts to a `SparseTensor`."""
        return SparseTensor(*raw.RaggedTensorToSparse(list(self.nested_row_splits), self.flat_values, name=name))

    def to_list(self) -> list[Any]:
        """Converts to nested lists; in eager mode."""
        return self.numpy_value().to_list()

    def numpy_value(self) -> RaggedTensorValue:
        """Returns the value, in eager mode."""
        return self._value_of([t.numpy() for t in self._parts()])

    def numpy(self) -> Any:
        """Converts to an array of arrays, or one array if all rows have one length; in eager mode."""
        rows = [np.asarray(r) for r in self.to_list()]
        if len({r.shape for r in rows}) <= 1:
            return np.asarray(rows)
        out = np.empty(len(rows), object)
        out[:] = rows
        return out

    def _parts(self) -> list[Any]:
        return [self.flat_values, *self.nested_row_splits]

    def _gradient_parts(self) -> list[Any]:
        return [self.flat_values]

    def _with_gradient_parts(self, gradients: Sequence[Any]) -> Any:
        return None if gradients[0] is None else self.with_flat_values(gradients[0])

    def _fed(self, value: Any) -> list[Any]:
        return [value.flat_values, *value.nested_row_splits]

    def _value_of(self, arrays: Sequence[Any]) -> Any:
        value: Any = arrays[0]
        for splits in reversed(arrays[1:]):
            value = RaggedTensorValue(value, splits)
        return value

    def _loop_elements(self) -> LoopRows:
        return LoopRows(self)

    def __iter__(self) -> Iterator[Any]:
        return rows_of(self)

    def __getitem__(self, key: Any) -> Any:
        from .ragged_array_ops import getitem  # which needs this module

        return getitem(self, key)

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"


register_tensor_conversion_function(RaggedTensor, _refuse)
register_spec(RaggedTensor, RaggedTensorSpec.from_value)
ragged_operators.install(RaggedTensor)


# -- helpers -------------------------------------------------------------------------------------------


def _values(values: Any) -> Any:
    return values if isinstance(values, RaggedTensor) else convert_to_tensor(values, name="values")


def _count(values: Any, dtype: DType) -> Any:
    if isinstance(values, RaggedTensor):
        return values.nrows(dtype)
    return _part(raw.Shape(values, out_type=dtype), 0)


__all__ = ["RaggedTensor"]
