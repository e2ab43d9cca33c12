"""`tf.contrib.opt`: SciPy minimizes, beside SciPy itself on the same function in NumPy."""

from __future__ import annotations

import concurrent.futures
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import opt


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _rosenbrock() -> tuple[Any, list[Any]]:
    x, y = tf.Variable(-1.5, dtype=tf.float64), tf.Variable([2.0], dtype=tf.float64)
    return tf.reduce_sum((1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2), [x, y]


@pytest.mark.parametrize("method", ["L-BFGS-B", "CG", "BFGS"])
def test_same_path_as_scipy(sess: Any, method: str) -> None:
    """The variables take SciPy's own path, step by step, and end where it ends."""
    loss, variables = _rosenbrock()
    path: list[Any] = []
    optimizer = opt.ScipyOptimizerInterface(loss, var_list=variables, method=method, options={"maxiter": 8})
    sess.run(tf.global_variables_initializer())
    optimizer.minimize(sess, step_callback=lambda x: path.append(np.array(x)))
    expected: list[Any] = []
    found = optimize.minimize(lambda v: (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2, [-1.5, 2.0], method=method,
                              jac=lambda v: np.array([-2 * (1 - v[0]) - 400 * v[0] * (v[1] - v[0] ** 2),
                                                      200 * (v[1] - v[0] ** 2)]),
                              options={"maxiter": 8}, callback=lambda x: expected.append(np.array(x)))
    np.testing.assert_allclose(path, expected, rtol=1e-6)
    x, y = sess.run(variables)
    np.testing.assert_allclose([x, y[0]], found.x, rtol=1e-6)


def test_constraints(sess: Any) -> None:
    """Equalities and inequalities hold at the end: the nearest point to (3, 3) on x + y = 4 with x >= 2.5."""
    v = tf.Variable([0.0, 0.0])
    opt.ScipyOptimizerInterface(tf.reduce_sum((v - 3.0) ** 2), equalities=[tf.reduce_sum(v) - 4.0],
                                inequalities=[v[0] - 2.5])
    optimizer = opt.ScipyOptimizerInterface(tf.reduce_sum((v - 3.0) ** 2), equalities=[tf.reduce_sum(v) - 4.0],
                                            inequalities=[v[0] - 2.5], method="SLSQP")
    sess.run(tf.global_variables_initializer())
    optimizer.minimize(sess)
    np.testing.assert_allclose(sess.run(v), [2.5, 1.5], atol=1e-5)


def test_bounds(sess: Any) -> None:
    """A variable stays within its bounds; others are free."""
    v, w = tf.Variable([0.0, 0.0]), tf.Variable(0.0)
    optimizer = opt.ScipyOptimizerInterface(tf.reduce_sum((v - 3.0) ** 2) + (w + 4.0) ** 2,
                                            var_to_bounds={v: ([-np.inf, 1.0], [2.0, np.inf])})
    sess.run(tf.global_variables_initializer())
    with sess.as_default():
        optimizer.minimize()
    np.testing.assert_allclose(sess.run(v), [2.0, 3.0], atol=1e-4)
    np.testing.assert_allclose(sess.run(w), -4.0, atol=1e-4)


def test_fed_loss_and_callbacks(sess: Any, caplog: pytest.LogCaptureFixture) -> None:
    """What is fed decides; `loss_callback` gets what is fetched; variables that the loss ignores stay."""
    target = tf.placeholder(tf.float32, [2])
    v, other = tf.Variable([1.0, 1.0]), tf.Variable([7.0])
    loss = tf.reduce_sum((tf.gather(v, [0, 1]) - target) ** 2)
    losses: list[Any] = []
    optimizer = opt.ScipyOptimizerInterface(loss, method="L-BFGS-B")
    sess.run(tf.global_variables_initializer())
    optimizer.minimize(sess, {target: [5.0, -2.0]}, fetches=[loss, v], loss_callback=lambda a, b: losses.append((a, b)))
    np.testing.assert_allclose(sess.run(v), [5.0, -2.0], atol=1e-4)
    assert sess.run(other) == [7.0]
    assert losses[0][0] == 25.0 and losses[0][1].tolist() == [1.0, 1.0]
    assert losses[-1][0] < 1e-6


def test_an_error_leaves_the_variables(sess: Any) -> None:
    """If a callback raises, variables are as they were."""
    loss, variables = _rosenbrock()
    optimizer = opt.ScipyOptimizerInterface(loss)
    sess.run(tf.global_variables_initializer())

    def stop(x: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        optimizer.minimize(sess, step_callback=stop)
    assert sess.run(variables)[0] == -1.5


def test_another_optimizer(sess: Any) -> None:
    """A subclass has its own algorithm."""

    class Newton(opt.ExternalOptimizerInterface):
        def _minimize(self, initial_val: Any, loss_grad_func: Any, optimizer_kwargs: Any, **_: Any) -> Any:
            for _step in range(optimizer_kwargs["steps"]):
                initial_val = initial_val - loss_grad_func(initial_val)[1] / 2.0
            return initial_val

    v = tf.Variable([1.0, 5.0])
    optimizer = Newton(tf.reduce_sum(v * v), steps=1)
    sess.run(tf.global_variables_initializer())
    optimizer.minimize(sess)
    assert sess.run(v).tolist() == [0.0, 0.0]
    with pytest.raises(NotImplementedError, match="implement the _minimize"):
        opt.ExternalOptimizerInterface(tf.reduce_sum(v)).minimize(sess)


def test_refused(sess: Any) -> None:
    """Missing sessions, arguments that are taken, shapes that are not known."""
    with tf.Graph().as_default(), pytest.raises(ValueError, match="minimize needs a session"):
        v = tf.Variable([1.0])
        optimizer = opt.ScipyOptimizerInterface(tf.reduce_sum(v))
        with concurrent.futures.ThreadPoolExecutor() as thread:  # another thread has no default session
            thread.submit(optimizer.minimize).result()
    v = tf.Variable([1.0])
    sess.run(tf.global_variables_initializer())
    with pytest.raises(ValueError, match="'jac' is set automatically"):
        opt.ScipyOptimizerInterface(tf.reduce_sum(v), jac=True).minimize(sess)
    unknown = tf.Variable(tf.placeholder(tf.float32, [None]), validate_shape=False)
    with pytest.raises(ValueError, match="shape of every variable must be known"):
        opt.ScipyOptimizerInterface(tf.reduce_sum(unknown), var_list=[unknown])
