"""`tf.lookup.experimental`. Written by `make faces` from exports.txt."""

from graphgrad.extras.pipelines.mutable_tables import DenseHashTable as DenseHashTable
from graphgrad.extras.pipelines.mutable_tables import MutableHashTable as MutableHashTable

__all__ = [
    "DenseHashTable", "MutableHashTable"
]
