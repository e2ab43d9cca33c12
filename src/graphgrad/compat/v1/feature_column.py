"""`tf.feature_column` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.feature_column.categorical: categorical_column_with_hash_bucket categorical_column_with_identity
    categorical_column_with_vocabulary_file=categorical_column_with_vocabulary_file_v1
    categorical_column_with_vocabulary_list crossed_column weighted_categorical_column
graphgrad.extras.feature_column.dense_columns: bucketized_column embedding_column indicator_column numeric_column
graphgrad.extras.feature_column.models: input_layer linear_model make_parse_example_spec
graphgrad.extras.feature_column.sequence: sequence_categorical_column_with_hash_bucket
    sequence_categorical_column_with_identity sequence_categorical_column_with_vocabulary_file
    sequence_categorical_column_with_vocabulary_list sequence_numeric_column
graphgrad.extras.feature_column.shared: shared_embedding_columns
""")
