"""`tf.contrib.legacy_seq2seq` and `.seq2seq`, beside the same in NumPy; TensorFlow 2.21 has none to record from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import legacy_seq2seq, seq2seq
from graphgrad.executor.runtime.session import HostSession

_RANDOM = np.random.default_rng(0)
_STEPS = [_RANDOM.normal(size=(2, 3)).astype(np.float32) for _ in range(4)]
_SYMBOLS = [np.array(s, np.int32) for s in ([1, 2], [0, 3], [4, 1])]


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default() as graph, HostSession() as session:
        graph.seed = 3
        yield session


def _cell(size: int = 5) -> Any:
    return tf.nn.rnn_cell.BasicRNNCell(size)


def _variables(sess: Any) -> dict[str, Any]:
    sess.run(tf.global_variables_initializer())
    return {v.op.name: sess.run(v) for v in tf.trainable_variables()}


def _run_cell(v: dict[str, Any], scope: str, inputs: list[Any], state: Any) -> list[Any]:
    outputs = []
    for x in inputs:
        state = np.tanh(np.concatenate([x, state], 1) @ v[f"{scope}/kernel"] + v[f"{scope}/bias"])
        outputs.append(state)
    return outputs


def test_basic(sess: Any) -> None:
    """The decoder begins where the encoder ends, with weights of its own."""
    outputs, state = legacy_seq2seq.basic_rnn_seq2seq(_STEPS[:2], _STEPS[2:], _cell())
    v = _variables(sess)
    scope = "basic_rnn_seq2seq"
    last = _run_cell(v, f"{scope}/rnn/basic_rnn_cell", _STEPS[:2], np.zeros((2, 5)))[-1]
    expected = _run_cell(v, f"{scope}/rnn_decoder/basic_rnn_cell", _STEPS[2:], last)
    np.testing.assert_allclose(sess.run(outputs), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sess.run(state), expected[-1], rtol=1e-5, atol=1e-6)
    assert tf.gradients(outputs[-1], _weights(scope))[0] is not None


def _weights(scope: str) -> list[Any]:
    return [v for v in tf.trainable_variables() if v.op.name.startswith(scope)]


def test_loop_function(sess: Any) -> None:
    """From the second step on, the function gives the input."""
    outputs, _ = legacy_seq2seq.rnn_decoder(_STEPS, tf.zeros([2, 3]), _cell(3), lambda last, i: last * float(i))
    v = _variables(sess)
    state = np.zeros((2, 3))
    x: Any = _STEPS[0]
    for i, output in enumerate(sess.run(outputs)):
        state = _run_cell(v, "rnn_decoder/basic_rnn_cell", [x], state)[0]
        np.testing.assert_allclose(output, state, rtol=1e-5, atol=1e-6)
        x = state * (i + 1)


def test_tied(sess: Any) -> None:
    """Encoder and decoder share their weights."""
    outputs, _ = legacy_seq2seq.tied_rnn_seq2seq(_STEPS[:2], _STEPS[2:], _cell())
    v = _variables(sess)
    assert len(v) == 2
    scope = next(iter(v)).rpartition("/")[0]
    expected = _run_cell(v, scope, _STEPS, np.zeros((2, 5)))[2:]
    np.testing.assert_allclose(sess.run(outputs), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("attention", [False, True])
def test_feeding_previous(sess: Any, attention: bool) -> None:
    """A tensor decides whether the decoder reads the given symbols, or its own likeliest ones."""
    function = legacy_seq2seq.embedding_attention_seq2seq if attention else legacy_seq2seq.embedding_rnn_seq2seq
    choice = tf.placeholder(tf.bool, [])
    with tf.variable_scope("m"):
        outputs, _ = function(_SYMBOLS[:2], _SYMBOLS, _cell(), 5, 6, 4, feed_previous=choice)
    with tf.variable_scope("m", reuse=True):
        given, _ = function(_SYMBOLS[:2], _SYMBOLS, _cell(), 5, 6, 4)
        previous, _ = function(_SYMBOLS[:2], _SYMBOLS, _cell(), 5, 6, 4, feed_previous=True)
    sess.run(tf.global_variables_initializer())
    for value, other in ((False, given), (True, previous)):
        np.testing.assert_allclose(sess.run(outputs, {choice: value}), sess.run(other), rtol=1e-5, atol=1e-6)
    found = sess.run(previous)
    assert [o.shape for o in found] == [(2, 6)] * 3
    with tf.variable_scope("m", reuse=True):  # what it reads are its own symbols
        again, _ = function(_SYMBOLS[:2], [_SYMBOLS[0], *(np.argmax(o, 1).astype(np.int32) for o in found[:-1])],
                            _cell(), 5, 6, 4)
    np.testing.assert_allclose(sess.run(again), found, rtol=1e-5, atol=1e-6)


def test_attention(sess: Any) -> None:
    """One step of attention by its formula: softmax(v . tanh(W h + U q)) weighs the states."""
    states = _RANDOM.normal(size=(2, 4, 3)).astype(np.float32)
    outputs, _ = legacy_seq2seq.attention_decoder(_STEPS[:1], tf.zeros([2, 5]), tf.constant(states), _cell(), 7)
    v = {k.removeprefix("attention_decoder/"): a for k, a in _variables(sess).items()}
    x = np.concatenate([_STEPS[0], np.zeros((2, 3))], 1) @ v["kernel"] + v["bias"]
    state = _run_cell(v, "basic_rnn_cell", [x], np.zeros((2, 5)))[0]
    query = state @ v["Attention_0/kernel"] + v["Attention_0/bias"]
    scores = (np.tanh(states @ v["AttnW_0"][0, 0] + query[:, None]) * v["AttnV_0"]).sum(-1)
    share = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    look = (share[..., None] * states).sum(1)
    expected = np.concatenate([state, look], 1) @ v["AttnOutputProjection/kernel"] + v["AttnOutputProjection/bias"]
    np.testing.assert_allclose(sess.run(outputs[0]), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="at least 1 input"):
        legacy_seq2seq.attention_decoder([], None, None, None)
    with pytest.raises(ValueError, match="less than 1 heads"):
        legacy_seq2seq.attention_decoder(_STEPS, None, None, None, num_heads=0)


_LOGITS = _RANDOM.normal(size=(2, 3, 4)).astype(np.float32)
_TARGETS = np.array([[0, 1, 3], [2, 2, 0]], np.int32)
_WEIGHTS = np.array([[1.0, 1.0, 0.0], [1.0, 0.5, 2.0]], np.float32)
_LOSSES = -np.take_along_axis(_LOGITS - np.log(np.exp(_LOGITS).sum(-1, keepdims=True)), _TARGETS[..., None], 2)[..., 0]
_LOSSES = _LOSSES * _WEIGHTS


def test_losses_of_lists(sess: Any) -> None:
    """Weighted cross entropy, for each example and altogether."""
    lists = [list(np.moveaxis(a, 1, 0)) for a in (_LOGITS, _TARGETS, _WEIGHTS)]
    by_example = _LOSSES.sum(1) / _WEIGHTS.sum(1)
    np.testing.assert_allclose(sess.run(legacy_seq2seq.sequence_loss_by_example(*lists)), by_example, rtol=1e-5)
    np.testing.assert_allclose(sess.run(legacy_seq2seq.sequence_loss_by_example(
        *lists, average_across_timesteps=False)), _LOSSES.sum(1), rtol=1e-5)
    np.testing.assert_allclose(sess.run(legacy_seq2seq.sequence_loss(*lists)), by_example.sum() / 2, rtol=1e-5)
    with pytest.raises(ValueError, match="must be the same 3, 3, 2"):
        legacy_seq2seq.sequence_loss_by_example(lists[0], lists[1][:2], lists[2])


@pytest.mark.parametrize(("arguments", "expected"), [
    ({}, _LOSSES.sum() / _WEIGHTS.sum()),
    ({"average_across_batch": False}, _LOSSES.sum(1) / _WEIGHTS.sum(1)),
    ({"average_across_timesteps": False}, _LOSSES.sum(0) / _WEIGHTS.sum(0)),
    ({"average_across_timesteps": False, "average_across_batch": False}, _LOSSES),
    ({"average_across_timesteps": False, "average_across_batch": False, "sum_over_timesteps": True,
      "sum_over_batch": True}, _LOSSES.sum() / 5)])
def test_loss_of_sequences(sess: Any, arguments: Any, expected: Any) -> None:
    """`contrib.seq2seq.sequence_loss` averages over what it is asked to."""
    found = sess.run(seq2seq.sequence_loss(_LOGITS, _TARGETS, _WEIGHTS, **arguments))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    with pytest.raises(ValueError, match="cannot both be asked for"):
        seq2seq.sequence_loss(_LOGITS, _TARGETS, _WEIGHTS, sum_over_batch=True)


def test_tile_batch(sess: Any) -> None:
    """Each row stands so many times in a row."""
    found = sess.run(seq2seq.tile_batch({"a": np.array([[1, 2], [3, 4]]), "b": np.array([5, 6])}, 2))
    assert found["a"].tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]] and found["b"].tolist() == [5, 5, 6, 6]


def test_buckets(sess: Any) -> None:
    """Buckets share their variables, and have losses of their own."""
    inputs = [tf.constant(s) for s in _SYMBOLS]
    weights = [tf.ones([2])] * 3

    def model(encoder: Any, decoder: Any) -> Any:
        return legacy_seq2seq.embedding_rnn_seq2seq(encoder, decoder, _cell(), 5, 6, 4)

    outputs, losses = legacy_seq2seq.model_with_buckets(inputs, inputs, inputs, weights, [(1, 2), (2, 3)], model)
    assert [len(o) for o in outputs] == [2, 3]
    sess.run(tf.global_variables_initializer())
    assert len(tf.trainable_variables()) == 8
    short, _ = sess.run(losses)
    np.testing.assert_allclose(short, sess.run(legacy_seq2seq.sequence_loss(outputs[0], inputs[:2], weights[:2])))
    with pytest.raises(ValueError, match="Length of targets"):
        legacy_seq2seq.model_with_buckets(inputs, inputs, inputs[:2], weights, [(2, 3)], model)
