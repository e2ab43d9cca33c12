"""`tf.implicit.argmin`: random problems, against SciPy, closed forms, finite differences and roots of the gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import graphgrad.compat.v1 as tf
from tests.support.effort import ALL, part
from tests.support.sessions import run

from .problems import along, close, compute, pushed

_SEEDS = range(30 if ALL else 2)


def _objective(seed: int) -> tuple[Callable[[Any, Any], Any], np.ndarray, np.ndarray, np.ndarray]:
    """Draws a convex function of x and p; returns it, p, a direction and weights."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 4
    a, c = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    square = a @ a.T / n + np.eye(n)

    def f(x: Any, p: Any) -> Any:
        curved = tf.reduce_sum(tf.nn.softplus(tf.linalg.matvec(c, x) * p))
        return 0.5 * tf.reduce_sum(x * tf.linalg.matvec(square, x)) - tf.reduce_sum(tf.sin(p) * x) + curved

    return f, rng.uniform(-1.5, 1.5, n), rng.normal(size=n), rng.normal(size=n)


@pytest.mark.parametrize("seed", _SEEDS)
def test_minima_are_roots_of_the_gradient(seed: int) -> None:
    """A minimum and three derivatives are those of the root of the gradient, by every linear solver."""
    f, at, v, w = _objective(seed)
    with tf.Graph().as_default():
        p = tf.constant(at)
        x = tf.implicit.argmin(lambda x: f(x, p), np.zeros_like(at), linear_solver=("lu", "cg", "gmres")[seed % 3])
        other = tf.implicit.root(lambda x: tf.gradients(f(x, p), x)[0], np.zeros_like(at))
        y, oracle = tf.reduce_sum(x * w), tf.reduce_sum(other * w)
        got, forward, wanted = compute([along(y, p, v, 3), pushed(y, p, v, 2), along(oracle, p, v, 3)])
    close(got, wanted)
    close(forward, wanted[:3])


@pytest.mark.parametrize("seed", part(_SEEDS, 2))
def test_minima_within_bounds_are_scipys(seed: int) -> None:
    """Minima within bounds are SciPy's; derivatives by parameters and bounds are finite differences."""
    f, at, v, _ = _objective(50 + seed)
    n = at.size
    low = np.full(n, -0.1)
    with tf.Graph().as_default():
        p, bound = tf.placeholder(tf.float64, [n]), tf.placeholder(tf.float64, [n])
        x = tf.implicit.argmin(lambda x: f(x, p), np.zeros(n), bounds=(bound, 0.3))
        slopes = tf.jvp(x, p, v), tf.jvp(x, bound, v)
        fed = tf.placeholder(tf.float64, [n])
        value = f(fed, p)
        both = [value, tf.gradients(value, fed)[0]]
        with tf.Session() as session:
            def solved(q: np.ndarray, b: np.ndarray) -> Any:
                return session.run(x, {p: q, bound: b})

            def priced(z: np.ndarray) -> Any:
                return session.run(both, {fed: z, p: at})

            oracle = scipy.optimize.minimize(priced, np.zeros(n), jac=True, method="L-BFGS-B",
                                             bounds=list(zip(low, [0.3] * n, strict=True)), tol=1e-14)
            np.testing.assert_allclose(solved(at, low), oracle.x, atol=1e-6)
            got = session.run(slopes, {p: at, bound: low})
            h = 1e-6
            np.testing.assert_allclose(got[0], (solved(at + h * v, low) - solved(at - h * v, low)) / (2 * h), atol=1e-6)
            np.testing.assert_allclose(got[1], (solved(at, low + h * v) - solved(at, low - h * v)) / (2 * h), atol=1e-6)


@pytest.mark.parametrize("seed", _SEEDS)
def test_quadratic_programs(seed: int) -> None:
    """A quadratic program takes one step; x is linear in c and b, with the blocks of the inverse KKT matrix."""
    rng = np.random.default_rng(seed)
    n, m = 4 + seed % 3, 1 + seed % 3
    q, a = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    q = q @ q.T + np.eye(n)
    with tf.Graph().as_default():
        c, b, k = tf.constant(rng.normal(size=n)), tf.constant(rng.normal(size=m)), tf.constant(a)
        x, info = tf.implicit.argmin(
            lambda x: 0.5 * tf.reduce_sum(x * tf.linalg.matvec(q, x)) + tf.reduce_sum(c * x), np.zeros(n),
            equalities=lambda x: tf.linalg.matvec(k, x) - b, with_info=True)
        system = tf.concat([tf.concat([tf.constant(q), tf.transpose(k)], 1),
                            tf.concat([k, tf.zeros([m, m], tf.float64)], 1)], 0)
        oracle = tf.linalg.solve(system, tf.concat([-c, b], 0)[:, None])[:n, 0]
        pairs = [(y, tf.jacobian(y, c), tf.jacobian(y, b), tf.gradients(y[0], k)[0],
                  tf.gradients(tf.gradients(y[0], k)[0][0, 1], k)[0]) for y in (x, oracle)]
        got, wanted, steps = compute([*pairs, info.iterations])
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    assert steps <= 2


def test_nonlinear_equalities() -> None:
    """The largest product on a circle of radius s: x = y = s / sqrt(2), in compiled programs, too."""
    with tf.Graph().as_default():
        s = tf.constant(3.0, tf.float64)
        x = tf.implicit.argmin(lambda x: -x[0] * x[1], np.ones(2), equalities=lambda x: tf.reduce_sum(x * x) - s * s)
        slope = tf.gradients(x[0], s)[0]
        np.testing.assert_allclose(run([x[0], slope, tf.gradients(slope, s)[0]]), [3 / 2**0.5, 0.5**0.5, 0], atol=1e-12)


def test_structures_and_hard_functions() -> None:
    """Rosenbrock's function from the usual start, of a structure; its minimum is (a, a^2)."""
    with tf.Graph().as_default():
        a = tf.constant(1.5, tf.float64)

        def f(z: dict[str, Any]) -> Any:
            return tf.square(a - z["x"]) + 100 * tf.reduce_sum(tf.square(z["y"] - tf.square(z["x"])))

        z = tf.implicit.argmin(f, {"x": np.float64(-1.2), "y": np.ones((1, 1))})
        slope = tf.gradients(z["y"], a)[0]
        close(compute([z["x"], z["y"][0, 0], slope, tf.gradients(slope, a)[0]]), [1.5, 2.25, 3.0, 2.0], 1e-10)


_FAILING: dict[str, tuple[Callable[[Any], Any], dict[str, Any], str]] = {
    "saddle": (lambda x: x[0] ** 2 - x[1] ** 2, {"start": np.array([1.0, 0.0])}, "not convex: at a saddle"),
    "maximum": (lambda x: -tf.reduce_sum(x * x), {"start": np.zeros(2)}, "not convex"),
    "line": (lambda x: (x[0] + x[1]) ** 2, {}, "(?s)on a line of equal values.*small multiple"),
    "quartic": (lambda x: tf.reduce_sum((x - 1) ** 4), {"start": np.array([3.0, 2.0])}, "multiple solution"),
    "unbounded": (lambda x: -tf.reduce_sum(x * x), {}, "not converged after 200"),
    "nan": (lambda x: tf.reduce_sum(tf.log(-x)), {}, "not finite"),
    "largest, not smallest": (lambda x: x[0] * x[1], {"equalities": lambda x: tf.reduce_sum(x * x) - 8.0,
                                                     "start": np.array([1.0, 1.5])}, "not convex"),
    "dependent equalities": (lambda x: tf.reduce_sum(x * x), {"equalities": lambda x: tf.stack([x[0] - 1, 2 * x[0]])},
                             "singular Jacobian"),
    "no gradient": (lambda x: tf.reduce_sum(x), {}, "f is linear"),
    "vector": (lambda x: x, {}, r"f returned shape \(2,\)"),
    "both": (tf.reduce_sum, {"bounds": (0, 1), "equalities": tf.reduce_sum}, "both bounds and equalities"),
    "one bound": (tf.reduce_sum, {"bounds": [0]}, "bounds has 1 elements"),
    "no function": (3.0, {}, "must be a function"),  # type: ignore[dict-item]  # on purpose
}


@pytest.mark.parametrize("name", _FAILING)
def test_failures(name: str) -> None:
    """What is no minimum, or cannot be meant, is an error that names the solver and a remedy."""
    f, options, text = _FAILING[name]
    with tf.Graph().as_default(), pytest.raises((tf.errors.InvalidArgumentError, ValueError, TypeError),
                                                match=text) as caught:
        compute(tf.implicit.argmin(f, **{"start": np.array([1.0, 2.0]), **options}))
    assert "tf.implicit.argmin" in str(caught.value) and "Fix: " in str(caught.value)
