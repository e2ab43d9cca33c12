"""Derivatives of solutions, to the third order: against unrolled iterations, SciPy, mpmath and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import graphgrad.compat.v1 as tf
from tests.support.effort import ALL

from .problems import along, close, compute, pushed, system, unrolled

_SEEDS = range(40 if ALL else 4)


@pytest.mark.parametrize("solver", ["lu", "gmres", "bicgstab"])
@pytest.mark.parametrize("seed", _SEEDS)
def test_roots_of_random_systems(seed: int, solver: str) -> None:
    """A root and its first three derivatives are those of an unrolled iteration, in reverse and forward mode."""
    problem = system(seed)
    with tf.Graph().as_default():
        p, v = tf.constant(problem.p), tf.constant(problem.v)
        x = tf.implicit.root(lambda x: problem.f(x, p), tf.constant(problem.start), linear_solver=solver)
        assert x.shape == problem.start.shape
        y = tf.reduce_sum(x * problem.w)
        value, backward, forward = compute([x, along(y, p, v, 3), pushed(y, p, v, 2)])
        oracle = tf.reduce_sum(unrolled(problem, value, p, 5) * problem.w)
        wanted = compute(along(oracle, p, v, 3))
    close(backward, wanted)
    close(forward, wanted[:3])


@pytest.mark.parametrize("seed", _SEEDS)
def test_roots_are_scipys(seed: int) -> None:
    """Roots are SciPy's, and their derivatives its finite differences."""
    problem = system(100 + seed)
    with tf.Graph().as_default():
        fed, parameter = tf.placeholder(tf.float64, problem.start.shape), tf.placeholder(tf.float64, problem.p.shape)
        y = problem.f(fed, parameter)
        p = tf.constant(problem.p)
        x = tf.implicit.root(lambda x: problem.f(x, p), problem.start)
        got, slope = compute([x, tf.jvp(x, p, problem.v)])
        with tf.Session() as session:
            def solved(at: np.ndarray) -> np.ndarray:
                found = scipy.optimize.root(lambda z: session.run(y, {fed: z.reshape(problem.start.shape),
                                                                      parameter: at}).ravel(),
                                            problem.start.ravel(), tol=1e-13)
                return found.x.reshape(problem.start.shape)

            step = 1e-5
            ends = [solved(problem.p + sign * step * problem.v) for sign in (1, -1)]
            np.testing.assert_allclose(got, solved(problem.p), atol=1e-10)
            np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", _SEEDS)
def test_fixed_points_of_random_maps(seed: int) -> None:
    """A fixed point of a contraction has the derivatives of the repetition that autodiff unrolls."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 4
    matrix, start, v, w = rng.normal(size=(n, n)), np.zeros(n), rng.normal(size=n), rng.normal(size=n)
    matrix *= 0.25 / np.linalg.norm(matrix, 2)
    with tf.Graph().as_default():
        p = tf.constant(rng.normal(size=n))

        def f(x: Any) -> Any:
            return tf.tanh(tf.linalg.matvec(matrix, x) * p + p)

        x: Any = tf.implicit.fixed_point(f, start, linear_solver=("lu", "gmres")[seed % 2])
        oracle: Any = tf.constant(start)
        for _ in range(30):
            oracle = f(oracle)
        got, forward, wanted = compute([along(tf.reduce_sum(x * w), p, v, 3), pushed(tf.reduce_sum(x * w), p, v, 2),
                                    along(tf.reduce_sum(oracle * w), p, v, 3)])
    close(got, wanted)
    close(forward, wanted[:3])


@pytest.mark.parametrize("seed", _SEEDS)
def test_accelerated_fixed_points(seed: int) -> None:
    """Anderson's acceleration finds the solution of the linear system, also of an expansion, in n + 2 steps or so."""
    rng = np.random.default_rng(seed)
    n = 2 + seed % 4
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    matrix = basis @ np.diag(np.linspace(-0.95, (0.9, -1.5)[seed % 2], n)) @ basis.T
    with tf.Graph().as_default():
        k, b = tf.constant(matrix), tf.constant(rng.normal(size=n))
        x, info = tf.implicit.fixed_point(lambda x: tf.linalg.matvec(k, x) + b, np.zeros(n), anderson=n,
                                          with_info=True)
        oracle = tf.linalg.solve(np.eye(n) - k, b[:, None])[:, 0]
        pairs = [[y, *tf.gradients(y[0], [k, b]), tf.gradients(tf.gradients(y[0], b)[0][-1], k)[0]]
                 for y in (x, oracle)]
        got, wanted, steps = compute([*pairs, info.iterations])
    close(got, wanted, 1e-11)
    assert steps <= 4 * n


# mpmath 1.4, 60 digits: x(p) by findroot, its derivatives by diff.
_EXACT: dict[str, tuple[Callable[[Any, Any], Any], float, float, list[float]]] = {
    # x e^x = p: Lambert's W
    "lambert": (lambda x, p: x * tf.exp(x) - p, 0.5, 1.0,
                [0.567143290409783873, 0.36189625663488922148, -0.21454064628214370585, 0.27366852428160137257]),
    # x - p sin x = 1: Kepler's equation
    "kepler": (lambda x, p: x - p * tf.sin(x) - 1.0, 1.5, 0.5,
               [1.4987011335178483141, 1.0346672323734563504, -0.39919536674114936251, -2.8127892253186903744]),
    "cosine": (lambda x, p: p * tf.cos(x) - x, 0.4, 0.5,
               [0.45018361129487357304, 0.73948159233291878058, -0.73073509283915430947, 0.24196872044258784452]),
}


@pytest.mark.parametrize("name", _EXACT)
def test_exact_values(name: str) -> None:
    """Values and three derivatives are those computed with 60 digits, by each way to find them."""
    f, start, at, wanted = _EXACT[name]
    with tf.Graph().as_default():
        p, one = tf.constant(at, tf.float64), tf.constant(1.0, tf.float64)
        x = tf.implicit.root(lambda x: f(x, p), tf.constant(start, tf.float64))
        slope = tf.jvp(x, p, one)
        both = [x, slope, tf.gradients(slope, p)[0], tf.jvp(tf.gradients(slope, p)[0], p, one)]
        backward, forward, mixed = compute([along(x, p, one, 3), pushed(x, p, one, 3), both])
    for got in (backward, forward, mixed):
        close(got, wanted)


def test_system_with_exact_values() -> None:
    """x^2 + y^2 = p, y = p sin x, as a structure of two unknowns; mpmath 1.4, 60 digits, as above."""
    with tf.Graph().as_default():
        p = tf.constant(2.0, tf.float64)

        def f(at: dict[str, Any]) -> dict[str, Any]:
            x, y = at["x"], at["y"]
            return {"x": x * x + tf.reduce_sum(y * y) - p, "y": y - p * tf.sin(x)}

        start = {"x": tf.ones([], tf.float64), "y": tf.ones([1, 1], tf.float64)}
        found = tf.implicit.root(f, start)
        assert found["y"].shape == (1, 1)
        got = compute(along(found["x"], p, tf.constant(1.0, tf.float64), 3))
    close(got, [0.67164320939036564036, -0.10474681929633687262, 3.6535886005730203808e-5, 0.10201765619226317851])


def test_what_natural_attempts_get_wrong() -> None:
    """One Newton step with stopped gradients has right first derivatives only; a loop cut off has none."""
    with tf.Graph().as_default():
        p = tf.constant(2.0, tf.float64)

        def f(x: Any) -> Any:
            return x**3 + p * p * x - 1.0

        x = tf.implicit.root(f, tf.constant(0.5, tf.float64))
        still = tf.stop_gradient(x)
        attempt = still - f(still) / tf.stop_gradient(3 * still**2 + p * p)
        (slope,), (first,), (none,) = tf.gradients(x, p), tf.gradients(attempt, p), tf.gradients(still, p)
        value, one, other, second, wrong = compute([x, slope, first, tf.gradients(slope, p)[0],
                                                    tf.gradients(first, p)[0]])
    # By hand, with q = 3 x^2 + p^2: x' = -2 p x / q and x'' = -(6 x x'^2 + 4 p x' + 2 x) / q.
    q = 3 * value**2 + 4
    by_hand = -4 * value / q
    close([one, other, second], [by_hand, by_hand, -(6 * value * by_hand**2 + 8 * by_hand + 2 * value) / q])
    assert none is None
    assert abs(wrong - second) > 0.01
