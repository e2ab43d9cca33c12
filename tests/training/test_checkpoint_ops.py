"""Models of TensorFlow 2 in sessions: the operations by which their graphs save and restore."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.ir.opdef import raw
from tests.extras.saved_model_cases import unpacked

_RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "recorded" / "saved_models" / "results.json").read_text())


def test_models_in_sessions(tmp_path: pathlib.Path) -> None:
    """`load` of 1.x restores the variables of such a model by its own function; its signatures run and count."""
    with tf.Graph().as_default(), tf.Session() as sess:
        message = tf.saved_model.load(sess, ["serve"], unpacked("linear", tmp_path))
        signature = message.signature_def["serving_default"]
        feeds = {signature.inputs["x"].name: [[0.5, -1.0], [2.0, 0.25]]}
        for expected in _RECORDED["linear"]["f"][:1], None, _RECORDED["linear"]["f"][2:]:
            found = sess.run(signature.outputs["output_0"].name, feeds)
            if expected is not None:
                np.testing.assert_allclose(found, expected[0], rtol=2e-5)


def test_tables_in_sessions(tmp_path: pathlib.Path) -> None:
    """Tables are filled by the main operation, from files that are fed, and by the function that restores."""
    recorded = _RECORDED["tables"]["embed"]
    with tf.Graph().as_default(), tf.Session() as sess:
        message = tf.saved_model.load(sess, ["serve"], unpacked("tables", tmp_path))
        signature = message.signature_def["embed"]
        words = {signature.inputs["words"].name: ["blue", "one", "red", "two"]}
        for key in ("ids", "numbers", "rows"):
            np.testing.assert_allclose(sess.run(signature.outputs[key].name, words), recorded[key])


def test_models_save(tmp_path: pathlib.Path) -> None:
    """The functions by which a model saves and restores do so: a shard is written, and becomes the checkpoint."""
    path = unpacked("linear", tmp_path)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        message = tf.saved_model.load(sess, ["serve"], path)
        calls = graph.get_tensor_by_name("calls/Read/ReadVariableOp:0")
        signature = message.signature_def["serving_default"]
        sess.run(signature.outputs["output_0"].name, {signature.inputs["x"].name: [[0.0, 0.0]]})
        name = {message.saver_def.filename_tensor_name: str(tmp_path / "again" / "model")}
        assert sess.run(message.saver_def.save_tensor_name, name) == str(tmp_path / "again" / "model").encode()
        assert sorted(p.name for p in (tmp_path / "again").iterdir()) == ["model.data-00000-of-00001", "model.index"]
        sess.run(signature.outputs["output_0"].name, {signature.inputs["x"].name: [[0.0, 0.0]]})
        assert sess.run(calls) == 2
        sess.run(message.saver_def.restore_op_name, name)
        assert sess.run(calls) == 1
    reader = tf.train.load_checkpoint(str(tmp_path / "again" / "model"))
    assert reader.get_tensor("w/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [[1.0, -2.0], [0.5, 3.0]]


@pytest.mark.usefixtures("graph")
def test_operations(tmp_path: pathlib.Path) -> None:
    """Parts of tensors, several checkpoints in one, and what does not fit."""
    one, two, whole = (str(tmp_path / n) for n in ("one", "two", "whole"))
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    with tf.Session() as sess:
        sess.run(raw.SaveV2(one, ["t", "s"], ["", ""], [table, tf.constant(["a", "b"])]))
        sess.run(raw.SaveV2(two, ["p"], ["4 2 1,2:-"], [np.ones([2, 2], np.int64)]))
        kinds = (tf.float32, tf.string)
        read = raw.RestoreV2(one, ["t", "s"], ["3 4 0,2:1,3", ""], dtypes=kinds)
        assert [v.tolist() for v in sess.run(read)] == [table[:2, 1:].tolist(), [b"a", b"b"]]
        assert sess.run(raw.RestoreV2(two, ["p"], ["4 2 1,2:-"], dtypes=(tf.int64,)))[0].tolist() == [[1, 1], [1, 1]]
        sess.run(raw.SaveV2(two, ["p"], [""], [np.ones(2, np.int64)]))
        sess.run(raw.MergeV2Checkpoints([one, two], whole))
        assert tf.train.load_checkpoint(whole).get_variable_to_shape_map() == {"t": [3, 4], "s": [2], "p": [2]}
        assert sorted(p.name for p in tmp_path.iterdir()) == ["whole.data-00000-of-00001", "whole.index"]
        assert sess.run(raw.ShardedFilename("a/b", 1, 12)) == b"a/b-00001-of-00012"
        with pytest.raises(tf.errors.NotFoundError, match="(?s)Key x not found"):
            sess.run(raw.RestoreV2(whole, ["x"], [""], dtypes=(tf.float32,)))
        with pytest.raises(tf.errors.NotFoundError, match="(?s)Failed to find any matching files"):
            sess.run(raw.RestoreV2(one, ["t"], [""], dtypes=(tf.float32,)))
        for names, slices, dtype in ((["t"], ["", ""], tf.float32), (["t"], ["3 4 0,9:-"], tf.float32),
                                     (["t"], ["3 4"], tf.float32), (["t"], ["3 x 0,1:-"], tf.float32),
                                     (["t"], [""], tf.int32), (["t", "p"], ["", ""], tf.float32)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Fix:"):
                sess.run(raw.RestoreV2(whole, names, slices, dtypes=(dtype,)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)give one for each tensor"):
            sess.run(raw.SaveV2(one, ["t", "u"], ["", ""], [table]))
        sess.run(raw.SaveV2(one, ["t"], [""], [table]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)in several of the checkpoints"):
            sess.run(raw.MergeV2Checkpoints([one, whole], two))
