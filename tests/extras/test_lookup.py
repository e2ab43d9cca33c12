"""Lookup tables: filled once or changed by the graph, from lists and from files; what is wrong with them."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import lookup as contrib_lookup
from graphgrad.ir import context

pytestmark = pytest.mark.usefixtures("graph")


def _words(default: Any = -1, name: str | None = None) -> Any:
    init = tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], [10, 20, 30], value_dtype=tf.int64)
    return tf.lookup.StaticHashTable(init, default, name)


def test_static_table() -> None:
    """A table translates dense and sparse keys of any shape, beside compiled operations."""
    table = _words()
    keys = tf.placeholder(tf.string, [None, 2])
    found = table.lookup(keys) * 2 + 1
    sparse = table.lookup(tf.SparseTensor([[0, 1], [1, 0]], ["c", "z"], [2, 2]))
    assert found.shape.as_list() == [None, 2] and table.key_dtype is tf.string and table.value_dtype is tf.int64
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(found, {keys: [["a", "x"], ["c", "b"]]}).tolist() == [[21, -1], [61, 41]]
        assert sess.run(sparse).values.tolist() == [30, -1]
        assert sess.run(table.size()) == 3
        exported = dict(zip(*(a.tolist() for a in sess.run(table.export())), strict=True))
        assert exported == {b"a": 10, b"b": 20, b"c": 30}
        sess.run(table.initializer)  # once more, with the same content, is no error


def test_before_it_is_filled() -> None:
    """A table that nothing has filled is a FailedPreconditionError that says what to run; so is each new session."""
    found = _words().lookup(tf.constant(["a"]))
    for _ in range(2):
        with tf.Session() as sess:
            with pytest.raises(tf.errors.FailedPreconditionError,
                               match="(?s)LookupTableFindV2 '.*Table not initialized.*tables_initializer"):
                sess.run(found)
            sess.run(tf.initializers.tables_initializer())
            assert sess.run(found).tolist() == [10]


def test_keys_that_do_not_fit() -> None:
    """Keys of another dtype, two values for a key, initializers of other types: each error says what to do."""
    with pytest.raises(TypeError, match="`keys` must be string, received: int32.*Fix: tf.cast"):
        _words().lookup(tf.constant([1]))
    twice = tf.lookup.KeyValueTensorInitializer([1, 1], [2, 3])
    table = tf.lookup.StaticHashTable(twice, 0)
    with tf.Session() as sess, pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key"):
        sess.run(table.initializer)
    with pytest.raises(ValueError, match="num_oov_buckets must be > 0, not 0"):
        tf.lookup.StaticVocabularyTable(twice, 0)
    with pytest.raises(TypeError, match="must be int64, not int32.*value_dtype=tf.int64"):
        tf.lookup.StaticVocabularyTable(twice, 1)
    with pytest.raises(ValueError, match="empty_key and deleted_key must differ"):
        tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, 0, empty_key=1, deleted_key=1)


def test_from_a_file(tmp_path: pathlib.Path) -> None:
    """Lines, numbers of lines and columns of a text file."""
    (tmp_path / "vocabulary").write_text("one\t1\ntwo\t2\nthree\t3\n")
    file, index = str(tmp_path / "vocabulary"), tf.lookup.TextFileIndex

    def table(*columns: Any, default: Any, **options: Any) -> Any:
        return tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(file, *columns, **options), default)

    column = table(tf.string, 0, tf.int64, 1, default=-1)
    numbers = table(tf.int64, index.LINE_NUMBER, tf.string, index.WHOLE_LINE, default="?", vocab_size=2)
    after = table(tf.string, 0, tf.int64, index.LINE_NUMBER, default=-1, value_index_offset=5)
    short = table(tf.string, 0, tf.int64, 2, default=-1)
    with tf.Session() as sess:
        sess.run([t.initializer for t in (column, numbers, after)])
        assert sess.run(column.lookup(tf.constant(["three", "four"]))).tolist() == [3, -1]
        assert sess.run(numbers.lookup(tf.constant([1, 2], tf.int64))).tolist() == [b"two\t2", b"?"]
        assert sess.run(after.lookup(tf.constant(["two"]))).tolist() == [6]
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)Invalid number of columns.*test_lookup.py.*Fix:"):
            sess.run(short.initializer)
    for columns, text in (((tf.string, index.LINE_NUMBER, tf.int64, 0), "key_dtype must be int64"),
                          ((tf.float32, index.WHOLE_LINE, tf.int64, 0), "a string or an integer"),
                          ((tf.string, -3, tf.int64, 0), "Invalid key index -3")):
        with pytest.raises(ValueError, match=text):
            tf.lookup.TextFileInitializer(file, *columns)
    with pytest.raises(ValueError, match="Invalid vocab_size 0"):
        tf.lookup.TextFileInitializer(file, tf.string, 0, tf.int64, 1, vocab_size=0)


def test_vocabulary_table() -> None:
    """What is not in the table gets one of the further numbers, the same as TensorFlow's."""
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [0, 1], value_dtype=tf.int64)
    table, hashed = tf.lookup.StaticVocabularyTable(init, 5), tf.lookup.StaticVocabularyTable(None, 100)
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(table.lookup(tf.constant(["b", "x", "y", "a", "zebra"]))).tolist() == [1, 2, 2, 0, 4]
        assert sess.run([table.size(), hashed.size()]) == [7, 100]
        assert sess.run(hashed.lookup(tf.constant(["x", "y"]))).tolist() == [70, 5]


def test_mutable_table() -> None:
    """Entries are added, changed and removed by the graph; values may be vectors, defaults given for each key."""
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    keys = tf.constant([1, 2, 3], tf.int64)
    with tf.Session() as sess:
        assert sess.run(table.size()) == 0
        sess.run(table.insert(keys, tf.reshape(tf.range(6.0), [3, 2])))
        sess.run(table.insert(keys[:1], [[9.0, 9.0]]))
        sess.run(table.remove(tf.constant([2, 7], tf.int64)))
        assert sess.run(table.lookup(keys)).tolist() == [[9.0, 9.0], [0.0, 0.0], [4.0, 5.0]]
        own = table.lookup(keys, dynamic_default_values=tf.ones([3, 2]))
        assert sess.run(own).tolist() == [[9.0, 9.0], [1.0, 1.0], [4.0, 5.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="one value for each key"):
            sess.run(table.insert(keys, [[1.0, 2.0]]))


def test_tables_in_eager_mode_and_functions() -> None:
    """In TensorFlow 2 a table is filled at once, and functions use it."""
    with context.use(context.EAGER):
        init = tf2.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        table = tf2.lookup.StaticHashTable(init, -1)
        assert table.lookup(tf2.constant(["b", "?"])).numpy().tolist() == [2, -1]
        assert tf2.function(lambda k: table.lookup(k) + 1)(tf2.constant(["a"])).numpy().tolist() == [2]
        changing = tf2.lookup.experimental.DenseHashTable(tf2.string, tf2.int64, 0, empty_key="", deleted_key="-")
        changing.insert(["x"], np.array([5]))
        assert changing["x"].numpy() == 5 and changing.size().numpy() == 1
        changing.erase(["x"])
        assert changing["x"].numpy() == 0


def test_gradients_pass_by() -> None:
    """What is looked up is constant: gradients go around it."""
    x = tf.constant([1.0, 2.0])
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [5.0, 7.0]), 0.0)
    y = x * table.lookup(tf.cast(x, tf.int32))
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(tf.gradients(y, x)[0]).tolist() == [5.0, 7.0]


def test_tables_of_vocabularies(tmp_path: pathlib.Path) -> None:
    """Tables from lists and files of words, both ways; unknown words get the default, or an id by hash."""
    path = tmp_path / "words"
    path.write_text("x\ny\nz\n")
    words = tf.constant(["b", "y", "?"])
    lookup = contrib_lookup
    tables = [lookup.index_table_from_tensor(["a", "b"]), lookup.index_table_from_tensor(["a", "b"], 2),
              lookup.index_table_from_file(str(path), vocab_size=2, default_value=7)]
    numbers = lookup.index_table_from_tensor([5, 3], dtype=tf.int32).lookup(tf.constant([3, 4], tf.int64))
    back = [lookup.index_to_string_table_from_tensor(["a", "b"], "none"),
            lookup.index_to_string_table_from_file(str(path))]
    ids = tf.constant([1, 9], tf.int64)
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        plain, hashed, of_file = sess.run([t.lookup(words) for t in tables])
        assert plain.tolist() == [1, -1, -1] and of_file.tolist() == [7, 1, 7]
        assert hashed[0] == 1 and set(hashed[1:].tolist()) <= {2, 3}
        assert sess.run(numbers).tolist() == [1, -1]
        assert [sess.run(t.lookup(ids)).tolist() for t in back] == [[b"b", b"none"], [b"y", b"UNK"]]
    for call in (lambda: lookup.index_table_from_tensor(None), lambda: lookup.index_table_from_file(""),
                 lambda: lookup.index_table_from_tensor(["a"], -1), lambda: lookup.index_table_from_tensor([1])):
        with pytest.raises(ValueError, match=r"must be|Invalid dtype"):
            call()


def test_as_many_keys_as_elements() -> None:
    """A default of as many elements as there are keys is the default of each, where values are vectors."""
    with context.use(context.EAGER):
        table = tf2.lookup.experimental.MutableHashTable(tf.string, tf.int64, [-1, -2])
        table.insert(["a", "b"], [[1, 2], [3, 4]])
        assert table.lookup(tf2.constant(["a", "c"])).numpy().tolist() == [[1, 2], [-1, -2]]
        assert table.lookup(tf2.constant(["a", "c"]), [[5, 6], [7, 8]]).numpy().tolist() == [[1, 2], [7, 8]]
        numbers = tf2.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        numbers.insert(["a"], [1])
        assert numbers.lookup(tf2.constant(["a", "c"]), [5, 6]).numpy().tolist() == [1, 6]
