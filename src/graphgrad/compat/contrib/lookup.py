"""`tf.contrib.lookup` of TensorFlow 1.15. Written by `make faces` from exports.txt."""

from graphgrad.compat.lazy import face as _face

__all__, __getattr__, __dir__ = _face(__name__, """
graphgrad.extras.pipelines.lookup_tables: HashTable=StaticHashTable KeyValueTensorInitializer TextFileInitializer
graphgrad.extras.pipelines.mutable_tables: MutableDenseHashTable=DenseHashTable MutableHashTable
graphgrad.extras.pipelines.vocabulary_tables: index_table_from_file index_table_from_tensor
    index_to_string_table_from_file index_to_string_table_from_tensor
""")
