"""Data sets inside of functions of models: what cannot be written or read is named, and the rest is as it was."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.training.checkpoints.saved_object_messages import SavedModel
from tests.extras.saved_model_cases import unpacked

_DATA = tf.data.Dataset


def _generated(x: Any) -> Any:
    return _DATA.from_generator(lambda: iter([1.0]), tf.float32).reduce(x, lambda s, v: s + v)


def _ragged(x: Any) -> Any:
    rows = _DATA.from_tensor_slices(tf.ragged.constant([[1.0], [2.0, 3.0]]))
    return rows.reduce(x, lambda s, r: s + tf.reduce_sum(r))


def _endless(x: Any) -> Any:
    for v in _DATA.range(3).repeat():
        x += tf.cast(v, tf.float32)
        if x > 5.0:
            break
    return x


def _next_in_loop(x: Any) -> Any:
    iterator = iter(_DATA.range(3))
    for _ in tf.range(2):
        x += tf.cast(next(iterator), tf.float32)
    return x


def _in_branch(x: Any) -> Any:
    return _generated(x) if x > 0.0 else -x


@pytest.mark.parametrize(("function", "words"), [
    (_generated, "`from_generator`"), (_ragged, "RaggedTensorSpec"), (_endless, "infinite"),
    (_next_in_loop, "in a branch or loop, of an iterator"), (_in_branch, "`from_generator`")])
def test_what_cannot_be_written(function: Callable[[Any], Any], words: str, tmp_path: pathlib.Path,
                                caplog: pytest.LogCaptureFixture) -> None:
    """The function is left out with a warning that says why and where; another one is written and loads."""
    root = tf.Module()
    scalar = [tf.TensorSpec([], tf.float32)]
    root.left_out, root.kept = tf.function(function, scalar), tf.function(lambda x: x * 2.0, scalar)
    tf.saved_model.save(root, str(tmp_path))
    assert words in caplog.text and "cannot be written" in caplog.text and "test_datasets.py" in caplog.text
    assert float(tf.saved_model.load(str(tmp_path)).kept(3.0)) == 6.0


def test_gradients_of_loaded_loops(tmp_path: pathlib.Path) -> None:
    """Loops over elements that TensorFlow wrote have gradients here: by closed forms, in eager mode and a function."""
    loaded = tf.saved_model.load(unpacked("datasets", tmp_path))
    x = tf.constant([1.0, 2.0, 3.0, -1.0, 5.0])

    def both(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = loaded.ended(x) ** 2 + loaded.looped(x)
        return tape.gradient(y, loaded.w)

    linear = float(loaded.looped(x)) / 2.0  # it is linear in w[0], which is 2
    for dw in (both(x), tf.function(both)(x)):
        np.testing.assert_allclose(tf.convert_to_tensor(dw), [linear, 2.0 * 18.0 * 6.0, 0.0], rtol=1e-5)


def test_an_unknown_data_set(tmp_path: pathlib.Path) -> None:
    """A function with an operation that is not here says so when it is called; others work."""
    folder = pathlib.Path(unpacked("datasets", tmp_path))
    message = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    for function in message.meta_graphs[0].graph_def.library.function:
        for node in function.node_def:
            if node.op == "ScanDataset" and "ended" in function.signature.name:
                node.op = "ChooseFastestDataset"
    (folder / "saved_model.pb").write_bytes(message.SerializeToString())
    loaded = tf.saved_model.load(str(folder))
    x = tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="ChooseFastestDataset"):
        loaded.ended(x)
    assert float(loaded.reduced(x)) == 10.0


def test_handles_of_outer_tables(tmp_path: pathlib.Path) -> None:
    """Functions of data sets use tables and variables of the object; after loading they are the loaded ones."""
    root = tf.Module()
    root.w, root.shift = tf.Variable(3.0), tf.Variable(1.0)
    root.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 0.0)
    root.table.insert(["a"], [2.0])
    data = _DATA.from_tensor_slices(["a", "b"]).map(root.table.lookup).map(lambda v: v * root.w - root.shift)

    @tf.function(input_signature=[])
    def total() -> Any:
        return data.reduce(0.0, lambda s, v: s + v)

    root.total = total
    tf.saved_model.save(root, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    loaded.w.assign(5.0)
    loaded.table.insert(["b"], [1.0])
    assert (float(root.total()), float(loaded.total())) == (4.0, 13.0)
    root.w.assign(1.0)
    assert (float(root.total()), float(loaded.total())) == (0.0, 13.0)
