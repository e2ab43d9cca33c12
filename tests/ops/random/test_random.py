"""Random numbers: those of TensorFlow over several runs, seeds, distributions, eager mode."""

import pathlib
import threading
import time
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context
from graphgrad.ir.dtypes import float64, int64
from graphgrad.ops.random import philox, random, seeds

from . import random_cases

RECORDED = np.load(pathlib.Path(__file__).parents[2] / "recorded" / "random_runs.npz")


@pytest.fixture(autouse=True)
def fresh():
    """Neither a seed nor counts from another test."""
    context.stack.seed = None
    seeds._eager.positions.clear()
    yield
    context.stack.seed = None


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as s:
        yield s


def close(got, want):
    if want.dtype.kind == "f":
        tolerance = 1e-12 if want.dtype == np.float64 else 1e-6
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, want)
    assert got.dtype == want.dtype


@pytest.mark.parametrize("name", random_cases.CASES)
def test_runs_draw_tensorflows_numbers(name):
    """Three runs of a session, compiled."""
    close(random_cases.draw(tf, name), RECORDED[name])


def test_eager_mode_draws_tensorflows_numbers():
    close(random_cases.draw_eagerly(tf2), RECORDED["eager"])


# -- seeds --------------------------------------------------------------------------------


def test_get_seed():
    with tf.Graph().as_default() as g:
        assert tf.get_seed(None) == (None, None)
        assert tf.get_seed(5) == (87654321, 5)
        tf.set_random_seed(3)
        assert g.seed == 3
        assert [tf.get_seed(None) for _ in range(2)] == [(3, 0), (3, 1)]
        assert tf.get_seed(9) == (3, 9)
        tf.set_random_seed(0)
        assert tf.get_seed(0) == (0, 2**31 - 1)
        assert tf.get_seed(2**31 - 1) == (0, 2**31 - 1)


def test_a_new_session_begins_anew(sess):
    x = tf.random_normal([3], seed=1)
    first = [sess.run(x) for _ in range(2)]
    assert not np.array_equal(*first)
    with tf.Session() as other:
        np.testing.assert_array_equal([other.run(x) for _ in range(2)], first)


def test_ops_without_a_seed_differ(sess):
    a, b = tf.random_uniform([8]), tf.random_uniform([8])
    va, vb = sess.run([a, b])
    assert not np.array_equal(va, vb)
    assert not np.array_equal(va, sess.run(a))


def test_eager_ops_without_a_seed_differ():
    assert not np.array_equal(np.asarray(tf2.random.uniform([8])), np.asarray(tf2.random.uniform([8])))


def test_one_run_draws_once(sess):
    """What is fetched twice, or differentiated, was drawn once."""
    x = tf.constant([2.0, 3.0])
    noise = tf.random_normal([2])
    y = x * noise
    a, b, g = sess.run([noise, y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose(b, np.array([2, 3], np.float32) * a)
    np.testing.assert_array_equal(g, a)


def test_initial_values(sess):
    """Initialisers that run on the host draw what a compiled program draws."""
    v = tf.get_variable("v", initializer=tf.random_normal([300], seed=4))
    w = tf.random_normal([300], seed=4)
    sess.run(tf.global_variables_initializer())
    np.testing.assert_allclose(sess.run(v), sess.run(w), rtol=1e-6, atol=1e-6)


def test_seed_of_two_runs_of_set_seed():
    tf2.random.set_seed(1)
    a = [np.asarray(tf2.random.normal([2])) for _ in range(3)]
    tf2.random.set_seed(1)
    b = [np.asarray(tf2.random.normal([2])) for _ in range(3)]
    np.testing.assert_array_equal(a, b)


# -- shapes, dtypes, errors ----------------------------------------------------------------


def test_shapes(sess):
    assert tf.random_normal([2, 3]).shape.as_list() == [2, 3]
    n = tf.placeholder(tf.int32, [])
    x = tf.random_uniform([n, 3])
    assert x.shape.as_list() == [None, 3]
    assert sess.run(x, {n: 4}).shape == (4, 3)
    assert sess.run(x, {n: 0}).shape == (0, 3)
    y = tf.placeholder(tf.float32, [None, 2])
    assert sess.run(tf.random_normal(tf.shape(y)), {y: np.zeros((5, 2))}).shape == (5, 2)
    assert tf.random_uniform(tf.TensorShape([2])).shape.as_list() == [2]
    assert tf.random.categorical(y, 3).shape.as_list() == [None, 3]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_ranges(sess, dtype):
    x, z = sess.run([tf.random_uniform([2000], -1, 3, dtype, seed=1), tf.truncated_normal([2000], dtype=dtype, seed=1)])
    assert x.dtype == z.dtype == tf.as_dtype(dtype).as_numpy_dtype
    assert -1 <= x.min() < x.max() <= 3
    assert abs(z.astype(float)).max() <= 2


def test_errors():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Must specify maxval for integer dtype"):
            tf.random_uniform([2], dtype=tf.int32)
        with pytest.raises(ValueError, match="Argument `dtype` got invalid value"):
            tf.random_uniform([2], dtype=tf.bool)
        with pytest.raises(TypeError, match="int32"):
            tf.random_normal([2], dtype=tf.int32)
        with pytest.raises(ValueError, match="Argument `dtype`"):
            tf.multinomial([[1.0]], 1, output_dtype=tf.float32)
        with pytest.raises(ValueError, match="both None or not None"):
            tf.random.stateless_uniform([2], [1, 2], 0, None, tf.int32)
        with pytest.raises(ValueError, match="unsupported value"):
            tf.random.stateless_uniform([2], [1, 2], alg="mersenne")
        with pytest.raises(ValueError, match=r"Need value.shape >= size"):
            tf.random_crop(tf.zeros([2, 2]), [3, 1])


def test_crop_of_unknown_shape(sess):
    x = tf.placeholder(tf.float32, [None, None])
    crop = tf.random_crop(x, [2, 2])
    assert sess.run(crop, {x: np.arange(9).reshape(3, 3)}).shape == (2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[Need value.shape >= size"):
        sess.run(crop, {x: np.ones((1, 5))})


# -- gradients -----------------------------------------------------------------------------


def test_gradients_reach_the_parameters(sess):
    mean, std = tf.constant(1.0), tf.constant([2.0, 3.0])
    x = tf.random_normal([4, 2], mean, std, seed=1)
    values = sess.run([(x - mean) / std, *tf.gradients(x, [mean, std])])
    assert values[1] == 8
    with tf.Session() as other:
        noise, _, g = other.run([(x - mean) / std, *tf.gradients(x, [mean, std])])
    np.testing.assert_allclose(g, noise.sum(0), rtol=1e-5)
    assert tf.gradients(tf.random_uniform([3]), mean) == [None]


def test_gamma_by_reparameterisation(sess):
    """The derivative of E[x] = alpha / beta, estimated."""
    alpha, beta = tf.constant([0.7, 3.0]), tf.constant([2.0, 0.5])
    x = tf.reduce_mean(tf.random_gamma([4000], alpha, beta, seed=1), 0)
    d_alpha, d_beta = sess.run(tf.gradients(x, [alpha, beta]))
    np.testing.assert_allclose(d_alpha, 1 / np.array([2.0, 0.5]), rtol=0.1)
    np.testing.assert_allclose(d_beta, -np.array([0.7, 3.0]) / np.array([4.0, 0.25]), rtol=0.1)


# -- distributions -------------------------------------------------------------------------


def test_moments(sess):
    u, n, t, g, p = sess.run([
        tf.random_uniform([20000], seed=1), tf.random_normal([20000], 1.0, 2.0, seed=2),
        tf.truncated_normal([20000], seed=3), tf.random_gamma([20000], 2.0, seed=4),
        tf.random_poisson(4.0, [20000], seed=5),
    ])
    for x, mean, std in ((u, 0.5, 12**-0.5), (n, 1, 2), (t, 0, 0.8796), (g, 2, 2**0.5), (p, 4, 2)):
        assert abs(x.mean() - mean) < 5 * std / 20000**0.5
        assert abs(x.std() - std) < 0.05 * std


def test_categories(sess):
    logits = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, np.nan]])
    logits = np.where(np.isnan(logits), -np.inf, np.log(logits))
    x = sess.run(tf.random.categorical(logits, 20000, seed=1))
    for row, want in zip(x, ([0.1, 0.2, 0.7], [0.5, 0.5, 0]), strict=True):
        np.testing.assert_allclose(np.bincount(row, minlength=3) / 20000, want, atol=0.02)


def test_shuffles_are_permutations(sess):
    x = tf.random_shuffle(tf.range(3), seed=1)
    seen = {tuple(sess.run(x)) for _ in range(60)}
    assert len(seen) == 6


def test_counters_carry():
    """The block after 2^64 - 1 has the next upper half."""
    stream = philox.Stream(7, 2**64 - 1, 5)
    after = philox.host_blocks(stream, np.array([1], np.uint64))
    start = philox.host_blocks(philox.Stream(7, 0, 6), np.array([0], np.uint64))
    np.testing.assert_array_equal(np.concatenate(after), np.concatenate(start))


def test_loops_draw_anew(sess):
    """Each iteration of a loop has numbers of its own."""

    def body(i, x):
        return i + 1, tf.concat([x[1:], tf.random_uniform([1], seed=1)], 0)

    _, drawn = tf.while_loop(lambda i, x: i < 3, body, [0, tf.zeros([3])])
    first, second = sess.run(drawn), sess.run(drawn)
    assert len({*first.tolist(), *second.tolist()}) == 6


def test_a_run_that_begins_again_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run of an operation is waited for by others, not by itself; failed ones are waited for by nobody."""
    from types import SimpleNamespace

    from graphgrad.executor.runtime import random_positions

    with tf.Graph().as_default():
        op = tf.random_uniform([2], seed=1).op
    while op.type != "RandomUniform":
        op = op.inputs[0].op
    plan = SimpleNamespace(random_ops=[op], nested_rows=set(), waits=0, last_act=None)
    waited: list[bool] = []
    monkeypatch.setattr(random_positions._lock, "wait_for", lambda done, _: waited.append(done()))
    positions, begun, reserved = random_positions.RandomPositions(), {}, {}
    positions.start(plan, begun, reserved, True)
    table = positions.start(plan, begun, reserved, True)
    positions.start(plan, {}, {}, True)
    assert waited == [True, False]
    table.taken[0] = 7
    positions.finish(plan, table, begun, reserved)
    positions.start(plan, {}, {}, True)
    assert waited == [True, False]


def test_threads_wait_for_a_first_run_that_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes: otherwise which numbers are drawn would depend on the load."""
    from graphgrad.executor.backend import cache
    from graphgrad.executor.runtime import executable

    monkeypatch.setattr(executable, "first_in_numpy", False)
    monkeypatch.setenv("GRAPHGRAD_CACHE_DIR", "")
    cache.clear()
    lower, begun = cache.lower, threading.Event()

    def slow(*args: Any) -> Any:
        begun.set()
        time.sleep(1.5)
        return lower(*args)

    monkeypatch.setattr(cache, "lower", slow)
    with tf.Graph().as_default():
        x, sess, drawn = tf.random_uniform([], seed=1), tf.Session(), []
        first = threading.Thread(target=lambda: drawn.append(sess.run(x)))
        first.start()
        assert begun.wait(60)
        drawn.append(sess.run(x))
        first.join()
        again = tf.Session()
        assert sorted(drawn) == sorted([again.run(x), again.run(x)])


@pytest.mark.parametrize(("rows", "classes", "n"), [(5, 3, 100), (1, 1, 4), (40, 7_000, 3), (3, 140_000, 2)])
@pytest.mark.parametrize("bad", [0.0, 0.2, 0.5])
def test_categories_one_by_one(rows: int, classes: int, n: int, bad: float) -> None:
    """Each draw is the first class at which the sum of the probabilities exceeds its number; what is not finite counts
    as zero."""
    generator = np.random.default_rng(classes)
    logits = generator.standard_normal((rows, classes)).astype(np.float32)
    logits[generator.random(logits.shape) < bad] = generator.choice([np.nan, -np.inf, np.inf])
    logits[0] = -np.inf if bad else logits[0]
    stream = philox.Stream(5, 6, 7)
    got = random.categorical_draw(np, stream, logits, n, int64)
    uniform = philox.sample(np, stream, (rows, n), philox.UniformFloats(float64))
    for row, numbers, drawn in zip(logits.astype(np.float64), uniform, got, strict=True):
        finite = row[np.isfinite(row)]
        mass = np.exp(np.where(np.isfinite(row), row, -np.inf) - (finite.max() if len(finite) else 0))
        total = np.cumsum(mass)
        for number, found in zip(numbers, drawn, strict=True):
            above = np.flatnonzero(total > number * total[-1])
            assert found == (above[0] if len(above) else classes)
