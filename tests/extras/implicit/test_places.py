"""Solutions in sessions, functions, eager mode, branches, loops, maps; of variables; of sizes known at run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.effort import ALL
from tests.support.sessions import run, run_in_numpy


def _cube_root(p: Any, **options: Any) -> Any:
    """Returns x with x^3 = p."""
    return tf.implicit.root(lambda x: x**3 - p, tf.ones_like(p), **options)


def _wanted(p: Any) -> list[Any]:
    return [p ** (1 / 3), p ** (-2 / 3) / 3, -2 / 9 * p ** (-5 / 3)]


_P = np.array([2.0, 5.0])


def _orders(x: Any, p: Any) -> list[Any]:
    slope = tf.gradients(x, p)[0]
    return [x, slope, tf.gradients(slope, p)[0]]


_PLACES = {
    "graph": lambda p: _cube_root(p),
    "placeholder": lambda p: _cube_root(tf.placeholder_with_default(p, [None])),
    "branch": lambda p: tf.cond(p[0] > 0, lambda: _cube_root(p), lambda: p),
    "other branch": lambda p: tf.cond(p[0] < 0, lambda: p, lambda: _cube_root(p, linear_solver="gmres")),
    "loop": lambda p: tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, _cube_root(p + x - x)), [0, p])[1],
    "loop, matrix-free": lambda p: tf.while_loop(
        lambda i, x: i < 2, lambda i, x: (i + 1, _cube_root(p * x / x, linear_solver="bicgstab")), [0, p])[1],
    "map": lambda p: tf.vectorized_map(_cube_root, p),
    "map_fn": lambda p: tf.map_fn(_cube_root, p),
    "function": lambda p: tf2.function(_cube_root)(p),
    "root of a root": lambda p: tf.implicit.root(
        lambda y: y - tf.implicit.root(lambda x: x**3 + y - y - p, tf.ones_like(p)), tf.ones_like(p)),
    "fixed point of a solution": lambda p: tf.implicit.fixed_point(
        lambda x: tf.implicit.linear_solve(lambda v: 3 * x**2 * v, 2 * x**3 + p), 1.2 * tf.ones_like(p)),
}


_COMPILED = ("other branch", "loop", "map")


@pytest.mark.parametrize(("place", "engine"), [(place, engine) for place in _PLACES for engine in ("numpy", "xla")
                                               if ALL or engine == "numpy" or place in _COMPILED])
def test_places(place: str, engine: str) -> None:
    """Wherever it stands, a solution has its value and two derivatives, in both engines."""
    with tf.Graph().as_default():
        p = tf.constant(_P)
        fetches = _orders(_PLACES[place](p), p)
        got = run(fetches) if engine == "xla" else run_in_numpy(fetches)
    for one, other in zip(got, _wanted(_P), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_variables() -> None:
    """Variables that f reads get gradients, also if they are assigned later in the same run."""
    with tf.Graph().as_default():
        v = tf.Variable(_P)
        x = tf.implicit.root(lambda x: x**3 - v, np.ones(2))
        slope = tf.gradients(x, v)[0]
        with tf.control_dependencies([x]):
            changed = v.assign(v * 100.0)
        with tf.control_dependencies([changed]):
            later = tf.gradients(slope, v)[0] + 0.0
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            got = session.run([x, slope, later])
            np.testing.assert_allclose(session.run(v), 100 * _P)
    for one, other in zip(got, _wanted(_P), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_training_through_a_solution() -> None:
    """An optimizer finds the parameter for which a solution has a given value."""
    with tf.Graph().as_default():
        v = tf.Variable(1.0, dtype=tf.float64)
        loss = tf.square(tf.implicit.root(lambda x: x**3 + x - v, tf.constant(0.0, tf.float64)) - 2.0)
        step = tf.train.GradientDescentOptimizer(20.0).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(60):
                session.run(step)
            np.testing.assert_allclose(session.run(v), 10.0, rtol=1e-6)


@pytest.mark.parametrize("kind", [tf2.constant, tf2.Variable])
def test_eager_mode(kind: Any) -> None:
    """Tapes record solutions, of closed-over tensors and variables, to any order."""
    p = kind(_P)
    with tf2.GradientTape() as outer:
        outer.watch(p)
        with tf2.GradientTape() as inner:
            inner.watch(p)
            x = tf2.implicit.root(lambda x: x**3 - p, np.ones(2))
        slope = inner.gradient(x, p)
    got = [x, slope, outer.gradient(slope, p)]
    for one, other in zip(got, _wanted(_P), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_eager_forward_mode_and_structures() -> None:
    """Accumulators push forward through a fixed point; a solution comes with how it was found."""
    p = tf2.constant(_P)
    with tf2.autodiff.ForwardAccumulator(p, tf2.ones_like(p)) as accumulator:
        x = tf2.implicit.fixed_point(lambda x: (2 * x + p / x**2) / 3, np.ones(2))
    np.testing.assert_allclose(accumulator.jvp(x), _wanted(_P)[1], rtol=1e-12)
    x, info = tf2.implicit.linear_solve(lambda x: p * x, np.ones(2), with_info=True)
    np.testing.assert_allclose(x, 1 / _P)
    assert int(info.iterations) > 0


def test_float32() -> None:
    """Single precision reaches its own accuracy."""
    with tf.Graph().as_default():
        p = tf.constant(_P, tf.float32)
        for solver, engine in (("lu", run), ("gmres", run if ALL else run_in_numpy)):
            got = engine(_orders(_cube_root(p, linear_solver=solver), p))
            for one, other in zip(got, _wanted(_P), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5)


def test_function_is_traced_once_and_start_has_no_gradient() -> None:
    """The user's function is called once, however often its operations are needed."""
    calls = []
    with tf.Graph().as_default():
        p, start = tf.constant(_P), tf.constant(np.ones(2))

        def f(x: Any) -> Any:
            calls.append(x)
            return x**3 - p

        x = tf.implicit.root(f, start, name="balance")
        assert tf.gradients(tf.gradients(x, p)[0], p)[0] is not None
        assert tf.gradients(x, start) == [None]
        assert x.op.name.startswith("balance/")
    assert len(calls) == 1


def test_gradients_are_explained() -> None:
    """`explain_gradient` follows the way through a solution."""
    with tf.Graph().as_default():
        p = tf.constant(_P)
        x = _cube_root(p)
        assert tf.explain_gradient(x, p).connected
