"""Recurrent cells of `tf.contrib.rnn`, beside the same in NumPy or in cells that TensorFlow 2.21 still has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import rnn
from graphgrad.executor.runtime.session import HostSession

_RANDOM = np.random.default_rng(0)
_X = _RANDOM.normal(size=(2, 3)).astype(np.float32)
_C, _H = (_RANDOM.normal(size=(2, 4)).astype(np.float32) for _ in range(2))
_S = _RANDOM.normal(size=(2, 5, 3)).astype(np.float32)


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), HostSession() as session:
        yield session


def _variables(sess: Any) -> dict[str, Any]:
    """The variables, without the name of the cell, with values that are not zero."""
    sess.run(tf.global_variables_initializer())
    random = np.random.default_rng(1)
    for v in tf.trainable_variables():
        v.load(random.uniform(0.2, 1.0, size=v.shape.as_list()).astype(np.float32), sess)
    return {v.op.name.partition("/")[2]: sess.run(v) for v in tf.trainable_variables()}


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _norm(x: Any, v: dict[str, Any], scope: str) -> Any:
    flat = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    return flat * v[f"{scope}/gamma"] + v[f"{scope}/beta"]


def _layer_norm_lstm(v: dict[str, Any]) -> Any:
    i, j, f, o = (_norm(t, v, s) for t, s in zip(
        np.split(np.concatenate([_X, _H], 1) @ v["kernel"], 4, 1), ("input", "transform", "forget", "output"),
        strict=True))
    c = _norm(_C * _sigmoid(f + 1) + _sigmoid(i) * np.tanh(j), v, "state")
    return np.tanh(c) * _sigmoid(o), c


def _plain_lstm(v: dict[str, Any]) -> Any:
    i, j, f, o = np.split(np.concatenate([_X, _H], 1) @ v["kernel"] + v["bias"], 4, 1)
    c = _C * _sigmoid(f + 1) + _sigmoid(i) * np.tanh(j)
    return np.tanh(c) * _sigmoid(o), c


def _nas(v: dict[str, Any]) -> Any:
    r = np.split(_H @ v["recurrent_kernel"] + v["bias"], 8, 1)
    x = np.split(_X @ v["kernel"], 8, 1)
    acts = [_sigmoid, lambda t: np.maximum(t, 0), _sigmoid, None, np.tanh, _sigmoid, np.tanh, _sigmoid]
    a = [np.maximum(x[k] * r[k], 0) if act is None else act(x[k] + r[k]) for k, act in enumerate(acts)]
    c = np.tanh(np.tanh(a[0] * a[1]) + _C) * np.tanh(a[2] + a[3])
    return np.tanh(c * np.tanh(np.tanh(a[4] * a[5]) + _sigmoid(a[6] + a[7]))), c


def _coupled(v: dict[str, Any]) -> Any:
    j, f, o = np.split(np.concatenate([_X, _H], 1) @ v["W_0"] + v["B"], 3, 1)
    f = _sigmoid(f + 1 + v["W_F_diag"] * _C)
    c = f * _C + (1 - f) * np.tanh(j)
    return _sigmoid(o + v["W_O_diag"] * c) * np.tanh(c), c


_MEMORY: dict[str, tuple[Any, Any]] = {
    "layer norm": (lambda: rnn.LayerNormBasicLSTMCell(4), _layer_norm_lstm),
    "without layer norm": (lambda: rnn.LayerNormBasicLSTMCell(4, layer_norm=False), _plain_lstm),
    "nas": (lambda: rnn.NASCell(4, use_biases=True), _nas),
    "coupled": (lambda: rnn.CoupledInputForgetGateLSTMCell(4, use_peepholes=True), _coupled),
}


@pytest.mark.parametrize("name", _MEMORY)
def test_memory(name: str, sess: Any) -> None:
    """Output and memory after one step, by the formulas; the same variables in the next step."""
    make, reference = _MEMORY[name]
    cell = make()
    h, state = cell(_X, rnn.LSTMStateTuple(_C, _H))
    count = len(tf.trainable_variables())
    cell(_X, state)
    assert len(tf.trainable_variables()) == count
    v = _variables(sess)
    for got, want in zip(sess.run((h, state.c)), reference(v), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert all(g is not None for g in tf.gradients(h, tf.trainable_variables()))


def test_gated(sess: Any) -> None:
    """UGRNN and the intersection RNN, by their formulas."""
    state, _ = rnn.UGRNNCell(4)(_X, tf.constant(_H))
    y, passed = rnn.IntersectionRNNCell(4, num_in_proj=4)(_X, tf.constant(_H))
    _variables(sess)
    w = {x.op.name: sess.run(x) for x in tf.trainable_variables()}
    gate, new = np.split(np.concatenate([_X, _H], 1) @ w["ugrnn_cell/kernel"] + w["ugrnn_cell/bias"], 2, 1)
    gate = _sigmoid(gate + 1)
    found = sess.run([state, y, passed])
    np.testing.assert_allclose(found[0], gate * _H + (1 - gate) * np.tanh(new), rtol=1e-4)
    scope = "intersection_rnn_cell"
    x = _X @ w[f"{scope}/in_projection/kernel"] + w[f"{scope}/in_projection/bias"]
    a, b, c, d = np.split(np.concatenate([x, _H], 1) @ w[f"{scope}/kernel"] + w[f"{scope}/bias"], 4, 1)
    time, depth = _sigmoid(a + 1), _sigmoid(c + 1)
    np.testing.assert_allclose(found[1], depth * x + (1 - depth) * np.maximum(d, 0), rtol=1e-4)
    np.testing.assert_allclose(found[2], time * _H + (1 - time) * np.tanh(b), rtol=1e-4)
    with pytest.raises(ValueError, match="(?s)input size == output size.*Fix:"):
        rnn.IntersectionRNNCell(4)(_X, tf.constant(_H))


def test_windows(sess: Any) -> None:
    """TimeFreqLSTM: one LSTM for all windows, each fed with the one before."""
    cell = rnn.TimeFreqLSTMCell(2, feature_size=2, frequency_skip=1)
    first = _RANDOM.normal(size=(2, 8)).astype(np.float32)
    output, state = cell(_X, tf.constant(first))
    v = _variables(sess)
    before, outputs, states = np.zeros((2, 2)), [], []
    for k in range(2):
        c, m = first[:, 4 * k : 4 * k + 2], first[:, 4 * k + 2 : 4 * k + 4]
        i, j, f, o = np.split(np.concatenate([_X[:, k : k + 2], m, before], 1) @ v["W_0"] + v["B"], 4, 1)
        c = _sigmoid(f + 1) * c + _sigmoid(i) * np.tanh(j)
        before = _sigmoid(o) * np.tanh(c)
        outputs.append(before)
        states += [c, before]
    found = sess.run([output, state])
    np.testing.assert_allclose(found[0], np.concatenate(outputs, 1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[1], np.concatenate(states, 1), rtol=1e-4, atol=1e-6)


def test_phased(sess: Any) -> None:
    """In the middle of the open phase a step counts fully; closed, hardly at all."""
    cell = rnn.PhasedLSTMCell(4, leak=0.0, period_init_min=9.0, period_init_max=10.0, ratio_on=0.5)
    time = tf.placeholder(tf.float32, [2, 1])
    h, state = cell((time, _X), rnn.LSTMStateTuple(_C, _H))
    sess.run(tf.global_variables_initializer())
    variables = {v.op.name.rpartition("/")[2]: v for v in tf.trainable_variables()}
    variables["period"].load(np.full(4, 8.0, np.float32), sess)
    variables["phase"].load(np.zeros(4, np.float32), sess)
    half, closed, quarter = (sess.run(state.c, {time: np.full((2, 1), t, np.float32)}) for t in (2.0, 7.0, 1.0))
    np.testing.assert_allclose(closed, _C, rtol=1e-6)
    np.testing.assert_allclose(quarter, (half + _C) / 2, rtol=1e-5)
    assert tf.gradients(h, list(variables.values())).count(None) == 0


def test_convolutional(sess: Any) -> None:
    """With windows of one point it is an LSTM at each point."""
    images = _RANDOM.normal(size=(2, 3, 3, 3)).astype(np.float32)
    cell = rnn.Conv2DLSTMCell(input_shape=[3, 3, 3], output_channels=4, kernel_shape=[1, 1])
    state = cell.zero_state(2, tf.float32)
    output, state = cell(images, state)
    output, state = cell(images, state)
    plain = tf.nn.rnn_cell.BasicLSTMCell(4)
    flat, flat_state = images.reshape(-1, 3), plain.zero_state(18, tf.float32)
    for _ in range(2):
        want, flat_state = plain(flat, flat_state)
    sess.run(tf.global_variables_initializer())
    kernel = plain.variables[0]
    values = {v.op.name: v for v in tf.trainable_variables()}
    values["conv_2d_lstm_cell/kernel"].load(sess.run(kernel).reshape(1, 1, 7, 16), sess)
    got, want = sess.run([output, want])
    np.testing.assert_allclose(got.reshape(-1, 4), want, rtol=1e-5, atol=1e-6)
    assert "conv_2d_lstm_cell/biases" in values and cell.output_size.as_list() == [3, 3, 4]
    wide = rnn.ConvLSTMCell(1, [5, 2], 3, [3], skip_connection=True)
    assert wide(tf.ones([2, 5, 2]), wide.zero_state(2, tf.float32))[0].shape.as_list() == [2, 5, 5]
    with pytest.raises(ValueError, match="(?s)Invalid input_shape.*Fix:"):
        rnn.ConvLSTMCell(2, [3, 3], 4, [1, 1])


def test_attention(sess: Any) -> None:
    """The attention of a cell to its own outputs, by the formulas."""
    cell = rnn.AttentionCellWrapper(tf.nn.rnn_cell.BasicRNNCell(4), 2)
    kept = _RANDOM.normal(size=(2, 8)).astype(np.float32)
    output, (state, attention, outputs) = cell(_X, (tf.constant(_H), tf.constant(_C), tf.constant(kept)))
    v = _variables(sess)
    x = np.concatenate([_X, _C], 1) @ v["kernel"] + v["bias"]
    h = np.tanh(np.concatenate([x, _H], 1) @ v["basic_rnn_cell/kernel"] + v["basic_rnn_cell/bias"])
    memory = kept.reshape(2, 2, 4)
    query = h @ v["attention/kernel"] + v["attention/bias"]
    scores = np.tanh(memory @ v["attention/attn_w"][0, 0] + query[:, None]) @ v["attention/attn_v"]
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    seen = np.einsum("bt,bts->bs", weights, memory)
    want = np.concatenate([h, seen], 1) @ v["attn_output_projection/kernel"] + v["attn_output_projection/bias"]
    found = sess.run([output, state, attention, outputs])
    for got, expected in zip(found, [want, h, seen, np.concatenate([memory[:, 1], want], 1)], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="(?s)greater than zero.*Fix:"):
        rnn.AttentionCellWrapper(tf.nn.rnn_cell.BasicRNNCell(4), 0)


def test_wrappers(sess: Any) -> None:
    """Projections, embeddings and highways around a cell."""
    cell = rnn.OutputProjectionWrapper(rnn.InputProjectionWrapper(tf.nn.rnn_cell.GRUCell(4), 6), 5)
    output, _ = cell(_X, cell.zero_state(2, tf.float32))
    embedded = rnn.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(4), 7, 3)
    symbols, _ = embedded(np.array([[1], [6]]), embedded.zero_state(2, tf.float32))
    plain = tf.nn.rnn_cell.GRUCell(4)
    high, _ = rnn.HighwayWrapper(plain)(_C, tf.constant(_H))
    inner, _ = plain(_C, tf.constant(_H))
    compiled, _ = rnn.CompiledWrapper(plain)(_C, tf.constant(_H))
    assert output.shape.as_list() == [2, 5] and cell.output_size == 5 and symbols.shape.as_list() == [2, 4]
    sess.run(tf.global_variables_initializer())
    values = {v.op.name: sess.run(v) for v in tf.trainable_variables()}
    carry = _sigmoid(_C @ values["carry_w"] + values["carry_b"])
    got = sess.run([high, inner, compiled])
    np.testing.assert_allclose(got[0], carry * _C + (1 - carry) * got[1], rtol=1e-5)
    np.testing.assert_array_equal(got[1], got[2])
    assert any(n.endswith("embedding_wrapper/embedding") for n in values)


def test_blocks(sess: Any) -> None:
    """Cells of one op compute what the others do, with the same names; the fused one what `dynamic_rnn` does."""
    for scope, cells in (("a", (rnn.LSTMBlockCell(4, use_peephole=True), tf.nn.rnn_cell.LSTMCell(4, True))),
                         ("b", (rnn.GRUBlockCellV2(4), tf.nn.rnn_cell.GRUCell(4)))):
        with tf.variable_scope(scope):
            one = tf.nn.dynamic_rnn(cells[0], _S, dtype=tf.float32)[0]
        with tf.variable_scope(scope, reuse=True):
            two = tf.nn.dynamic_rnn(cells[1], _S, dtype=tf.float32)[0]
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*sess.run((one, two)), rtol=1e-4, atol=1e-6)
    fused = rnn.LSTMBlockFusedCell(4)
    outputs, state = fused(tf.constant(np.swapaxes(_S, 0, 1)), sequence_length=[5, 2], dtype=tf.float32)
    cell = rnn.LSTMBlockCell(4, name="lstm_fused_cell", reuse=True)
    with tf.variable_scope("", reuse=True):
        want, last = tf.nn.dynamic_rnn(cell, _S, [5, 2], dtype=tf.float32, scope=tf.get_variable_scope())
    sess.run(tf.global_variables_initializer())
    found = sess.run([tf.transpose(outputs, [1, 0, 2]), state, want, last])
    np.testing.assert_allclose(found[0], found[2], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[1], found[3], rtol=1e-4, atol=1e-6)
    assert all(g is not None for g in tf.gradients(outputs, fused.variables))
    assert [v.op.name for v in rnn.GRUBlockCell(cell_size=2).variables] == []


def test_stacks(sess: Any) -> None:
    """Each layer runs over both directions of the one below."""
    def cells() -> list[Any]:
        return [tf.nn.rnn_cell.GRUCell(n) for n in (4, 2)]

    outputs, forwards, backwards = rnn.stack_bidirectional_dynamic_rnn(cells(), cells(), _S, dtype=tf.float32,
                                                                       sequence_length=[5, 3])
    steps, last, _ = rnn.stack_bidirectional_rnn(cells(), cells(), [_S[:, t] for t in range(5)], dtype=tf.float32,
                                                 scope="static")
    assert outputs.shape.as_list() == [2, 5, 4] and len(forwards) == len(backwards) == len(last) == 2
    assert len(steps) == 5 and steps[0].shape.as_list() == [2, 4]
    names = [v.op.name for v in tf.trainable_variables()]
    assert names[0] == "stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw/gru_cell/gates/kernel"
    sess.run(tf.global_variables_initializer())
    found = sess.run([outputs, forwards[-1], backwards[-1]])
    np.testing.assert_allclose(found[0][0, -1, :2], found[1][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][:, 0, 2:], found[2], rtol=1e-5)
    assert (found[0][1, 3:] == 0).all()
    np.testing.assert_array_equal(sess.run(rnn.transpose_batch_time(_S)), np.swapaxes(_S, 0, 1))
    with pytest.raises(ValueError, match="(?s)same depth.*Fix:"):
        rnn.stack_bidirectional_dynamic_rnn(cells(), cells()[:1], _S, dtype=tf.float32)
