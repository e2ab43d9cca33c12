"""`tf.lookup.experimental`."""

from graphgrad.extras.pipelines.lookup_tables import DenseHashTable as DenseHashTable
from graphgrad.extras.pipelines.lookup_tables import MutableHashTable as MutableHashTable
