"""`laplacian`: against the trace of the Hessian, and its gradient by weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def _net(x: Any, weights: list[Any], activation: Any) -> Any:
    h = x
    for w in weights[:-1]:
        h = activation(tf.matmul(h, w) + 0.1)
    return tf.matmul(h, weights[-1])


def _trace(y: Any, x: Any) -> Any:
    """The sum of nested second derivatives of the columns of y."""
    columns = []
    for y_c in tf.unstack(y, axis=1):
        slope = tf.gradients(y_c, x)[0]
        columns.append(tf.add_n([tf.gradients(slope[:, i], x)[0][:, i] for i in range(x.shape[1])]))
    return tf.stack(columns, 1)


_ACTIVATIONS = {"tanh": tf.tanh, "sin": tf.sin, "softplus": tf.nn.softplus, "swish": tf.nn.swish, "sigmoid": tf.sigmoid,
                "softmax": tf.nn.softmax, "square": tf.square, "gelu": tf2.nn.gelu}


@pytest.mark.parametrize("batch", [5, None], ids=["static", "unknown batch"])
@pytest.mark.parametrize("name", _ACTIVATIONS)
def test_nets(name: str, batch: int | None) -> None:
    """The Laplacian of a net is the trace of its Hessian; so are its gradients by weights and x."""
    rng = np.random.default_rng(3)
    x = tf.placeholder(tf.float64, [batch, 3])
    weights = [tf.constant(rng.normal(size=shape) * 0.5) for shape in ((3, 6), (6, 6), (6, 2))]
    y = _net(x, weights, _ACTIVATIONS[name])
    found, wanted = tf.laplacian(y, x), _trace(y, x)
    assert found.shape.as_list() == [batch, 2]
    grads = [tf.gradients(tf.reduce_mean(t**2), [*weights, x]) for t in (found, wanted)]
    with HostSession() as sess:
        (value, *found_grads), (want, *wanted_grads) = sess.run(
            [[found, *grads[0]], [wanted, *grads[1]]], {x: rng.normal(size=(5, 3))})
    np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-11)
    for a, b in zip(found_grads, wanted_grads, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_columns_and_products() -> None:
    """Programs that take x apart, join its columns and multiply with them: boundary factors, features, residuals."""
    rng = np.random.default_rng(4)
    x = tf.placeholder(tf.float64, [None, 2])
    w = tf.constant(rng.normal(size=(4, 3)))
    a, b = x[:, 0:1], x[:, 1:2]
    features = tf.concat([tf.sin(a), tf.cos(b), a * b, tf.exp(-a)], 1)
    h = tf.nn.bias_add(tf.matmul(features, w), tf.constant([0.1, 0.2, 0.3], tf.float64))
    y = a * (1 - a) * tf.tanh(h) / (1 + tf.reduce_sum(h * h, 1, keepdims=True)) + tf.reduce_sum(x**2, 1, keepdims=True)
    with HostSession() as sess:
        found, wanted = sess.run([tf.laplacian(y, x), _trace(tf.reshape(y, [-1, 3]), x)], {x: rng.normal(size=(6, 2))})
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("batch", [6, None])
def test_moving_elements_takes_no_maps(batch: int | None, graph: Any) -> None:
    """Slices, joins, reshapes and transposes are applied to all directions at once, and right."""
    rng = np.random.default_rng(6)
    x = tf.placeholder(tf.float64, [batch, 4])
    a, b = x[:, 0:2], tf.slice(tf.sin(x), [0, 1], [-1, 2])
    joined = tf.concat([a * b, x[:, ::2], tf.exp(x)[:, -1:]], 1)
    grid = tf.transpose(tf.reshape(joined[:, :4] ** 2, [-1, 2, 2]), [0, 2, 1])
    last = tf.exp(0.3 * x)[:, 3]
    y = tf.reshape(grid * tf.sin(grid), [-1, 4])[:, 1:3] * tf.tanh(last)[:, tf.newaxis] + x[:, ..., :2] ** 3
    found = tf.laplacian(y, x)
    maps = [op.name for op in graph.get_operations() if op.type == "VectorizedMap"]
    assert not maps
    with HostSession() as sess:
        values = sess.run([found, _trace(tf.reshape(y, [-1, 2]), x)], {x: rng.normal(size=(6, 4))})
    np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-10)


def test_compiled() -> None:
    """The same numbers by XLA."""
    rng = np.random.default_rng(5)
    x = tf.constant(rng.normal(size=(8, 3)))
    weights = [tf.constant(rng.normal(size=shape)) for shape in ((3, 6), (6, 1))]
    y = _net(x, weights, tf.tanh)
    fetches = [tf.laplacian(y, x), *tf.gradients(tf.reduce_sum(tf.laplacian(y, x) ** 2), weights)]
    with HostSession() as host, tf.Session() as sess:
        for a, b in zip(host.run(fetches), sess.run(fetches), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)


def test_what_it_returns() -> None:
    """Zeros for what is linear in x, None for what does not depend on it, zeros there if asked for."""
    x = tf.constant(np.ones((4, 2)))
    with HostSession() as sess:
        np.testing.assert_array_equal(sess.run(tf.laplacian(2.0 * x, x)), np.zeros((4, 2)))
        assert tf.laplacian(tf.ones([4, 1]), x) is None
        assert sess.run(tf.laplacian(tf.ones([4, 1]), x, unconnected_gradients="zero")).shape == (4, 1)


def test_through_loops() -> None:
    """A loop on the way: by nested gradients, examples still apart."""
    x = tf.placeholder(tf.float64, [None, 2])
    y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * tf.sin(x) + y), (0, x))[1]
    with HostSession() as sess:
        found, wanted = sess.run([tf.laplacian(y, x), _trace(tf.reshape(y, [-1, 2]), x)],
                                 {x: [[0.1, 0.2], [0.3, -0.4], [1.0, 2.0]]})
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
