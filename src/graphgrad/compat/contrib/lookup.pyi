"""`tf.contrib.lookup` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.extras.pipelines.lookup_tables import KeyValueTensorInitializer as KeyValueTensorInitializer
from graphgrad.extras.pipelines.lookup_tables import StaticHashTable as HashTable
from graphgrad.extras.pipelines.lookup_tables import TextFileInitializer as TextFileInitializer
from graphgrad.extras.pipelines.mutable_tables import DenseHashTable as MutableDenseHashTable
from graphgrad.extras.pipelines.mutable_tables import MutableHashTable as MutableHashTable
from graphgrad.extras.pipelines.vocabulary_tables import index_table_from_file as index_table_from_file
from graphgrad.extras.pipelines.vocabulary_tables import index_table_from_tensor as index_table_from_tensor
from graphgrad.extras.pipelines.vocabulary_tables import index_to_string_table_from_file as index_to_string_table_from_file
from graphgrad.extras.pipelines.vocabulary_tables import index_to_string_table_from_tensor as index_to_string_table_from_tensor

__all__ = [
    "HashTable", "KeyValueTensorInitializer", "MutableDenseHashTable", "MutableHashTable", "TextFileInitializer",
    "index_table_from_file", "index_table_from_tensor", "index_to_string_table_from_file",
    "index_to_string_table_from_tensor"
]
