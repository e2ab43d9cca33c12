"""`tf.lookup`: lookup tables, for instance from words to ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.tracking.resources import TrackableResource
from graphgrad.ir.context import current_graph, get_default_graph
from graphgrad.ir.conversion import convert_to_tensor, is_tensor_like
from graphgrad.ir.dtypes import DType, as_dtype, int64, string, variant
from graphgrad.ir.graph import Operation
from graphgrad.ir.graphdef import WRITTEN_AS, HandleKind
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.values.variable_store import FIRST_VALUE, Cell, Handle
from graphgrad.ops.common.sparse_tensor import SparseTensor
from graphgrad.ops.control.group import group

from .asset import Asset


def _handle(name: str, kind: HandleKind, first: Any) -> Any:
    graph = current_graph()
    if graph is None:
        return Handle(Cell(first, name, variant, ()))
    name = graph.unique_name(name)
    made = raw.VarHandleOp(dtype=variant, shape=(), shared_name=name, name=f"{name}/")
    vars(made.op).update({WRITTEN_AS: kind, FIRST_VALUE: first})
    return made


def _register(initializer: Any) -> Any:
    if current_graph() is not None:
        get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, initializer)
    return initializer


class TextFileIndex:
    """Special column indices: the whole line, and the number of the line.

    >>> tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    (-2, -1)
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """An initializer that fills a table with given keys and values.

    Args:
      keys, values: vectors of one length.
      key_dtype, value_dtype: their dtypes, if they are not tensors.
      name: a name for the operations.

    >>> table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["b", "c"])))
    array([ 2, -1], dtype=int32)
    """

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
                 name: str | None = None):
        with name_scope(name, "key_value_init"):
            self._keys = convert_to_tensor(keys, key_dtype, name="keys")
            self._values = convert_to_tensor(values, value_dtype, name="values")
        self.key_dtype, self.value_dtype = as_dtype(self._keys.dtype), as_dtype(self._values.dtype)
        self._name = name or "key_value_init"

    def initialize(self, table: Any) -> Any:
        """Makes the operation that fills `table`."""
        if table.key_dtype is not self.key_dtype or table.value_dtype is not self.value_dtype:
            raise TypeError(f"the table takes {table.key_dtype.name} and {table.value_dtype.name}, the initializer "
                            f"{self.key_dtype.name} and {self.value_dtype.name}. Fix: tf.cast keys and values")
        return _register(raw.InitializeTableV2(table.resource_handle, self._keys, self._values))


class TextFileInitializer:
    """An initializer that fills a table from the lines of a text file.

    Args:
      filename: the file; read when the table is initialized.
      key_dtype, value_dtype: dtypes of keys and values.
      key_index, value_index: the column of each; `TextFileIndex` has those for the whole line and for its number.
      vocab_size: the number of lines to read; all by default.
      delimiter: the separator of columns.
      name: a name for the operation.
      value_index_offset: added to the number of a line that is a value.
    Raises: ValueError for an index of a whole line that is not a string, or of a number that is not an integer.
    """

    def __init__(self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
                 vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None,
                 value_index_offset: int = 0):
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        for what, index, dtype in (("key", key_index, self.key_dtype), ("value", value_index, self.value_dtype)):
            if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
                raise ValueError(f"{what}_dtype must be int64 for the number of a line, not {dtype.name}. "
                                 f"Fix: {what}_dtype=tf.int64")
            if index == TextFileIndex.WHOLE_LINE and not (dtype.is_integer or dtype is string):
                raise ValueError(f"{what}_dtype must be a string or an integer for a whole line, not {dtype.name}. "
                                 f"Fix: {what}_dtype=tf.string")
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"Invalid {what} index {index}. Fix: give a column, or a member of TextFileIndex")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}. Fix: give a number of lines, or None for all")
        self._asset = None if is_tensor_like(filename) else Asset(filename)
        self._filename = filename if self._asset is None else self._asset.asset_path
        self._attrs = {"key_index": key_index, "value_index": value_index, "key_dtype": self.key_dtype,
                       "value_dtype": self.value_dtype, "vocab_size": -1 if vocab_size is None else vocab_size,
                       "delimiter": delimiter, "offset": value_index_offset}
        self._name = name or "text_file_init"

    def initialize(self, table: Any) -> Any:
        """Makes the operation that fills `table`."""
        filename = convert_to_tensor(self._filename, string, name="asset_filepath")
        graph = current_graph()
        if graph is not None and filename.op.type == "Const":
            graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return _register(raw.InitializeTableFromTextFileV2(table.resource_handle, filename, **self._attrs))


class LookupInterface(TrackableResource):
    """What all tables are; libraries ask for it."""


class Table(LookupInterface):
    """The base of all tables.

    Attributes:
      key_dtype, value_dtype: dtypes of keys and values.
      default_value: the value of unknown keys.
    """

    _mutable = False
    _key_rank = 0
    _first: Any = None  # what it holds from the beginning

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str):
        self._set_kind(key_dtype, value_dtype, default_value, name)
        kind, attrs = self._saved_resource
        attrs = {**attrs, "use_node_name_sharing": False}
        self._resource_handle = _handle(name, HandleKind(9, kind, attrs, self._resource_inputs()), self._first)

    def _set_kind(self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str) -> None:
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self._name = name
        self._default_value = convert_to_tensor(default_value, self._value_dtype, name="default_value")
        self._value_shape = tuple(self._default_value.shape.as_list())

    @property
    def _saved_resource(self) -> Any:
        """What makes the table in a saved model: an op type and its attributes."""
        raise NotImplementedError(f"{type(self).__name__}._saved_resource")

    def _resource_inputs(self) -> tuple[Any, ...]:
        """Returns the tensors that what makes the table gets."""
        return ()

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """The name of the table."""
        return self._name

    @property
    def resource_handle(self) -> Any:
        """The handle, a tensor of dtype resource."""
        return self._resource_handle

    @property
    def default_value(self) -> Any:
        """The value of unknown keys."""
        return self._default_value

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Looks up the value of each key, or the default; for a sparse tensor returns a sparse tensor.

        Args:
          keys: a tensor or `SparseTensor` of the table's keys.
          name: a name for the operation.
        Raises: TypeError for keys of another dtype; FailedPreconditionError at run time if it has not been initialized.
        """
        return self._find(keys, self._default_value, name)

    def _find(self, keys: Any, default: Any, name: str | None) -> Any:
        sparse = keys if isinstance(keys, SparseTensor) else None
        dense = convert_to_tensor(keys, dtype_hint=self._key_dtype, name="keys") if sparse is None else sparse.values
        if dense.dtype is not self._key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self._key_dtype.name}, received: {dense.dtype.name}. "
                            f"Fix: tf.cast(keys, tf.{self._key_dtype.name})")
        name = name or f"{self._name}_lookup_table_find"
        values = raw.LookupTableFindV2(self._resource_handle, dense, default, mutable=self._mutable,
                                       key_rank=self._key_rank, name=name)
        return values if sparse is None else sparse.with_values(values)

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def size(self, name: str | None = None) -> Any:
        """Returns the number of entries, int64."""
        return raw.LookupTableSizeV2(self._resource_handle, mutable=self._mutable, name=name)

    def export(self, name: str | None = None) -> Any:
        """Returns all keys and all values, as two tensors."""
        return raw.LookupTableExportV2(self._resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype,
                                       value_shape=self._value_shape, name=name)


class StaticHashTable(Table):
    """A table that is filled once.

    Args:
      initializer: a `KeyValueTensorInitializer` or `TextFileInitializer`; it fills the table when
        `tf.tables_initializer` is run, at once in eager mode.
      default_value: the value of keys that are not in the table.
      name: a name for the table.
      experimental_is_anonymous: accepted.
    Reference: TensorFlow 2.21 `tf.lookup.StaticHashTable`.

    >>> init = tf.lookup.KeyValueTensorInitializer([1, 2], ["one", "two"], tf.int64, tf.string)
    >>> table = tf.lookup.StaticHashTable(init, "many")
    >>> sess.run(tf.tables_initializer())
    >>> sess.run([table.lookup(tf.constant([2, 5], tf.int64)), table.size()])
    [array([b'two', b'many'], dtype=object), np.int64(2)]
    """

    def __init__(self, initializer: Any, default_value: Any, name: str | None = None,
                 experimental_is_anonymous: bool = False):
        super().__init__(initializer.key_dtype, initializer.value_dtype, default_value, name or "hash_table")
        self._initializer = initializer
        self._init_op = initializer.initialize(self)

    @property
    def _saved_resource(self) -> Any:
        return "HashTableV2", {"key_dtype": self.key_dtype, "value_dtype": self.value_dtype}

    def _fill(self) -> Any:
        """Makes the operation that fills the table once more."""
        return self._initializer.initialize(self)

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        return self._init_op

    init = initializer


class StaticVocabularyTable(LookupInterface):
    """A table of ids for words: those of an initializer, and ids by hash for unknown words.

    Args:
      initializer: of int64 values; or None, for hashes alone.
      num_oov_buckets: the number of ids for unknown words; more than 0.
      lookup_key_dtype: the dtype of keys, if there is no initializer.
      name: a name for the table.
      experimental_is_anonymous: accepted.
    Raises: ValueError if there are no such ids; TypeError for values other than int64.
    Reference: TensorFlow 2.21 `tf.lookup.StaticVocabularyTable`.

    >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1], value_dtype=tf.int64)
    >>> table = tf.lookup.StaticVocabularyTable(init, 2)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["b", "a", "elsewhere"])))
    array([1, 0, 2])
    """

    def __init__(self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None, name: str | None = None,
                 experimental_is_anonymous: bool = False):
        if num_oov_buckets <= 0:
            raise ValueError(f"num_oov_buckets must be > 0, not {num_oov_buckets}. Fix: use StaticHashTable")
        self._table = None if initializer is None else StaticHashTable(initializer, -1, name)
        if self._table is not None and self._table.value_dtype is not int64:
            raise TypeError(f"values of the initializer must be int64, not {self._table.value_dtype.name}. "
                            "Fix: value_dtype=tf.int64")
        if self._table is not None:
            self._track_trackable(self._table, "_table")
        self._num_oov_buckets = num_oov_buckets
        self.key_dtype = as_dtype(lookup_key_dtype or (self._table.key_dtype if self._table else string))
        self.value_dtype = int64
        self.name = name or "static_vocabulary_table"

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        return None if self._table is None else self._table.initializer

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Looks up the id of each key, int64.

        Args:
          keys: a tensor or `SparseTensor` of the table's keys.
          name: a name for the operations.
        """
        sparse = keys if isinstance(keys, SparseTensor) else None
        dense = sparse.values if sparse is not None else convert_to_tensor(keys, name="keys")
        with name_scope(name, f"{self.name}_Lookup"):
            words = dense if dense.dtype is string else raw.AsString(dense)
            buckets = raw.StringToHashBucketFast(words, num_buckets=self._num_oov_buckets)
            if self._table is not None:
                known = self._table.lookup(dense)
                size = self._table.size()
                buckets = raw.SelectV2(raw.NotEqual(known, np.int64(-1)), known, raw.AddV2(buckets, size))
        return buckets if sparse is None else sparse.with_values(buckets)

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def size(self, name: str | None = None) -> Any:
        """Returns the number of ids, int64."""
        if self._table is None:
            return convert_to_tensor(self._num_oov_buckets, int64)
        return raw.AddV2(self._table.size(name), np.int64(self._num_oov_buckets))


def tables_initializer(name: str | None = "init_all_tables") -> Operation | Any:
    """Makes an operation that fills all tables of the default graph.

    Args:
      name: a name for the operation.
    Returns: an `Operation`.
    Reference: TensorFlow 2.21 `tf.compat.v1.tables_initializer`.
    """
    return group(*get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS), name=name)


initialize_all_tables = tables_initializer

__all__ = ["KeyValueTensorInitializer", "LookupInterface", "StaticHashTable", "StaticVocabularyTable", "Table",
           "TextFileIndex", "TextFileInitializer", "initialize_all_tables", "tables_initializer"]
