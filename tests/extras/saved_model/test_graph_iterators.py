"""Models of 1.x whose graphs read data sets, as TensorFlow 2.21 wrote them: `tests.record.old.graph_iterators`."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

import graphgrad as tf
from graphgrad.ir import context
from tests.extras.saved_model_cases import unpacked
from tests.record.old.graph_iterators import write

v1 = tf.compat.v1
_ELEMENTS = [[0.0, 7.0], [12.0, 19.0], [24.0, 31.0]]  # as TensorFlow's sessions compute


@pytest.mark.parametrize("name", ["own", "begun"])
def test_sessions(name: str, tmp_path: pathlib.Path) -> None:
    """A session gets the elements, one for each run, and then the end."""
    folder = unpacked(f"iterator_{name}", tmp_path)
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.saved_model.load(sess, ["serve"], folder)
        for expected in _ELEMENTS:
            assert sess.run("y:0", {"x:0": [0.0, 1.0]}).tolist() == expected
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run("y:0", {"x:0": [0.0, 1.0]})


@pytest.mark.parametrize("name", ["own", "begun"])
def test_signatures(name: str, tmp_path: pathlib.Path) -> None:
    """So does the signature of a loaded model, in eager mode; calls under a tape count, too."""
    with context.use(context.EAGER):
        loaded = tf.saved_model.load(unpacked(f"iterator_{name}", tmp_path))
        call = loaded.signatures["serving_default"]
        assert call(x=tf.constant([0.0, 1.0]))["y"].numpy().tolist() == _ELEMENTS[0]
        with tf.GradientTape() as tape:
            y = call(x=tf.constant([0.0, 1.0]))["y"]
        assert y.numpy().tolist() == _ELEMENTS[1] and tape.gradient(y, loaded.variables)[0].numpy() == 10.0
        assert call(x=tf.constant([0.0, 1.0]))["y"].numpy().tolist() == _ELEMENTS[2]
        with pytest.raises(tf.errors.OutOfRangeError):
            call(x=tf.constant([0.0, 1.0]))


def test_left_out(tmp_path: pathlib.Path, capsys: Any) -> None:
    """A data set here is not written, and nothing in the model names what is missing: collections and signatures."""
    with tf.Graph().as_default(), v1.Session() as sess:
        data = v1.data.Dataset.range(3)
        iterator = v1.data.make_initializable_iterator(data)
        v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        v1.add_to_collection("both", iterator.initializer)
        total = data.reduce(tf.constant(0, tf.int64), lambda s, x: s + x)
        y = tf.identity(iterator.get_next(), name="y")
        v1.add_to_collection("both", y)
        builder = v1.saved_model.Builder(str(tmp_path / "model"))
        v = v1.get_variable("v", initializer=1.0)
        sess.run(v.initializer)
        predict = v1.saved_model.predict_signature_def
        signatures = {"next": predict({"v": v}, {"y": y}), "total": predict({"v": v}, {"y": total})}
        builder.add_meta_graph_and_variables(sess, ["serve"], signatures, main_op=v1.tables_initializer())
        builder.save()
    with tf.Graph().as_default(), v1.Session() as sess:
        message = v1.saved_model.load(sess, ["serve"], str(tmp_path / "model"))
    names = {n.name for n in message.graph_def.node}
    lists = {key: list(c.node_list.value) for key, c in message.collection_def.items() if c.node_list.value}
    assert "MakeIterator" not in names and v1.GraphKeys.TABLE_INITIALIZERS not in lists and lists["both"] == ["y:0"]
    assert all(n.partition(":")[0] in names for values in lists.values() for n in values)
    for signature in message.signature_def.values():
        assert all(t.name.partition(":")[0] in names for t in signature.outputs.values())


def test_not_begun(tmp_path: pathlib.Path) -> None:
    """The iterator of a model that was written here has no data set: FailedPreconditionError, as in TensorFlow."""
    write(tf, str(tmp_path / "model"), True)
    with context.use(context.EAGER):
        call = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            call(x=tf.constant([0.0, 1.0]))
