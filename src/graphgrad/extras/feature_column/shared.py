"""Columns that share the trained vectors of their ids: by a variable of their own, or by a collection of the graph."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

from graphgrad.frontend.graph.init_scope import init_scope
from graphgrad.frontend.variables.variable_scope import get_variable
from graphgrad.ir import context
from graphgrad.ir.dtypes import float32
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor

from .categorical import WeightedCategoricalColumn
from .column import CategoricalColumn, checked
from .dense_columns import VectorColumn, begin_with, first_vectors
from .sequence import SequenceCategoricalColumn

_FIXES = ("Fix: choose another name for this collection (shared_embedding_collection_name), or add no variables to it, "
          "since the columns add theirs")


class SharedVectors:
    """The vectors of several columns: a variable in each graph, and one in eager mode.

    Args:
      shape: the number of ids and the dimension.
      initializer, ckpt_to_load_from, tensor_name_in_ckpt, trainable: as of `tf.feature_column.embedding_column`.
      name: the variable's name.
    """

    def __init__(self, shape: tuple[int, int], initializer: Any, ckpt_to_load_from: str | None,
                 tensor_name_in_ckpt: str | None, trainable: bool, name: str):
        self.shape = shape
        self._initializer, self._checkpoint = initializer, (ckpt_to_load_from, tensor_name_in_ckpt)
        self._trainable, self._name = trainable, name
        self._of_graphs: Any = weakref.WeakKeyDictionary()
        self._eager: Any = None

    @property
    def embedding_weights(self) -> Any:
        """The variable of the current graph, which is made when it is first asked for."""
        with init_scope():
            graph = context.current_graph()
            found = self._eager if graph is None else self._of_graphs.get(graph)
            if found is not None:
                return found
            made = get_variable(self._name, self.shape, float32, self._initializer, trainable=self._trainable)
            begin_with(made, *self._checkpoint)
            if graph is None:
                self._eager = made
            else:
                self._of_graphs[graph] = made
            return made


@dataclasses.dataclass(frozen=True)
class SharedEmbeddingColumn(VectorColumn):
    """A vector for each id, one of those that several columns share."""

    categorical_column: Any
    shared_embedding_column_creator: SharedVectors
    combiner: str
    max_norm: float | None
    use_safe_embedding_lookup: bool = True

    @property
    def name(self) -> str:
        """The name of the ids, and what is made of them."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> Any:
        """The dimension of the vectors."""
        return TensorShape([self.shared_embedding_column_creator.shape[1]])

    def create_state(self, state_manager: Any) -> None:
        """Does nothing: the vectors belong to all the columns, not to one."""

    def vectors(self, state_manager: Any) -> Any:
        """Returns the variable, (ids, dimension)."""
        return self.shared_embedding_column_creator.embedding_weights

    def _looked_up(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        checked(not getattr(state_manager, "of_scopes", False),
                "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. Please use "
                "`DenseFeatures` or `LinearModel` instead. Fix: tf.compat.v1.feature_column.shared_embedding_columns")
        with name_scope(None, self.name):
            return super()._looked_up(transformation_cache, state_manager)


@dataclasses.dataclass(frozen=True)
class SharedByCollection(VectorColumn):
    """A vector for each id, one of those that the columns of one collection of the graph share."""

    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    shared_embedding_collection_name: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool
    use_safe_embedding_lookup: bool = True
    _is_v2_column = False

    @property
    def name(self) -> str:
        """The name of the ids, and what is made of them."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    @property
    def variable_shape(self) -> Any:
        """The dimension of the vectors."""
        return TensorShape([self.dimension])

    def _collected(self) -> Any:
        """Returns the variable of the collection, None if there is none yet."""
        found = _graph().get_collection(self.shared_embedding_collection_name)
        checked(len(found) < 2, f"Collection {found} can only contain one variable. {_FIXES}")
        if not found:
            return None
        wanted = TensorShape([self.num_buckets, self.dimension])
        checked(found[0].shape == wanted, f"Shared embedding collection {self.shared_embedding_collection_name} "
                f"contains variable {found[0].name} of unexpected shape {found[0].shape}. Expected shape is {wanted}. "
                f"{_FIXES}")
        return found[0]

    def create_state(self, state_manager: Any) -> None:
        """Makes the vectors, unless the collection has them."""
        if self._collected() is None:
            made = state_manager.create_variable(
                self, name="embedding_weights", shape=(self.num_buckets, self.dimension), dtype=float32,
                trainable=self.trainable, use_resource=True, initializer=self.initializer)
            begin_with(made, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
            _graph().add_to_collection(self.shared_embedding_collection_name, made)

    def vectors(self, state_manager: Any) -> Any:
        """Returns the variable, (ids, dimension)."""
        return self._collected()


# -- functions -------------------------------------------------------------------------------------------


def _graph() -> Any:
    """Returns the current graph; raises RuntimeError in eager mode."""
    graph = context.current_graph()
    if graph is None:
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.\n"
                           f"  Asked for at {user_source(2)}\n  Fix: build them within a graph or a tf.function, or "
                           "use one tf.Variable, or one layer, for all features")
    return graph


def _checked_columns(categorical_columns: Any) -> list[Any]:
    """Returns columns in the order of their names; raises if they cannot share vectors."""
    _graph()
    checked(isinstance(categorical_columns, (list, tuple)) and len(categorical_columns) > 0,
            f"categorical_columns must be a list of columns, and not empty. Given: {categorical_columns}")
    for column in categorical_columns:
        checked(isinstance(column, CategoricalColumn),
                f"All categorical_columns must be subclasses of CategoricalColumn. Given: {column}")
    columns = sorted(categorical_columns, key=lambda c: str(c.name))
    first = columns[0]
    for column in columns[1:]:
        checked(_kind(column) is _kind(first), "To use shared_embedding_column, all categorical_columns must have the "
                "same type, or be weighted_categorical_column or sequence column of the same type. Given column: "
                f"{first} of type: {_kind(first)} does not match given column: {column} of type: {_kind(column)}")
        checked(column.num_buckets == first.num_buckets, "To use shared_embedding_column, all categorical_columns must "
                f"have the same number of buckets. Given column: {first} with buckets: {first.num_buckets} does not "
                f"match column: {column} with buckets: {column.num_buckets}")
    return columns


def _kind(column: Any) -> type:
    while isinstance(column, (WeightedCategoricalColumn, SequenceCategoricalColumn)):
        column = column.categorical_column
    return type(column)


def _collection_name(given: str | None, columns: list[Any]) -> str:
    return given or "_".join(c.name for c in columns) + "_shared_embedding"


def shared_embeddings(categorical_columns: Any, dimension: int, combiner: str = "mean", initializer: Any = None,
                      shared_embedding_collection_name: str | None = None, ckpt_to_load_from: str | None = None,
                      tensor_name_in_ckpt: str | None = None, max_norm: float | None = None, trainable: bool = True,
                      use_safe_embedding_lookup: bool = True) -> list[Any]:
    """Makes columns that share the trained vectors of their ids.

    Args:
      categorical_columns: columns of ids, of one kind and of equally many; some may have weights or steps.
      dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
        use_safe_embedding_lookup: as of `tf.feature_column.embedding_column`.
      shared_embedding_collection_name: the variable's name; the names of the columns and "shared_embedding" by default.
    Returns: a dense column for each column, in their order, for `tf.keras.layers.DenseFeatures`.
    Raises: RuntimeError in eager mode; ValueError for columns that do not fit, and as `embedding_column`.
    Gradient: that of `tf.nn.safe_embedding_lookup_sparse`, added over the columns.
    Reference: TensorFlow 2.21 `tf.feature_column.shared_embeddings`.

    >>> import graphgrad
    >>> ids = [tf.feature_column.categorical_column_with_identity(key, 3) for key in ("watched", "next")]
    >>> [column.name for column in graphgrad.feature_column.shared_embeddings(ids, 2)]
    ['watched_shared_embedding', 'next_shared_embedding']
    """
    columns = _checked_columns(categorical_columns)
    initializer = first_vectors(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    vectors = SharedVectors((columns[0].num_buckets, dimension), initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                            trainable, _collection_name(shared_embedding_collection_name, columns))
    return [SharedEmbeddingColumn(c, vectors, combiner, max_norm, use_safe_embedding_lookup)
            for c in categorical_columns]


def shared_embedding_columns(categorical_columns: Any, dimension: int, combiner: str = "mean", initializer: Any = None,
                             shared_embedding_collection_name: str | None = None, ckpt_to_load_from: str | None = None,
                             tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
                             trainable: bool = True, use_safe_embedding_lookup: bool = True) -> list[Any]:
    """Makes columns that share the trained vectors of their ids, for `input_layer` and `linear_model`.

    Args:
      categorical_columns: columns of ids, of one kind and of equally many; some may have weights.
      dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
        use_safe_embedding_lookup: as of `tf.feature_column.embedding_column`.
      shared_embedding_collection_name: the graph's collection that the variable joins, in which later uses find it.
        By default it is the names of the columns and "shared_embedding".
    Returns: a dense column for each column, in their order.
    Raises: RuntimeError in eager mode; ValueError for columns that do not fit, and as `embedding_column`.
    Gradient: that of `tf.nn.safe_embedding_lookup_sparse`, added over the columns.
    Reference: TensorFlow 2.21 `tf.compat.v1.feature_column.shared_embedding_columns`.

    >>> ids = [tf.feature_column.categorical_column_with_identity(key, 3) for key in ("watched", "next")]
    >>> first = tf.constant_initializer([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> columns = tf.feature_column.shared_embedding_columns(ids, 2, initializer=first)
    >>> x = tf.feature_column.input_layer({"watched": [[0, 2]], "next": [[1]]}, columns)
    >>> [v.name for v in tf.global_variables()]
    ['input_layer/next_watched_shared_embedding/embedding_weights:0']
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(x)
    array([[3., 4., 3., 4.]], dtype=float32)
    """
    columns = _checked_columns(categorical_columns)
    initializer = first_vectors(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    name = _collection_name(shared_embedding_collection_name, columns)
    return [SharedByCollection(c, dimension, combiner, initializer, name, ckpt_to_load_from, tensor_name_in_ckpt,
                               max_norm, trainable, use_safe_embedding_lookup) for c in categorical_columns]
