"""Row partitions: splits, lengths, starts, ids."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import DType, int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.values.composite import register_spec

from .ragged_spec import RaggedTensorSpec


class RaggedTensorValue:
    """The value of a `RaggedTensor`, as a session returns it.

    Args:
      values: an array, or a `RaggedTensorValue` for a tensor of more ragged axes.
      row_splits: where each row begins, and where the last one ends.

    >>> sess.run(tf.ragged.constant([[1, 2], [3]])).to_list()
    [[1, 2], [3]]
    """

    def __init__(self, values: Any, row_splits: Any):
        self.values, self.row_splits = values, row_splits

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the values."""
        return self.values.dtype

    @property
    def flat_values(self) -> Any:
        """The array beneath all ragged axes."""
        return self.values.flat_values if isinstance(self.values, RaggedTensorValue) else self.values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of all ragged axes, the outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensorValue) else ()
        return (self.row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return len(self.nested_row_splits)

    def to_list(self) -> list[Any]:
        """Converts to nested lists."""
        inner = self.values.to_list() if isinstance(self.values, RaggedTensorValue) else self.values.tolist()
        splits = self.row_splits.tolist()
        return [inner[a:b] for a, b in itertools.pairwise(splits)]

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"


register_spec(RaggedTensorValue, RaggedTensorSpec.from_value)


def _index(value: Any, name: str) -> Any:
    if is_tensor_like(value):
        tensor = convert_to_tensor(value, name=name)
        if tensor.dtype not in (int32, int64):
            raise ValueError(f"{name} must have dtype int32 or int64, not {tensor.dtype.name}. Fix: tf.cast it")
        return tensor
    return convert_to_tensor(value, int64, name=name)


def _from_zero(ends: Any) -> Any:
    return raw.ConcatV2([np.asarray([0], ends.dtype.np_dtype), ends], 0)


def _ends(lengths: Any) -> Any:
    """Converts lengths to row splits."""
    return _from_zero(raw.Cumsum(lengths, 0))


def _before(splits: Any) -> Any:
    return raw.StridedSlice(splits, [0], [-1], [1], begin_mask=1)


def _after(splits: Any) -> Any:
    return raw.StridedSlice(splits, [1], [0], [1], end_mask=1)


def _part(vector: Any, i: int) -> Any:
    return raw.StridedSlice(vector, [i], [i + 1], [1], shrink_axis_mask=1)


def _rowids(splits: Any) -> Any:
    """Returns the row of each value: the number of rows that end at or before it."""
    last = raw.Reshape(raw.StridedSlice(splits, [-1], [0], [1], shrink_axis_mask=1), np.zeros(0, np.int32))
    places = raw.Range(0, last, 1)
    places = raw.ExpandDims(raw.Cast(places, DstT=splits.dtype), 0)
    return raw.UpperBound(raw.ExpandDims(_after(splits), 0), places, out_type=splits.dtype)[0]


def _without(tensor: Any, padding: Any, width: Any, dtype: DType) -> Any:
    """Returns the length of each row without the padding at its end."""
    kept = raw.NotEqual(tensor, padding)
    rank = len(tensor.shape.as_list())
    kept = raw.Any(kept, np.arange(2, rank, dtype=np.int32)) if rank > 2 else kept
    return raw.Max(raw.Mul(raw.Cast(kept, DstT=dtype), raw.Range(1, raw.AddV2(width, 1), 1)), [1])


def _refuse(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
    raise TypeError("a RaggedTensor is not a tensor of its own. Fix: x.to_tensor(); for elementwise functions "
                    "tf.ragged.map_flat_values(f, x)")
