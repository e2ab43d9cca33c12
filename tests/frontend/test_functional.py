"""Derivatives of Python functions: `tf.jacobian(f)` and its relatives, in eager mode, functions and graphs.

The functions are written for any namespace of functions, so that NumPy gives their derivatives by complex steps
(f(x + ih) has h f'(x) as its imaginary part, exact to rounding).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf
import graphgrad.compat.v1 as tf1
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context
from graphgrad.ir.values.function_hooks import is_function


@pytest.fixture(autouse=True)
def eager(first_in_numpy: None) -> Any:
    with context.use(context.EAGER):
        yield


def _numpy(name: str) -> Any:
    return {"reduce_sum": np.sum}.get(name) or getattr(np, name)


class _Functions:
    """NumPy's functions by TensorFlow's names."""

    def __getattr__(self, name: str) -> Any:
        return _numpy(name)


SCALARS = [  # of a vector and a number
    lambda m, x, a: m.reduce_sum(m.sin(x) * x**2) * m.exp(a),
    lambda m, x, a: m.reduce_sum(x[1:] * x[:-1] ** 2 + m.cos(a * x[1:])),
    lambda m, x, a: x[0] * x[1] * a**3 + m.exp(-x[2] ** 2),
]
VECTORS = [
    lambda m, x, a: m.tanh(x) * a + m.reduce_sum(x),
    lambda m, x, a: m.stack([x[0] * a, m.exp(x[1]), m.reduce_sum(x) ** 2]),
]


def _steps(f: Any, args: list[Any], k: int) -> Any:
    """The derivative of f by its argument number k, (*Y, *X), by complex steps."""
    at, columns = np.asarray(args[k], complex), []
    for i in np.ndindex(at.shape):
        moved = at.copy()
        moved[i] += 1e-30j
        columns.append(np.imag(f(_Functions(), *[moved if j == k else a for j, a in enumerate(args)])) / 1e-30)
    return np.stack(columns, -1).reshape((*np.shape(columns[0]), *at.shape))


def _second(f: Any, args: list[Any], k: int, other: int) -> Any:
    """The second derivative by two arguments: central differences of complex steps."""
    at, columns = np.asarray(args[other], float), []
    for i in np.ndindex(at.shape):
        around = []
        for h in (1e-6, -1e-6):
            moved = at.copy()
            moved[i] += h
            around.append(_steps(f, [moved if j == other else a for j, a in enumerate(args)], k))
        columns.append((around[0] - around[1]) / 2e-6)
    return np.stack(columns, -1).reshape((*np.shape(columns[0]), *at.shape))


def _ways(g: Any, f: Any) -> dict[str, Any]:
    """The ways to evaluate a function of arrays: eagerly; for a few in a function, and in a graph, too."""
    def in_graph(*args: Any) -> Any:
        with tf1.Graph().as_default(), HostSession() as session:
            places = [tf1.placeholder(tf1.float64, np.shape(a)) for a in args]
            return session.run(g(*places), dict(zip(places, args, strict=True)))

    every = {"eagerly": g, "in a function": tf.function(g), "in a graph": in_graph}
    return every if f in (SCALARS[1], VECTORS[0]) else {"eagerly": g}


POINT = [np.array([0.3, -0.7, 1.1]), np.array(0.6)]


@pytest.mark.parametrize("f", [*SCALARS, *VECTORS])
def test_jacobians_and_products(f):
    def ours(x, a):
        return f(tf, x, a)

    exact = [_steps(f, POINT, 0), _steps(f, POINT, 1)]
    v = [np.array([1.0, -2.0, 0.5]), np.array(3.0)]
    along = exact[0] @ v[0] + exact[1] * v[1]
    u = np.random.default_rng(0).normal(size=exact[1].shape)
    back = [np.tensordot(u, j, u.ndim) for j in exact]
    calls = {"jacobian": (tf.jacobian(ours, argnums=(0, 1)), exact),
             "jvp": (lambda x, a: tf.jvp(ours, [x, a], v), (f(_Functions(), *POINT), along)),
             "vjp": (lambda x, a: tf.vjp(ours)([x, a], u), (f(_Functions(), *POINT), back))}
    for name, (g, expected) in calls.items():
        for way, run in _ways(g, f).items():
            for got, want in zip(tf.nest.flatten(run(*POINT)), tf.nest.flatten(expected), strict=True):
                np.testing.assert_allclose(got, want, 1e-12, 1e-12, err_msg=f"{name} {way}")


@pytest.mark.parametrize("f", SCALARS)
def test_hessians(f):
    def ours(x, a):
        return f(tf, x, a)

    exact = [[_second(f, POINT, i, j) for j in (0, 1)] for i in (0, 1)]
    v = np.array([1.0, -2.0, 0.5])
    calls = {"hessian": (tf.hessian(ours, argnums=(0, 1)), exact),
             "of one": (tf.hessian(ours), exact[0][0]),
             "hessians": (lambda x, a: tf.hessians(ours, [x, a]), [exact[0][0], exact[1][1]]),
             "laplacian": (tf.laplacian(ours), np.trace(exact[0][0])),
             "composed": (tf.jacobian(tf.jacobian(ours), argnums=1), exact[0][1]),
             "product": (lambda x, a: tf.hessian_vector_product(lambda x: ours(x, a), x, v), exact[0][0] @ v),
             "sparse": (lambda x, a: tf.sparse.to_dense(tf.hessian(ours, sparse=True)(x, a)), exact[0][0])}
    for name, (g, expected) in calls.items():
        for way, run in list(_ways(g, f).items())[:: 1 if name == "hessian" else 2]:
            for got, want in zip(tf.nest.flatten(run(*POINT)), tf.nest.flatten(expected), strict=True):
                np.testing.assert_allclose(got, want, 1e-7, 1e-7, err_msg=f"{name} {way}")


def test_higher_orders_by_composition():
    assert float(tf.hessian(tf.jacobian(lambda x: x**5))(2.0)) == 240.0
    assert float(tf.laplacian(tf.laplacian(lambda x: tf.reduce_sum(x**4)))([1.0, 2.0])) == 48.0
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        slope = tf.jacobian(lambda x: x**3)(x)
    assert float(tape.gradient(slope, x)) == 12.0


def test_structures_and_numbers():
    f = {"a": lambda p: p["r"] * p["s"][0]}["a"]
    found = tf.jacobian(lambda p: {"y": f(p)})({"r": 2.0, "s": (np.array([3.0, 4.0]), 1)})
    assert found["y"]["r"].dtype == tf.float64  # beside an array of 64 bits, numbers have as many
    np.testing.assert_array_equal(found["y"]["s"][0], [[2.0, 0.0], [0.0, 2.0]])
    np.testing.assert_array_equal(found["y"]["s"][1], [0.0, 0.0])
    np.testing.assert_array_equal(tf.jacobian(lambda x, n: x**n)([1.0, 2.0], 3), np.diag([3.0, 12.0]))
    assert tf.jacobian(lambda x: x * x)(3).dtype == tf.float32
    np.testing.assert_array_equal(tf.batch_jacobian(lambda x: x**2, np.array([[1.0, 2.0]])), [np.diag([2.0, 4.0])])
    assert [float(g) for g in tf.vjp(lambda x, y: (x * y, x), (2.0, 3.0), (1.0, 10.0))[1]] == [13.0, 2.0]


def test_what_a_function_closes_over_may_change():
    scale, variable = 2.0, tf.Variable(3.0)
    slope = tf.jacobian(lambda x: x * scale * variable)
    assert float(slope(1.0)) == 6.0
    scale = 4.0
    variable.assign(5.0)
    assert float(slope(1.0)) == 20.0


def test_python_control_flow_on_values():
    def f(x):
        if x > 0.0:
            while x < 10.0:
                x = x * x
        return x

    assert float(tf.jacobian(f)(2.0)) == 32.0
    assert float(tf.jacobian(f)(-2.0)) == 1.0


def test_the_argument_is_meant_even_where_the_tensor_is_used_besides():
    x = tf.constant(3.0)
    assert float(tf.jacobian(lambda z: z * x)(x)) == 3.0


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: tf.jacobian(lambda x: np.sin(x))(2.0), NotImplementedError, "numpy"),
    (lambda: tf.jacobian(lambda x: np.ones(2))(2.0), TypeError, r"tf\.jacobian: <lambda> returns a NumPy.*tf\.sin"),
    (lambda: tf.hessian(lambda x: None)(2.0), ValueError, r"tf\.hessian: <lambda> returns None.*Fix"),
    (lambda: tf.jacobian(lambda x: x)(np.arange(3)), TypeError, r"tf\.jacobian: argument 0 is int64.*Fix"),
    (lambda: tf.jacobian(lambda x: tf.cast(x, tf.int32))(1.0), TypeError, r"tf\.jacobian: <lambda> returns int32.*Fix"),
    (lambda: tf.jacobian(lambda x: x, argnums=1)(1.0), ValueError, r"tf\.jacobian: argnums=1.*1 arguments.*Fix"),
    (lambda: tf.jvp(lambda x: x, 1.0), TypeError, r"tf\.jvp of a function.*Fix: tf\.jvp\(f, x, v\)"),
    (lambda: tf.jvp(lambda x: x, 1.0, [1.0, 2.0, 3.0]), ValueError, "shape"),
    (lambda: tf.vjp(lambda x: (x, x), 1.0, [1.0]), ValueError, r"tf\.vjp: 1 cotangents for 2 ys.*Fix"),
    (lambda: tf.hessian(lambda x: x, sparse=True)([1.0, 2.0]), ValueError, r"tf\.hessian\(sparse.*Fix"),
])
def test_refused(call, error, text):
    with pytest.raises(error, match=f"(?s){text}"):
        call()


def test_what_is_a_function():
    assert is_function(len)
    assert is_function(lambda x: x)
    assert not is_function(tf.constant(1.0))
    assert not is_function(tf.Variable(1.0))
    assert not is_function(np.float32(1.0))
