"""Patterns hold every element that dense Jacobians have, and sparse Jacobians their values, on random graphs."""

import os

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.gradients.sparsity.random_graphs import STEPS, build

SEEDS = range(400 if os.environ.get("GRAPHGRAD_TEST_ALL") else 12)


def check(y, x, names, hessian=True):
    """Compares pattern, sparse Jacobian and sparse Hessian with dense ones at two points."""
    pattern = tf.sparsity(y, x)
    fetches = [tf.jacobian(y, x, sparse=True), tf.jacobian(y, x)]
    if hessian:
        slope = tf.gradients(tf.reduce_sum(y * y), x)[0]
        if slope is not None and tf.gradients(slope, x)[0] is not None:
            fetches += [tf.hessians(y * y, x, sparse=True)[0], tf.hessians(y * y, x)[0]]
    if fetches[1] is None:
        assert fetches[0] is None and not len(pattern)
        return
    with HostSession() as session:
        session.run(tf.global_variables_initializer())
        for scale in (1.0, -0.4):
            at = scale * np.array([0.31, -0.77, 1.21, 0.53, -0.19])
            found = session.run(fetches, {x: at})
            for sparse, dense in zip(found[::2], found[1::2], strict=True):
                dense = dense.reshape(-1, 5)
                given = sparse.to_scipy(row_dims=1).toarray()
                np.testing.assert_allclose(given, dense, 1e-6, 1e-6, err_msg=str(names))
            outside = ~pattern.to_dense() & (found[1] != 0)
            assert not outside.any(), names


@pytest.mark.parametrize("name", sorted(STEPS))
def test_each_step(name):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float64, [5])
        check(STEPS[name](x, np.random.default_rng(0)), x, [name], hessian=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_graphs(seed):
    with tf.Graph().as_default():
        check(*build(seed), hessian=seed % 3 == 0)
