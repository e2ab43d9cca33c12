"""`tf.ragged`: functions that make ragged tensors or take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.ir.attribute_limits import whole
from graphgrad.ir.conversion import convert_to_tensor, make_array
from graphgrad.ir.dtypes import as_dtype, float32, int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.array.mask import boolean_mask as _boolean_mask

from .ragged_array_ops import ragged_gather
from .ragged_tensor import RaggedTensor
from .row_partitions import RaggedTensorValue, _ends, _rowids


def _depths(value: Any) -> tuple[int, int]:
    """Returns the depths of nested lists: the greatest, and the least at which there is an element."""
    if not isinstance(value, (list, tuple, np.ndarray)):
        return 0, 0
    found = [_depths(v) for v in value]
    if not found:
        return 1, 99
    return 1 + max(a for a, _ in found), 1 + min(b for _, b in found)


def _taken_apart(pylist: Any, ragged_rank: int | None, inner_shape: Any) -> tuple[list[Any], list[Any], int]:
    """Returns the flat values, the splits of each ragged axis, and the number of axes of each flat value."""
    depth, least = _depths(pylist)
    if least < 99 and depth != least:
        raise ValueError("all scalar values in pylist must have the same nesting depth. Fix: nest all rows alike")
    if inner_shape is not None and ragged_rank is None:
        ragged_rank = max(0, depth - 1 - len(inner_shape))
    rank = max(1 if depth < 2 else 0, depth - 1) if ragged_rank is None else ragged_rank
    if ragged_rank is None and depth < 2:
        rank = 0
    if rank >= max(depth, 1) and depth and rank > depth - 1 and not (depth == rank and least == 99):
        raise ValueError(f"pylist has scalar values depth {depth}, but ragged_rank={rank} requires scalar value depth "
                         "greater than the ragged_rank. Fix: give a smaller ragged_rank")
    rows, splits = list(pylist), []
    for _ in range(rank):
        splits.append(np.cumsum([0, *map(len, rows)]))
        rows = [v for row in rows for v in row]
    return rows, splits, depth - rank


def _scalar(pylist: Any, ragged_rank: int | None, inner_shape: Any) -> bool:
    """Returns whether `pylist` is a single value; raises ValueError if the other arguments do not allow that."""
    if isinstance(pylist, (list, tuple, np.ndarray)):
        return False
    if ragged_rank or inner_shape:
        given = f"ragged_rank={ragged_rank}" if ragged_rank else f"inner_shape={inner_shape}"
        raise ValueError(f"Invalid pylist={pylist!r}: incompatible with {given}. Fix: nest the values in lists")
    return True


def _array(rows: list[Any], dtype: Any, inner_shape: Any, axes: int) -> Any:
    wanted = None if dtype is None else as_dtype(dtype)
    if rows:
        return make_array(rows, wanted)
    inner = tuple(inner_shape or (0,) * max(0, axes - 1))
    return np.zeros((0, *inner), (wanted or float32).np_dtype)


def ragged_constant(pylist: Any, dtype: Any = None, ragged_rank: Any = None, inner_shape: Any = None,
                    name: str | None = None, row_splits_dtype: Any = int64) -> RaggedTensor | Any:
    """Makes a ragged tensor of nested lists.

    Args:
      pylist: lists of lists of numbers or strings, or one of these.
      dtype: the dtype of the values.
      ragged_rank: the number of axes that may be ragged; all but the first by default.
      inner_shape: the shape of each value.
      name: a name for the scope.
      row_splits_dtype: int32 or int64.
    Returns: a `RaggedTensor`; a tensor if no axis is ragged.
    Raises: ValueError for lists that are not nested equally.
    Reference: TensorFlow 2.21 `tf.ragged.constant`.

    >>> sess.run(tf.ragged.constant([[1, 2], [], [3]]).row_lengths())
    array([2, 0, 1])
    """
    with name_scope(name, "RaggedConstant"):
        if _scalar(pylist, ragged_rank, inner_shape):
            return convert_to_tensor(pylist, dtype, name="values")
        rows, splits, axes = _taken_apart(pylist, ragged_rank, inner_shape)
        array = _array(rows, dtype, inner_shape, axes)
        kind = as_dtype(row_splits_dtype)
        values = convert_to_tensor(array, None if dtype is None else as_dtype(dtype), name="values")
        return RaggedTensor.from_nested_row_splits(values, [convert_to_tensor(s, kind) for s in splits], validate=False)


def ragged_constant_value(pylist: Any, dtype: Any = None, ragged_rank: Any = None, inner_shape: Any = None,
                          row_splits_dtype: str = "int64") -> RaggedTensorValue | Any:
    """Makes the value that `ragged.constant` would have.

    Args:
      pylist, ragged_rank, inner_shape: as for `ragged.constant`.
      dtype: a NumPy dtype.
      row_splits_dtype: "int32" or "int64".
    Returns: a `RaggedTensorValue`; an array if no axis is ragged.

    >>> tf.ragged.constant_value([[1, 2], [3]]).to_list()
    [[1, 2], [3]]
    """
    if _scalar(pylist, ragged_rank, inner_shape):
        return make_array(pylist, None if dtype is None else as_dtype(dtype))
    rows, splits, axes = _taken_apart(pylist, ragged_rank, inner_shape)
    value = np.asarray(rows, dtype) if rows else _array(rows, dtype, inner_shape, axes)
    for s in reversed(splits):
        value = RaggedTensorValue(value, s.astype(row_splits_dtype))
    return value


def ragged_placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None) -> RaggedTensor:
    """Makes a ragged tensor that is fed with a `RaggedTensorValue`.

    Args:
      dtype: the dtype of its values.
      ragged_rank: the number of ragged axes.
      value_shape: the shape of each value; scalars by default.
      name: a name for the scope.
    Reference: TensorFlow 2.21 `tf.compat.v1.ragged.placeholder`.

    >>> x = tf.ragged.placeholder(tf.int32, 1)
    >>> sess.run(x.to_tensor(), {x: tf.ragged.constant_value([[1], [2, 3]], np.int32)}).tolist()
    [[1, 0], [2, 3]]
    """
    with name_scope(name, "RaggedPlaceholder"):
        values = raw.Placeholder(dtype=as_dtype(dtype), shape=(None, *(value_shape or ())))
        splits = [raw.Placeholder(dtype=int64, shape=(None,)) for _ in range(ragged_rank)]
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def ragged_range(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: str | None = None,
                 row_splits_dtype: Any = int64) -> RaggedTensor:
    """Makes a row of evenly spaced numbers for each start, limit and step.

    Args:
      starts: where rows begin; 0 if only this is given, which then are the limits.
      limits: where they end, exclusive.
      deltas: the steps.
      dtype: the dtype of the numbers.
      name: a name for the scope.
      row_splits_dtype: int32 or int64.
    Returns: a `RaggedTensor`.
    Raises: InvalidArgumentError for a step of 0.
    Gradient: none.
    Reference: TensorFlow 2.21 RaggedRange.

    >>> sess.run(tf.ragged.range([2, 0, 3])).to_list()
    [[0, 1], [], [0, 1, 2]]
    """
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange"):
        hint = None if dtype is None else as_dtype(dtype)
        first = next((convert_to_tensor(v, hint) for v in (limits, starts, deltas) if hasattr(v, "dtype")), None)
        kind = hint or (as_dtype(first.dtype) if first is not None else _widest(starts, limits, deltas))
        parts = [convert_to_tensor(v, kind) for v in (starts, limits, deltas)]
        splits, values = raw.RaggedRange(*parts, Tsplits=as_dtype(row_splits_dtype))
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def _widest(*values: Any) -> Any:
    return float32 if any(np.asarray(v).dtype.kind == "f" for v in values) else int32


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """Converts the splits of rows to the row of each value.

    Args:
      splits: (nrows + 1,), int32 or int64.
      name: a name for the scope.
      out_type: the dtype of the result; that of `splits` by default.
    Returns: (nvals,).
    Reference: TensorFlow 2.21 `tf.ragged.row_splits_to_segment_ids`.

    >>> sess.run(tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    with name_scope(name, "RaggedSplitsToSegmentIds"):
        splits = convert_to_tensor(splits, None if hasattr(splits, "dtype") else int64)
        ids = _rowids(splits)
        return ids if out_type is None else raw.Cast(ids, DstT=as_dtype(out_type))


def segment_ids_to_row_splits(segment_ids: Any, num_segments: Any = None, out_type: Any = None,
                              name: str | None = None) -> Tensor:
    """Converts the row of each value to the splits of rows.

    Args:
      segment_ids: (nvals,), int32 or int64, in order.
      num_segments: the number of rows; the last id plus 1 by default.
      out_type: the dtype of the result; int64 by default.
      name: a name for the scope.
    Returns: (nrows + 1,).
    Reference: TensorFlow 2.21 `tf.ragged.segment_ids_to_row_splits`.

    >>> sess.run(tf.ragged.segment_ids_to_row_splits([0, 0, 2]))
    array([0, 2, 2, 3])
    """
    with name_scope(name, "SegmentIdsToRaggedSplits"):
        ids = convert_to_tensor(segment_ids)
        kind = as_dtype(out_type or int64)
        if num_segments is None:
            num_segments = raw.AddV2(raw.Max(raw.ConcatV2([np.asarray([-1], ids.dtype.np_dtype), ids], 0), [0]), 1)
        ones = raw.Cast(raw.OnesLike(ids), DstT=kind)
        return _ends(raw.UnsortedSegmentSum(ones, ids, convert_to_tensor(num_segments, ids.dtype)))


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> RaggedTensor | Any:
    """Applies a function to the values of ragged tensors that have the same rows.

    Args:
      op: a function; it gets the values in place of the ragged tensors among its arguments.
      *args, **kwargs: its arguments.
    Returns: a `RaggedTensor` of the results; what `op` returns, if nothing is ragged.
    Gradient: that of `op`.
    Reference: TensorFlow 2.21 `tf.ragged.map_flat_values`.

    >>> x = tf.ragged.constant([[1.0, 4.0], [9.0]])
    >>> sess.run(tf.ragged.map_flat_values(tf.sqrt, x)).to_list()
    [[1.0, 2.0], [3.0]]
    """
    ragged = [a for a in (*args, *kwargs.values()) if isinstance(a, RaggedTensor)]
    if not ragged:
        return op(*args, **kwargs)
    if len({t.ragged_rank for t in ragged}) > 1:
        raise ValueError("all ragged arguments must have the same ragged_rank. Fix: give tensors with the same rows")
    inner = [a.flat_values if isinstance(a, RaggedTensor) else a for a in args]
    named = {k: v.flat_values if isinstance(v, RaggedTensor) else v for k, v in kwargs.items()}
    return ragged[0].with_flat_values(op(*inner, **named))


def ragged_stack(values: Any, axis: int = 0, name: str | None = None) -> RaggedTensor:
    """Stacks tensors of different lengths, or ragged ones, along a new axis.

    Args:
      values: a list of tensors of rank 1 or more, or of `RaggedTensor`s.
      axis: where the new axis is.
      name: a name for the scope.
    Returns: a `RaggedTensor`.
    Raises: ValueError for tensors of different ranks, or an axis out of range.
    Gradient: for the values.
    Reference: TensorFlow 2.21 `tf.ragged.stack`.

    >>> sess.run(tf.ragged.stack([[1, 2], [3]])).to_list()
    [[1, 2], [3]]
    """
    from .ragged_array_ops import _stack, axis_of, rank_of, stack

    with name_scope(name, "RaggedStack"):
        parts = [v if isinstance(v, RaggedTensor) else convert_to_tensor(v) for v in values]
        if any(isinstance(p, RaggedTensor) for p in parts):
            return stack("stack", ragged_stack, {"values": parts, "axis": axis})
        axis = axis_of(axis, rank_of(parts[0]) + 1)
        if axis and rank_of(parts[0]) < 2:
            return RaggedTensor.from_tensor(raw.Pack(parts, axis=axis))
        if axis:
            return _stack([RaggedTensor.from_tensor(p) for p in parts], axis)
        counts = [raw.StridedSlice(raw.Shape(p, out_type=int64), [0], [1], [1], shrink_axis_mask=1) for p in parts]
        return RaggedTensor.from_row_lengths(_joined(parts), raw.Pack(counts), validate=False)


def _joined(tensors: list[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else raw.ConcatV2(tensors, 0)


def ragged_boolean_mask(data: Any, mask: Any, name: str | None = None) -> RaggedTensor | Any:
    """Applies a mask to each row.

    Args:
      data: a tensor or `RaggedTensor`.
      mask: bool: a vector for whole rows, or shaped like the rows of `data`.
      name: a name for the scope.
    Returns: a `RaggedTensor`; for a vector as mask, rows of `data`.
    Gradient: for the values.
    Reference: TensorFlow 2.21 `tf.ragged.boolean_mask`.

    >>> sess.run(tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])).to_list()
    [[1], [3, 4]]
    """
    with name_scope(name, "RaggedMask"):
        data = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
        mask = mask if isinstance(mask, RaggedTensor) else convert_to_tensor(mask)
        if not isinstance(mask, RaggedTensor) and len(mask.shape.as_list()) == 1:
            if not isinstance(data, RaggedTensor):
                return _boolean_mask(data, mask)
            return ragged_gather(data, raw.Reshape(raw.Cast(raw.Where(mask), DstT=int32), [-1]))
        if not isinstance(mask, RaggedTensor):
            mask = RaggedTensor.from_tensor(mask)
        data = data if isinstance(data, RaggedTensor) else RaggedTensor.from_tensor(data)
        ids = _boolean_mask(mask.value_rowids(), mask.flat_values)
        kept = _boolean_mask(data.values, mask.flat_values)
        return RaggedTensor.from_value_rowids(kept, ids, mask.nrows(), validate=False)


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> RaggedTensor:
    """Sorts values into rows.

    Args:
      data: (n, ...), the values.
      partitions: (n,), int32 or int64: the row of each.
      num_partitions: the number of rows.
      name: a name for the scope.
    Returns: a `RaggedTensor`; the values of a row stay in order.
    Gradient: for `data`.
    Reference: TensorFlow 2.21 `tf.ragged.stack_dynamic_partitions`.

    >>> sess.run(tf.ragged.stack_dynamic_partitions([1, 2, 3], [1, 0, 1], 2)).to_list()
    [[2], [1, 3]]
    """
    with name_scope(name, "SegmentStack"):
        data, partitions = convert_to_tensor(data), convert_to_tensor(partitions)
        if partitions.dtype not in (int32, int64):
            raise ValueError(f"partitions must have dtype int32 or int64, not {partitions.dtype.name}.\n"
                             "  Fix: tf.cast(partitions, tf.int32)")
        partitions = raw.Cast(partitions, DstT=int32)
        places = raw.Range(0, raw.Size(partitions), 1)
        parts = raw.DynamicPartition(places, partitions, num_partitions=whole(num_partitions))
        lengths = raw.Pack([raw.Size(p, out_type=int64) for p in parts])
        return RaggedTensor.from_row_lengths(raw.GatherV2(data, _joined(parts), 0), lengths, validate=False)
