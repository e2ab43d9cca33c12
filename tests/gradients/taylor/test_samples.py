"""`laplacian(samples=)`: exact where it must be, its mean and variance, its gradient, its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def _net(x: Any, weights: Any) -> Any:
    return tf.reduce_sum(tf.sin(tf.matmul(x, weights) + 0.1) * x[:, :1], 1)


@pytest.mark.parametrize("batch", [5, None])
def test_exact_without_mixed_derivatives(batch: int | None) -> None:
    """Squares of signs are 1: where the Hessian is diagonal, a single sample gives the Laplacian."""
    x = tf.placeholder(tf.float64, [batch, 6])
    y = tf.reduce_sum(tf.exp(x) + x**3, 1, keepdims=True)
    found = tf.laplacian(y, x, samples=1)
    assert found.shape.as_list() == [batch, 1]
    with HostSession() as sess:
        values = sess.run([found, tf.laplacian(y, x)], {x: np.random.default_rng(0).normal(size=(5, 6))})
    np.testing.assert_allclose(*values, rtol=1e-12)


@pytest.mark.parametrize("per_example", [False, True])
def test_given_directions(per_example: bool) -> None:
    """Columns of an orthogonal matrix times the root of d give the Laplacian, in a net and through a loop."""
    rng = np.random.default_rng(1)
    x = tf.placeholder(tf.float64, [None, 4])
    directions = np.stack([np.linalg.qr(rng.normal(size=(4, 4)))[0] for _ in range(3)], 1) * 2.0
    given = directions if per_example else directions[:, 0]
    y = _net(x, tf.constant(rng.normal(size=(4, 7))))
    looped = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.sin(y) * y), (0, y))[1]
    with HostSession() as sess:
        for t in (y, looped):
            values = sess.run([tf.laplacian(t, x, samples=given), tf.laplacian(t, x)], {x: rng.normal(size=(3, 4))})
            np.testing.assert_allclose(*values, rtol=1e-9)


def test_mean_and_variance() -> None:
    """Of x'Ax the estimates have the mean 2 tr A and the variance 2/m |H|^2 beside the diagonal; runs differ."""
    rng = np.random.default_rng(2)
    a = rng.normal(size=(5, 5))
    hessian = a + a.T
    x = tf.placeholder(tf.float64, [None, 5])
    m, n = 4, 20_000
    found = tf.laplacian(tf.reduce_sum(tf.matmul(x, tf.constant(a)) * x, 1), x, samples=m, seed=3)
    with tf.Session() as sess:
        values, again = (sess.run(found, {x: np.zeros((n, 5))}) for _ in range(2))
    variance = 2 / m * np.sum((hessian - np.diag(np.diag(hessian))) ** 2)
    assert abs(values.mean() - np.trace(hessian)) < 5 * np.sqrt(variance / n)
    assert values.var() == pytest.approx(variance, rel=0.05)
    assert np.any(values != again)


def test_seeds_and_gradients() -> None:
    """The same seeds draw the same; the gradient by weights is that of the same draw."""
    rng = np.random.default_rng(3)
    at, w = rng.normal(size=(4, 3)), rng.normal(size=(3, 2))
    found = []
    for h in (0.0, 0.0, 1e-5, -1e-5):
        with tf.Graph().as_default(), HostSession() as sess:
            tf.set_random_seed(7)
            weights, x = tf.constant(w + h), tf.constant(at)
            loss = tf.reduce_sum(tf.laplacian(_net(x, weights), x, samples=2) ** 2)
            found.append(sess.run([loss, tf.reduce_sum(tf.gradients(loss, weights)[0])]))
    assert found[0] == found[1]
    assert found[0][1] == pytest.approx((found[2][0] - found[3][0]) / 2e-5, rel=1e-6)


@pytest.mark.parametrize("resource", [False, True])
def test_of_variables(resource: bool) -> None:
    """The points may be a variable's value, for the Laplacian, its estimates and other operators."""
    v = tf.get_variable("v", initializer=np.array([[1.0, 2.0], [3.0, 4.0]]), use_resource=resource)
    y = tf.reduce_sum(v**3, 1)
    fetches = [tf.laplacian(y, v), tf.laplacian(y, v, samples=2), tf.laplacian(y, v, samples=np.eye(2) * np.sqrt(2.0)),
               tf.differential_operator(y, v, {(2, 0): 1.0, (0, 2): 1.0})]
    with HostSession() as sess:
        sess.run(tf.global_variables_initializer())
        for value in sess.run(fetches):
            np.testing.assert_allclose(value, [18.0, 42.0], rtol=1e-12)


@pytest.mark.parametrize("samples", [0, np.ones((2, 4)), np.ones((2, 7, 3)), np.ones(3)])
def test_errors(samples: Any) -> None:
    """Errors say what was given and what to do."""
    x = tf.placeholder(tf.float32, [5, 3])
    with pytest.raises(ValueError, match="(?s)samples (must be|has shape).*Fix:"):
        tf.laplacian(x, x, samples=samples)
