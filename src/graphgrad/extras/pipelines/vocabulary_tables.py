"""`tf.contrib.lookup`: tables from words to ids and back, from lists and files of words."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import as_dtype, int64, string
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import DTypeLike

from .lookup_tables import (
    KeyValueTensorInitializer,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
)


def _checked(num_oov_buckets: int, given: Any, what: str) -> None:
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.\n"
                         f"  Asked for at {user_source(2)}")
    if given is None:
        raise ValueError(f"{what} must be specified.\n  Asked for at {user_source(2)}")


def _ids(initializer: Any, num_oov_buckets: int, default_value: int, name: str | None) -> Any:
    """Returns a table of ids; unknown words get one by hash, or the default."""
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, name=name)
    return StaticHashTable(initializer, default_value, name)


def index_table_from_tensor(vocabulary_list: Any, num_oov_buckets: int = 0, default_value: int = -1,
                            hasher_spec: Any = None, dtype: DTypeLike = string,
                            name: str | None = None) -> StaticHashTable | StaticVocabularyTable:
    """Makes a table from words to their places in a list.

    Args:
      vocabulary_list: (n,), strings or integers.
      num_oov_buckets: the number of ids, from n on, for other words, which are hashed.
      default_value: the id of other words where there are no such ids.
      hasher_spec: accepted; hashes are those of `tf.strings.to_hash_bucket_fast`.
      dtype: the dtype of the words.
      name: the name of the scope.
    Returns: a `tf.lookup.StaticHashTable`, or a `StaticVocabularyTable` where there are ids for other words.
    Raises: ValueError without a list, or for fewer than no such ids.
    Gradient: none.
    Reference: TensorFlow 1.15 `tf.contrib.lookup.index_table_from_tensor`.

    >>> from graphgrad.compat import contrib
    >>> table = contrib.lookup.index_table_from_tensor(["a", "b"], default_value=9)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["b", "c"])))
    array([1, 9])
    """
    _checked(num_oov_buckets, vocabulary_list, "vocabulary_list")
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        wanted = as_dtype(dtype)
        if keys.dtype.is_integer != wanted.is_integer or (keys.dtype is string) != (wanted is string):
            raise ValueError(f"Invalid dtype: {wanted.name}, where vocabulary_list has {keys.dtype.name}.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: dtype=tf.{keys.dtype.name}")
        if keys.dtype.is_integer and keys.dtype is not int64:
            keys = raw.Cast(keys, DstT=int64)
        values = raw.Range(np.int64(0), raw.Size(keys, out_type=int64), np.int64(1))
        return _ids(KeyValueTensorInitializer(keys, values, name="table_init"), num_oov_buckets, default_value,
                    "hash_table")


def index_table_from_file(vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None,
                          default_value: int = -1, hasher_spec: Any = None, key_dtype: DTypeLike = string,
                          name: str | None = None, key_column_index: int = TextFileIndex.WHOLE_LINE,
                          value_column_index: int = TextFileIndex.LINE_NUMBER,
                          delimiter: str = "\t") -> StaticHashTable | StaticVocabularyTable:
    """Makes a table from the words of a file, one a line, to their places.

    Args:
      vocabulary_file: the path.
      num_oov_buckets: the number of ids, after those of the file, for other words, which are hashed.
      vocab_size: the number of lines to read; all by default.
      default_value: the id of other words where there are no such ids.
      hasher_spec: accepted; hashes are those of `tf.strings.to_hash_bucket_fast`.
      key_dtype: the dtype of the words.
      name: the name of the scope.
      key_column_index, value_column_index: the columns of words and ids; see `tf.lookup.TextFileInitializer`.
      delimiter: the separator of columns.
    Returns: a `tf.lookup.StaticHashTable`, or a `StaticVocabularyTable` where there are ids for other words.
    Raises: ValueError without a file, or for fewer than no such ids or lines.
    Gradient: none.
    Reference: TensorFlow 1.15 `tf.contrib.lookup.index_table_from_file`.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", delete=False) as f:
    ...     _ = f.write("a\\nb\\n")
    >>> from graphgrad.compat import contrib
    >>> table = contrib.lookup.index_table_from_file(f.name, num_oov_buckets=1)
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant(["b", "c"])))
    array([1, 2])
    """
    _checked(num_oov_buckets, vocabulary_file or None, "vocabulary_file")
    with name_scope(name, "string_to_index"):
        initializer = TextFileInitializer(vocabulary_file, int64 if as_dtype(key_dtype).is_integer else key_dtype,
                                          key_column_index, int64, value_column_index, vocab_size, delimiter,
                                          "table_init")
        return _ids(initializer, num_oov_buckets, default_value, "hash_table")


def index_to_string_table_from_tensor(vocabulary_list: Any, default_value: str = "UNK",
                                      name: str | None = None) -> StaticHashTable:
    """Makes a table from places in a list to its words.

    Args:
      vocabulary_list: (n,), strings.
      default_value: the word of other numbers.
      name: the name of the scope.
    Returns: a `tf.lookup.StaticHashTable`.
    Raises: ValueError without a list.
    Gradient: none.
    Reference: TensorFlow 1.15 `tf.contrib.lookup.index_to_string_table_from_tensor`.

    >>> from graphgrad.compat import contrib
    >>> table = contrib.lookup.index_to_string_table_from_tensor(["a", "b"])
    >>> sess.run(tf.tables_initializer())
    >>> sess.run(table.lookup(tf.constant([1, 5], tf.int64)))
    array([b'b', b'UNK'], dtype=object)
    """
    _checked(0, vocabulary_list, "vocabulary_list")
    with name_scope(name, "index_to_string"):
        words = convert_to_tensor(vocabulary_list, string)
        places = raw.Range(np.int64(0), raw.Size(words, out_type=int64), np.int64(1))
        return StaticHashTable(KeyValueTensorInitializer(places, words, int64, string, "table_init"), default_value)


def index_to_string_table_from_file(vocabulary_file: Any, vocab_size: int | None = None, default_value: str = "UNK",
                                    name: str | None = None, key_column_index: int = TextFileIndex.LINE_NUMBER,
                                    value_column_index: int = TextFileIndex.WHOLE_LINE,
                                    delimiter: str = "\t") -> StaticHashTable:
    """Makes a table from the numbers of a file's lines to the words on them.

    Args:
      vocabulary_file: the path.
      vocab_size: the number of lines to read; all by default.
      default_value: the word of other numbers.
      name: the name of the scope.
      key_column_index, value_column_index: the columns of numbers and words; see `tf.lookup.TextFileInitializer`.
      delimiter: the separator of columns.
    Returns: a `tf.lookup.StaticHashTable`.
    Raises: ValueError without a file.
    Gradient: none.
    Reference: TensorFlow 1.15 `tf.contrib.lookup.index_to_string_table_from_file`.
    """
    _checked(0, vocabulary_file or None, "vocabulary_file")
    with name_scope(name, "index_to_string"):
        initializer = TextFileInitializer(vocabulary_file, int64, key_column_index, string, value_column_index,
                                          vocab_size, delimiter, "table_init")
        return StaticHashTable(initializer, default_value)
