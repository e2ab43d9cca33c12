"""`differential_operator`: random operators on random graphs against nested derivatives, closed forms, errors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.gradients.taylor.directions import along_directions
from tests.support.effort import part


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


@pytest.mark.parametrize(("d", "order"), [(1, 4), (2, 2), (2, 5), (3, 3), (4, 2)])
def test_directions(d: int, order: int) -> None:
    """The weighted sum of the coefficients of any monomial is its derivative, exactly."""
    indices = [i for i in itertools.product(range(order + 1), repeat=d) if sum(i) == order]
    for index in indices:
        weights = along_directions(index)
        for monomial in indices:
            found = sum(w * math.prod(map(pow, v, monomial)) for v, w in weights.items())
            assert found == (math.prod(map(math.factorial, index)) if monomial == index else 0)


def _random_function(rng: np.random.Generator, x: Any, d: int) -> Any:
    """A function of each row of x, with columns taken and joined."""
    columns = [x[:, i : i + 1] for i in range(d)]
    a, b = columns[0], columns[-1]
    pool = [x, tf.concat([columns[i] for i in rng.permutation(d)], 1), tf.sin(a) * x, tf.exp(0.3 * x - b * b)]
    weights = tf.constant(rng.normal(size=(d, d)) * 0.5)
    steps = [lambda p, q: tf.tanh(tf.matmul(p, weights) + q), lambda p, q: p * q, lambda p, q: p / (1.5 + q * q),
             lambda p, q: tf.nn.softmax(p) + tf.square(q),
             lambda p, q: tf.reduce_sum(p, 1, keepdims=True) * tf.sin(q)]
    for _ in range(3):
        p, q = (pool[i] for i in rng.integers(0, len(pool), 2))
        pool.append(steps[rng.integers(len(steps))](p, q))
    return tf.matmul(pool[-1] + 0.1 * pool[-2], tf.constant(rng.normal(size=(d, 2))))


def _nested(y: Any, x: Any, index: tuple[int, ...]) -> Any:
    """A derivative of each example by nested gradients."""
    found = []
    for column in tf.unstack(y, axis=1):
        for i, n in enumerate(index):
            for _ in range(n):
                slope = tf.gradients(column, x)[0]
                column = tf.zeros_like(column) if slope is None else slope[:, i]
        found.append(column)
    return tf.stack(found, 1)


@pytest.mark.parametrize("seed", part(range(10), 3))
def test_random_operators(seed: int) -> None:
    """Numbers and tensors as coefficients, orders 0 to 3 mixed, also of an unknown batch; and their gradients."""
    rng = np.random.default_rng(500 + seed)
    d = 1 + seed % 3
    x = tf.placeholder(tf.float64, [None if seed % 2 else 4, d])
    y = _random_function(rng, x, d)
    indices = [i for i in itertools.product(range(4), repeat=d) if sum(i) <= 3]
    chosen = [indices[i] for i in rng.choice(len(indices), min(4, len(indices)), replace=False)]
    terms = {i: tf.sin(x[:, :1]) * 2.0 if rng.random() < 0.3 else float(rng.normal()) for i in chosen}
    found = tf.differential_operator(y, x, terms)
    wanted = tf.add_n([c * _nested(y, x, i) for i, c in terms.items()])
    assert found.shape.as_list() == y.shape.as_list()
    fetches = [[f, *tf.gradients(tf.reduce_sum(f**2), x)] for f in (found, wanted)]
    with HostSession() as sess:
        for a, b in zip(*sess.run(fetches, {x: rng.normal(size=(4, d)) * 0.5}), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * max(1.0, np.abs(b).max()))


def test_the_laplacian_and_powers_of_it() -> None:
    """Of sin(a) sin(2 b) the Laplacian is -5 times it, the biharmonic operator 25 times, in float32 and by XLA."""
    x = tf.constant(np.random.default_rng(1).normal(size=(6, 2)), tf.float32)
    u = tf.sin(x[:, 0]) * tf.sin(2 * x[:, 1])
    second = tf.differential_operator(u, x, {(2, 0): 1, (0, 2): 1})
    fourth = tf.differential_operator(u, x, {(4, 0): 1, (2, 2): 2, (0, 4): 1})
    with tf.Session() as sess:
        value, two, four, same = sess.run([u, second, fourth, tf.laplacian(u, x)])
    np.testing.assert_allclose(two, -5 * value, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(two, same, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(four, 25 * value, rtol=1e-3, atol=1e-4)


def test_through_loops_and_branches() -> None:
    """What coefficients are not carried through: by nested gradients."""
    x = tf.placeholder(tf.float64, [None, 2])
    y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * tf.sin(x[:, ::-1]) + y), (0, x))[1]
    y = tf.cond(tf.reduce_sum(y) > 0, lambda: y * y, lambda: tf.exp(y))
    found = tf.differential_operator(y, x, {(1, 1): 2.0, (2, 0): -1.0, (0, 1): 0.5})
    wanted = 2.0 * _nested(y, x, (1, 1)) - _nested(y, x, (2, 0)) + 0.5 * _nested(y, x, (0, 1))
    with HostSession() as sess:
        for sign in (1, -1):
            values = sess.run([found, wanted], {x: [[0.1 * sign, 0.2], [sign, 0.4], [1.0 * sign, 2.0 * sign]]})
            np.testing.assert_allclose(*values, rtol=1e-9)


def test_what_it_returns() -> None:
    """Zeros where derivatives vanish, None where y has none, y's multiple, an integer for a single column."""
    x = tf.constant(np.ones((3, 1)))
    with HostSession() as sess:
        np.testing.assert_array_equal(sess.run(tf.differential_operator(2.0 * x, x, {2: 1.0})), np.zeros((3, 1)))
        np.testing.assert_array_equal(sess.run(tf.differential_operator(x, x, {0: 3})), np.full((3, 1), 3.0))
        both = tf.differential_operator(x**3, x, {(2,): 1, 1: 1})
        np.testing.assert_array_equal(sess.run(both), np.full((3, 1), 9.0))
        constant = tf.constant(np.ones((3, 1)))
        assert tf.differential_operator(constant, x, {1: 1.0}) is None
        zeros = tf.differential_operator(constant, x, {1: 1.0}, unconnected_gradients="zero")
        np.testing.assert_array_equal(sess.run(zeros), np.zeros((3, 1)))


_BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "no terms": ({}, ValueError, "(?s)terms must be a dictionary.*Fix:"),
    "length": ({(1, 0): 1.0}, ValueError, r"(?s)\(1, 0\) is not a multi-index.*3 columns.*Fix:"),
    "negative": ({(1, 0, -1): 1.0}, ValueError, "(?s)not a multi-index.*Fix:"),
    "fraction": ({(1, 0, 0.5): 1.0}, ValueError, "(?s)not a multi-index.*Fix:"),
    "shape": ({(1, 0, 0): np.ones((5, 1, 1))}, ValueError, r"(?s)coefficient has shape \(5, 1, 1\).*Fix:"),
    "dtype": ({(1, 0, 0): "one"}, TypeError, "float32"),
}


@pytest.mark.parametrize("name", _BAD)
def test_errors(name: str) -> None:
    """Errors say what was given and what to do."""
    terms, kind, text = _BAD[name]
    x = tf.placeholder(tf.float32, [4, 3])
    with pytest.raises(kind, match=text):
        tf.differential_operator(x, x, terms)
