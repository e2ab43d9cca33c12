"""Models that are saved here and loaded again: they give what TensorFlow, given the same files, computes with them."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import graphgrad as tf
from tests.extras.saved_model_cases import plain
from tests.extras.test_saved_model_load import same

from .saved_here_cases import ALL_CASES

_RECORDED = json.loads(
    (pathlib.Path(__file__).parents[2] / "recorded" / "saved_models" / "saved_here.json").read_text())


@pytest.mark.parametrize("name", ALL_CASES)
def test_as_in_tensorflow(name: str, tmp_path: pathlib.Path) -> None:
    """In eager mode and in functions: results, gradients to the second order, state over several calls, training."""
    build, use = ALL_CASES[name]
    value, further = build(tf, tmp_path)
    tf.saved_model.save(value, str(tmp_path / "model"), **further)
    same(plain(tf, use(tf, tf.saved_model.load(str(tmp_path / "model")))), _RECORDED[name])


def test_saved_twice(tmp_path: pathlib.Path) -> None:
    """What was loaded is saved and loaded once more."""
    build, use = ALL_CASES["training"]
    value, further = build(tf, tmp_path)
    tf.saved_model.save(value, str(tmp_path / "first"), **further)
    loaded = tf.saved_model.load(str(tmp_path / "first"))
    tf.saved_model.save(loaded, str(tmp_path / "second"), signatures=dict(loaded.signatures))
    same(plain(tf, use(tf, tf.saved_model.load(str(tmp_path / "second")))), _RECORDED["training"])


def test_in_a_graph(tmp_path: pathlib.Path) -> None:
    """In a session of 1.x the step of training runs three times, and its state is the session's."""
    v1, recorded = tf.compat.v1, _RECORDED["training"]
    value, further = ALL_CASES["training"][0](tf, tmp_path)
    tf.saved_model.save(value, str(tmp_path / "model"), **further)
    x, y = [[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0], [2.0, -1.0]], [[1.0], [0.0], [2.0], [-1.0]]
    with tf.Graph().as_default(), v1.Session() as sess:
        loaded = v1.saved_model.load_v2(str(tmp_path / "model"))
        loss = loaded.train(tf.constant(x), tf.constant(y))["loss"]
        sess.run(v1.global_variables_initializer())
        np.testing.assert_allclose([sess.run(loss) for _ in range(3)], recorded["losses"], rtol=2e-5)


def test_signature_in_a_session(tmp_path: pathlib.Path) -> None:
    """A signature is fed and fetched by name, four times, as programs of 1.x and servers do."""
    v1, recorded = tf.compat.v1, _RECORDED["training"]
    value, further = ALL_CASES["training"][0](tf, tmp_path)
    tf.saved_model.save(value, str(tmp_path / "model"), **further)
    feeds = {"x": [[1.0, 2.0], [-1.0, 0.5], [0.0, 1.0], [2.0, -1.0]], "y": [[1.0], [0.0], [2.0], [-1.0]]}
    with tf.Graph().as_default(), v1.Session() as sess:
        message = v1.saved_model.load(sess, ["serve"], str(tmp_path / "model"))
        train = message.signature_def["train"]
        losses = [sess.run(train.outputs["loss"].name, {train.inputs[k].name: v for k, v in feeds.items()})
                  for _ in range(4)]
        np.testing.assert_allclose(losses, [*recorded["losses"], recorded["by_signature"]["loss"]], rtol=2e-5)
