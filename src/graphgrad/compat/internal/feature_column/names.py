"""Feature columns by the names that TensorFlow's modules of old and new columns have: there is one kind here."""

from __future__ import annotations

from graphgrad.extras.feature_column.categorical import (
    CrossedColumn,
    HashedCategoricalColumn,
    IdentityCategoricalColumn,
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
    WeightedCategoricalColumn,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
    crossed_column,
    weighted_categorical_column,
)
from graphgrad.extras.feature_column.categorical import as_ids as _to_sparse_input_and_drop_ignore_values
from graphgrad.extras.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    FeatureTransformationCache,
    SequenceDenseColumn,
    StateManager,
    is_feature_column_v2,
)
from graphgrad.extras.feature_column.column import CategoricalColumn as _CategoricalColumn
from graphgrad.extras.feature_column.column import DenseColumn as _DenseColumn
from graphgrad.extras.feature_column.column import FeatureColumn as _FeatureColumn
from graphgrad.extras.feature_column.column import FeatureTransformationCache as _LazyBuilder
from graphgrad.extras.feature_column.column import SequenceDenseColumn as _SequenceDenseColumn
from graphgrad.extras.feature_column.column import StateManager as _StateManagerImpl
from graphgrad.extras.feature_column.column import check_batches as _verify_static_batch_size_equality
from graphgrad.extras.feature_column.column import normalized as _normalize_feature_columns
from graphgrad.extras.feature_column.column import scope_of as _sanitize_column_name_for_variable_scope
from graphgrad.extras.feature_column.dense_columns import (
    BucketizedColumn,
    EmbeddingColumn,
    IndicatorColumn,
    NumericColumn,
    bucketized_column,
    embedding_column,
    indicator_column,
    numeric_column,
)
from graphgrad.extras.feature_column.dense_columns import EmbeddingColumn as _EmbeddingColumn
from graphgrad.extras.feature_column.dense_columns import NumericColumn as _NumericColumn
from graphgrad.extras.feature_column.models import InputLayer, input_layer, linear_model, make_parse_example_spec
from graphgrad.extras.feature_column.models import LinearModel as _LinearModel
from graphgrad.extras.feature_column.models import create_weighted_sum as _create_weighted_sum
from graphgrad.extras.feature_column.shared import SharedByCollection as _SharedEmbeddingColumn
from graphgrad.extras.feature_column.shared import (
    SharedEmbeddingColumn,
    shared_embedding_columns,
)
from graphgrad.extras.feature_column.shared import shared_embeddings as shared_embedding_columns_v2
