"""Sparse Jacobians and Hessians of each example of a batch: values, products, loops and branches, what is refused."""

from __future__ import annotations

import os

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context
from tests.gradients.sparsity.random_graphs import build

SEEDS = range(300 if os.environ.get("GRAPHGRAD_TEST_ALL") else 16)
WEIGHTS = np.array([[1.0, 0.0, 0.0, 2.0], [0.5, -1.0, 0.0, 0.0], [0.0, 0.3, 0.7, 0.0], [0.0, 0.0, 1.1, -0.4]])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def whole(value):
    """A `SparseTensorValue` as an array."""
    found = np.zeros(value.dense_shape)
    np.add.at(found, tuple(value.indices.T), value.values)
    return found


def check(y, x, at, given=None):
    """Compares pattern, Jacobian, Hessian, and gradients of these, with dense ones; returns the pattern."""
    pattern = tf.sparsity(y, x, per_example=True)
    sparse, dense = tf.batch_jacobian(y, x, sparse=True), tf.batch_jacobian(y, x)
    if dense is None:
        assert sparse is None and not len(pattern)
        return pattern
    slopes = [tf.gradients(tf.reduce_sum(j**2), x, unconnected_gradients="zero")[0] for j in (sparse.values, dense)]
    hessians = [tf.batch_hessian(y * y, x, sparse=s) for s in (True, "substitution", False)]
    with HostSession() as session:
        session.run(tf.global_variables_initializer())
        mine, full, slopes, hessians = session.run([sparse, dense, slopes, hessians], {x: at, **(given or {})})
    np.testing.assert_allclose(whole(mine), full, 1e-12, 1e-12)
    np.testing.assert_allclose(*slopes, 1e-11, 1e-11)
    assert not (~pattern.to_dense() & (full != 0)).any()
    for hessian in hessians[:2]:
        np.testing.assert_allclose(whole(hessian), hessians[2], 1e-12, 1e-12 * max(1.0, np.abs(hessians[2]).max()))
    assert list(mine.dense_shape) == list(full.shape)
    return pattern


def net(x):
    return tf.sin(tf.matmul(tf.tanh(tf.matmul(x, WEIGHTS)), WEIGHTS.T)) * x[:, ::-1]


# Functions of a batch (b, 4), and whether the number of examples may be unknown.
BATCHED = {
    "net": (net, True),
    "columns": (lambda x: tf.concat([x[:, :1] * x[:, 2:3], tf.exp(x[:, 1:2]), x[:, 3:] ** 2], 1), True),
    "softmax": (lambda x: tf.nn.softmax(x[:, :2]) * tf.cos(x[:, 2:]), True),
    "scaled": (lambda x: x * tf.reduce_sum(x[:, :2] ** 2, 1, keepdims=True), True),
    "ones": (lambda x: tf.concat([x * tf.ones_like(x), tf.zeros_like(x[:, :1])], 1), True),
    "linear": (lambda x: tf.matmul(x, WEIGHTS), True),
    "mask of the examples": (lambda x: x * np.array([[1.0], [0.0], [2.0]]) * tf.roll(x, 1, 1), False),
    "union": (lambda x: tf2.where([[True], [False], [True]], x * x, tf.roll(x, 1, 1) ** 3), False),
    "loop": (lambda x: tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, s * tf.roll(x, 1, 1) + s), [0, x])[1],
             False),
    "unknown loop": (lambda x: tf.while_loop(lambda s: tf.reduce_sum(s) < 9.0, lambda s: s * s * 0.2 + s + 0.7, [x]),
                     False),
    "branch": (lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x * x[:, ::-1], lambda: x**3), False),
    "map": (lambda x: tf.map_fn(lambda r: tf.concat([r[:2] * r[3], r[1:2] ** 2], 0), x), False),
    "vectorized map": (lambda x: tf.vectorized_map(lambda r: tf.sin(r) * r[0], x), False),
    "pairs": (lambda x: tf.einsum("bi,bj->bij", x, x[:, :2]), False),
    "transposed": (lambda x: tf.transpose(tf.transpose(x) * tf.constant(np.arange(4.0)[:, None])), False),
}


@pytest.mark.parametrize("name", sorted(BATCHED))
@pytest.mark.parametrize("size", [3, None])
def test_values(name, size):
    function, may_be_unknown = BATCHED[name]
    x = tf.placeholder(tf.float64, [size, 4])
    if size is None and not may_be_unknown:
        with pytest.raises(ValueError, match=r"(?s)tf.sparsity.*(Fix: x.set_shape|known sizes)"):
            tf.sparsity(function(x), x, per_example=True)
        return
    check(function(x), x, np.random.default_rng(1).normal(size=(3, 4)))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs(seed):
    """Each example by itself, the second one by another graph where that fits: the pattern is the union."""
    x = tf.placeholder(tf.float64, [3, 5])
    rows = [build(seed, x=x[i])[0] for i in range(3)]
    other = build(seed + 1000, x=x[1])[0]
    if other.shape == rows[1].shape:
        rows[1] = other
    y = tf.stack(rows)
    pattern = tf.sparsity(y, x, per_example=True)
    sparse, dense = tf.batch_jacobian(y, x, sparse=True), tf.batch_jacobian(y, x)
    if dense is None:
        assert sparse is None and not len(pattern)
        return
    fetches = [sparse, dense]
    if seed % 3 == 0:
        hessians = [tf.batch_hessian(y * y, x, "zero", sparse=s) for s in (True, False)]
        fetches += hessians
    with HostSession() as session:
        session.run(tf.global_variables_initializer())
        at = np.array([[0.31, -0.77, 1.21, 0.53, -0.19], [-0.5, 0.2, 0.4, 1.1, -1.3], [0.9, 0.1, -0.6, 0.3, 0.7]])
        mine, full, *seconds = session.run(fetches, {x: at})
    tolerance = 1e-6 if any(op.type == "Cast" for op in y.graph.get_operations()) else 1e-12  # float32 between
    np.testing.assert_allclose(whole(mine), full, tolerance, tolerance)
    if seconds:
        np.testing.assert_allclose(whole(seconds[0]), seconds[1], tolerance, tolerance * np.abs(seconds[1]).max())
    assert not (~pattern.to_dense() & (full != 0)).any()


def test_as_many_products_as_one_example_has_colours(graph):
    x = tf.placeholder(tf.float64, [None, 40])
    y = x[:, 1:] * x[:, :-1]
    found = tf.batch_jacobian(y, x, sparse=True)
    hessian = tf.batch_hessian(tf.reduce_sum(y * y, 1), x, sparse=True)
    maps = [op.outputs[0].shape[0] for op in graph.get_operations() if op.type == "VectorizedMap"]
    assert maps == [3]  # tridiagonal; the Jacobian went forward, with two directions
    with HostSession() as session:
        at = np.random.default_rng(0).normal(size=(7, 40))
        mine, second = session.run([found, hessian], {x: at})
    assert mine.values.shape == (7 * 78,) and second.values.shape == (7 * 118,)
    np.testing.assert_allclose(mine.to_scipy(row_dims=2).toarray().reshape(7, 39, 40)[3].diagonal(), at[3, 1:])


def test_examples_that_depend_on_each_other():
    x = tf.placeholder(tf.float64, [3, 4])
    centred = x - tf.reduce_mean(x, 0, name="centre")
    for call in (lambda y: tf.sparsity(y, x, per_example=True), lambda y: tf.batch_jacobian(y, x, sparse=True),
                 lambda y: tf.batch_hessian(y, x, sparse=True)):
        with pytest.raises(ValueError, match="(?s)example 0 of .* depends on example 1.*'centre'.*Mean.*Fix:"):
            call(centred * x)
    with pytest.raises(ValueError, match="(?s)example 0 of .* depends on example 2.*'shifted.*Fix:"):
        tf.sparsity(tf.roll(x, 1, 0, name="shifted"), x, per_example=True)
    looped = tf.while_loop(lambda i, _: i < 2, lambda i, s: (i + 1, s + s[::-1]), [0, x])[1]
    with pytest.raises(ValueError, match="(?s)depends on example 2.*While"):
        tf.batch_jacobian(looped, x, sparse=True)
    with pytest.raises(ValueError, match="depends on example"):  # linear, and so not seen in the Hessian of the sum
        tf.batch_hessian(x**2 + tf.reverse(x, [0]) ** 2, x, sparse=True)
    unknown = tf.placeholder(tf.float64, [None, 4])
    for y in (unknown - tf.reduce_mean(unknown, 0), unknown[::-1], unknown * tf.reduce_sum(unknown)):
        with pytest.raises(ValueError, match=r"(?s)unknown number of examples.*cannot be shown.*Fix: x.set_shape"):
            tf.batch_jacobian(y, unknown, sparse=True)


def test_gradients_of_users():
    """Nothing is known of them; who knows it gives the pattern."""
    @tf.custom_gradient
    def doubled(t):
        return tf.sin(t), lambda dy: 2.0 * dy

    x = tf.placeholder(tf.float64, [3, 4])
    with pytest.raises(ValueError, match="(?s)for all that is known, since its gradient is a user's.*sparse="):
        tf.batch_jacobian(doubled(x), x, sparse=True)
    with HostSession() as session:
        found = session.run(tf.batch_jacobian(doubled(x), x, sparse=np.eye(4)), {x: np.ones((3, 4))})
    np.testing.assert_array_equal(found.values, np.full(12, 2.0))


def test_given_patterns():
    x = tf.placeholder(tf.float64, [None, 3])
    y = x * tf.reduce_mean(x**2)
    with HostSession() as session:
        at = np.random.default_rng(0).normal(size=(2, 3))
        for given in (np.eye(3), tf.sparsity(x * x, x, per_example=True)):
            found = session.run(tf.batch_jacobian(x**2, x, sparse=given), {x: at})
            np.testing.assert_array_equal(found.values, 2 * at.ravel())
    with pytest.raises(ValueError, match=r"pattern of shape \(2, 2\)"):
        tf.batch_jacobian(y, x, sparse=np.eye(2))
    with pytest.raises(ValueError, match='"substitution" is for'):
        tf.batch_jacobian(y, x, sparse="substitution")


def test_unconnected():
    x = tf.placeholder(tf.float64, [None, 3])
    other = tf.placeholder(tf.float64, [None, 2])
    assert tf.batch_jacobian(other, x, sparse=True) is None and tf.batch_hessian(other, x, sparse=True) is None
    assert tf.batch_hessian(other, x) is None and tf.batch_hessian(2.0 * x, x, sparse=True) is None
    with HostSession() as session:
        feeds = {x: np.ones((4, 3)), other: np.ones((4, 2))}
        nothing = tf.batch_jacobian(other, x, unconnected_gradients="zero", sparse=True)
        assert list(session.run(nothing, feeds).dense_shape) == [4, 2, 3]
        nothing = tf.batch_hessian(2.0 * x, x, unconnected_gradients="zero", sparse=True)
        assert list(session.run(nothing, feeds).dense_shape) == [4, 3, 3]
        assert session.run(tf.batch_hessian(2.0 * x, x, "zero"), feeds).shape == (4, 3, 3)


def test_more_dimensions():
    x = tf.placeholder(tf.float64, [2, 3, 2])
    pattern = check(tf.sin(x) * x[:, :, ::-1], x, np.random.default_rng(0).normal(size=(2, 3, 2)))
    assert pattern.shape == (3, 2, 3, 2) and len(pattern) == 12


def test_of_functions():
    at = np.arange(6.0).reshape(2, 3)
    found = [tf2.batch_jacobian(lambda t: t * t, at, sparse=True).values,
             tf2.batch_hessian(lambda t: tf2.reduce_sum(t**3, 1), at, sparse=True).values,
             tf2.batch_hessian(lambda t: tf2.reduce_sum(t**3, 1), at)[1, 2, 2]]
    with HostSession() as session:
        first, second, element = session.run(found)
    with context.use(context.EAGER):
        np.testing.assert_array_equal(tf2.batch_jacobian(lambda t: t * t, at, sparse=True).values, first)
        again = tf2.batch_hessian(lambda t: tf2.reduce_sum(t**3, 1), at, sparse=True)
        np.testing.assert_array_equal(again.values, second)
    np.testing.assert_array_equal(first, 2 * at.ravel())
    np.testing.assert_array_equal(second, 6 * at.ravel())
    assert element == 30.0


def test_in_functions():
    """The number of examples is not known while the function is traced."""
    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float64)])
    def of(x):
        return tf.batch_jacobian(x * x[:, :1], x, sparse=True).values

    with HostSession() as session:
        found = session.run(of(tf.constant([[1.0, 2.0, 3.0]], tf.float64)))
    np.testing.assert_array_equal(found, [2.0, 2.0, 1.0, 3.0, 1.0])
