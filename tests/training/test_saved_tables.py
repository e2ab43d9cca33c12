"""Tables in checkpoints and models: all that they hold is written and read, as in TensorFlow 2.21, in every way.

`tests/recorded/tables/` holds what TensorFlow wrote, and `verdicts.json` what it found in files that were written here,
with the digests of these.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context
from graphgrad.training.checkpoints.saveable_object import SaveableObject, SaveSpec
from tests.support import recordings

from .table_cases import WAYS, expected, read, tables, write_graph, write_objects

FOLDER = recordings.FOLDER / "tables"
RECORDED: dict[str, Any] = json.loads((FOLDER / "verdicts.json").read_text())


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    """Eager mode, in which TensorFlow 2 starts."""
    with context.use(context.EAGER):
        yield


@pytest.mark.parametrize("seed", range(40))
def test_round_trip(seed: int, tmp_path: pathlib.Path) -> None:
    """Tables made by chance are restored in all ways with what they held in memory."""
    chosen = tables(seed)
    write_graph(tf2, tf, chosen, str(tmp_path))
    write_objects(tf2, chosen, str(tmp_path))
    for way in WAYS:
        assert read(tf2, tf, chosen, str(tmp_path), way) == expected(chosen), way


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", RECORDED["seeds"])
def test_from_tensorflow(seed: int, way: str) -> None:
    """So are those that TensorFlow wrote."""
    chosen = tables(seed)
    assert read(tf2, tf, chosen, str(FOLDER / str(seed)), way) == expected(chosen)


@pytest.mark.parametrize("seed", RECORDED["seeds"])
def test_to_tensorflow(seed: int, tmp_path: pathlib.Path) -> None:
    """Tensors are those of the files in which TensorFlow found everything."""
    chosen = tables(seed)
    write_graph(tf2, tf, chosen, str(tmp_path))
    write_objects(tf2, chosen, str(tmp_path))
    assert RECORDED["found"][str(seed)] == list(WAYS)
    for name, tensors in RECORDED["tensors"][str(seed)].items():
        reader = tf2.train.load_checkpoint(str(tmp_path / name))
        arrays = {k: np.asarray(reader.get_tensor(k)) for k in tensors}
        assert {k: [list(a.shape), a.dtype.str, str(a.tolist())] for k, a in arrays.items()} == tensors, name


def test_one_name_for_two_tables() -> None:
    """A `Saver` of two tables of one name is refused: one of them would be lost, as it is in TensorFlow."""
    with tf.Graph().as_default():
        for _ in range(2):
            tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        with pytest.raises(ValueError, match="(?s)two tables have the same name: MutableHashTable.*checkpoint=False"):
            tf.train.Saver()
    with tf.Graph().as_default():
        kept = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, checkpoint=False)
        assert [i.value for i in tf.train.Saver()._built()] == [kept]


def test_chosen_tables(tmp_path: pathlib.Path) -> None:
    """`var_list` names tables, in graphs and in eager mode."""
    path = str(tmp_path / "x")
    with tf.Graph().as_default(), tf.Session() as sess:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        sess.run(table.insert(["a"], np.array([5])))
        tf.train.Saver({"words": table}).save(sess, path, write_meta_graph=False)
        assert tf.train.list_variables(path) == [("words-keys", [1]), ("words-values", [1])]
        assert tf.train.Saver([table])._built()[0].entries()[0].name == "-keys"  # as in TensorFlow
        (saveable,) = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
        assert [s.name for s in saveable.specs] == ["MutableHashTable-keys", "MutableHashTable-values"]
    other = tf2.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    tf.train.Saver({"words": other}).restore(None, path)
    assert other.lookup(tf.constant(["a", "b"])).numpy().tolist() == [5, -1]


def test_what_does_not_fit(tmp_path: pathlib.Path) -> None:
    """A table that is not in the checkpoint, has other types, or is of another class, is an error, not empty."""
    path = str(tmp_path / "x")
    experimental = tf2.lookup.experimental
    dense = experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1, initial_num_buckets=4)
    tf.train.Saver({"t": dense}).save(None, path)
    for made, text in ((experimental.MutableHashTable(tf.int64, tf.int64, -1), "as the keys of a DenseHashTable"),
                       (experimental.MutableHashTable(tf.string, tf.int64, -1), "expected dtype string"),
                       (experimental.DenseHashTable(tf.int64, tf.int64, [1, 2], empty_key=0, deleted_key=-1),
                        r"it has shape \(4, 1\), not \(4, 2\)")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){text}.*Fix:"):
            tf.train.Saver({"t": made}).restore(None, path)
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.Saver({"u": dense}).restore(None, path)


def test_dense_table() -> None:
    """The two marks are no keys; all buckets are exported; there are enough of them."""
    made = tf2.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1,
                                                  initial_num_buckets=4)
    for key, what in ((0, "empty_key"), (-1, "deleted_key")):
        for use in (lambda k: made.insert(k, k), made.lookup, made.remove):
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"Using the {what} as a table key is not allowed"):
                use(tf.constant([key], tf.int64))
    assert [a.numpy().tolist() for a in made.export()] == [[[0]] * 4, [[0]] * 4]
    made.insert(tf.constant([5, 9, 13, -7], tf.int64), tf.constant([1, 2, 3, 4], tf.int64))
    keys, values = made.export()
    assert keys.numpy().ravel().tolist() == [0, 9, -7, 0, 0, 5, 13, 0] and values.shape == (8, 1)  # TensorFlow's
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 4 and a power of 2, got: 5"):
        tf2.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2, initial_num_buckets=5)


class _Halved(SaveableObject):
    """Saves the half of a variable, under a name of its own."""

    def __init__(self, variable: Any, name: str):
        super().__init__(variable, [SaveSpec(variable / 2.0, "", f"{name}-half", tf.float32)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Sets the variable to the double."""
        return self.op.assign(restored_tensors[0] * 2.0).op


def test_objects_of_programs(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    """Objects of a program's own class are saved and restored as they say, and missed where the graph is read."""
    path = str(tmp_path / "x")
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_local_variable("v", initializer=[2.0, 6.0])
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, _Halved(v, "h"))
        saver = tf.train.Saver()
        sess.run(v.initializer)
        saver.save(sess, path)
        assert tf.train.load_variable(path, "h-half").tolist() == [1.0, 3.0]
        sess.run(v.assign([0.0, 0.0]))
        saver.restore(sess, path)
        assert sess.run(v).tolist() == [2.0, 6.0]
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="t")
        tf.train.Saver().save(sess, path)
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(f"{path}.meta")
        assert [i.name for i in saver._built()] == [table.name]
        assert "does not restore 1 tensors that the graph's own did, the first is 'h-half'" in caplog.text
