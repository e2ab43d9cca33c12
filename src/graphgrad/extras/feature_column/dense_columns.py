"""Dense columns: numbers, numbers in buckets, counts of ids, embeddings of ids."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphgrad.extras.io.file_ops import FixedLenFeature
from graphgrad.extras.sparse.sparse_combine import sparse_merge
from graphgrad.extras.sparse.sparse_embedding import embedding_lookup_sparse_v1, safe_embedding_lookup_sparse_v1
from graphgrad.extras.sparse.sparse_functions import to_dense
from graphgrad.frontend.variables.initializers import TruncatedNormal
from graphgrad.ir.conversion import constant
from graphgrad.ir.dtypes import DType, as_dtype, float32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.tensor import DTypeLike, Tensor
from graphgrad.ops.array.concat_stack import stack
from graphgrad.ops.array.scatter import one_hot
from graphgrad.ops.common.sparse_tensor import SparseTensor
from graphgrad.ops.math.reduce_functions import reduce_sum

from .column import CategoricalColumn, DenseColumn, Ids, SequenceDenseColumn, SequenceTensors, UponCategorical, checked
from .sequence import SequenceCategoricalColumn, lengths_of


def _check_use(column: Any, by_steps: bool) -> None:
    """Raises ValueError for a column of sequences where one is asked for rows, and the other way round."""
    is_sequence = isinstance(column.categorical_column, SequenceCategoricalColumn)
    checked(is_sequence or not by_steps, f"In {column.name}: categorical_column must be of type "
            f"SequenceCategoricalColumn to use SequenceFeatures. Given: {column.categorical_column}. "
            "Fix: sequence_categorical_column_with_*")
    checked(not is_sequence or by_steps, f"In {column.name}: categorical_column must not be of type "
            f"SequenceCategoricalColumn. Given: {column.categorical_column}. "
            "Fix: categorical_column_with_*, or the layer SequenceFeatures")


@dataclasses.dataclass(frozen=True)
class NumericColumn(DenseColumn):
    """A feature's numbers."""

    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Callable[[Any], Any] | None

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs: values of the column's shape."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> Any:
        """The shape of the numbers."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the numbers as float32, normalized if that is wanted."""
        tensor = transformation_cache.get(self.key, state_manager)
        checked(not isinstance(tensor, SparseTensor), "The corresponding Tensor of numerical column must be a Tensor. "
                f"SparseTensor is not supported. key: {self.key}")
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return tensor if tensor.dtype is float32 else raw.Cast(tensor, DstT=float32)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """Returns the numbers."""
        found: Tensor = transformation_cache.get(self, state_manager)
        return found


@dataclasses.dataclass(frozen=True)
class BucketizedColumn(DenseColumn, CategoricalColumn):
    """In which of the intervals between boundaries the numbers of a column are."""

    source_column: NumericColumn
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:
        """The name of the numbers, and what is made of them."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs for the numbers."""
        return self.source_column.parse_example_spec

    @property
    def variable_shape(self) -> Any:
        """The shape of the numbers, with one element for each interval."""
        return TensorShape((*self.source_column.shape, len(self.boundaries) + 1))

    @property
    def num_buckets(self) -> int:
        """The number of intervals, times that of numbers."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the numbers of the intervals."""
        source = transformation_cache.get(self.source_column, state_manager)
        return raw.Bucketize(source, boundaries=[float(b) for b in self.boundaries])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """Returns 1 for the interval of each number, 0 for the others."""
        places = raw.Cast(transformation_cache.get(self, state_manager), DstT=int64)
        return one_hot(places, len(self.boundaries) + 1, 1.0, 0.0)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Ids:
        """Returns an id for each number, from those of its position."""
        places = transformation_cache.get(self, state_manager)
        n = self.source_column.shape[0]
        batch = raw.Shape(places)[0]
        rows = raw.Range(np.int32(0), raw.Mul(batch, np.int32(n)), np.int32(1))
        column = raw.FloorMod(rows, np.int32(n))
        ids = raw.AddV2(raw.Reshape(places, np.array([-1], np.int32)),
                        raw.Mul(column, np.int32(len(self.boundaries) + 1)))
        indices = raw.Cast(stack([raw.FloorDiv(rows, np.int32(n)), column], 1), DstT=int64)
        shape = raw.Cast(stack([batch, np.int32(n)]), DstT=int64)
        return Ids(SparseTensor(indices, ids, shape), None)


@dataclasses.dataclass(frozen=True)
class IndicatorColumn(UponCategorical, DenseColumn, SequenceDenseColumn):
    """How often each id occurs."""

    categorical_column: Any

    @property
    def name(self) -> str:
        """The name of the ids, and what is made of them."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> Any:
        """One element for each id."""
        return TensorShape([1, self.num_buckets])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Counts the ids of each row, or adds their weights."""
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        size = self.num_buckets
        if weights is not None:
            merged = sparse_merge(ids, weights, int(size))
            return raw.ScatterNd(merged.indices, merged.values, merged.dense_shape)
        rows = to_dense(ids, -1)
        return reduce_sum(one_hot(rows, size, 1.0, 0.0), [-2])

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """Returns the counts."""
        _check_use(self, False)
        found: Tensor = transformation_cache.get(self, state_manager)
        return found

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> SequenceTensors:
        """Returns the counts of each step, and how many steps each row has."""
        _check_use(self, True)
        ids, _ = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return SequenceTensors(transformation_cache.get(self, state_manager), lengths_of(ids))


class VectorColumn(UponCategorical, DenseColumn, SequenceDenseColumn):
    """The base of columns that give a trained vector for each id, combined over the ids of a row."""

    combiner: str
    max_norm: float | None
    use_safe_embedding_lookup: bool

    def vectors(self, state_manager: Any) -> Any:
        """Returns the variable, (ids, dimension).

        Args:
          state_manager: a `StateManager`, or None.
        """
        raise NotImplementedError  # each kind of column has its own

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the ids."""
        return transformation_cache.get(self.categorical_column, state_manager)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """Looks the vectors up; a row without ids is 0."""
        _check_use(self, False)
        return self._looked_up(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> SequenceTensors:
        """Looks the vectors of each step up, and how many steps each row has."""
        _check_use(self, True)
        ids, _ = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return SequenceTensors(self._looked_up(transformation_cache, state_manager), lengths_of(ids))

    def _looked_up(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        look_up = safe_embedding_lookup_sparse_v1 if self.use_safe_embedding_lookup else embedding_lookup_sparse_v1
        return look_up(self.vectors(state_manager), ids, weights, combiner=self.combiner, max_norm=self.max_norm,
                       name=f"{self.name}_weights")


@dataclasses.dataclass(frozen=True)
class EmbeddingColumn(VectorColumn):
    """A trained vector for each id, combined over the ids of a row."""

    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool
    use_safe_embedding_lookup: bool = True

    @property
    def name(self) -> str:
        """The name of the ids, and what is made of them."""
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> Any:
        """The dimension of the vectors."""
        return TensorShape([self.dimension])

    def create_state(self, state_manager: Any) -> None:
        """Makes the vectors."""
        made = state_manager.create_variable(
            self, name="embedding_weights", shape=(self.num_buckets, self.dimension), dtype=float32,
            trainable=self.trainable, use_resource=True, initializer=self.initializer)
        begin_with(made, self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def vectors(self, state_manager: Any) -> Any:
        """Returns the variable, (ids, dimension)."""
        return state_manager.get_variable(self, "embedding_weights")


def begin_with(made: Any, checkpoint: str | None, name: str | None) -> None:
    """Makes vectors begin with those of a checkpoint, if one is given."""
    if checkpoint is not None:
        from graphgrad.training.checkpoints.checkpoint_init import init_from_checkpoint

        init_from_checkpoint(checkpoint, {name: made})


def first_vectors(dimension: Any, initializer: Any, checkpoint: str | None, name: str | None, of: str = "") -> Any:
    """Returns what vectors begin with: the initializer that is given, or the usual one.

    Args:
      dimension: that of the vectors.
      initializer: None, or a function.
      checkpoint, name: a checkpoint and a name there, or None twice.
      of: what an error says of the vectors.
    Raises: ValueError for a dimension below 1, an initializer that is no function, half of a checkpoint.
    """
    checked(dimension is not None and dimension >= 1, f"Invalid dimension {dimension}.")
    checked((checkpoint is None) == (name is None),
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    checked(initializer is None or callable(initializer), f"initializer must be callable if specified.{of}")
    return TruncatedNormal(0.0, 1 / math.sqrt(dimension)) if initializer is None else initializer


# -- functions -------------------------------------------------------------------------------------------


def _sizes(shape: Any, key: str) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    for size in sizes:
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        checked(bool(size >= 1), f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return tuple(int(s) for s in sizes)


def _default(value: Any, shape: tuple[int, ...], dtype: DType, key: str) -> Any:
    """Returns a default for each number of the shape, as nested tuples."""
    if value is None:
        return None
    if isinstance(value, float) and dtype.is_integer:
        raise TypeError(f"`default_value` is not compatible with dtype. default_value: {value}, dtype: {dtype}, "
                        f"key: {key}")
    found = np.array(constant(value, dtype).numpy() if hasattr(value, "numpy") else value, dtype.np_dtype)
    checked(found.shape in ((), shape), "The shape of default_value must be equal to given shape. "
            f"default_value: {value}, shape: {shape}, key: {key}")
    return _tuples(np.broadcast_to(found, shape).tolist())


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def numeric_column(key: str, shape: Any = (1,), default_value: Any = None, dtype: DTypeLike = float32,
                   normalizer_fn: Callable[[Any], Any] | None = None) -> NumericColumn:
    """Makes a column of a feature's numbers.

    Args:
      key: the feature's name.
      shape: the shape of the numbers in a row.
      default_value: what missing numbers are when examples are parsed.
      dtype: the dtype when examples are parsed.
      normalizer_fn: a function of the tensor.
    Returns: a dense column.
    Raises: ValueError for a dtype that is no number and a default that does not fit; TypeError for other shapes.
    Gradient: that of a cast and of the function.
    Reference: TensorFlow 2.21 `tf.feature_column.numeric_column`.

    >>> price = tf.feature_column.numeric_column("price", normalizer_fn=lambda x: x / 10.0)
    >>> sess.run(tf.feature_column.input_layer({"price": [[20.0], [5.0]]}, [price]))
    array([[2. ],
           [0.5]], dtype=float32)
    """
    sizes, wanted = _sizes(shape, key), as_dtype(dtype)
    checked(wanted.is_integer or wanted.is_floating, f"dtype must be convertible to float. dtype: {wanted}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    checked(isinstance(key, str), f"key must be a string. Got: type {type(key)}. Given key: {key}.")
    return NumericColumn(key, sizes, _default(default_value, sizes, wanted, key), wanted, normalizer_fn)


def bucketized_column(source_column: Any, boundaries: Any) -> BucketizedColumn:
    """Makes a column of the intervals in which numbers are.

    Args:
      source_column: a numeric column of one dimension.
      boundaries: a sorted list; each is the lower end of an interval.
    Returns: a column that is dense, with one element for each interval, and categorical.
    Raises: ValueError for another column, and for boundaries that are no sorted list.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.bucketized_column`.

    >>> age = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("age"), [18, 65])
    >>> sess.run(tf.feature_column.input_layer({"age": [[18.0], [70.0]]}, [age]))
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    checked(isinstance(source_column, NumericColumn),
            f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    checked(len(source_column.shape) <= 1, f"source_column must be one-dimensional column. Given: {source_column}")
    checked(bool(boundaries), "boundaries must not be empty.")
    checked(isinstance(boundaries, (list, tuple)) and all(bool(a < b) for a, b in itertools.pairwise(boundaries)),
            "boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """Makes a column that counts ids.

    Args:
      categorical_column: the column of the ids.
    Returns: a dense column with one element for each id.
    Raises: ValueError for another column.
    Gradient: that of weights, if the ids have some.
    Reference: TensorFlow 2.21 `tf.feature_column.indicator_column`.

    >>> days = tf.feature_column.indicator_column(tf.feature_column.categorical_column_with_identity("day", 3))
    >>> sess.run(tf.feature_column.input_layer({"day": [[0, 2], [1, 1]]}, [days]))
    array([[1., 0., 1.],
           [0., 2., 0.]], dtype=float32)
    """
    checked(isinstance(categorical_column, CategoricalColumn),
            f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}")
    return IndicatorColumn(categorical_column)


def embedding_column(categorical_column: Any, dimension: int, combiner: str = "mean", initializer: Any = None,
                     ckpt_to_load_from: str | None = None, tensor_name_in_ckpt: str | None = None,
                     max_norm: float | None = None, trainable: bool = True,
                     use_safe_embedding_lookup: bool = True) -> EmbeddingColumn:
    """Makes a column of trained vectors, one for each id.

    Args:
      categorical_column: the column of the ids.
      dimension: that of the vectors.
      combiner: how those of a row are combined: "mean", "sqrtn" or "sum".
      initializer: an initializer; a truncated normal one of deviation 1 / sqrt(dimension) by default.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint with the vectors and their name there.
      max_norm: vectors are scaled down to this norm.
      trainable: whether the vectors are trained.
      use_safe_embedding_lookup: whether rows without ids are 0, and ids and weights below 0 are left out.
    Returns: a dense column.
    Raises: ValueError for a dimension below 1, an initializer that is no function, half of a checkpoint.
    Gradient: that of `tf.nn.safe_embedding_lookup_sparse`.
    Reference: TensorFlow 2.21 `tf.feature_column.embedding_column`.

    >>> days = tf.feature_column.categorical_column_with_identity("day", 3)
    >>> first = tf.constant_initializer([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> column = tf.feature_column.embedding_column(days, 2, initializer=first)
    >>> rows = tf.feature_column.input_layer({"day": [[0, 2]]}, [column])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(rows)
    array([[3., 4.]], dtype=float32)
    """
    initializer = first_vectors(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                                f" Embedding of column_name: {categorical_column.name}")
    return EmbeddingColumn(categorical_column, dimension, combiner, initializer, ckpt_to_load_from,
                           tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup)
