"""`IndexedSlices`: the sparse gradient of a gather, as rows and their indices."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphgrad.ir.context import current_graph
from graphgrad.ir.dtypes import DType
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import repr_html

from .composite import IndexedSlicesValue, OfValues

_LARGE = 100_000_000  # elements of a dense tensor from which on a warning is issued


def _is_scalar(value: Any) -> bool:
    spec = getattr(value, "_spec", None)
    return isinstance(value, (int, float, complex, np.number)) if spec is None else spec.shape == ()


class IndexedSlices(OfValues):
    """Rows of a tensor that is zero elsewhere: `dense[indices[i]] += values[i]`.

    Args:
      values: (n, *D).
      indices: (n,), int32 or int64; an index may occur more than once.
      dense_shape: the shape of the dense tensor as an integer vector or a tuple, or None.

    Reference: TensorFlow 2.21 `tf.IndexedSlices`.
    """

    _repr_html_ = repr_html

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None):
        self._values = values
        self._indices = indices
        if isinstance(dense_shape, (tuple, list, TensorShape)):
            from graphgrad.ir.conversion import convert_to_tensor  # which needs this module

            dense_shape = convert_to_tensor(dense_shape, getattr(indices, "dtype", None), "dense_shape")
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The rows, (n, *D)."""
        return self._values

    @property
    def indices(self) -> Any:
        """The indices of the rows, (n,)."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the dense tensor, or None."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        from graphgrad.ir.constant_value import static_value

        if self._dense_shape is None:
            return TensorShape(None)
        return TensorShape(static_value(self._dense_shape))

    def get_shape(self) -> TensorShape:
        """Returns the static shape of the dense tensor; the same as `shape`."""
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

    def _as_tensor(self, dtype: DType | None = None, name: str | None = None) -> Any:
        """Returns the dense tensor; raises ValueError if its shape is unknown."""
        if self._dense_shape is None:
            raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: "
                             f"{self}. Fix: give dense_shape, or use .values and .indices")
        self._warn_if_large()
        rows = raw.StridedSlice(self._dense_shape, [0], [1], [1], shrink_axis_mask=1)
        dense = raw.UnsortedSegmentSum(self._values, self._indices, rows)
        shape = self.shape
        if current_graph() is not None and shape.rank is not None:
            dense.set_shape(shape)
        return dense

    def _parts(self) -> list[Any]:
        return [t for t in (self._values, self._indices, self._dense_shape) if t is not None]

    def _fetched(self) -> list[Any]:
        return [self._values, self._indices, self._dense_shape]

    def _value_of(self, arrays: Sequence[Any]) -> IndexedSlicesValue:
        return IndexedSlicesValue(*arrays)

    def _fed(self, value: Any) -> list[Any]:
        given = list(value) if isinstance(value, tuple) else [value.values, value.indices, value.dense_shape]
        return given + [None] * (3 - len(given))

    def _with_values(self, new_values: Any) -> IndexedSlices:
        """Returns slices with the same indices and other rows."""
        return IndexedSlices(new_values, self._indices, self._dense_shape)

    def _warn_if_large(self) -> None:
        """Warns before building a dense tensor that may not fit into memory."""
        count = self.shape.num_elements()
        if count is None or count < _LARGE:
            return
        size = f"with {count} elements ({count * self.dtype.size / 1e9:.2g} GB)"
        graph = current_graph()
        cause = None if graph is None else graph._around.original_op
        why = "" if cause is None else (
            f"It is made dense in the gradient of '{cause.name}' (op type: {cause.type}).\n  Built at {cause.source}\n")
        line = user_source(2)
        warnings.warn_explicit(
            f"Converting sparse IndexedSlices({self.name}) to a dense Tensor {size}. This may consume a large amount "
            f"of memory. {why}  Fix: keep to tf.gather and sums between the table and the loss, or use smaller tables",
            UserWarning, line.filename if line else "<unknown>", line.lineno if line else 1)

    def __neg__(self) -> IndexedSlices:
        return self._with_values(raw.Neg(self.values))

    # Missing in TensorFlow: scaling stays sparse, other operators use the dense tensor.

    def __mul__(self, other: Any) -> Any:
        return self._with_values(raw.Mul(self.values, other)) if _is_scalar(other) else self._as_tensor() * other

    def __rmul__(self, other: Any) -> Any:
        return self._with_values(raw.Mul(other, self.values)) if _is_scalar(other) else other * self._as_tensor()

    def __truediv__(self, other: Any) -> Any:
        return self._with_values(raw.RealDiv(self.values, other)) if _is_scalar(other) else self._as_tensor() / other

    def __add__(self, other: Any) -> Any:
        return self._as_tensor() + other

    def __radd__(self, other: Any) -> Any:
        return other + self._as_tensor()

    def __sub__(self, other: Any) -> Any:
        return self._as_tensor() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self._as_tensor()

    def __repr__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"


def dense(gradient: Any) -> Any:
    """Converts a gradient to a dense tensor: `IndexedSlices` are summed up, anything else is returned as it is."""
    return gradient._as_tensor() if isinstance(gradient, IndexedSlices) else gradient


def of_values(t: Any) -> Any:
    """Returns the rows of `IndexedSlices`; anything else as it is."""
    return t.values if isinstance(t, IndexedSlices) else t


def with_values(t: Any, values: Any) -> Any:
    """Returns `IndexedSlices` like `t` with other rows; `values` itself if `t` is no `IndexedSlices`."""
    return t._with_values(values) if isinstance(t, IndexedSlices) else values


def on_values(function: Callable[[Any], Any], t: Any) -> Any:
    """Applies a function of a tensor to it, or to the rows of `IndexedSlices`."""
    return with_values(t, function(of_values(t)))
