"""Columns of sequences: numbers or ids for each step of a row, for `tf.keras.experimental.SequenceFeatures`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.extras.io.file_ops import VarLenFeature
from graphgrad.extras.sparse.sparse_functions import sparse_reshape, to_dense
from graphgrad.ir.dtypes import DType, as_dtype, float32, int64, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.tensor import DTypeLike
from graphgrad.ops.common.sparse_tensor import SparseTensor

from . import categorical
from .column import CategoricalColumn, Ids, SequenceDenseColumn, SequenceTensors, UponCategorical, checked


def lengths_of(tensor: Any, size: int = 1) -> Any:
    """Returns how many steps each row of a sparse tensor has, up to its last element.

    Args:
      tensor: a `SparseTensor` of rank 2 or more.
      size: how many elements a step has.
    Returns: (batch,), int64.
    """
    rows, places = raw.Unpack(raw.Slice(tensor.indices, [0, 0], [-1, 2]), num=2, axis=1)
    count = raw.Cast(raw.StridedSlice(tensor.dense_shape, [0], [1], [1], shrink_axis_mask=1), DstT=int64)
    ends = raw.UnsortedSegmentMax(raw.AddV2(places, np.int64(1)), rows, count)
    return raw.FloorDiv(raw.AddV2(raw.Maximum(ends, np.int64(0)), np.int64(size - 1)), np.int64(size))


@dataclasses.dataclass(frozen=True)
class SequenceCategoricalColumn(UponCategorical, CategoricalColumn):
    """Ids for each step of a row."""

    categorical_column: Any

    @property
    def name(self) -> str:
        """The name of the ids."""
        return str(self.categorical_column.name)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the ids."""
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Ids:
        """Returns ids and weights, (batch, steps, ids of a step)."""
        found = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return Ids(*[None if t is None else _with_steps(t) for t in found])


def _with_steps(tensor: Any) -> Any:
    front = raw.Slice(tensor.dense_shape, [0], [2])
    return sparse_reshape(tensor, raw.ConcatV2([front, np.array([-1], np.int64)], 0))


@dataclasses.dataclass(frozen=True)
class SequenceNumericColumn(SequenceDenseColumn):
    """Numbers for each step of a row."""

    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: DType
    normalizer_fn: Callable[[Any], Any] | None

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs: values in any number."""
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> Any:
        """The shape of the numbers of a step."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the numbers, a sparse tensor, normalized if that is wanted."""
        found = transformation_cache.get(self.key, state_manager)
        return found if self.normalizer_fn is None else self.normalizer_fn(found)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> SequenceTensors:
        """Returns the numbers, (batch, steps, *shape), and how many steps each row has."""
        found = transformation_cache.get(self, state_manager)
        checked(isinstance(found, SparseTensor), f"sequence_numeric_column '{self.key}' needs a SparseTensor. "
                "Fix: parse the feature with VarLenFeature, or tf.sparse.from_dense")
        dense = to_dense(found, self.default_value)
        wanted = raw.ConcatV2([raw.Slice(raw.Shape(dense), [0], [1]), np.array([-1, *self.shape], np.int32)], 0)
        size = int(np.prod(self.shape)) if found.shape.rank == 2 else 1
        return SequenceTensors(raw.Reshape(dense, wanted), lengths_of(found, size))


# -- functions -------------------------------------------------------------------------------------------


def sequence_numeric_column(key: str, shape: Any = (1,), default_value: float = 0.0, dtype: DTypeLike = float32,
                            normalizer_fn: Callable[[Any], Any] | None = None) -> SequenceNumericColumn:
    """Makes a column of numbers for each step of a row.

    Args:
      key: the name of a feature, a `SparseTensor` (batch, steps * numbers of a step).
      shape: the shape of the numbers of a step.
      default_value: the numbers of steps that are missing.
      dtype: the dtype.
      normalizer_fn: a function of the `SparseTensor`.
    Returns: a column for `tf.keras.experimental.SequenceFeatures`.
    Raises: ValueError for a dtype that is no number; TypeError for other shapes or a function that is none.
    Gradient: that of the function.
    Reference: TensorFlow 2.21 `tf.feature_column.sequence_numeric_column`.

    >>> column = tf.feature_column.sequence_numeric_column("x")
    >>> column.name, column.variable_shape
    ('x', TensorShape([1]))
    """
    from .dense_columns import numeric_column

    like = numeric_column(key, shape, None, dtype, normalizer_fn)  # which checks the arguments
    return SequenceNumericColumn(key, like.shape, default_value, as_dtype(dtype), normalizer_fn)


def sequence_categorical_column_with_identity(key: str, num_buckets: int,
                                              default_value: int | None = None) -> SequenceCategoricalColumn:
    """Makes a column of ids for each step of a row, which are the feature's numbers.

    Args:
      key, num_buckets, default_value: as for `tf.feature_column.categorical_column_with_identity`.
    Returns: a column for `indicator_column` and `embedding_column`.
    Raises: ValueError as there.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.sequence_categorical_column_with_identity`.

    >>> tf.feature_column.sequence_categorical_column_with_identity("day", 7).num_buckets
    7
    """
    return SequenceCategoricalColumn(categorical.categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(key: str, hash_bucket_size: int,
                                                 dtype: DTypeLike = string) -> SequenceCategoricalColumn:
    """Makes a column of ids for each step of a row, which are hashes.

    Args:
      key, hash_bucket_size, dtype: as for `tf.feature_column.categorical_column_with_hash_bucket`.
    Returns: a column for `indicator_column` and `embedding_column`.
    Raises: ValueError as there.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.sequence_categorical_column_with_hash_bucket`.

    >>> tf.feature_column.sequence_categorical_column_with_hash_bucket("word", 10).name
    'word'
    """
    return SequenceCategoricalColumn(categorical.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_list(key: str, vocabulary_list: Any, dtype: Any = None,
                                                     default_value: int = -1,
                                                     num_oov_buckets: int = 0) -> SequenceCategoricalColumn:
    """Makes a column of ids for each step of a row, which are places in a list.

    Args:
      key, vocabulary_list, dtype, default_value, num_oov_buckets: as for
        `tf.feature_column.categorical_column_with_vocabulary_list`.
    Returns: a column for `indicator_column` and `embedding_column`.
    Raises: ValueError as there.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.sequence_categorical_column_with_vocabulary_list`.

    >>> tf.feature_column.sequence_categorical_column_with_vocabulary_list("word", ["a", "b"]).num_buckets
    2
    """
    return SequenceCategoricalColumn(categorical.categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype, default_value, num_oov_buckets))


def sequence_categorical_column_with_vocabulary_file(key: str, vocabulary_file: str, vocabulary_size: Any = None,
                                                     num_oov_buckets: int = 0, default_value: Any = None,
                                                     dtype: DTypeLike = string) -> SequenceCategoricalColumn:
    """Makes a column of ids for each step of a row, which are numbers of lines in a file.

    Args:
      key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype: as for
        `tf.feature_column.categorical_column_with_vocabulary_file`.
    Returns: a column for `indicator_column` and `embedding_column`.
    Raises: ValueError as there.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.sequence_categorical_column_with_vocabulary_file`.
    """
    return SequenceCategoricalColumn(categorical.categorical_column_with_vocabulary_file_v1(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype))


def concatenate_context_input(context_input: Any, sequence_input: Any) -> Any:
    """Joins what belongs to a row to each of its steps.

    Args:
      context_input: (batch, d0), float32.
      sequence_input: (batch, steps, d1), float32.
    Returns: (batch, steps, d0 + d1).
    Raises: ValueError for other ranks.
    Reference: TensorFlow 2.21 `concatenate_context_input`.
    """
    for tensor, rank, name in ((sequence_input, 3, "sequence_input"), (context_input, 2, "context_input")):
        checked(tensor.shape.rank == rank, f"{name} must have rank {rank}, not shape {tensor.shape}")
    steps = raw.Slice(raw.Shape(sequence_input), [1], [1])
    times = raw.ConcatV2([np.array([1], np.int32), steps, np.array([1], np.int32)], 0)
    return raw.ConcatV2([sequence_input, raw.Tile(raw.ExpandDims(context_input, 1), times)], 2)
