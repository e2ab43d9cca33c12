"""Graphs in files with what sessions keep besides variables: tables are read again, here and by TensorFlow 2.21.

An iterator's initializer belongs to a data set of the process that wrote the graph, so it is left out. In TensorFlow
the same files give the same results, with what is fed for the iterator's elements: [1, 3] and [2, 3, 6].
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph() -> object:
    """A graph for each test."""
    with tf.Graph().as_default():
        yield


def test_initializable_iterator(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The graph is read without the initializer, which a warning names; elements can be fed."""
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(6, dtype=np.float32)).map(lambda x: x * 2).batch(2)
    iterator = tf.data.make_initializable_iterator(dataset)
    v = tf.Variable(1.0, name="v")
    with tf.control_dependencies([iterator.initializer]):
        tf.no_op(name="ready")
    tf.multiply(iterator.get_next(), v, name="y")
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), iterator.initializer])
        assert sess.run("y:0").tolist() == [0.0, 2.0]
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
    message = tf.MetaGraphDef.FromString((tmp_path / "model.meta").read_bytes())
    ops = {n.name: n for n in message.graph_def.node}
    assert "MakeIterator" not in {n.op for n in ops.values()} and not ops["ready"].input
    assert ops["IteratorGetNext"].input == ["Iterator"] and ops["Iterator"].op == "IteratorV2"
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(f"{path}.meta").restore(sess, path)
        assert sess.run("y:0", {"IteratorGetNext:0": [1.0, 3.0]}).tolist() == [1.0, 3.0]
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run("y:0")


def test_one_shot_iterator(tmp_path: pathlib.Path) -> None:
    """So is the graph of an iterator that needs no initializer."""
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    tf.add(element, 1, name="y")
    tf.train.export_meta_graph(str(tmp_path / "graph.meta"))
    with tf.Graph().as_default(), tf.Session() as sess:
        assert tf.train.import_meta_graph(str(tmp_path / "graph.meta")) is None
        assert sess.run("y:0", {"IteratorGetNext:0": 6}) == 7


def test_tables(tmp_path: pathlib.Path) -> None:
    """Tables are of TensorFlow's op types, and are filled again where the graph is read."""
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64)), -1)
    changed = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 0.0)
    rows = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0.0, 0.0], name="rows")
    tf.add_to_collection("insert", changed.insert(tf.constant(["x"]), tf.constant([5.0])))
    tf.add_to_collection("insert", rows.insert(tf.constant(["x"]), tf.constant([[5.0, 6.0]])))
    x = tf.placeholder(tf.string, [None], name="x")
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    ids = tf.maximum(table.lookup(x), tf.constant(0, tf.int64))
    tf.multiply(tf.gather(v, ids), changed.lookup(x) + 1.0, name="y")
    tf.identity(rows.lookup(x), name="z")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
    message = tf.MetaGraphDef.FromString((tmp_path / "model.meta").read_bytes())
    kinds = sorted(n.op for n in message.graph_def.node if "HashTable" in n.op)
    assert kinds == ["HashTableV2", "MutableHashTableOfTensorsV2", "MutableHashTableV2"]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(f"{path}.meta").restore(sess, path)
        sess.run([tf.tables_initializer(), *tf.get_collection("insert")])
        found = sess.run(["y:0", "z:0"], {"x:0": ["a", "b", "x"]})
        np.testing.assert_array_equal(found[0], [2.0, 3.0, 6.0])
        np.testing.assert_array_equal(found[1], [[0.0, 0.0], [0.0, 0.0], [5.0, 6.0]])


def test_limited_loop(tmp_path: pathlib.Path) -> None:
    """A limit of iterations is part of the condition, since loops of TensorFlow's graphs know no other."""
    x = tf.placeholder(tf.float32, [], name="x")

    def double(v: Any) -> Any:
        inner = tf.while_loop(lambda w: w < 1e9, lambda w: w + 1.0, [0.0], maximum_iterations=2)
        return v * inner

    loop = tf.while_loop(lambda v: v < 1000.0, double, [x], maximum_iterations=3)
    tf.identity(loop, name="y")
    tf.gradients(loop, x)
    tf.train.export_meta_graph(str(tmp_path / "graph.meta"))
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.train.import_meta_graph(str(tmp_path / "graph.meta"))
        y, x = (graph.get_tensor_by_name(n) for n in ("y:0", "x:0"))
        slope = tf.gradients(y, x)[0]
        for given, result, factor in ((1.0, 8.0, 8.0), (600.0, 1200.0, 2.0), (2000.0, 2000.0, 1.0)):
            assert sess.run([y, slope], {x: given}) == [result, factor]
