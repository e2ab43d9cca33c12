"""`IndexedSlices`: the sparse gradient of a gather, as rows and where they belong."""

from __future__ import annotations

from typing import Any

from .context import current_graph
from .dtypes import DType
from .opdef import raw
from .shape import TensorShape


class IndexedSlices:
    """Rows of a tensor that is zero elsewhere: `dense[indices[i]] += values[i]`.

    Args:
      values: (n, *D).
      indices: (n,), int32 or int64; an index may occur more than once.
      dense_shape: the shape of the dense tensor as an integer vector, or None.

    Reference: TensorFlow 2.21 `tf.IndexedSlices`.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The rows, (n, *D)."""
        return self._values

    @property
    def indices(self) -> Any:
        """Where the rows belong, (n,)."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the dense tensor, or None."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        from .static import static_value

        if self._dense_shape is None:
            return TensorShape(None)
        return TensorShape(static_value(self._dense_shape))

    def get_shape(self) -> TensorShape:
        """The static shape of the dense tensor; the same as `shape`."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the rows."""
        dtype: DType = self._values.dtype
        return dtype

    @property
    def name(self) -> str:
        """The name of `values`."""
        return str(self._values.name)

    @property
    def op(self) -> Any:
        """The operation of `values`."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph of `values`."""
        return self._values.graph

    @property
    def device(self) -> str:
        """The device of `values`."""
        return str(self._values.device)

    def consumers(self) -> Any:
        """The operations that use `values`."""
        return self._values.consumers()

    def _as_tensor(self, dtype: DType | None = None, name: str | None = None) -> Any:
        """The dense tensor; ValueError if its shape is not known."""
        if self._dense_shape is None:
            raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: "
                             f"{self}. Fix: give dense_shape, or use .values and .indices")
        rows = raw.StridedSlice(self._dense_shape, [0], [1], [1], shrink_axis_mask=1)
        dense = raw.UnsortedSegmentSum(self._values, self._indices, rows)
        shape = self.shape
        if current_graph() is not None and shape.rank is not None:
            dense.set_shape(shape)
        return dense

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(raw.Neg(self.values), self.indices, self.dense_shape)

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"
