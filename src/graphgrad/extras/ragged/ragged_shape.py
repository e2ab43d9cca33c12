"""The shape of a ragged tensor at run time: what `tf.shape` returns for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.ir.dtypes import DType, as_dtype, int32
from graphgrad.ir.opdef import raw

from .ragged_tensor import RaggedTensor


class DynamicRaggedShape:
    """The sizes of a ragged tensor's axes, some of which differ from row to row.

    Args:
      of: the ragged tensor.
      dtype: the type of sizes.
    Reference: TensorFlow 2.21 `tf.experimental.DynamicRaggedShape`.

    >>> from graphgrad.extras.ragged.ragged_shape import DynamicRaggedShape
    >>> shape = DynamicRaggedShape(tf.ragged.constant([[1, 2], [3]]), tf.int32)
    >>> shape.rank, shape.is_uniform(0), shape.is_uniform(1), sess.run(shape[0])
    (2, True, False, np.int32(2))
    """

    def __init__(self, of: RaggedTensor, dtype: DType):
        self._of, self._dtype = of, dtype

    @property
    def dtype(self) -> DType:
        """The type of sizes."""
        return self._dtype

    @property
    def rank(self) -> int | None:
        """The number of axes, where it is known."""
        rank = self._of.shape.rank
        return None if rank is None else int(rank)

    @property
    def num_row_partitions(self) -> int:
        """The number of ragged axes."""
        return self._of.ragged_rank

    @property
    def inner_shape(self) -> Any:
        """The shape of the flat values."""
        return raw.Shape(self._of.flat_values, out_type=self._dtype)

    def is_uniform(self, axis: int) -> bool:
        """Returns whether all rows have one size along an axis.

        Args:
          axis: its number.
        """
        return axis == 0 or axis > self.num_row_partitions

    def __getitem__(self, index: int) -> Any:
        """Returns the size of an axis; raises ValueError for one whose rows differ."""
        axis = index + (self.rank or 0) if index < 0 else index
        if not self.is_uniform(axis):
            raise ValueError(f"Index {axis} is not uniform: its rows differ in size. Fix: x.row_lengths()")
        if not axis:
            return self._of.nrows(self._dtype)
        return self.inner_shape[axis - self.num_row_partitions]

    def __repr__(self) -> str:
        return f"<DynamicRaggedShape shape={self._of.shape} num_row_partitions={self.num_row_partitions}>"


def shape(name: str, f: Callable[..., Any], given: dict[str, Any]) -> DynamicRaggedShape:
    """Returns the shape of a ragged tensor: `tf.shape`.

    Args:
      name, f: the function.
      given: its arguments.
    """
    wanted = given.get("out_type")
    return DynamicRaggedShape(given["input"], int32 if wanted is None else as_dtype(wanted))
