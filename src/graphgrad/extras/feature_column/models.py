"""Models of feature columns: the input of a net, a linear model; how examples are parsed for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.extras.sparse.sparse_embedding import safe_embedding_lookup_sparse_v1
from graphgrad.extras.sparse.sparse_functions import sparse_reshape
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables.initializers import Zeros
from graphgrad.frontend.variables.template import make_template
from graphgrad.frontend.variables.variable_scope import get_variable, get_variable_scope, variable_scope
from graphgrad.ir.dtypes import float32, int32
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.array.concat_stack import concat, stack
from graphgrad.ops.math.arithmetic import add_n

from .column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    FeatureTransformationCache,
    ScopedState,
    check_batches,
    normalized,
    scope_of,
)


def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """Returns what `tf.io.parse_example` needs to read the features of columns.

    Args:
      feature_columns: an iterable of columns.
    Returns: names of features -> `tf.io.FixedLenFeature` or `tf.io.VarLenFeature`.
    Raises: ValueError for what is no column, and for columns that read a feature in different ways.
    Gradient: none.
    Reference: TensorFlow 2.21 `tf.feature_column.make_parse_example_spec`.

    >>> tf.feature_column.make_parse_example_spec([tf.feature_column.numeric_column("a")])
    {'a': FixedLenFeature(shape=(1,), dtype=tf.float32, default_value=None)}
    """
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"All feature_columns must be FeatureColumn instances. Given: {column}")
        for key, spec in column.parse_example_spec.items():
            if found.setdefault(key, spec) != spec:
                raise ValueError(f"feature_columns contain different parse_spec for key {key}. "
                                 f"Given {spec} and {found[key]}\n  Asked for at {user_source(2)}")
    return found


def create_weighted_sum(column: Any, transformation_cache: Any, state_manager: Any, sparse_combiner: str,
                        weight_var: Any) -> Tensor:
    """Computes what a column contributes to a linear model.

    Args:
      column: a dense or categorical column.
      transformation_cache: the features.
      state_manager: the column's state, or None.
      sparse_combiner: how the weights of several ids are combined.
      weight_var: (ids or numbers, units), the weights.
    Returns: (batch, units).
    """
    if isinstance(column, CategoricalColumn):
        ids, weights = column.get_sparse_tensors(transformation_cache, state_manager)
        ids, weights = (t if t is None else sparse_reshape(t, _rows(t.dense_shape)) for t in (ids, weights))
        return safe_embedding_lookup_sparse_v1(weight_var, ids, weights, combiner=sparse_combiner, name="weighted_sum")
    tensor = _flat(column, column.get_dense_tensor(transformation_cache, state_manager))
    return raw.MatMul(tensor, weight_var, name="weighted_sum")


def _rows(shape: Any) -> Any:
    return stack([raw.Cast(shape[0], DstT=int32), np.int32(-1)])


def _flat(column: Any, tensor: Any) -> Any:
    n = column.variable_shape.num_elements()
    return raw.Reshape(tensor, stack([raw.Shape(tensor)[0], np.int32(n)]))


def _collections(given: Any) -> list[str]:
    return list(dict.fromkeys([*(given or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]))


def _of_scope() -> list[Any]:
    scope = get_variable_scope()
    return list(scope.global_variables())


def _input(features: Any, feature_columns: Any, weight_collections: Any, trainable: bool, cols_to_vars: Any,
           cols_to_output_tensors: Any) -> Any:
    columns = normalized(feature_columns)
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError("Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with "
                             f"an embedding_column or indicator_column. Given: {column}")
    cache, outputs = FeatureTransformationCache(features), []
    state = ScopedState(_collections(weight_collections), trainable)
    for column in columns:
        with variable_scope(None, column._var_scope_name):
            column.create_state(state)
            outputs.append(_flat(column, column.get_dense_tensor(cache, state)))
            if cols_to_vars is not None:
                cols_to_vars[column] = _of_scope()
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = outputs[-1]
    check_batches(outputs, columns)
    return concat(outputs, 1)


def input_layer(features: Any, feature_columns: Any, weight_collections: Any = None, trainable: bool = True,
                cols_to_vars: Any = None, cols_to_output_tensors: Any = None) -> Tensor:
    """Computes the input of a net: the tensors of dense columns side by side, in the order of their names.

    Args:
      features: name -> a tensor or `SparseTensor`, the batch first.
      feature_columns: dense columns of different names.
      weight_collections: collections that variables of the columns join.
      trainable: whether these are trained.
      cols_to_vars: a dict that gets the variables of each column.
      cols_to_output_tensors: a dict that gets the tensor of each column.
    Returns: (batch, numbers), float32.
    Raises: ValueError for other columns and for features that do not fit.
    Gradient: that of the columns.
    Reference: TensorFlow 2.21 `tf.compat.v1.feature_column.input_layer`.

    >>> columns = [tf.feature_column.numeric_column("b"), tf.feature_column.numeric_column("a", 2)]
    >>> sess.run(tf.feature_column.input_layer({"a": [[1.0, 2.0]], "b": [3.0]}, columns))
    array([[1., 2., 3.]], dtype=float32)
    """
    with variable_scope(None, "input_layer"):
        found: Tensor = _input(features, feature_columns, weight_collections, trainable, cols_to_vars,
                               cols_to_output_tensors)
        return found


class InputLayer:
    """`input_layer` as an object whose calls share variables.

    Args:
      feature_columns, weight_collections, trainable, cols_to_vars: as of `input_layer`.
      name: the name of the variable scope.
      create_scope_now: whether the scope is opened now rather than at the first call.
    Reference: TensorFlow 2.21 `feature_column.InputLayer`.
    """

    def __init__(self, feature_columns: Any, weight_collections: Any = None, trainable: bool = True,
                 cols_to_vars: Any = None, name: str = "feature_column_input_layer", create_scope_now: bool = True):
        self._template = make_template(
            name, _input, create_scope_now_=create_scope_now, feature_columns=feature_columns,
            weight_collections=weight_collections, trainable=trainable, cols_to_vars=cols_to_vars,
            cols_to_output_tensors=None)
        self.name = name

    def __call__(self, features: Any) -> Tensor:
        found: Tensor = self._template(features)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._template, name)


class LinearModel:
    """`linear_model` as an object whose calls share variables.

    Args:
      feature_columns, units, sparse_combiner, weight_collections, trainable: as of `linear_model`.
      name: the name of the variable scope.
    Reference: TensorFlow 2.21 `feature_column._LinearModel`.
    """

    def __init__(self, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum",
                 weight_collections: Any = None, trainable: bool = True, name: str | None = None):
        self._columns, self._units, self._combiner = normalized(feature_columns), units, sparse_combiner
        self._weight_collections, self._trainable = _collections(weight_collections), trainable
        self.name = name or "linear_model"
        self._variables: dict[Any, Any] = {}
        self._template = make_template(self.name, self._sum, create_scope_now_=name is None)

    def cols_to_vars(self) -> dict[Any, list[Any]]:
        """Returns the variables of each column, and those of "bias"."""
        return self._variables

    def __call__(self, features: Any) -> Tensor:
        for column in self._columns:
            if not isinstance(column, (DenseColumn, CategoricalColumn)):
                raise ValueError("Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. "
                                 f"Given: {column}")
        found: Tensor = self._template(features)
        return found

    def _sum(self, features: Any) -> Any:
        cache, sums = FeatureTransformationCache(features), []
        state = ScopedState(self._weight_collections, self._trainable)
        for column in self._columns:
            with variable_scope(None, scope_of(column._var_scope_name)):
                categorical = isinstance(column, CategoricalColumn)
                n = column.num_buckets if categorical else column.variable_shape.num_elements()
                weights = self._weights("weights", n)
                column.create_state(state)
                sums.append(create_weighted_sum(column, cache, state, self._combiner, weights))
                self._variables[column] = _of_scope()
        check_batches(sums, self._columns)
        bias = self._weights("bias_weights")
        self._variables["bias"] = list(bias) if hasattr(bias, "_get_variable_list") else [bias]
        return raw.BiasAdd(add_n(sums, name="weighted_sum_no_bias"), bias, name="weighted_sum")

    def _weights(self, name: str, *sizes: int) -> Any:
        return get_variable(name, [*sizes, self._units], float32, Zeros(), trainable=self._trainable,
                            collections=self._weight_collections)


def linear_model(features: Any, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum",
                 weight_collections: Any = None, trainable: bool = True, cols_to_vars: Any = None) -> Tensor:
    """Computes a linear model: a weight for each number and each id, and a bias, which begin with 0.

    Args:
      features: name -> a tensor or `SparseTensor`, the batch first.
      feature_columns: dense or categorical columns of different names.
      units: the number of results.
      sparse_combiner: how the weights of several ids in a row are combined: "sum", "mean" or "sqrtn".
      weight_collections: collections that the variables join.
      trainable: whether these are trained.
      cols_to_vars: a dict that gets the variables of each column, and those of "bias".
    Returns: (batch, units), float32.
    Raises: ValueError for other columns and for features that do not fit.
    Gradient: that of its operations.
    Reference: TensorFlow 2.21 `tf.compat.v1.feature_column.linear_model`.

    >>> price = tf.feature_column.numeric_column("price")
    >>> y = tf.feature_column.linear_model({"price": [[2.0], [3.0]]}, [price])
    >>> [v.name for v in tf.trainable_variables()]
    ['linear_model/price/weights:0', 'linear_model/bias_weights:0']
    """
    model = LinearModel(feature_columns, units, sparse_combiner, weight_collections, trainable)
    result = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return result
