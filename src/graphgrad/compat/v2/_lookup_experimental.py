"""`tf.lookup.experimental`."""

from graphgrad.frontend.lookup import DenseHashTable as DenseHashTable
from graphgrad.frontend.lookup import MutableHashTable as MutableHashTable
