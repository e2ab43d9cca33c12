"""Categorical columns: ids of words, of hashes, of numbers, with weights, crossed."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from graphgrad.extras.io.file_ops import VarLenFeature
from graphgrad.extras.pipelines.vocabulary_tables import index_table_from_file, index_table_from_tensor
from graphgrad.extras.sparse.feature_crosses import sparse_cross_hashed
from graphgrad.extras.sparse.sparse_combine import convert_to_tensor_or_sparse_tensor
from graphgrad.frontend.graph.init_scope import init_scope
from graphgrad.ir.dtypes import DType, as_dtype, float32, int64, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import DTypeLike
from graphgrad.ops.common.sparse_tensor import SparseTensor
from graphgrad.platform.gfile import GFile
from graphgrad.platform.gfile import exists as file_exists

from .column import CategoricalColumn, Ids, UponCategorical, checked


def as_ids(tensor: Any, ignore_value: Any = None) -> Any:
    """Returns a dense tensor as a sparse one without "", -1 or what else is to be ignored; sparse ones as they are."""
    tensor = convert_to_tensor_or_sparse_tensor(tensor)
    if isinstance(tensor, SparseTensor):
        return tensor
    with name_scope(None, "to_sparse_input"):
        if ignore_value is None:
            ignore_value = b"" if tensor.dtype is string else -1 if tensor.dtype.is_integer else 0
        indices = raw.Where(raw.NotEqual(tensor, np.array(ignore_value, tensor.dtype.np_dtype)))
        return SparseTensor(indices, raw.GatherNd(tensor, indices), raw.Shape(tensor, out_type=int64))


def _check_key(key: Any) -> None:
    checked(isinstance(key, str), f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def _check_kind(dtype: DType, what: str) -> None:
    checked(dtype is string or dtype.is_integer, f"{what} dtype must be string or integer. dtype: {dtype}.")


def _as_keys(column: Any, ids: Any) -> Any:
    """Returns a sparse tensor of the kind that a column's table has, integers as int64."""
    checked(column.dtype.is_integer == ids.dtype.is_integer, "Column dtype and SparseTensors dtype must be compatible. "
            f"key: {column.key}, column dtype: {column.dtype}, tensor dtype: {ids.dtype}")
    _check_kind(ids.dtype, f"column_name: {column.key} input_tensor")
    return ids.with_values(raw.Cast(ids.values, DstT=int64)) if ids.dtype.is_integer else ids


def _table(column: Any, state_manager: Any, make: Any) -> Any:
    """Returns the table of a column, one for each state manager."""
    name = f"{column.key}_lookup"
    if state_manager is not None and state_manager.has_resource(column, name):
        return state_manager.get_resource(column, name)
    with init_scope():
        table = make(name)
    if state_manager is not None:
        state_manager.add_resource(column, name, table)
    return table


class _OfKey(CategoricalColumn):
    """A column of the ids of one feature."""

    key: str
    dtype: DType

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs: values in any number."""
        return {self.key: VarLenFeature(self.dtype)}


@dataclasses.dataclass(frozen=True)
class HashedCategoricalColumn(_OfKey):
    """Ids by hash."""

    key: str
    hash_bucket_size: int
    dtype: DType

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Hashes the values, numbers as text."""
        ids = _as_keys(self, as_ids(transformation_cache.get(self.key, state_manager)))
        words = ids.values if self.dtype is string else raw.AsString(ids.values)
        return ids.with_values(raw.StringToHashBucketFast(words, num_buckets=self.hash_bucket_size, name="lookup"))


@dataclasses.dataclass(frozen=True)
class VocabularyListCategoricalColumn(_OfKey):
    """Places in a list."""

    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Looks the values up."""
        ids = _as_keys(self, as_ids(transformation_cache.get(self.key, state_manager)))
        words = np.array(self.vocabulary_list, np.int64 if ids.dtype.is_integer else object)

        def make(name: str) -> Any:
            return index_table_from_tensor(words, self.num_oov_buckets, self.default_value, dtype=ids.dtype, name=name)

        return _table(self, state_manager, make).lookup(ids)


@dataclasses.dataclass(frozen=True)
class VocabularyFileCategoricalColumn(_OfKey):
    """Numbers of lines in a file."""

    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return self.vocabulary_size + self.num_oov_buckets

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Looks the values up."""
        ids = _as_keys(self, as_ids(transformation_cache.get(self.key, state_manager)))

        def make(name: str) -> Any:
            return index_table_from_file(self.vocabulary_file, self.num_oov_buckets, self.vocabulary_size,
                                         self.default_value, key_dtype=ids.dtype, name=name)

        return _table(self, state_manager, make).lookup(ids)


@dataclasses.dataclass(frozen=True)
class IdentityCategoricalColumn(_OfKey):
    """Numbers that are ids."""

    key: str
    number_buckets: int
    default_value: int | None
    dtype: ClassVar[DType] = int64  # type: ignore[misc]  # of all of this class

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return self.number_buckets

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns the values as int64, with the default in the place of others if there is one."""
        ids = as_ids(transformation_cache.get(self.key, state_manager))
        checked(ids.dtype.is_integer, f"Invalid input, not integer. key: {self.key} dtype: {ids.dtype}")
        values = raw.Cast(ids.values, DstT=int64)
        if self.default_value is not None:
            outside = raw.LogicalOr(raw.Less(values, np.int64(0)),
                                    raw.GreaterEqual(values, np.int64(self.number_buckets)))
            values = raw.SelectV2(outside, np.int64(self.default_value), values)
        return ids.with_values(values)


@dataclasses.dataclass(frozen=True)
class WeightedCategoricalColumn(UponCategorical, CategoricalColumn):
    """Ids of another column with weights from a feature."""

    categorical_column: Any
    weight_feature_key: str
    dtype: DType

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs for both."""
        spec = super().parse_example_spec
        checked(self.weight_feature_key not in spec, f"Parse config {spec.get(self.weight_feature_key)} already exists "
                f"for {self.weight_feature_key}.")
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Returns ids and weights."""
        weights = convert_to_tensor_or_sparse_tensor(transformation_cache.get(self.weight_feature_key, state_manager))
        checked(weights.dtype is self.dtype, f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        weights = as_ids(weights, 0)
        if not weights.dtype.is_floating:
            weights = weights.with_values(raw.Cast(weights.values, DstT=float32))
        return as_ids(transformation_cache.get(self.categorical_column, state_manager)), weights

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Ids:
        """Returns ids and weights."""
        return Ids(*transformation_cache.get(self, state_manager))


@dataclasses.dataclass(frozen=True)
class CrossedColumn(CategoricalColumn):
    """Hashes of combinations of the values of several features."""

    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None

    def _leaves(self) -> list[Any]:
        return [leaf for key in self.keys for leaf in (key._leaves() if isinstance(key, CrossedColumn) else [key])]

    @property
    def name(self) -> str:
        """The names of all features."""
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self._leaves()))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs for all features; those given by name are words."""
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec |= {key: VarLenFeature(string)} if isinstance(key, str) else key.parse_example_spec
        return spec

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Hashes the combinations."""
        parts = []
        for key in self._leaves():
            if isinstance(key, str):
                parts.append(transformation_cache.get(key, state_manager))
                continue
            ids, weights = key.get_sparse_tensors(transformation_cache, state_manager)
            checked(weights is None, "crossed_column does not support weight_tensor, but the given column populates "
                    f"weight_tensor. Given column: {key.name}")
            parts.append(ids)
        return sparse_cross_hashed(parts, self.hash_bucket_size, self.hash_key)


# -- functions -------------------------------------------------------------------------------------------


def categorical_column_with_hash_bucket(key: str, hash_bucket_size: int,
                                        dtype: DTypeLike = string) -> HashedCategoricalColumn:
    """Makes a column of the hashes of a feature's values.

    Args:
      key: the feature's name; its values are a tensor or `SparseTensor`, in which "" and -1 are none.
      hash_bucket_size: the number of ids.
      dtype: a string or integer dtype.
    Returns: a categorical column.
    Raises: ValueError for fewer than one id, and for another dtype.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.categorical_column_with_hash_bucket`.

    >>> words = tf.feature_column.categorical_column_with_hash_bucket("word", 10)
    >>> words.name, words.num_buckets
    ('word', 10)
    """
    checked(hash_bucket_size is not None, f"hash_bucket_size must be set. key: {key}")
    checked(hash_bucket_size >= 1, "hash_bucket_size must be at least 1. "
            f"hash_bucket_size: {hash_bucket_size}, key: {key}")
    _check_key(key)
    _check_kind(as_dtype(dtype), f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, as_dtype(dtype))


def categorical_column_with_vocabulary_list(key: str, vocabulary_list: Any, dtype: DTypeLike | None = None,
                                            default_value: int = -1,
                                            num_oov_buckets: int = 0) -> VocabularyListCategoricalColumn:
    """Makes a column of the places that a feature's values have in a list.

    Args:
      key: the feature's name.
      vocabulary_list: different strings or integers.
      dtype: a string or integer dtype; that of the list by default.
      default_value: the id of other values; -1 leaves them out.
      num_oov_buckets: the number of ids for other values, which are hashed.
    Returns: a categorical column.
    Raises: ValueError for an empty list, equal values, another dtype, and both kinds of ids for other values.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.categorical_column_with_vocabulary_list`.

    >>> colors = tf.feature_column.categorical_column_with_vocabulary_list("color", ["red", "blue"])
    >>> column = tf.feature_column.indicator_column(colors)
    >>> rows = tf.feature_column.input_layer({"color": [["blue"], ["red"], ["?"]]}, [column])
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(rows)
    array([[0., 1.],
           [1., 0.],
           [0., 0.]], dtype=float32)
    """
    checked(vocabulary_list is not None and len(vocabulary_list) > 0,
            f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    checked(len(set(vocabulary_list)) == len(vocabulary_list),
            f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    own = as_dtype(np.array(vocabulary_list).dtype)
    checked(not num_oov_buckets or default_value == -1,
            f"Can't specify both num_oov_buckets and default_value in {key}.")
    checked(num_oov_buckets >= 0, f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")
    _check_kind(own, f"column_name: {key} vocabulary")
    wanted = own if dtype is None else as_dtype(dtype)
    checked(wanted.is_integer == own.is_integer,
            f"dtype {wanted} and vocabulary dtype {own} do not match, column_name: {key}")
    _check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), wanted, default_value, num_oov_buckets)


def categorical_column_with_vocabulary_file(key: str, vocabulary_file: Any, vocabulary_size: int | None = None,
                                            dtype: DTypeLike = string, default_value: int | None = None,
                                            num_oov_buckets: int = 0,
                                            file_format: Any = None) -> VocabularyFileCategoricalColumn:
    """Makes a column of the numbers of the lines on which a file has a feature's values.

    Args:
      key: the feature's name.
      vocabulary_file: the path.
      vocabulary_size: the number of lines that are read; all by default.
      dtype: a string or integer dtype.
      default_value: the id of other values; None leaves them out.
      num_oov_buckets: the number of ids for other values, which are hashed.
      file_format: None; "tfrecord_gzip" is not here.
    Returns: a categorical column.
    Raises: ValueError without a file, for no lines, another dtype, and both kinds of ids for other values.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.categorical_column_with_vocabulary_file`.
    """
    checked(bool(vocabulary_file), f"Missing vocabulary_file in {key}.")
    checked(file_format is None, f"file_format={file_format!r} in {key} is not supported. Fix: give lines of text")
    if vocabulary_size is None:
        checked(file_exists(vocabulary_file), f"vocabulary_file in {key} does not exist.")
        with GFile(vocabulary_file, "rb") as f:
            vocabulary_size = sum(1 for _ in f)
    checked(vocabulary_size >= 1, f"Invalid vocabulary_size in {key}.")
    checked(not num_oov_buckets or default_value is None,
            f"Can't specify both num_oov_buckets and default_value in {key}.")
    checked((num_oov_buckets or 0) >= 0, f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")
    _check_kind(as_dtype(dtype), f"column_name: {key}")
    _check_key(key)
    return VocabularyFileCategoricalColumn(key, vocabulary_file, vocabulary_size, num_oov_buckets or 0,
                                           as_dtype(dtype), -1 if default_value is None else default_value)


def categorical_column_with_vocabulary_file_v1(key: str, vocabulary_file: Any, vocabulary_size: int | None = None,
                                               num_oov_buckets: int = 0, default_value: int | None = None,
                                               dtype: DTypeLike = string) -> VocabularyFileCategoricalColumn:
    """Makes a column of line numbers: `categorical_column_with_vocabulary_file` with TensorFlow 1's order of arguments.

    Args:
      key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype: as there.
    Returns: as there.
    Raises: as there.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.compat.v1.feature_column.categorical_column_with_vocabulary_file`.
    """
    return categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size, dtype, default_value,
                                                   num_oov_buckets)


def categorical_column_with_identity(key: str, num_buckets: int,
                                     default_value: int | None = None) -> IdentityCategoricalColumn:
    """Makes a column of a feature's values, which are ids.

    Args:
      key: the feature's name.
      num_buckets: the number of ids; values are from 0 to below it.
      default_value: the id of other values; None leaves them as they are.
    Returns: a categorical column.
    Raises: ValueError for fewer than one id, or a default beyond them.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.categorical_column_with_identity`.

    >>> tf.feature_column.categorical_column_with_identity("day", 7).num_buckets
    7
    """
    checked(num_buckets >= 1, f"num_buckets {num_buckets} < 1, column_name {key}")
    checked(default_value is None or 0 <= default_value < num_buckets,
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    _check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


def weighted_categorical_column(categorical_column: Any, weight_feature_key: str,
                                dtype: DTypeLike = float32) -> WeightedCategoricalColumn:
    """Makes a column of the ids of another one with weights.

    Args:
      categorical_column: the column of the ids.
      weight_feature_key: the name of the feature with the weights, one for each id.
      dtype: the dtype of the weights.
    Returns: a categorical column.
    Raises: ValueError for a dtype that is no number.
    Gradient: that of weights, where they are used.
    Reference: TensorFlow 2.21 `tf.feature_column.weighted_categorical_column`.

    >>> days = tf.feature_column.categorical_column_with_identity("day", 7)
    >>> tf.feature_column.weighted_categorical_column(days, "hours").name
    'day_weighted_by_hours'
    """
    wanted = None if dtype is None else as_dtype(dtype)
    checked(wanted is not None and (wanted.is_integer or wanted.is_floating),
            f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, as_dtype(dtype))


def crossed_column(keys: Any, hash_bucket_size: int, hash_key: int | None = None) -> CrossedColumn:
    """Makes a column of the hashes of all combinations of the values of features.

    Args:
      keys: two or more names of features with strings, or categorical columns other than hashed ones.
      hash_bucket_size: the number of ids.
      hash_key: a number that hashes depend on.
    Returns: a categorical column.
    Raises: ValueError for fewer than two features or one id, and for other columns.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.crossed_column`.

    >>> tf.feature_column.crossed_column(["b", "a"], 100).name
    'a_X_b'
    """
    checked(bool(hash_bucket_size) and hash_bucket_size >= 1,
            f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    checked(bool(keys) and len(keys) >= 2, f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        checked(isinstance(key, (str, CategoricalColumn)), "Unsupported key type. All keys must be either string, or "
                f"categorical column except HashedCategoricalColumn. Given: {key}")
        checked(not isinstance(key, HashedCategoricalColumn), "categorical_column_with_hash_bucket is not supported "
                f"for crossing. Fix: give the feature's name. Given: {key}")
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
