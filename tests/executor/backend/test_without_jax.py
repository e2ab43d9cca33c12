"""Programs that are lowered without importing JAX."""

import os
import subprocess
import sys

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import cache, lower
from graphgrad.executor.emit import number_functions
from graphgrad.executor.emit.arrays import unary
from graphgrad.executor.runtime import executable
from graphgrad.executor.runtime.session import HostSession

TRAINING = """
import sys
import numpy as np
import graphgrad.v1 as tf

rng = np.random.default_rng(0)
x, labels = tf.placeholder(tf.float32, [None, 8, 8, 3]), tf.placeholder(tf.int32, [None])
w = tf.Variable(rng.standard_normal((3, 3, 3, 4)).astype(np.float32))
v = tf.Variable(rng.standard_normal((64, 5)).astype(np.float32))
table = tf.Variable(rng.standard_normal((50, 5)).astype(np.float32))
h = tf.nn.max_pool(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")), 2, 2, "SAME")
h = tf.matmul(tf.reshape(h, [-1, 64]), v) + tf.nn.embedding_lookup(table, labels)
h = tf.sigmoid(h) * tf.nn.softmax(h) + tf.reduce_mean(h, 1, keepdims=True)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=h))
steps = [tf.train.AdamOptimizer(0.01).minimize(loss), tf.train.GradientDescentOptimizer(0.1).minimize(loss)]
feed = {x: rng.standard_normal((16, 8, 8, 3)).astype(np.float32), labels: rng.integers(0, 5, 16)}
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in steps * 3:
        print(float(session.run([loss, step], feed)[0]))
print("jax" in sys.modules)
"""


def _run(first):
    env = {**os.environ, "GRAPHGRAD_FIRST_RUN": first, "GRAPHGRAD_CACHE_DIR": ""}
    done = subprocess.run([sys.executable, "-c", TRAINING], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    *losses, imported = done.stdout.split()
    return np.array(losses, float), imported


def test_training_does_not_import_jax():
    compiled, imported = _run("xla")
    assert imported == "False"
    in_numpy, _ = _run("numpy")
    np.testing.assert_allclose(compiled, in_numpy, rtol=1e-4)


@pytest.fixture
def lowered(monkeypatch):
    """What is lowered without JAX, as text or bytecode; None for what JAX lowers."""
    monkeypatch.setattr(executable, "tiered", False)
    monkeypatch.setattr(executable, "first_in_numpy", False)
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", "")
    found = []
    own = lower._without_jax
    monkeypatch.setattr(lower, "_without_jax", lambda *args: found.append(own(*args)) or found[-1])
    cache.clear()
    yield found
    cache.clear()


def test_variables_are_written_over(lowered, monkeypatch):
    texts, own = [], lower._written
    monkeypatch.setattr(lower, "_written", lambda *args: texts.append(own(*args)) or texts[-1])
    with tf.Graph().as_default(), tf.Session() as session:
        v, w = (tf.Variable(np.ones(shape, np.float32)) for shape in ((64, 3), (5,)))
        step = [tf.assign_add(v, tf.tanh(v)), tf.assign(w, w * 2), tf.reduce_max(v)]
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        np.testing.assert_array_equal(session.run(w), np.full(5, 8.0))
    (text,) = [text for text, _ in texts if "tanh" in text]
    assert None not in lowered
    assert text.count("tf.aliasing_output") == 2


@pytest.mark.parametrize("fetched", ["map", "singular values"])
def test_others_are_lowered_by_jax(lowered, fetched):
    with tf.Graph().as_default(), tf.Session() as session, HostSession() as host:
        x = tf.placeholder(tf.float32, [3])
        y = {"map": lambda: tf.vectorized_map(lambda v: tf.tanh(v) * x, x),
             "singular values": lambda: tf.linalg.svd(tf.diag(x), compute_uv=False)}[fetched]()
        feed = {x: np.array([1, 2, 3], np.float32)}
        np.testing.assert_allclose(session.run(y, feed), host.run(y, feed), rtol=1e-6)
    assert lowered and lowered[-1] is None


def _loop(x):
    return tf.while_loop(lambda i, v: tf.reduce_sum(v) < 100, lambda i, v: (i + 1, v * 2), [0, x])


def _collatz(x):
    """Loops around a branch, and around a loop."""
    def body(n, steps):
        halved = tf.while_loop(lambda m: tf.equal(m % 2, 0), lambda m: m // 2, [n])
        return tf.cond(n < 9, lambda: halved + 1, lambda: halved * 3 + 1), steps + 1

    return tf.while_loop(lambda n, steps: (n > 2) & (steps < 20), body, [tf.cast(x[2], tf.int32) * 7, 0])


def _written_rows(x):
    rows = tf.TensorArray(tf.float32, 4)
    _, rows = tf.while_loop(lambda i, rows: i < 4, lambda i, rows: (i + 1, rows.write(i, x * tf.cast(i, tf.float32))),
                            [0, rows])
    return rows.stack()


def _unset_rows(x):
    """Returns a list, which another run takes, some of whose elements nobody has set."""
    return tf.TensorArray(tf.float32, 3, clear_after_read=False).write(1, x).stack()


def _gradient(x):
    y = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, tf.tanh(v) * x), [0, x])[1]
    return tf.gradients(y, x)


def _recurrent(x):
    inputs = tf.reshape(tf.tile(x, [8]), [2, 4, 3])
    with tf.variable_scope("rnn", initializer=tf.constant_initializer(0.3), reuse=tf.AUTO_REUSE):
        cell = tf.nn.rnn_cell.LSTMCell(4)
        outputs, state = tf.nn.dynamic_rnn(cell, inputs, [2, 4], dtype=tf.float32)
    return [outputs, *state, *tf.gradients(outputs, [x, *tf.trainable_variables()])]


def _random(x):
    return [tf.random_uniform([5], seed=1), tf.random_normal([3, 7], seed=2), tf.truncated_normal([9], seed=3),
            tf.random_uniform([4], 3, 90, tf.int32, seed=4), tf.nn.dropout(x, 0.5, seed=5),
            tf.random_uniform([4], dtype=tf.float64, seed=6), tf.random.stateless_normal([4], [1, 2])]


def _random_walk(x):
    return tf.while_loop(lambda i, v: i < 6, lambda i, v: (i + 1, v + tf.random_normal([3], seed=3)), [0, x])


def _rejecting(x):
    """Loops around what may reject values."""
    table = tf.constant([3, 1, 2, 0])
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.gather(table, v)), [0, tf.cast(x, tf.int32)])


def _state(x):
    v = tf.get_variable("v", initializer=np.ones(3, np.float32), use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add(x)]):
            return i + 1

    with tf.control_dependencies([tf.while_loop(lambda i: i < 4, body, [0])]):
        return v.read_value()


def _branch(x):
    return tf.case([(tf.reduce_sum(x) < y, lambda y=y: x * y) for y in (1.0, 3.0, 9.0)], lambda: -x)


_PROGRAMS = [_loop, _collatz, _written_rows, _unset_rows, _gradient, _recurrent, _random, _random_walk, _rejecting,
             _state, _branch]


@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda program: program.__name__.strip("_"))
def test_loops_branches_and_random_numbers_are_those_of_jax(lowered, monkeypatch, program):
    """What is written without JAX gives the numbers of JAX's program, to the last bit."""
    found = []
    for without in (True, False):
        cache.clear()
        monkeypatch.setattr(lower, "without_jax", without)
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(7)
            x = tf.placeholder(tf.float32, [3])
            fetched = program(x)
            session.run(tf.global_variables_initializer())
            lowered.clear()
            found.append([session.run(fetched, {x: np.array([1, 2, 3], np.float32)}) for _ in range(2)])
        assert lowered and all((made is not None) is without for made in lowered)
    for mine, other in zip(*map(tf.nest.flatten, found), strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(other).tobytes()


def test_loops_around_what_cannot_write_itself_are_traced(lowered):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3])
        y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.linalg.svd(tf.diag(v), compute_uv=False) * 2),
                          [0, x])[1]
        np.testing.assert_allclose(session.run(y, {x: [3, 2, 1]}), [24, 16, 8], rtol=1e-5)
    assert lowered == [None]


def test_text_with_a_defect_goes_to_jax(lowered, monkeypatch):
    monkeypatch.setattr(number_functions, "unary", lambda name, x: unary("no_such_operation", x))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3])
        np.testing.assert_allclose(session.run(tf.exp(x), {x: np.zeros(3)}), np.ones(3))
    assert lowered == [None]


def test_errors_are_those_of_kernels(lowered):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32, [None, None])
        product = tf.matmul(tf.tanh(x), y, name="product")
        with pytest.raises(tf.errors.InvalidArgumentError, match="product"):
            session.run(product, {x: np.ones((2, 3)), y: np.ones((2, 3))})


@pytest.mark.parametrize("value", [np.float32(np.nan), np.float32(1e-45), np.float32(-0.0), np.float32(np.inf)])
def test_constants_are_exact(lowered, value):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4])
        where = tf.where(x > 0, tf.fill([4], value), tf.constant([1, 2, 3, 4], tf.float32) * x)
        found = session.run(where, {x: np.array([1, -1, 1, -1], np.float32)})
    assert found[[0, 2]].tobytes() == np.full(2, value).tobytes()
    assert found[[1, 3]].tolist() == [-2, -4]
    assert lowered[-1] is not None


def test_what_must_be_known_is_found_without_jax(lowered, monkeypatch):
    monkeypatch.setattr(lower, "_jax", lambda platform: pytest.fail("JAX was asked"))
    with tf.Graph().as_default(), tf.Session() as session:
        x, n = tf.placeholder(tf.float32, [6]), tf.placeholder(tf.int32, [5000])
        first = tf.reduce_sum(n * 2)  # decides the size of the result
        y = tf.tanh(tf.slice(x, [first], [-1]))
        fed = np.arange(6, dtype=np.float32)
        for start in (2, 4, 2):
            numbers = np.zeros(5000, np.int32)
            numbers[7] = start // 2
            np.testing.assert_allclose(session.run(y, {x: fed, n: numbers}), np.tanh(fed[start:]), rtol=1e-6)
