"""What kind of sparse tensor, ragged tensor, slices or optional an argument is, beside `TensorSpec`."""

from __future__ import annotations

from typing import Any

from ..ir.convert import convert_to_tensor
from ..ir.dtypes import as_dtype, float32, int64
from ..ir.shape import TensorShape, as_shape, compatible
from ..ir.slices import IndexedSlices
from ..ops.sparse import SparseTensor
from .ragged import RaggedTensor
from .signature import TensorSpec, TypeSpec


class _ShapedSpec(TypeSpec):
    """A kind of value that has a shape and a dtype."""

    _shape: Any
    _dtype: Any

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return TensorShape(self._shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._dtype


class SparseTensorSpec(_ShapedSpec):
    """What kind of `SparseTensor` an argument is.

    Args:
      shape: the static shape of the dense tensor.
      dtype: the dtype of the values.
    Reference: TensorFlow 2.21 `tf.SparseTensorSpec`.

    >>> tf.SparseTensorSpec([2, None], tf.float32)
    SparseTensorSpec(TensorShape([2, None]), tf.float32)
    """

    def __init__(self, shape: Any = None, dtype: Any = float32):
        self._shape, self._dtype = as_shape(shape), as_dtype(dtype)

    @property
    def value_type(self) -> type:
        """`SparseTensor`."""
        return SparseTensor

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a sparse tensor; TypeError for anything else."""
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        raise TypeError(f"Expected SparseTensor, got {type(value).__name__}. Fix: tf.sparse.from_dense(x)")

    def _key(self) -> Any:
        return self._shape, self._dtype

    def _call_key(self) -> Any:
        return "sparse", self._dtype, (None if self._shape is None else len(self._shape),)

    def _fits(self, other: Any) -> bool:
        return self._dtype is other._dtype and compatible(self._shape, other._shape)

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape!r}, {self._dtype!r})"


class RaggedTensorSpec(_ShapedSpec):
    """What kind of `RaggedTensor` an argument is.

    Args:
      shape: the static shape, None for ragged axes.
      dtype: the dtype of the values.
      ragged_rank: how many axes are ragged; all but the first by default.
      row_splits_dtype: int32 or int64.
      flat_values_spec: a `TensorSpec` of the flat values, in the place of `dtype`.
    Raises: ValueError for a rank that does not go with the shape.
    Reference: TensorFlow 2.21 `tf.RaggedTensorSpec`.

    >>> tf.RaggedTensorSpec([None, None], tf.int32)
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
    """

    def __init__(self, shape: Any = None, dtype: Any = float32, ragged_rank: int | None = None,
                 row_splits_dtype: Any = int64, flat_values_spec: Any = None):  # fmt: skip
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype if flat_values_spec is None else flat_values_spec.dtype)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        rank = None if self._shape is None else len(self._shape)
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank. Fix: ragged_rank=1")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}. Fix: ragged_rank=1")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}). "
                             "Fix: leave it out, or give a longer shape")  # fmt: skip
        self._ragged_rank = ragged_rank
        self._flat_values_spec = flat_values_spec

    @property
    def ragged_rank(self) -> int:
        """How many axes are ragged."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> Any:
        """The dtype of the splits, int32 or int64."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """The `TensorSpec` of the flat values, if it was given."""
        return self._flat_values_spec

    @property
    def value_type(self) -> type:
        """`RaggedTensor`, or a tensor for a ragged rank of 0."""
        from ..ir.graph import Tensor

        return RaggedTensor if self._ragged_rank else Tensor

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor; TypeError for anything else."""
        if isinstance(value, RaggedTensor):
            return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
        if hasattr(value, "nested_row_splits"):  # a value that a session gave
            inner = tuple(value.flat_values.shape)[1:]
            rank = len(value.nested_row_splits)
            return cls((len(value.row_splits) - 1, *[None] * rank, *inner), value.dtype, rank, value.row_splits.dtype)
        raise TypeError(f"Expected RaggedTensor, got {type(value).__name__}. Fix: tf.RaggedTensor.from_tensor(x)")

    def _key(self) -> Any:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    def _inner(self) -> Any:
        """The static shape of each of the flat values."""
        return () if self._shape is None else self._shape[self._ragged_rank + 1 :]

    def _call_key(self) -> Any:
        return "ragged", self._dtype, self._ragged_rank, self._row_splits_dtype, self._inner()

    def _fits(self, other: Any) -> bool:
        return self._key()[1:] == other._key()[1:] and compatible(self._shape, other._shape)

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self.shape!r}, {self._dtype!r}, {self._ragged_rank}, {self._row_splits_dtype!r})"


class IndexedSlicesSpec(_ShapedSpec):
    """What kind of `IndexedSlices` a value is.

    Args:
      shape: the static shape of the dense tensor.
      dtype: the dtype of the rows.
      indices_dtype: int32 or int64.
      dense_shape_dtype: the dtype of `dense_shape`, None if there is none.
      indices_shape: the static shape of the indices.
    Reference: TensorFlow 2.21 `tf.IndexedSlicesSpec`.

    >>> tf.IndexedSlicesSpec([4, 2]).shape.as_list()
    [4, 2]
    """

    def __init__(self, shape: Any = None, dtype: Any = float32, indices_dtype: Any = int64,
                 dense_shape_dtype: Any = None, indices_shape: Any = None):  # fmt: skip
        self._shape, self._dtype = as_shape(shape), as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = (None,) if indices_shape is None else as_shape(indices_shape)

    @property
    def value_type(self) -> type:
        """`IndexedSlices`."""
        return IndexedSlices

    @classmethod
    def from_value(cls, value: Any) -> IndexedSlicesSpec:
        """The spec of slices; TypeError for anything else."""
        if not isinstance(value, IndexedSlices):
            raise TypeError(f"Expected IndexedSlices, got {type(value).__name__}. "
                            "Fix: tf.IndexedSlices(values, indices)")
        shape = value.dense_shape
        return cls(value.shape, value.dtype, value.indices.dtype, None if shape is None else shape.dtype,
                   value.indices.shape)  # fmt: skip

    def _key(self) -> Any:
        return self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    def _fits(self, other: Any) -> bool:
        return (self._key()[1:4] == other._key()[1:4] and compatible(self._shape, other._shape)
                and compatible(self._indices_shape, other._indices_shape))  # fmt: skip

    def __repr__(self) -> str:
        return (f"IndexedSlicesSpec(shape={self.shape!r}, dtype={self._dtype!r}, "
                f"indices_dtype={self._indices_dtype!r}, dense_shape_dtype={self._dense_shape_dtype!r}, "
                f"indices_shape={TensorShape(self._indices_shape)!r})")


class OptionalSpec(TypeSpec):
    """What kind of `tf.experimental.Optional` a value is.

    Args:
      element_spec: specs of the value, in its structure.
    Reference: TensorFlow 2.21 `tf.OptionalSpec`.

    >>> tf.OptionalSpec(tf.TensorSpec([2], tf.int32)).element_spec.dtype
    tf.int32
    """

    def __init__(self, element_spec: Any):
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """Specs of the value, in its structure."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        """`tf.experimental.Optional`."""
        from .optional import Optional

        return Optional

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """The spec of an optional."""
        return OptionalSpec(value.element_spec)

    def _key(self) -> Any:
        return repr(self._element_spec)

    def _fits(self, other: Any) -> bool:
        return self == other

    def __repr__(self) -> str:
        return f"OptionalSpec({self._element_spec!r})"


def type_spec_from_value(value: Any) -> Any:
    """The spec of a value.

    Args:
      value: a tensor, something that converts to one, a sparse or ragged tensor, slices, a `TensorArray`, an optional.
    Returns: a `TensorSpec`, `SparseTensorSpec`, `RaggedTensorSpec`, `IndexedSlicesSpec`, `TensorArraySpec` or
      `OptionalSpec`.
    Raises: TypeError for what has none.
    Gradient: none; it builds nothing that runs.
    Reference: TensorFlow 2.21 `tf.type_spec_from_value`.

    >>> tf.type_spec_from_value(tf.ragged.constant([[1, 2], [3]])).ragged_rank
    1
    """
    from .optional import Optional
    from .tensor_array import TensorArray, TensorArraySpec

    of: Any
    for kind, of in ((SparseTensor, SparseTensorSpec), (RaggedTensor, RaggedTensorSpec),
                     (IndexedSlices, IndexedSlicesSpec), (TensorArray, TensorArraySpec), (Optional, OptionalSpec)):
        if isinstance(value, kind):
            return of.from_value(value)
    try:
        tensor = convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}. "
                        "Fix: give a tensor, or what converts to one") from None
    return TensorSpec(tensor.shape, tensor.dtype)
