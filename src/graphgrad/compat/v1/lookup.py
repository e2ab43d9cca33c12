"""`tf.lookup` of TensorFlow 1."""

from . import _lookup_experimental as experimental
from graphgrad.frontend.lookup import KeyValueTensorInitializer as KeyValueTensorInitializer
from graphgrad.frontend.lookup import StaticHashTable as StaticHashTable
from graphgrad.frontend.lookup import StaticVocabularyTable as StaticVocabularyTable
from graphgrad.frontend.lookup import TextFileIndex as TextFileIndex
from graphgrad.frontend.lookup import TextFileInitializer as TextFileInitializer
