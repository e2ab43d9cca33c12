"""`tf.contrib.seq2seq`: decoders, helpers, attention, beam search, beside the same in NumPy.

TensorFlow 2.21 has no `tf.contrib` to record from, so the references here are written from the papers' formulas.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import seq2seq
from graphgrad.executor.runtime.session import HostSession

_RANDOM = np.random.default_rng(0)
_MEMORY = _RANDOM.normal(size=(2, 5, 3)).astype(np.float32)
_INPUTS = _RANDOM.normal(size=(2, 4, 2)).astype(np.float32)
_LENGTHS = np.array([5, 3], np.int32)


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default() as graph, HostSession() as session:
        graph.seed = 3
        yield session


def _variables(sess: Any) -> dict[str, Any]:
    """The variables by name, with values that are not zero."""
    sess.run(tf.global_variables_initializer())
    random = np.random.default_rng(1)
    for v in tf.trainable_variables():
        v.load(random.normal(size=v.shape.as_list(), scale=0.7).astype(np.float32), sess)
    return {v.op.name: sess.run(v) for v in tf.trainable_variables()}


def _softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _rnn(v: dict[str, Any], scope: str, x: Any, h: Any) -> Any:
    return np.tanh(np.concatenate([x, h], -1) @ v[f"{scope}/kernel"] + v[f"{scope}/bias"])


# -- attention -----------------------------------------------------------------------------

_S = "decoder/attention_wrapper"
_MECHANISMS: dict[str, tuple[Any, list[str], Any]] = {
    "luong": (lambda: seq2seq.LuongAttention(4, _MEMORY, _LENGTHS), ["memory_layer/kernel"],
              lambda v, q, k: np.einsum("bu,btu->bt", q, k)),
    "luong scaled": (lambda: seq2seq.LuongAttention(4, _MEMORY, _LENGTHS, scale=True),
                     ["memory_layer/kernel", f"{_S}/luong_attention/attention_g"],
                     lambda v, q, k: v[f"{_S}/luong_attention/attention_g"] * np.einsum("bu,btu->bt", q, k)),
    "bahdanau": (lambda: seq2seq.BahdanauAttention(4, _MEMORY, _LENGTHS),
                 ["memory_layer/kernel", f"{_S}/bahdanau_attention/query_layer/kernel",
                  f"{_S}/bahdanau_attention/attention_v"],
                 lambda v, q, k: np.tanh(k + (q @ v[f"{_S}/bahdanau_attention/query_layer/kernel"])[:, None])
                 @ v[f"{_S}/bahdanau_attention/attention_v"]),
    "bahdanau normed": (lambda: seq2seq.BahdanauAttention(4, _MEMORY, _LENGTHS, normalize=True),
                        ["memory_layer/kernel", *(f"{_S}/bahdanau_attention/{n}" for n in (
                            "query_layer/kernel", "attention_v", "attention_g", "attention_b"))],
                        lambda v, q, k: _normed({n.rpartition("/")[2] if "attention_" in n.rpartition("/")[2] else n: a
                                                 for n, a in v.items()}, q, k)),
}


def _normed(v: dict[str, Any], q: Any, k: Any) -> Any:
    direction = v["attention_v"] / np.linalg.norm(v["attention_v"])
    query = q @ v[f"{_S}/bahdanau_attention/query_layer/kernel"]
    return np.tanh(k + query[:, None] + v["attention_b"]) @ (v["attention_g"] * direction)


@pytest.mark.parametrize("name", _MECHANISMS)
def test_attention(name: str, sess: Any) -> None:
    """Teacher forcing with attention: each step is what the formulas say, under the published names."""
    make, names, score = _MECHANISMS[name]
    mechanism = make()
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicRNNCell(4), mechanism, attention_layer_size=6,
                                    alignment_history=True)
    helper = seq2seq.TrainingHelper(_INPUTS, [4, 2])
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(3, name="out"))
    outputs, state, lengths = seq2seq.dynamic_decode(decoder)
    v = _variables(sess)
    assert sorted(v) == sorted([*names, f"{_S}/basic_rnn_cell/kernel", f"{_S}/basic_rnn_cell/bias",
                                f"{_S}/attention_layer/kernel", "decoder/out/kernel", "decoder/out/bias"])
    values = _MEMORY * (np.arange(5) < _LENGTHS[:, None])[..., None]
    keys = values @ v["memory_layer/kernel"]
    h, attention = np.zeros((2, 4)), np.zeros((2, 6))
    expected, weights = [], []
    for t in range(4):
        h = _rnn(v, f"{_S}/basic_rnn_cell", np.concatenate([_INPUTS[:, t], attention], 1), h)
        scores = np.where(np.arange(5) < _LENGTHS[:, None], score(v, h, keys), -np.inf)
        weights.append(_softmax(scores))
        context = np.einsum("bt,btd->bd", weights[-1], values)
        attention = np.concatenate([h, context], 1) @ v[f"{_S}/attention_layer/kernel"]
        expected.append(attention @ v["decoder/out/kernel"] + v["decoder/out/bias"])
    got = sess.run([outputs.rnn_output, outputs.sample_id, lengths, state.alignment_history.stack(), state.time,
                    state.cell_state])
    np.testing.assert_allclose(got[0], np.stack(expected, 1), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(got[1], np.stack(expected, 1).argmax(-1))
    np.testing.assert_allclose(got[3], weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got[5], h, rtol=1e-4, atol=1e-5)
    assert got[2].tolist() == [4, 2] and got[4] == 4


def test_several_mechanisms(sess: Any) -> None:
    """Attentions of several mechanisms stand side by side, each with its own layer; the cell's output may come out."""
    mechanisms = [seq2seq.LuongAttention(4, _MEMORY), seq2seq.BahdanauAttention(3, _MEMORY, _LENGTHS)]
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanisms, attention_layer_size=[2, 3],
                                    output_attention=False, initial_cell_state=tf.ones([2, 4]))
    assert cell.output_size == 4 and cell.state_size.attention == 5
    output, state = cell(_INPUTS[:, 0], cell.zero_state(2, tf.float32))
    v = _variables(sess)
    assert [n for n in v if "attention_layer" in n] == [f"attention_wrapper/attention_layer{s}/kernel"
                                                        for s in ("", "_1")]
    got = sess.run([output, state])
    assert got[1].attention.shape == (2, 5) and [a.shape for a in got[1].alignments] == [(2, 5), (2, 5)]
    np.testing.assert_allclose(got[1].alignments[1][1, 3:], 0.0)
    first = np.concatenate([got[0], np.einsum("bt,btd->bd", got[1].alignments[0], _MEMORY)], 1)
    first = first @ v["attention_wrapper/attention_layer/kernel"]
    np.testing.assert_allclose(got[1].attention[:, :2], first, rtol=1e-4)


def test_monotonic(sess: Any) -> None:
    """The three ways agree where they should, and with the definition: a walk that never goes back."""
    p = _RANDOM.uniform(0.1, 0.9, size=(2, 4)).astype(np.float32)
    before = _softmax(_RANDOM.normal(size=(2, 4))).astype(np.float32)
    walked = np.zeros((2, 4))
    for b, start in itertools.product(range(2), range(4)):
        passing = before[b, start]
        for place in range(start, 4):
            walked[b, place] += passing * p[b, place]
            passing *= 1 - p[b, place]
    hard, at = np.array([[0, 1, 0, 1.0]], np.float32), np.array([[0, 0, 1.0, 0]], np.float32)
    got = sess.run([seq2seq.monotonic_attention(p, before, m) for m in ("recursive", "parallel")]
                   + [seq2seq.monotonic_attention(hard, at, "hard")])
    np.testing.assert_allclose(got[0], walked, rtol=1e-5)
    np.testing.assert_allclose(got[1], walked, rtol=1e-4)
    assert got[2].tolist() == [[0, 0, 0, 1]]
    for kind in (seq2seq.LuongMonotonicAttention, seq2seq.BahdanauMonotonicAttention):
        mechanism = kind(4, _MEMORY, score_bias_init=-2.0)
        start = mechanism.initial_state(2, tf.float32)
        weights, _ = mechanism(tf.ones([2, 4]), start)
        sess.run(tf.global_variables_initializer())
        first, found = sess.run([start, weights])
        assert first.tolist() == [[1, 0, 0, 0, 0]] * 2
        assert (found.sum(1) < 1).all() and (found > 0).all()
    assert sess.run(seq2seq.hardmax([[1.0, 3.0], [2.0, 0.0]])).tolist() == [[0, 1], [1, 0]]
    with pytest.raises(ValueError, match="(?s)must be 'recursive'.*Fix:"):
        seq2seq.monotonic_attention(p, before, "other")


# -- helpers and the loop --------------------------------------------------------------------

_EMBEDDING = _RANDOM.normal(size=(6, 2)).astype(np.float32) * 2


def _greedy(v: dict[str, Any], h: Any, steps: int, end: int) -> tuple[Any, Any]:
    ids, lengths, finished = [], np.zeros(len(h), int), np.zeros(len(h), bool)
    x = _EMBEDDING[[1] * len(h)]
    for t in range(steps):
        if finished.all():
            break
        h = _rnn(v, "decoder/basic_rnn_cell", x, h)
        ids.append((h @ v["decoder/out/kernel"] + v["decoder/out/bias"]).argmax(-1))
        lengths[~finished] = t + 1
        finished |= ids[-1] == end
        x = _EMBEDDING[ids[-1]]
    return np.stack(ids, 1), lengths


def test_greedy(sess: Any) -> None:
    """What comes out goes in, until the end token or the bound; a bound that only the run knows gives the same."""
    cell, layer = tf.nn.rnn_cell.BasicRNNCell(4), tf.layers.Dense(6, name="out")
    first = _RANDOM.normal(size=(3, 4)).astype(np.float32)
    bound = tf.placeholder_with_default(9, [])
    results = []
    for most in (9, bound, None):
        helper = seq2seq.GreedyEmbeddingHelper(_EMBEDDING, [1, 1, 1], 5)
        decoder = seq2seq.BasicDecoder(cell, helper, tf.constant(first), layer)
        results.append(seq2seq.dynamic_decode(decoder, maximum_iterations=most, output_time_major=most is None))
    v = _variables(sess)
    for steps in (9, 3):
        ids, lengths = _greedy(v, first, steps, 5)
        got = sess.run([(o.sample_id, n) for o, _, n in (results[:2] if steps == 9 else results[1:2])], {bound: steps})
        for found, found_lengths in got:
            np.testing.assert_array_equal(found, ids)
            np.testing.assert_array_equal(found_lengths, lengths)
    ids, lengths = _greedy(v, first, 200, 5)
    if ids.shape[1] < 200:
        np.testing.assert_array_equal(sess.run(results[2][0].sample_id), ids.T)


def test_lengths_decide_no_array(sess: Any) -> None:
    """Arrays are as long as shapes and rounded bounds say: other lengths of sequences need no other program."""
    lengths = tf.placeholder(tf.int32, [2])
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    helpers: list[tuple[Any, Any]] = [
        (seq2seq.TrainingHelper(_INPUTS, lengths), None), (seq2seq.TrainingHelper(_INPUTS, lengths), 3),
        (seq2seq.GreedyEmbeddingHelper(_EMBEDDING, [1, 1], 5), 2 * tf.reduce_max(lengths))]
    found = []
    for helper, most in helpers:
        decoder = seq2seq.BasicDecoder(cell, helper, tf.zeros([2, 2]))
        found.append(seq2seq.dynamic_decode(decoder, maximum_iterations=most))
    waiting = [op.inputs[1].op for op in tf.get_default_graph().get_operations() if op.type == "TensorListReserve"]
    assert len(waiting) == 6
    while waiting:
        op = waiting.pop()
        assert op is not lengths.op
        waiting += [t.op for t in op.inputs if op.type not in ("Shape", "LoopBound")]
    sess.run(tf.global_variables_initializer())
    for fed in ([4, 2], [1, 2]):
        got = sess.run(found, {lengths: fed})
        assert [o.sample_id.shape[1] for o, _, _ in got[:2]] == [max(fed), min(max(fed), 3)]
        assert got[2][0].sample_id.shape[1] <= 2 * max(fed) and got[0][2].tolist() == fed


def test_imputed(sess: Any) -> None:
    """With `impute_finished`, outputs beyond the end are zero and states stay: as `dynamic_rnn` has it."""
    cell = tf.nn.rnn_cell.GRUCell(4)
    helper = seq2seq.TrainingHelper(np.swapaxes(_INPUTS, 0, 1), [4, 2], time_major=True)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    outputs, state, _ = seq2seq.dynamic_decode(decoder, impute_finished=True, scope="s")
    with tf.variable_scope("s", reuse=True) as scope:
        other = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), _INPUTS, [4, 2], dtype=tf.float32, scope=scope)
    assert helper.sequence_length.shape.as_list() == [2]
    sess.run(tf.global_variables_initializer())
    for a, b in zip(sess.run((outputs.rnn_output, state)), sess.run(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_scheduled(sess: Any) -> None:
    """Never sampling is teacher forcing; always sampling is drawing from the outputs; outputs may go in themselves."""
    cell, layer = tf.nn.rnn_cell.BasicRNNCell(2), tf.layers.Dense(6, name="out")

    def decode(helper: Any, layer: Any = layer) -> Any:
        return seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, tf.zeros([2, 2]), layer))[0]

    plain = decode(seq2seq.TrainingHelper(_INPUTS, [4, 4]))
    never = decode(seq2seq.ScheduledEmbeddingTrainingHelper(_INPUTS, [4, 4], _EMBEDDING, 0.0))
    always = decode(seq2seq.ScheduledEmbeddingTrainingHelper(_INPUTS, [4, 4], tf.constant(_EMBEDDING), 1.0, seed=1))
    own = decode(seq2seq.ScheduledOutputTrainingHelper(_INPUTS, [4, 4], 1.0), None)
    beside = decode(seq2seq.ScheduledOutputTrainingHelper(_INPUTS[..., :1], [4, 4], [0.0, 0.0],
                                                          next_inputs_fn=lambda outputs: outputs[:, :1],
                                                          auxiliary_inputs=_INPUTS[..., 1:]))
    v = _variables(sess)
    a, b, c, d, e = sess.run((plain, never, always, own, beside))
    np.testing.assert_allclose(a.rnn_output, b.rnn_output)
    np.testing.assert_allclose(a.rnn_output, e.rnn_output)
    assert (b.sample_id == -1).all() and (c.sample_id >= 0).all() and (d.sample_id == 1).all()
    h = np.zeros((2, 2))
    for t in range(4):
        h = _rnn(v, "decoder/basic_rnn_cell", _INPUTS[:, 0] if t == 0 else _EMBEDDING[c.sample_id[:, t - 1]], h)
        np.testing.assert_allclose(c.rnn_output[:, t], h @ v["decoder/out/kernel"] + v["decoder/out/bias"], rtol=1e-4)
    h = np.zeros((2, 2))
    for t in range(4):
        h = _rnn(v, "decoder/basic_rnn_cell", _INPUTS[:, 0] if t == 0 else h, h)
        np.testing.assert_allclose(d.rnn_output[:, t], h, rtol=1e-4, atol=1e-6)


def test_sampling(sess: Any) -> None:
    """Samples follow softmax(logits / temperature)."""
    logits = np.tile([[0.0, 1.0, 2.0]], (20000, 1)).astype(np.float32)
    for temperature in (None, 0.5):
        helper = seq2seq.SampleEmbeddingHelper(tf.eye(3), [0], 2, temperature, seed=2)
        drawn = sess.run(helper.sample(0, tf.constant(logits), ()))
        share = np.bincount(drawn, minlength=3) / 20000
        np.testing.assert_allclose(share, _softmax(logits[0] / (temperature or 1.0)), atol=0.015)


def test_own_functions(sess: Any) -> None:
    """`CustomHelper` and `InferenceHelper` are made of functions."""
    cell = tf.nn.rnn_cell.BasicRNNCell(2)
    custom = seq2seq.CustomHelper(
        lambda: (tf.fill([2], False), tf.zeros([2, 2])),
        lambda time, outputs, state: tf.argmax(outputs, -1, output_type=tf.int32),
        lambda time, outputs, state, sample_ids: (tf.fill([2], time >= 2), outputs, state))
    infer = seq2seq.InferenceHelper(lambda outputs: outputs, [2], tf.float32, tf.zeros([2, 2]),
                                    lambda ids: tf.reduce_sum(ids, 1) > 1e9)
    with pytest.raises(ValueError, match=r"before initialize was called.*Fix:"):
        custom.batch_size  # noqa: B018  # reading it raises
    start = tf.ones([2, 2])
    custom.initialize()
    a, _, n = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, custom, start))
    b, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, infer, start), maximum_iterations=3)
    _variables(sess)
    a, b, n = sess.run((a, b, n))
    np.testing.assert_allclose(a.rnn_output, b.rnn_output)
    np.testing.assert_allclose(b.sample_id, b.rnn_output)
    assert n.tolist() == [3, 3] and a.rnn_output.shape == (2, 3, 2)


def test_gradients(sess: Any) -> None:
    """The gradient through the loop, with attention, agrees with finite differences; and is the loop's bound's too."""
    memory = tf.Variable(_MEMORY.astype(np.float64))
    mechanism = seq2seq.BahdanauAttention(3, memory, _LENGTHS, normalize=True, dtype=tf.float64)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(3), mechanism, attention_layer_size=3)
    helper = seq2seq.TrainingHelper(_INPUTS.astype(np.float64), tf.placeholder_with_default([4, 2], [2]))
    start = cell.zero_state(2, tf.float64)
    decoder = seq2seq.BasicDecoder(cell, helper, start, tf.layers.Dense(3, dtype=tf.float64))
    outputs, state, _ = seq2seq.dynamic_decode(decoder, impute_finished=True)
    loss = tf.reduce_sum(tf.square(outputs.rnn_output)) + tf.reduce_sum(state.cell_state)
    variables = tf.trainable_variables()
    grads = tf.gradients(loss, variables)
    sess.run(tf.global_variables_initializer())
    assert all(g is not None for g in grads) and len(variables) == 13
    random = np.random.default_rng(4)
    values = sess.run(variables)
    directions = [random.normal(size=v.shape) for v in values]
    analytic = sum(np.sum(g * d) for g, d in zip(sess.run(grads), directions, strict=True))
    both = []
    for step in (1e-5, -1e-5):
        for v, value, d in zip(variables, values, directions, strict=True):
            v.load(value + step * d, sess)
        both.append(sess.run(loss))
    np.testing.assert_allclose(analytic, (both[0] - both[1]) / 2e-5, rtol=1e-6)


# -- beam search -------------------------------------------------------------------------------


def _beams(step: Any, start: Any, width: int, steps: int, end: int, power: float) -> list[tuple[float, list[int]]]:
    """Beam search over lists, as the papers have it: sequences with scores."""
    alive: list[tuple[float, list[int], Any, bool, int]] = [(0.0, [], start, False, 0)]
    for _ in range(steps):
        candidates = []
        for total, symbols, state, done, length in alive:
            if done:
                candidates.append((total, [*symbols, end], state, True, length, length))
                continue
            logs, after = step(symbols[-1] if symbols else 1, state)
            for s, value in enumerate(logs):
                counted = length + (s != end)
                candidates.append((total + value, [*symbols, s], after, s == end, length + 1, counted))
        candidates.sort(key=lambda c: -c[0] / ((5 + c[5]) / 6) ** power)
        alive = [c[:5] for c in candidates[:width]]
        if all(a[3] for a in alive):
            break
    return [(a[0], a[1]) for a in alive]


@pytest.mark.parametrize("power", [0.0, 0.8])
def test_beam_search(sess: Any, power: float) -> None:
    """The sequences, their order and lengths are those of a search written over lists."""
    cell, layer = tf.nn.rnn_cell.BasicRNNCell(4), tf.layers.Dense(6, name="out")
    first = _RANDOM.normal(size=(2, 4)).astype(np.float32)
    state = seq2seq.tile_batch(tf.constant(first), 3)
    decoder = seq2seq.BeamSearchDecoder(cell, _EMBEDDING, [1, 1], 5, state, 3, layer, length_penalty_weight=power)
    outputs, final, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    v = _variables(sess)

    def step(symbol: int, h: Any) -> Any:
        h = _rnn(v, "decoder/basic_rnn_cell", _EMBEDDING[symbol], h)
        return np.log(_softmax(h @ v["decoder/out/kernel"] + v["decoder/out/bias"])), h

    got, final, lengths = sess.run((outputs, final, lengths))
    assert got.beam_search_decoder_output.scores.shape == got.predicted_ids.shape
    for b in range(2):
        expected = _beams(step, first[b], 3, got.predicted_ids.shape[1], 5, power)
        for k, (total, symbols) in enumerate(expected):
            until = symbols.index(5) + 1 if 5 in symbols else len(symbols)
            found = got.predicted_ids[b, :, k].tolist()
            assert found[:until] == symbols[:until] and set(found[until:]) <= {5}
            np.testing.assert_allclose(final.log_probs[b, k], total, rtol=1e-4)
            assert final.lengths[b, k] == until


def test_beams_with_attention(sess: Any) -> None:
    """Memory and states are tiled; weights are put into the order of the sequences; coverage costs."""
    memory, lengths = seq2seq.tile_batch((_MEMORY, _LENGTHS), 2)
    mechanism = seq2seq.LuongAttention(4, memory, lengths)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 4, alignment_history=True)
    found = []
    for penalty in (0.0, 0.5):
        decoder = seq2seq.BeamSearchDecoder(cell, _EMBEDDING, [1, 1], 5, cell.zero_state(4, tf.float32), 2,
                                            tf.layers.Dense(6, name="out", _reuse=tf.AUTO_REUSE),
                                            coverage_penalty_weight=penalty)
        outputs, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
        found.append((outputs.predicted_ids, state.cell_state.alignment_history.stack()))
    _variables(sess)
    for ids, weights in sess.run(found):
        assert weights.shape == (ids.shape[1], 4, 5)
        np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-5)
    with pytest.raises(ValueError, match="(?s)tile_batch.*multiplier=beam_width"):
        cell.zero_state(2, tf.float32)
    with pytest.raises(ValueError, match="(?s)3 instead of 2 . 2.*Fix:.*tile_batch"):
        seq2seq.BeamSearchDecoder(tf.nn.rnn_cell.GRUCell(4), _EMBEDDING, [1, 1], 5, tf.zeros([3, 4]), 2)


# -- TensorFlow 1.0 ------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["luong", "bahdanau"])
def test_functions_of_1_0(option: str, sess: Any) -> None:
    """Decoders made of functions: training with given inputs, and inference that begins like it."""
    memory = _RANDOM.normal(size=(2, 5, 4)).astype(np.float32)
    prepared = seq2seq.prepare_attention(tf.constant(memory), option, 4)
    state = tf.constant(_RANDOM.normal(size=(2, 4)).astype(np.float32))
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    train = seq2seq.attention_decoder_fn_train(state, *prepared)
    given = np.stack([_EMBEDDING[[1, 1]]] * 3, 1)
    with tf.variable_scope("decoder") as scope:
        outputs, _, _ = seq2seq.dynamic_rnn_decoder(cell, train, tf.constant(given), [3, 2], scope=scope)
        logits = tf.layers.dense(outputs, 6, name="out", use_bias=False)
    again = seq2seq.prepare_attention(tf.constant(memory), option, 4, reuse=True)
    with tf.variable_scope(scope, reuse=True) as scope:
        infer = seq2seq.attention_decoder_fn_inference(
            lambda x: tf.layers.dense(x, 6, name="out", use_bias=False), state, *again, tf.constant(_EMBEDDING),
            1, 5, 4, 6)
        inferred, _, _ = seq2seq.dynamic_rnn_decoder(cell, infer, scope=scope)
    v = _variables(sess)
    names = {"attention_keys/weights", "attention_construct/weights", "decoder/basic_rnn_cell/kernel",
             "decoder/basic_rnn_cell/bias", "decoder/out/kernel"}
    assert set(v) == names | ({"attention_score/attnW", "attention_score/attnV"} if option == "bahdanau" else set())
    h, attention, rows = sess.run(state), np.zeros((2, 4)), []
    keys = memory @ v["attention_keys/weights"]
    for t in range(3):
        h = _rnn(v, "decoder/basic_rnn_cell", np.concatenate([given[:, t], attention], 1), h)
        if option == "luong":
            scores = np.einsum("bu,btu->bt", h, keys)
        else:
            scores = np.tanh(keys + (h @ v["attention_score/attnW"])[:, None]) @ v["attention_score/attnV"]
        context = np.einsum("bt,btu->bu", _softmax(scores), memory)
        attention = np.concatenate([h, context], 1) @ v["attention_construct/weights"]
        rows.append(attention)
    expected = np.stack(rows, 1) * np.array([[1, 1, 1], [1, 1, 0]])[..., None]
    got, train_logits, infer_logits = sess.run((outputs, logits, inferred))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(train_logits[:, 0], infer_logits[:, 0], rtol=1e-4, atol=1e-5)
    assert tf.gradients(outputs, cell.variables[0])[0] is not None


def test_simple_functions_of_1_0(sess: Any) -> None:
    """Without attention: outputs are the cell's; inference stops at the end token or the bound."""
    cell, state = tf.nn.rnn_cell.BasicRNNCell(6), tf.ones([2, 6])
    with tf.variable_scope("decoder") as scope:
        train = seq2seq.simple_decoder_fn_train(state)
        outputs, last, _ = seq2seq.dynamic_rnn_decoder(cell, train, tf.constant(_INPUTS), scope=scope)
        scope.reuse_variables()
        infer = seq2seq.simple_decoder_fn_inference(None, state, _EMBEDDING, 1, 5, 3, 6)
        inferred, _, _ = seq2seq.dynamic_rnn_decoder(cell, infer, scope=scope)
        plain, _ = tf.nn.dynamic_rnn(cell, _INPUTS, initial_state=state, scope=scope)
    _variables(sess)
    a, b, c, d = sess.run((outputs, plain, last, inferred))
    np.testing.assert_allclose(a, b, rtol=1e-5)
    np.testing.assert_allclose(c, b[:, -1], rtol=1e-5)
    assert d.shape[1] <= 5


# -- errors ----------------------------------------------------------------------------------------


def test_errors(sess: Any) -> None:
    """Of TensorFlow's classes, with a remedy."""
    cell = tf.nn.rnn_cell.GRUCell(4)
    helper = seq2seq.TrainingHelper(_INPUTS, [4, 4])
    wrapper = seq2seq.AttentionWrapper(cell, seq2seq.LuongAttention(3, _MEMORY))
    bad: list[tuple[Any, type[Exception], str]] = [
        (lambda: seq2seq.dynamic_decode(cell), TypeError, "type Decoder"),
        (lambda: seq2seq.BasicDecoder(cell, cell, None), TypeError, "helper must be a Helper"),
        (lambda: seq2seq.BasicDecoder(cell, helper, None, 3), TypeError, "output_layer must be a Layer"),
        (lambda: seq2seq.TrainingHelper(_INPUTS, [[4, 4]]), ValueError, "sequence_length to be a vector"),
        (lambda: seq2seq.GreedyEmbeddingHelper(_EMBEDDING, 1, 5), ValueError, "start_tokens must be a vector"),
        (lambda: seq2seq.GreedyEmbeddingHelper(_EMBEDDING, [1], [5]), ValueError, "end_token must be a scalar"),
        (lambda: seq2seq.ScheduledEmbeddingTrainingHelper(_INPUTS, [4, 4], _EMBEDDING, [[0.5]]), ValueError,
         "sampling_probability must be"),
        (lambda: wrapper(_INPUTS[:, 0], wrapper.zero_state(2, tf.float32)), ValueError, "query and keys"),
        (lambda: wrapper(_INPUTS[:, 0], tf.zeros([2, 4])), TypeError, "AttentionWrapperState"),
        (lambda: seq2seq.AttentionWrapper(cell, cell), TypeError, "AttentionMechanism"),
        (lambda: seq2seq.AttentionWrapper(cell, seq2seq.LuongAttention(4, _MEMORY), [1, 2]), ValueError,
         "exactly one"),
        (lambda: seq2seq.LuongAttention(4, tf.placeholder(tf.float32, [2, 5, None])), ValueError, "inner dims"),
        (lambda: wrapper.zero_state(2, tf.float32).clone(attention=tf.zeros([2, 9])), ValueError, "attention"),
    ]
    for call, kind, text in bad:
        with pytest.raises(kind, match=f"(?s){text}.*Fix:"):
            call()
