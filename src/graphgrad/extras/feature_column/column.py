"""What feature columns are: dense or categorical, computed once for each set of features."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from graphgrad.extras.sparse.sparse_combine import convert_to_tensor_or_sparse_tensor
from graphgrad.extras.sparse.sparse_functions import sparse_reshape
from graphgrad.frontend.control_flow.cond_while import cond
from graphgrad.frontend.variables.variable_scope import get_variable
from graphgrad.ir.dtypes import int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.array.reshape import expand_dims
from graphgrad.ops.common.sparse_tensor import SparseTensor


class FeatureColumn:
    """The base of feature columns, which are values: equal where their arguments are.

    Reference: TensorFlow 2.21 `feature_column_v2_types.FeatureColumn`.
    """

    _is_v2_column = True

    @property
    def name(self) -> str:
        """The name, of which that of variables is made."""
        raise NotImplementedError  # each kind of column has its own

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs to read the features of this column."""
        raise NotImplementedError  # each kind of column has its own

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Computes what all uses of the column share.

        Args:
          transformation_cache: a `FeatureTransformationCache`.
          state_manager: a `StateManager`, or None.
        """
        raise NotImplementedError  # each kind of column has its own

    def create_state(self, state_manager: Any) -> None:
        """Makes the variables of the column; most have none.

        Args:
          state_manager: a `StateManager`.
        """


class UponCategorical:
    """What columns made of a categorical one share: it alone reads features, and says how many ids there are."""

    categorical_column: Any

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs for the ids."""
        return dict(self.categorical_column.parse_example_spec)

    @property
    def num_buckets(self) -> Any:
        """How many ids there are."""
        return self.categorical_column.num_buckets


class DenseColumn(FeatureColumn):
    """The base of columns that give a tensor of floats."""

    @property
    def variable_shape(self) -> Any:
        """The shape without the batch, a `TensorShape`."""
        raise NotImplementedError  # each kind of column has its own

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """Returns the tensor, (batch, *variable_shape).

        Args:
          transformation_cache: a `FeatureTransformationCache`.
          state_manager: a `StateManager`, or None.
        """
        raise NotImplementedError  # each kind of column has its own


class SequenceTensors(NamedTuple):
    """What a column of sequences gives: (batch, steps, ...), and the number of steps of each row."""

    dense_tensor: Any
    sequence_length: Any


class SequenceDenseColumn(FeatureColumn):
    """The base of columns that give a tensor of floats for each step of a row.

    Reference: TensorFlow 2.21 `tf.__internal__.feature_column.SequenceDenseColumn`.
    """

    TensorSequenceLengthPair = SequenceTensors

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> SequenceTensors:
        """Returns the tensor, (batch, steps, *variable_shape), and how many steps each row has.

        Args:
          transformation_cache: a `FeatureTransformationCache`.
          state_manager: a `StateManager`, or None.
        """
        raise NotImplementedError  # each kind of column has its own


def checked(condition: bool, text: str) -> None:
    """Raises ValueError with a text and the user's line unless a condition holds."""
    if not condition:
        raise ValueError(f"{text}\n  Asked for at {user_source(2)}")


class Ids(NamedTuple):
    """The ids of a categorical column and their weights, `SparseTensor`s; None for weights of 1."""

    id_tensor: Any
    weight_tensor: Any


class CategoricalColumn(FeatureColumn):
    """The base of columns that give ids."""

    IdWeightPair = Ids

    @property
    def num_buckets(self) -> Any:
        """How many ids there are."""
        raise NotImplementedError  # each kind of column has its own

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Ids:
        """Returns ids and weights.

        Args:
          transformation_cache: a `FeatureTransformationCache`.
          state_manager: a `StateManager`, or None.
        """
        return Ids(transformation_cache.get(self, state_manager), None)


class FeatureTransformationCache:
    """Features by name, and what columns have made of them, each once.

    Args:
      features: name -> a tensor or `SparseTensor` of rank 1 or more, the batch first.
    Reference: TensorFlow 2.21 `tf.__internal__.feature_column.FeatureTransformationCache`.
    """

    def __init__(self, features: dict[str, Any]):
        self._features = dict(features)
        self._found: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any = None, training: Any = None) -> Any:
        """Returns a feature, of rank 2 or more, or what a column makes of its features.

        Args:
          key: a name or a `FeatureColumn`.
          state_manager: a `StateManager`, or None.
          training: accepted; none of the columns here asks for it.
        Raises: ValueError for a feature that is missing or a scalar; TypeError for another key.
        """
        if key not in self._found:
            if key in self._features:
                self._found[key] = _with_column(key, self._features[key])
            elif isinstance(key, str):
                raise ValueError(f"Feature {key} is not in features dictionary.\n  Asked for at {user_source(2)}\n"
                                 f"  Fix: give it; there are {', '.join(map(str, self._features)) or 'none'}")
            elif not isinstance(key, FeatureColumn):
                raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
            else:
                self._found[key] = key.transform_feature(self, state_manager)
        return self._found[key]


def _with_column(key: str, feature: Any) -> Any:
    tensor = convert_to_tensor_or_sparse_tensor(feature)
    rank = tensor.shape.rank
    if rank == 0:
        raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {tensor}\n  Asked for at {user_source(2)}")
    if rank is not None:
        return _expanded(tensor) if rank == 1 else tensor
    if isinstance(tensor, SparseTensor):
        return tensor  # of an unknown rank it cannot be known which axes a branch would give
    return cond(raw.Equal(raw.Rank(tensor), np.int32(1)), lambda: _expanded(tensor), lambda: raw.Identity(tensor))


def _expanded(tensor: Any) -> Any:
    if isinstance(tensor, SparseTensor):
        return sparse_reshape(tensor, [raw.Cast(tensor.dense_shape[0], DstT=int32), 1])
    return expand_dims(tensor, -1)


class StateManager:
    """The variables and tables of columns, kept for a layer of Keras.

    Args:
      layer: the layer, whose `add_weight` makes the variables.
      trainable: whether they are trained.
    Reference: TensorFlow 2.21 `tf.__internal__.feature_column.StateManager`.
    """

    of_scopes = False  # whether variables are those of the variable scope of their use

    def __init__(self, layer: Any, trainable: bool):
        self._layer, self._trainable = layer, trainable
        self._cols_to_vars_map: dict[Any, dict[str, Any]] = collections.defaultdict(dict)
        self._cols_to_resources_map: dict[Any, dict[str, Any]] = collections.defaultdict(dict)

    def create_variable(self, feature_column: Any, name: str, shape: Any, dtype: Any = None, trainable: bool = True,
                        use_resource: bool = True, initializer: Any = None) -> Any:
        """Makes a variable of a column.

        Args:
          feature_column: the column.
          name: its name in the column.
          shape, dtype, initializer, use_resource: as of `tf.compat.v1.get_variable`.
          trainable: whether it is trained, if the layer is.
        Raises: ValueError if the column has it already.
        """
        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError(f"Variable already exists: {name!r} of {feature_column.name}.")
        variable = self._layer.add_weight(name=name, shape=shape, dtype=dtype, initializer=initializer,
                                          trainable=self._trainable and trainable, use_resource=use_resource,
                                          getter=get_variable)
        self._cols_to_vars_map[feature_column][name] = variable
        return variable

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """Returns a variable of a column; raises ValueError if there is none."""
        if name not in self._cols_to_vars_map[feature_column]:
            raise ValueError(f"Variable does not exist: {name!r} of {feature_column.name}.")
        return self._cols_to_vars_map[feature_column][name]

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Keeps a table of a column."""
        self._cols_to_resources_map[feature_column][name] = resource

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Returns whether a table of a column is kept."""
        return name in self._cols_to_resources_map[feature_column]

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """Returns a table of a column; raises ValueError if there is none."""
        if name not in self._cols_to_resources_map[feature_column]:
            raise ValueError(f"Resource does not exist: {name!r} of {feature_column.name}.")
        return self._cols_to_resources_map[feature_column][name]


class ScopedState(StateManager):
    """The variables of columns by `get_variable` in the variable scope of their use.

    Args:
      collections: the collections that variables join besides those of all.
      trainable: whether they are trained.
    """

    of_scopes = True

    def __init__(self, collections: Any, trainable: bool):
        super().__init__(None, trainable)
        self._collections = list(collections)

    def create_variable(self, feature_column: Any, name: str, shape: Any, dtype: Any = None, trainable: bool = True,
                        use_resource: bool = True, initializer: Any = None) -> Any:
        """Gets a variable of the current scope; arguments are those of `StateManager`."""
        variable = get_variable(name, shape, dtype, initializer, trainable=self._trainable and trainable,
                                collections=self._collections)
        self._cols_to_vars_map[feature_column][name] = variable
        return variable


def normalized(feature_columns: Any) -> list[Any]:
    """Returns columns, one or several, in the order of their names.

    Args:
      feature_columns: a column, or an iterable of columns of different names.
    Raises: ValueError for a dict, for none, for what is no column, and for equal names.
    """
    if isinstance(feature_columns, FeatureColumn):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    by_name: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"Items of feature_columns must be a FeatureColumn. Given (type {type(column)}): "
                             f"{column}.")
        if column.name in by_name:
            raise ValueError(f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: leave one out, or give its feature another name")
        by_name[column.name] = column
    if not by_name:
        raise ValueError("feature_columns must not be empty.")
    return [by_name[name] for name in sorted(by_name)]


def check_batches(tensors: list[Any], columns: list[Any]) -> None:
    """Raises ValueError where tensors of columns have different first dimensions, as far as these are known."""
    known = [(t.shape.as_list()[0], c.name) for t, c in zip(tensors, columns, strict=True)]
    known = [(size, name) for size, name in known if size is not None]
    for size, name in known[1:]:
        if size != known[0][0]:
            raise ValueError("Batch size (first dimension) of each feature must be same. Batch size of columns "
                             f"({known[0][1]}, {name}): ({known[0][0]}, {size})")


def scope_of(name: str) -> str:
    """Returns a column's name with _ for what no variable scope may contain."""
    return re.sub(r"[^A-Za-z0-9_.\-]", "_", name)


def is_feature_column_v2(feature_columns: Any) -> bool:
    """Returns whether layers of Keras take all of these columns; those that share by a collection are for graphs alone.

    Args:
      feature_columns: a list of columns.
    """
    return all(isinstance(c, FeatureColumn) and c._is_v2_column for c in feature_columns)
