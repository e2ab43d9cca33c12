"""`as_function`: SciPy's solvers find what they find with functions written in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")


@pytest.fixture(autouse=True)
def first(first_in_numpy: None) -> None:
    """Runs in NumPy where that is quick."""


def _rosenbrock(m: Any, x: Any) -> Any:
    return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2


def _of_both_kinds(f: Any, *examples: Any, **options: Any) -> list[Any]:
    """The function of a graph, and that of a Python function."""
    with tf.Graph().as_default():
        xs = [tf.placeholder(tf.as_dtype(np.asarray(e).dtype), np.shape(e)) for e in examples]
        of_graph = tf.as_function(f(*xs), xs, **options)
    with context.use(context.EAGER):
        return [of_graph, tf2.as_function(f, list(examples), **options)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_minimize(dtype):
    start = np.array([-1.2, 1.0], dtype)
    for f in _of_both_kinds(lambda x: _rosenbrock(None, x), start):
        with context.use(context.EAGER):
            at = np.array([0.3, -0.4])
            assert isinstance(f(at), float)
            assert f.jac(at).dtype == f.hess(at).dtype == np.float64
            np.testing.assert_allclose(f.jac(at), optimize.rosen_der(at), 1e-5)
            np.testing.assert_allclose(f.hess(at), optimize.rosen_hess(at), 1e-5)
            if dtype == np.float64:
                found = optimize.minimize(f, start, jac=f.jac, hess=f.hess, method="trust-exact")
                np.testing.assert_allclose(found.x, [1.0, 1.0], 1e-6)


def test_several_arguments_as_one_vector():
    a, b = np.arange(3.0), np.array([[0.5, -1.0]])
    for f in _of_both_kinds(lambda a, b: tf2.reduce_sum(a**2) * tf2.reduce_sum(b**3), a, b, flat=True):
        with context.use(context.EAGER):
            v = f.pack(a, b)
            assert [p.shape for p in f.unpack(v)] == [(3,), (1, 2)]
            np.testing.assert_array_equal(f.unpack(v)[1], b)
            np.testing.assert_allclose(f(v), 5.0 * (0.125 - 1.0))
            np.testing.assert_allclose(f.jac(v), optimize.approx_fprime(v, f, 1e-7), 1e-5, 1e-5)
            second = np.stack([(f.jac(v + h) - f.jac(v - h)) / 2e-6 for h in 1e-6 * np.eye(5)])
            np.testing.assert_allclose(f.hess(v), second, 1e-6, 1e-6)


def test_root():
    for f in _of_both_kinds(lambda x: tf2.stack([x[0] ** 2 + x[1] ** 2 - 4.0, x[0] - x[1]]), np.zeros(2)):
        with context.use(context.EAGER):
            found = optimize.root(f, [1.0, 2.0], jac=f.jac)
            np.testing.assert_allclose(found.x, np.sqrt([2.0, 2.0]))


def test_an_initial_value_problem():
    """The derivative by the second argument, y, and not by the time."""
    for f in _of_both_kinds(lambda t, y: tf2.stack([y[1], -y[0] * t]), np.array(0.0), np.zeros(2), by=1):
        with context.use(context.EAGER):
            np.testing.assert_array_equal(f.jac(2.0, np.ones(2)), [[0.0, 1.0], [-2.0, 0.0]])
            ours = integrate.solve_ivp(f, (0.0, 2.0), [1.0, 0.0], method="Radau", jac=f.jac, rtol=1e-8)
            theirs = integrate.solve_ivp(lambda t, y: [y[1], -y[0] * t], (0.0, 2.0), [1.0, 0.0], rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(ours.y[:, -1], theirs.y[:, -1], 1e-4)


def test_variables_of_a_session():
    with tf.Graph().as_default(), tf.Session() as session:
        x, v = tf.placeholder(tf.float64, []), tf.Variable(3.0, dtype=tf.float64)
        f = tf.as_function({"y": x * v, "n": tf.constant(2)}, [x])
        session.run(v.initializer)
        assert f(2.0)["y"] == 6.0
        assert f(2.0)["n"] == 2
        session.run(v.assign(4.0))
        assert f(2.0)["y"] == 8.0


def test_refused():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float64, [None])
        with pytest.raises(ValueError, match=r"(?s)tf\.as_function: .*shape.*flat=True needs known.*Fix"):
            tf.as_function(x, x, flat=True)
        with pytest.raises(ValueError, match=r"(?s)tf\.as_function: by=1.*Fix"):
            tf.as_function(x, x, by=1)
        with pytest.raises(TypeError, match=r"(?s)1 arguments was given 2.*Fix"):
            tf.as_function(x, x)(1.0, 2.0)
        with pytest.raises(ValueError, match=r"(?s)tf\.as_function: hess is for.*Fix"):
            _ = tf.as_function(x, x).hess


@pytest.mark.parametrize("traced", [False, True])
def test_sparse(traced):
    """Sparse derivatives are those of dense ones."""
    def build(x):
        return tf.reduce_sum(x[1:] ** 2 * x[:-1])

    at = np.arange(1.0, 6.0)
    with context.use(context.EAGER if traced else tf.Graph()):
        x = None if traced else tf.placeholder(tf.float64, [5])
        make = (lambda f, **k: tf.as_function(f, np.zeros(5), **k)) if traced else (
            lambda f, **k: tf.as_function(f(x), x, **k))
        dense, sparse = make(build), make(build, sparse=True)
        assert sparse(at) == dense(at)
        assert sparse.hess(at).nnz == 12
        np.testing.assert_allclose(sparse.hess(at).toarray(), dense.hess(at))
        slopes, few = make(lambda x: x[1:] * x[:-1]), make(lambda x: x[1:] * x[:-1], sparse=True)
        np.testing.assert_allclose(few.jac(at).toarray(), slopes.jac(at))


def test_errors_of_sparse():
    with pytest.raises(ValueError, match="flat=True packs all into one"):
        tf.as_function(lambda x: x, 1.0, flat=True, sparse=True)
    with pytest.raises(TypeError, match="sparse matrices are for one result"):
        tf.as_function(lambda x: (x, x), np.zeros(2), sparse=True).jac(np.zeros(2))
