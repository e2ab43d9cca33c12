"""`tf.feature_column`. Written by `make faces` from exports.txt."""

from graphgrad.extras.feature_column.categorical import categorical_column_with_hash_bucket as categorical_column_with_hash_bucket
from graphgrad.extras.feature_column.categorical import categorical_column_with_identity as categorical_column_with_identity
from graphgrad.extras.feature_column.categorical import categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file
from graphgrad.extras.feature_column.categorical import categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list
from graphgrad.extras.feature_column.categorical import crossed_column as crossed_column
from graphgrad.extras.feature_column.categorical import weighted_categorical_column as weighted_categorical_column
from graphgrad.extras.feature_column.dense_columns import bucketized_column as bucketized_column
from graphgrad.extras.feature_column.dense_columns import embedding_column as embedding_column
from graphgrad.extras.feature_column.dense_columns import indicator_column as indicator_column
from graphgrad.extras.feature_column.dense_columns import numeric_column as numeric_column
from graphgrad.extras.feature_column.models import make_parse_example_spec as make_parse_example_spec
from graphgrad.extras.feature_column.sequence import sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket
from graphgrad.extras.feature_column.sequence import sequence_categorical_column_with_identity as sequence_categorical_column_with_identity
from graphgrad.extras.feature_column.sequence import sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file
from graphgrad.extras.feature_column.sequence import sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list
from graphgrad.extras.feature_column.sequence import sequence_numeric_column as sequence_numeric_column
from graphgrad.extras.feature_column.shared import shared_embeddings as shared_embeddings

__all__ = [
    "bucketized_column", "categorical_column_with_hash_bucket", "categorical_column_with_identity",
    "categorical_column_with_vocabulary_file", "categorical_column_with_vocabulary_list", "crossed_column",
    "embedding_column", "indicator_column", "make_parse_example_spec", "numeric_column",
    "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file", "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column", "shared_embeddings", "weighted_categorical_column"
]
