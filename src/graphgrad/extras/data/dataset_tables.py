"""Look-up tables of the pairs, or the elements, of data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphgrad.ir.dtypes import string
from graphgrad.ir.op_signature import Spec
from graphgrad.ir.opdef import raw

from .data_structure import flatten
from .elements import Element, joined
from .passes import Values
from .values import computed

if TYPE_CHECKING:
    from graphgrad.extras.pipelines.lookup_tables import StaticHashTable, StaticVocabularyTable

_Transformation = Callable[[Any], Any]


class HasherSpec(NamedTuple):
    """The hash function of a table."""

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class DatasetInitializer:
    """An initializer that fills a table with the pairs of a data set.

    Args:
      dataset: a data set of pairs: key and value.
    Raises: ValueError for other elements.
    Reference: TensorFlow 2.21 `tf.data.experimental.DatasetInitializer`.

    >>> words = tf.data.Dataset.from_tensor_slices((["a", "b"], tf.constant([1, 2], tf.int64)))
    >>> table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(words), -1)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["b", "c"])))
    array([ 2, -1])
    """

    def __init__(self, dataset: Any):
        specs = dataset._specs
        if not isinstance(specs, tuple) or len(flatten(specs)) != 2:
            raise ValueError("Invalid `dataset`. Its elements must be pairs of key and value, not "
                             f"{dataset.element_spec}. Fix: map() to such pairs, or enumerate()")
        self._dataset = dataset
        self.key_dtype, self.value_dtype = (s.dtype for s in flatten(specs))

    def initialize(self, table: Any) -> Any:
        """Makes the operation that fills `table`."""
        from graphgrad.extras.pipelines.lookup_tables import _register

        specs = (Spec.of(self.key_dtype, (None,)), Spec.of(self.value_dtype, (None,)))

        def compute(given: Values) -> Element:
            chunk = list(self._dataset._passes(given))
            if not chunk:
                return [np.zeros(0, s.dtype.np_dtype) for s in specs]
            return joined(flatten(self._dataset._specs), chunk)

        keys, values = computed(self._dataset._captured, compute, specs, None)
        return _register(raw.InitializeTableV2(table.resource_handle, keys, values))


def table_from_dataset(dataset: Any = None, num_oov_buckets: int = 0, vocab_size: Any = None, default_value: Any = None,
                       hasher_spec: Any = FastHashSpec, key_dtype: Any = string,
                       name: str | None = None) -> StaticHashTable | StaticVocabularyTable:
    """Makes a table of the pairs of a data set.

    Args:
      dataset: a data set of pairs: key and value.
      num_oov_buckets: the number of further ids, by hash, for unknown keys.
      vocab_size: the number of pairs to use; all by default.
      default_value: the value of unknown keys, if there are no such ids.
      hasher_spec: accepted; hashes are fast ones.
      key_dtype: the dtype of keys.
      name: a name for the table.
    Raises: ValueError for no data set, other elements, or a negative number of ids.
    Reference: TensorFlow 2.21 `tf.data.experimental.table_from_dataset`.
    """
    from graphgrad.extras.pipelines.lookup_tables import StaticHashTable, StaticVocabularyTable

    if dataset is None:
        raise ValueError("Expected a data set. Fix: give `dataset`")
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    initializer = DatasetInitializer(dataset if vocab_size is None else dataset.take(vocab_size))
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, key_dtype, name)
    default = -1 if default_value is None and initializer.value_dtype.is_integer else default_value
    return StaticHashTable(initializer, "" if default is None else default, name)


def index_table_from_dataset(dataset: Any = None, num_oov_buckets: int = 0, vocab_size: Any = None,
                             default_value: Any = -1, hasher_spec: Any = FastHashSpec,
                             key_dtype: Any = string,
                             name: str | None = None) -> StaticHashTable | StaticVocabularyTable:
    """Makes a table from the elements of a data set to their positions.

    Args:
      dataset: a data set of scalars.
      num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name: as for `table_from_dataset`.
    Reference: TensorFlow 2.21 `tf.data.experimental.index_table_from_dataset`.
    """
    if dataset is None:
        raise ValueError("Expected a data set. Fix: give `dataset`")
    numbered = dataset.enumerate().map(lambda i, x: (x, i))
    return table_from_dataset(numbered, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)
