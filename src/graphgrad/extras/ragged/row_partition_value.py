"""`tf.experimental.RowPartition`: how values are divided into rows; and its spec."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.graph.default_graph import control_dependencies
from graphgrad.frontend.structure.signature import TensorSpec
from graphgrad.frontend.structure.type_spec import TypeSpec
from graphgrad.frontend.structure.type_spec_registry import register
from graphgrad.ir.constant_value import constant_value
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import DType, as_dtype, int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.values.composite import Composite
from graphgrad.ops.control import assertions

from .row_partitions import _after, _before, _ends, _from_zero, _rowids

_INVALID = "Arguments to {} do not form a valid RowPartition."


@register("tf.RowPartitionSpec")
class RowPartitionSpec(TypeSpec):
    """The spec of a `RowPartition`.

    Args:
      nrows: the number of rows; None if it may vary.
      nvals: the number of values; None if it may vary.
      uniform_row_length: the length of all rows; None if they may differ.
      dtype: int32 or int64, the dtype of splits.
    What follows from two of the first three is filled in.
    Raises: ValueError for another dtype, or numbers that do not go together.
    Reference: TensorFlow 2.21 `RowPartitionSpec`.

    >>> from graphgrad.extras.ragged.row_partition_value import RowPartitionSpec
    >>> RowPartitionSpec(nrows=3, uniform_row_length=2)
    RowPartitionSpec(nrows=3, nvals=6, uniform_row_length=2, dtype=tf.int64)
    """

    def __init__(self, nrows: Any = None, nvals: Any = None, uniform_row_length: Any = None, dtype: Any = int64):
        self._dtype = as_dtype(dtype)
        if self._dtype not in (int32, int64):
            raise ValueError(f"dtype must be tf.int32 or tf.int64, not {self._dtype.name}. Fix: leave it out")
        rows, values, length = map(_size, (nrows, nvals, uniform_row_length))
        if rows is not None and length is not None:
            if values not in (None, rows * length):
                raise ValueError(f"nvals={values} is not nrows={rows} times uniform_row_length={length}. "
                                 "Fix: leave one of them out")
            values = rows * length
        elif values is not None and length is not None:
            if values % length if length else values:
                raise ValueError(f"nvals={values} is not compatible with uniform_row_length={length} (doesn't divide "
                                 "evenly). Fix: leave one of them out")
            rows = values // length if length else None
        self._sizes: tuple[int | None, ...] = rows, values, length

    @property
    def value_type(self) -> Any:
        """`RowPartition`."""
        return RowPartition

    @property
    def nrows(self) -> int | None:
        """The number of rows; None if it may vary."""
        return self._sizes[0]

    @property
    def nvals(self) -> int | None:
        """The number of values; None if it may vary."""
        return self._sizes[1]

    @property
    def uniform_row_length(self) -> int | None:
        """The length of all rows; None if they may differ."""
        return self._sizes[2]

    @property
    def dtype(self) -> DType:
        """The dtype of splits."""
        return self._dtype

    def with_dtype(self, dtype: Any) -> RowPartitionSpec:
        """Returns the same spec with another dtype.

        Args:
          dtype: int32 or int64.
        """
        return RowPartitionSpec(self.nrows, self.nvals, self.uniform_row_length, dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return (*[TensorShape([n]) for n in self._sizes], self._dtype)

    @property
    def _component_specs(self) -> TensorSpec:
        return TensorSpec([None if self.nrows is None else self.nrows + 1], self._dtype)

    def _to_components(self, value: Any) -> Any:
        return value.row_splits()

    def _from_components(self, components: Any) -> RowPartition:
        return _made(components)

    def _by_components(self) -> RowPartitionSpec:
        return RowPartitionSpec(self.nrows, dtype=self._dtype)

    @classmethod
    def from_value(cls, value: RowPartition) -> RowPartitionSpec:
        """Returns the spec of a `RowPartition`."""
        return cls(value.static_nrows, value.static_nvals, value.static_uniform_row_length, value.dtype)

    def __repr__(self) -> str:
        return (f"RowPartitionSpec(nrows={self.nrows}, nvals={self.nvals}, uniform_row_length="
                f"{self.uniform_row_length}, dtype={self._dtype!r})")


class RowPartition(Composite):
    """How a number of values is divided into rows; made by `from_row_splits` and the like.

    Rows follow each other, and each value is in one. `tf.RaggedTensor` is values with one or more of these.

    Args:
      row_splits: (nrows + 1,), where each row begins, and where the last one ends.
      row_lengths, value_rowids, nrows, nvals: accepted; they follow from the splits.
      uniform_row_length: the length of all rows, a scalar, if they have one.
      internal: must be True; programs use the class's methods instead.
    Raises: ValueError if it is not.
    Gradient: none; it consists of ints.
    Reference: TensorFlow 2.21 `tf.experimental.RowPartition`.

    >>> rows = tf.experimental.RowPartition.from_row_lengths([2, 0, 3])
    >>> sess.run([rows.row_splits(), rows.value_rowids(), rows.nvals()])
    [array([0, 2, 2, 5]), array([0, 0, 2, 2, 2]), np.int64(5)]
    """

    _is_tensor = False

    def __init__(self, row_splits: Any, row_lengths: Any = None, value_rowids: Any = None, nrows: Any = None,
                 uniform_row_length: Any = None, nvals: Any = None, internal: bool = False):
        if not internal:
            raise ValueError("RowPartition constructor is private; please use one of the factory methods instead. "
                             "Fix: tf.experimental.RowPartition.from_row_splits(row_splits)")
        self._row_splits = row_splits
        self._sizes: tuple[int | None, ...] = (None, None, None)  # rows, values, length, where the splits do not say
        self._uniform = uniform_row_length

    # -- construction ------------------------------------------------------------------------

    @classmethod
    def from_row_splits(cls, row_splits: Any, validate: bool = True, dtype: Any = None,
                        dtype_hint: Any = None) -> RowPartition:
        """Divides values into rows that begin at `row_splits[i]` and end before `row_splits[i + 1]`.

        Args:
          row_splits: (nrows + 1,), int32 or int64; the first is 0, and none is less than the one before.
          validate: whether to check that; in a graph when it is run.
          dtype: the dtype of splits; that of the argument by default.
          dtype_hint: the dtype if neither says one; int64 by default.
        Raises: ValueError for another rank or no splits; InvalidArgumentError for invalid ones.
        """
        with name_scope(None, "RowPartitionFromRowSplits"):
            splits = _vector(row_splits, "row_splits", dtype, dtype_hint)
            if splits.shape.as_list() == [0]:
                raise ValueError("row_splits tensor may not be empty. Fix: [0] for no rows")
            if validate:
                splits = _checked(splits, "from_row_splits", first=_first(splits), differences=splits)
            return _made(splits)

    @classmethod
    def from_row_lengths(cls, row_lengths: Any, validate: bool = True, dtype: Any = None,
                         dtype_hint: Any = None) -> RowPartition:
        """Divides values into rows of the given lengths.

        Args:
          row_lengths: (nrows,), int32 or int64.
          validate, dtype, dtype_hint: as for `from_row_splits`.
        Raises: ValueError for another rank; InvalidArgumentError for negative lengths.
        """
        with name_scope(None, "RowPartitionFromRowLengths"):
            lengths = _vector(row_lengths, "row_lengths", dtype, dtype_hint)
            if validate:
                lengths = _checked(lengths, "from_row_lengths", not_negative=lengths)
            return _made(_ends(lengths))

    @classmethod
    def from_row_starts(cls, row_starts: Any, nvals: Any, validate: bool = True, dtype: Any = None,
                        dtype_hint: Any = None) -> RowPartition:
        """Divides values into rows that begin at `row_starts`; the first one at 0.

        Args:
          row_starts: (nrows,), int32 or int64.
          nvals: the number of values.
          validate, dtype, dtype_hint: as for `from_row_splits`.
        Raises: ValueError for another rank; InvalidArgumentError for starts that decrease or exceed `nvals`.
        """
        with name_scope(None, "RowPartitionFromRowStarts"):
            starts = _vector(row_starts, "row_starts", dtype, dtype_hint)
            count = convert_to_tensor(nvals, starts.dtype, name="nvals")
            splits = raw.ConcatV2([starts, raw.Reshape(count, [1])], 0)
            if validate:
                splits = _checked(splits, "from_row_starts", first=_first(splits), differences=splits)
            return _made(splits, values=_known(count))

    @classmethod
    def from_row_limits(cls, row_limits: Any, validate: bool = True, dtype: Any = None,
                        dtype_hint: Any = None) -> RowPartition:
        """Divides values into rows that end before `row_limits`; the first one begins at 0.

        Args:
          row_limits: (nrows,), int32 or int64.
          validate, dtype, dtype_hint: as for `from_row_splits`.
        Raises: ValueError for another rank; InvalidArgumentError for limits that decrease.
        """
        with name_scope(None, "RowPartitionFromRowLimits"):
            splits = _from_zero(_vector(row_limits, "row_limits", dtype, dtype_hint))
            return _made(_checked(splits, "from_row_limits", differences=splits) if validate else splits)

    @classmethod
    def from_value_rowids(cls, value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None,
                          dtype_hint: Any = None) -> RowPartition:
        """Divides values into rows by the row of each.

        Args:
          value_rowids: (nvals,), int32 or int64, in order.
          nrows: the number of rows; the last id plus 1 by default.
          validate, dtype, dtype_hint: as for `from_row_splits`.
        Raises: ValueError for another rank or too small a number of rows; InvalidArgumentError for ids out of order.
        """
        with name_scope(None, "RowPartitionFromValueRowIds"):
            ids = _vector(value_rowids, "value_rowids", dtype, dtype_hint)
            if nrows is None:
                nrows = raw.AddV2(raw.Max(raw.ConcatV2([np.asarray([-1], ids.dtype.np_dtype), ids], 0), [0]), 1)
            nrows = convert_to_tensor(nrows, ids.dtype, name="nrows")
            known, last = _known(nrows), constant_value(_last(ids))
            if known is not None and known < 0:
                raise ValueError(f"Expected nrows >= 0; got {known}. Fix: leave it out")
            if known is not None and last is not None and last.size and known <= last[0]:
                raise ValueError("Expected nrows >= value_rowids[-1] + 1; got "
                                 f"nrows={known}, value_rowids[-1]={last[0]}. Fix: leave nrows out")
            if validate:
                ids = _checked(ids, "from_value_rowids", not_negative=_first(ids), differences=ids,
                               less=(_last(ids), nrows))
            splits = _ends(raw.UnsortedSegmentSum(raw.OnesLike(ids), ids, nrows))
            return _made(splits, rows=known, values=ids.shape.as_list()[0])

    @classmethod
    def from_uniform_row_length(cls, uniform_row_length: Any, nvals: Any = None, nrows: Any = None,
                                validate: bool = True, dtype: Any = None, dtype_hint: Any = None) -> RowPartition:
        """Divides values into rows of one length.

        Args:
          uniform_row_length: the length, a scalar.
          nvals: the number of values; `nrows` times the length by default.
          nrows: the number of rows; `nvals` divided by the length by default, 0 if that is 0.
          validate, dtype, dtype_hint: as for `from_row_splits`.
        Raises: ValueError for neither number, or for numbers known by now that do not go together;
          InvalidArgumentError for others.
        """
        with name_scope(None, "RowPartitionFromUniformRowLength"):
            if nvals is None and nrows is None:
                raise ValueError("Either (or both) of nvals and nrows must be specified. Fix: nrows=len(rows)")
            length = _scalar(uniform_row_length, dtype, dtype_hint)
            values = None if nvals is None else convert_to_tensor(nvals, length.dtype, name="nvals")
            if nrows is None:  # at least 1, not to divide by zero
                nrows = raw.FloorDiv(values, raw.Maximum(length, raw.OnesLike(length)))
            rows = convert_to_tensor(nrows, length.dtype, name="nrows")
            values = raw.Mul(rows, length) if values is None else values
            known: list[Any] = [_known(t) for t in (rows, values, length)]
            if known[2] is not None and known[2] < 0:
                raise ValueError(f"uniform_row_length must be >= 0., not {known[2]}. Fix: give a length")
            if validate and None not in known and known[0] * known[2] != known[1]:
                raise ValueError(f"uniform_row_length={known[2]} times nrows={known[0]} must equal nvals={known[1]}. "
                                 "Fix: leave nvals or nrows out")
            if validate and None in known:
                length = _checked(length, "from_uniform_row_length", not_negative=length,
                                  equal=(raw.Mul(rows, length), values))
            found = _made(raw.Mul(raw.Range(0, raw.AddV2(rows, 1), 1), length), *known)
            found._uniform = length
            return found

    # -- properties ------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The dtype of splits, int32 or int64."""
        return as_dtype(self._row_splits.dtype)

    @property
    def static_nrows(self) -> int | None:
        """The number of rows, if it is known."""
        splits = self._row_splits.shape.as_list()[0]
        return self._sizes[0] if splits is None else splits - 1

    @property
    def static_nvals(self) -> int | None:
        """The number of values, if it is known without the splits."""
        return self._sizes[1]

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of all rows, if it is known; None if they may differ."""
        return self._sizes[2]

    def is_uniform(self) -> bool:
        """Returns whether it was made of rows of one length."""
        return self._uniform is not None

    def uniform_row_length(self) -> Any:
        """Returns the length of all rows, a scalar; None if they may differ."""
        return self._uniform

    def row_splits(self) -> Any:
        """Returns where each row begins, and where the last one ends, (nrows + 1,)."""
        return self._row_splits

    def row_starts(self) -> Any:
        """Returns where each row begins, (nrows,)."""
        return _before(self._row_splits)

    def row_limits(self) -> Any:
        """Returns where each row ends, (nrows,)."""
        return _after(self._row_splits)

    def row_lengths(self) -> Any:
        """Returns the length of each row, (nrows,)."""
        return raw.Sub(self.row_limits(), self.row_starts())

    def value_rowids(self) -> Any:
        """Returns the row of each value, (nvals,)."""
        return _rowids(self._row_splits)

    def offsets_in_rows(self) -> Any:
        """Returns the place of each value in its row, (nvals,)."""
        places = raw.Cast(raw.Range(0, self.nvals(), 1), DstT=self.dtype)
        return raw.Sub(places, raw.GatherV2(self._row_splits, self.value_rowids(), 0))

    def nrows(self) -> Any:
        """Returns the number of rows, a scalar."""
        return raw.Sub(raw.Size(self._row_splits, out_type=self.dtype), 1)

    def nvals(self) -> Any:
        """Returns the number of values, a scalar."""
        return raw.StridedSlice(self._row_splits, [-1], [0], [1], end_mask=1, shrink_axis_mask=1)

    def _splits_of(self, count: Any, validate: bool) -> Any:
        """Returns the splits.

        Args:
          count: how many values are divided.
          validate: whether to check that the rows have as many.
        """
        if not validate:
            return self._row_splits
        known, own = _known(count), self.static_nvals
        if known is None or own is None:
            return _checked(self._row_splits, "RaggedTensor", equal=(self.nvals(), count))
        if known != own:
            raise ValueError(f"{known} values cannot be divided into rows with {own}. Fix: give as many values")
        return self._row_splits

    def with_dtype(self, dtype: Any) -> RowPartition:
        """Returns the same rows with splits of another dtype.

        Args:
          dtype: int32 or int64.
        Raises: ValueError for another one.
        """
        dtype = as_dtype(dtype)
        if dtype not in (int32, int64):
            raise ValueError(f"dtype must be int32 or int64, not {dtype.name}. Fix: tf.int64")
        found = _made(raw.Cast(self._row_splits, DstT=dtype), *self._sizes)
        found._uniform = None if self._uniform is None else raw.Cast(self._uniform, DstT=dtype)
        return found

    # -- as a value of a tensor --------------------------------------------------------------

    @property
    def _type_spec(self) -> RowPartitionSpec:
        return RowPartitionSpec.from_value(self)

    def _parts(self) -> list[Any]:
        return [self._row_splits]

    def __repr__(self) -> str:
        if self._uniform is not None:
            return f"tf.RowPartition(nrows={_shown(self.nrows())}, uniform_row_length={_shown(self._uniform)})"
        return f"tf.RowPartition(row_splits={_shown(self._row_splits)})"


def _made(splits: Any, rows: Any = None, values: Any = None, length: Any = None) -> RowPartition:
    """Makes a partition of splits, and of the numbers that are known."""
    found = RowPartition(splits, internal=True)
    found._sizes = rows, values, length
    return found


def _size(value: Any) -> int | None:
    """Returns a size as an int."""
    if isinstance(value, TensorShape):
        (value,) = value.as_list()
    value = getattr(value, "value", value)  # a `Dimension`'s
    return None if value is None else int(value)


def _known(tensor: Any) -> int | None:
    """Returns the value of a scalar, if it is known."""
    found = constant_value(tensor)
    return None if found is None else int(found)


def _tensor(value: Any, name: str, dtype: Any, hint: Any) -> Any:
    """Converts splits and the like, to int64 if nothing says otherwise."""
    if dtype is None and not is_tensor_like(value):
        given = getattr(value, "dtype", None)
        dtype = hint or (given if given in (np.int32, np.int64) else int64)
    tensor = convert_to_tensor(value, None if is_tensor_like(value) else as_dtype(dtype), name=name)
    if tensor.dtype not in (int32, int64):
        raise ValueError(f"{name} must have dtype int32 or int64, not {tensor.dtype.name}. Fix: tf.cast it")
    return tensor if dtype is None or tensor.dtype is as_dtype(dtype) else raw.Cast(tensor, DstT=as_dtype(dtype))


def _vector(value: Any, name: str, dtype: Any, hint: Any) -> Any:
    tensor = _tensor(value, name, dtype, hint)
    if tensor.shape.rank not in (None, 1):
        raise ValueError(f"Shape {tensor.shape} must have rank 1: {name}. Fix: tf.reshape it")
    return tensor


def _scalar(value: Any, dtype: Any, hint: Any) -> Any:
    tensor = _tensor(value, "uniform_row_length", dtype, hint)
    if tensor.shape.rank not in (None, 0):
        raise ValueError(f"Shape {tensor.shape} must have rank 0: uniform_row_length. Fix: give one number")
    return tensor


def _first(vector: Any) -> Any:
    """Returns the first element, as a vector; none of an empty one."""
    return raw.StridedSlice(vector, [0], [1], [1], begin_mask=1)


def _last(vector: Any) -> Any:
    """Returns the last element, as a vector; none of an empty one."""
    return raw.StridedSlice(vector, [-1], [0], [1], end_mask=1)


def _checked(tensor: Any, function: str, first: Any = None, differences: Any = None, not_negative: Any = None,
             less: Any = None, equal: Any = None) -> Any:
    """Returns a tensor that waits for checks.

    Args:
      tensor: the tensor.
      function: who asks.
      first: what must be zero.
      differences: what must not decrease.
      not_negative: what must not be negative.
      less: a pair, the first of which must be less.
      equal: a pair that must be equal.
    """
    text = _INVALID.format(function)
    checks = []
    if first is not None:
        checks.append(assertions.assert_equal(first, raw.ZerosLike(first), f"{text} The first must be 0."))
    if differences is not None:
        steps = raw.Sub(_after(differences), _before(differences))
        checks.append(assertions.assert_non_negative(steps, f"{text} They must not decrease."))
    if not_negative is not None:
        checks.append(assertions.assert_non_negative(not_negative, text))
    if less is not None:
        checks.append(assertions.assert_less(less[0], less[1], text))
    if equal is not None:
        checks.append(assertions.assert_equal(equal[0], equal[1], text))
    with control_dependencies([c for c in checks if c is not None]):
        return raw.Identity(tensor)


def _shown(tensor: Any) -> Any:
    """Returns how a tensor is shown: its value if there is one."""
    value = getattr(tensor, "_value", None)
    return tensor if value is None else np.asarray(value)


__all__ = ["RowPartition", "RowPartitionSpec"]
