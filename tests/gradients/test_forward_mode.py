"""Forward mode in one pass: against dense Jacobians and two sweeps, on random graphs, and what it builds."""

import os

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.gradients.core.two_sweeps import pushed_forward
from tests.gradients.sparsity.random_graphs import STEPS, build

SEEDS = range(300 if os.environ.get("GRAPHGRAD_TEST_ALL") else 15)
_AT, _ALONG = np.array([0.31, -0.77, 1.21, 0.53, -0.19]), np.array([1.0, -0.5, 0.25, 2.0, -1.5])


def _check(y, x, names):
    v = tf.constant(_ALONG)
    once, (twice,) = tf.jvp(y, x, v), pushed_forward([y], [x], [v])
    assert (once is None) <= (twice is None or twice.op.type == "ZerosLike"), names
    if once is None:
        return
    second = tf.jvp(once, x, v)
    fetches = [once, tf.jacobian(y, x)] + ([second, tf.jacobian(once, x)] if second is not None else [])
    with HostSession() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(fetches, {x: _AT})
    for along, jacobian in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(along, jacobian @ _ALONG, 1e-6, 1e-6, err_msg=str(names))


@pytest.mark.parametrize("name", sorted(set(STEPS) - {"cast"}))
def test_each_step(name):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float64, [5])
        _check(STEPS[name](x, np.random.default_rng(0)), x, [name])


@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs(seed):
    with tf.Graph().as_default():
        _check(*build(seed))


def _added(derivative):
    """Counts what the derivative of a net along a direction adds to the graph, and the operations of the net."""
    with tf.Graph().as_default() as graph:
        x = y = tf.placeholder(tf.float64, [None, 3])
        for _ in range(4):
            y = tf.tanh(tf.matmul(y, np.eye(3) * 0.7) + 0.1)
        before = len(graph.get_operations())
        v = tf.ones_like(x)
        derivative(y, x, v)
        return len(graph.get_operations()) - before, before


def test_one_pass():
    """One pass adds about as many operations as there are; two sweeps add more than twice as many."""
    added, there = _added(tf.jvp)
    twice, _ = _added(lambda y, x, v: pushed_forward([y], [x], [v]))
    assert added < 2 * there
    assert twice > 2 * added


def test_rounds_and_integers():
    """What carries no derivative is None, or zeros on request."""
    with tf.Graph().as_default():
        x = tf.constant([0.3, 1.7])
        ys = [tf.cast(x, tf.int32), tf.round(x), x * x, tf.constant(2.0)]
        found = tf.jvp(ys, x, tf.ones_like(x))
        assert [g is None for g in found] == [True, True, False, True]
        zeros = tf.jvp(ys[1], x, tf.ones_like(x), unconnected_gradients="zero")
        with HostSession() as session:
            assert session.run([found[2], zeros])[1].tolist() == [0.0, 0.0]


def test_the_same_x_twice():
    with tf.Graph().as_default():
        x = tf.constant(3.0)
        with HostSession() as session:
            assert session.run(tf.jvp(x * x, [x, x], [1.0, 10.0])) == 66.0
