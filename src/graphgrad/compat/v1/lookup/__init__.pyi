"""`tf.lookup` of TensorFlow 1. Written by `make faces` from exports.txt."""

from graphgrad.compat.v1.lookup import experimental as experimental
from graphgrad.extras.pipelines.lookup_tables import KeyValueTensorInitializer as KeyValueTensorInitializer
from graphgrad.extras.pipelines.lookup_tables import StaticHashTable as StaticHashTable
from graphgrad.extras.pipelines.lookup_tables import StaticVocabularyTable as StaticVocabularyTable
from graphgrad.extras.pipelines.lookup_tables import TextFileIndex as TextFileIndex
from graphgrad.extras.pipelines.lookup_tables import TextFileInitializer as TextFileInitializer

__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex", "TextFileInitializer",
    "experimental"
]
