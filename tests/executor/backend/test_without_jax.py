"""Programs that are lowered without importing JAX."""

import os
import subprocess
import sys

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import cache, lower
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


def test_variables_are_written_over(lowered):
    with tf.Graph().as_default(), tf.Session() as session:
        v, w = (tf.Variable(np.ones(shape, np.float32)) for shape in ((64, 3), (5,)))
        step = [tf.assign_add(v, tf.tanh(v)), tf.assign(w, w * 2), tf.reduce_max(v)]
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        np.testing.assert_array_equal(session.run(w), np.full(5, 8.0))
    (text, *_), *_ = [made for made in lowered if made is not None and b"tanh" in made[0]]
    assert text.count(b"tf.aliasing_output") == 2


@pytest.mark.parametrize("fetched", ["while", "random", "complex"])
def test_others_are_lowered_by_jax(lowered, fetched):
    with tf.Graph().as_default(), tf.Session() as session, HostSession() as host:
        x = tf.placeholder(tf.float32, [3])
        y = {"while": lambda: tf.while_loop(lambda v: tf.reduce_sum(v) < 100, lambda v: v * 2, [x]),
             "random": lambda: x + 0 * tf.random_uniform([3]),
             "complex": lambda: tf.abs(tf.complex(x, x))}[fetched]()
        feed = {x: np.array([1, 2, 3], np.float32)}
        np.testing.assert_allclose(session.run(y, feed), host.run(y, feed), rtol=1e-6)
    assert lowered and lowered[-1] is None


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
