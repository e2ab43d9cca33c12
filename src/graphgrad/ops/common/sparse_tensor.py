"""`SparseTensor`: the indices and values of nonzero elements."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from graphgrad.ir.constant_value import static_value
from graphgrad.ir.conversion import convert_to_tensor, register_tensor_conversion_function
from graphgrad.ir.dtypes import DType, as_dtype, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape, as_shape, shape_str
from graphgrad.ir.values.composite import OfValues, SparseTensorValue, scipy_matrix
from graphgrad.ir.values.dispatch import Api, register_kind

_FEED = "Fix: feed a SparseTensorValue, or a tuple of indices, values and dense_shape"

class SparseTensor(OfValues):
    """A tensor given by the positions and values of the elements that are not zero.

    Args:
      indices: (n, rank), int64.
      values: (n,), any dtype.
      dense_shape: (rank,), int64.

    Reference: TensorFlow 2.21 `tf.SparseTensor`.

    >>> x = tf.SparseTensor([[0, 1]], [5.0], [2, 3])
    >>> sess.run(tf.sparse.to_dense(x))
    array([[0., 5., 0.],
           [0., 0., 0.]], dtype=float32)
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any):
        with name_scope(None, "SparseTensor"):
            self._indices = convert_to_tensor(indices, int64, name="indices")
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, int64, name="dense_shape")
        self._static: Any = None  # further static knowledge of the shape
        i, v, d = (t._spec.shape for t in (self._indices, self._values, self._dense_shape))
        _agree(i, 0, v, "values")
        _agree(i, 1, d, "dense_shape")

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Converts a `SparseTensorValue` to a sparse tensor; raises TypeError for anything else."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not isinstance(sparse_tensor_value, tuple) or len(sparse_tensor_value) != 3:
            raise TypeError("Argument sparse_tensor_value must be a SparseTensor or SparseTensorValue, "
                            f"got {type(sparse_tensor_value)}")
        return cls(*sparse_tensor_value)

    @property
    def indices(self) -> Any:
        """The positions, (n, rank), int64."""
        return self._indices

    @property
    def values(self) -> Any:
        """The values at those positions, (n,)."""
        return self._values

    @property
    def dense_shape(self) -> Any:
        """The shape as a tensor, (rank,), int64."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self._values.dtype)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(static_value(self._dense_shape)).merge_with(self._static)

    def get_shape(self) -> TensorShape:
        """Returns the static shape; the same as `shape`."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Merges known dimensions into the static shape; raises ValueError if they contradict it."""
        self._static = as_shape(self.shape.merge_with(shape))

    def with_values(self, new_values: Any) -> SparseTensor:
        """Returns a sparse tensor with the same positions and other values, (n,)."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def to_scipy(self, row_dims: int | None = None) -> Any:
        """Returns a `scipy.sparse.csr_matrix`, in eager mode.

        Args:
          row_dims: how many dimensions in front number the rows, where there are more than two.
        Raises: ValueError while a graph is built, and as `SparseTensorValue.to_scipy`.
        """
        if any(hasattr(t, "graph") for t in self._parts()):
            raise ValueError("to_scipy needs values, but this sparse tensor is part of a graph.\n"
                             "  Fix: session.run(tensor).to_scipy()")
        return scipy_matrix([t.numpy() for t in self._parts()], row_dims)

    def _parts(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def _with_values(self, new_values: Any) -> SparseTensor:
        return self.with_values(new_values)

    def _value_of(self, arrays: Sequence[Any]) -> SparseTensorValue:
        return SparseTensorValue(*arrays)

    def _fed(self, value: Any) -> Sequence[Any]:
        if isinstance(value, (tuple, list)):
            if len(value) != 3:
                raise ValueError(f"What is fed for a sparse tensor must have three parts, not {len(value)}. {_FEED}")
            return value
        parts = [getattr(value, name, None) for name in ("indices", "values", "dense_shape")]
        if any(part is None for part in parts):
            raise (ValueError if hasattr(value, "__len__") else TypeError)(
                f"What is fed for a sparse tensor must be a SparseTensorValue, not a {type(value).__name__}. {_FEED}")
        return parts

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Evaluates in `session` or the default one; returns a `SparseTensorValue`."""
        if session is not None:
            return session.run(self, feed_dict)
        return SparseTensorValue(*[t.eval(feed_dict) for t in (self._indices, self._values, self._dense_shape)])

    def __mul__(self, dense: Any) -> SparseTensor:
        return _with_dense("SparseDenseCwiseMul", self, dense, "mul")

    def __truediv__(self, dense: Any) -> SparseTensor:
        return _with_dense("SparseDenseCwiseDiv", self, dense, "truediv")

    __div__ = __truediv__

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"


def _refuse(value: Any, dtype: Any = None, name: Any = None, as_ref: bool = False) -> Any:
    raise TypeError(f"Failed to convert elements of {value} to Tensor. Fix: tf.sparse.to_dense(x), or a function "
                    "of tf.sparse")


register_tensor_conversion_function(SparseTensor, _refuse)

# The functions of one operand that TensorFlow has for sparse tensors, too.
_OF_VALUES = frozenset("""
    abs asin asinh atan atanh bessel_i0e bessel_i1e cast erf neg negative sign sin sqrt square stop_gradient tan tanh
""".split())


def _call(api: Api, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Applies a function of one operand to a sparse one: to its values, at the same indices."""
    if api.name not in _OF_VALUES:
        return NotImplemented
    given = inspect.signature(api.function).bind(*args, **kwargs).arguments
    sparse = given.pop(next(iter(given)))
    return sparse.with_values(api.function(sparse.values, **given))


register_kind(SparseTensor, _call)


def _agree(indices: Any, axis: int, other: Any, what: str) -> None:
    if indices is not None and len(indices) != 2:
        raise ValueError(f"Shape {shape_str(indices)} must have rank 2: indices of a SparseTensor are a matrix. "
                         "Fix: give one row [i, j, ...] for each value")
    if other is not None and len(other) != 1:
        raise ValueError(f"Shape {shape_str(other)} must have rank 1: {what} of a SparseTensor are a vector. "
                         "Fix: tf.reshape them to [-1]")
    if indices is None or other is None or None in (indices[axis], other[0]) or indices[axis] == other[0]:
        return
    raise ValueError(f"Dimensions {indices[axis]} and {other[0]} are not compatible: indices are {shape_str(indices)}, "
                     f"{what} {shape_str(other)}. Fix: give as many rows of indices as values, and as many columns as "
                     "dimensions")


def _with_dense(op_type: str, sp: SparseTensor, dense: Any, name: str) -> SparseTensor:
    values = getattr(raw, op_type)(sp.indices, sp.values, sp.dense_shape, dense, name=name)
    return sp.with_values(values)
