"""Random implicit problems with a parameter, each with an oracle: the same function without `tf.implicit`.

An oracle is an iteration that begins at the solution and that autodiff unrolls, a closed form, or elimination. A
problem takes the parameter p, a vector of two, and returns a scalar that depends on it through the solution alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.sessions import run_in_numpy

_ODE = {"euler": ((), ((),), (1.0,)), "midpoint": ((0.5,), ((), (0.5,)), (0.0, 1.0)),
        "rk4": ((0.5, 0.5, 1.0), ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))}
VALUE = np.array([0.7, 1.2])  # of p


class Pair(NamedTuple):
    """A problem.

    Attributes:
      solved: p -> a scalar, by `tf.implicit`.
      oracle: p -> the same without.
      rtol: how closely they agree, relative to the largest derivative.
      orders: the orders of derivatives that are compared.
    """

    solved: Callable[[Any], Any]
    oracle: Callable[[Any], Any]
    rtol: float = 1e-12
    orders: int = 3


def _matrix(rng: np.random.Generator, n: int, definite: bool) -> Callable[[Any], Any]:
    """Returns p -> a well-conditioned matrix; symmetric and positive definite if `definite`."""
    a, parts = rng.normal(size=(n, n)) * 0.4, rng.normal(size=(2, n, n)) * 0.2
    if definite:
        parts = (parts + parts.transpose(0, 2, 1)) / 4
        a = a @ a.T + 2 * np.eye(n)
    else:
        a += np.diag(rng.choice([-3.0, 3.0], n))
    return lambda p: a + p[0] * parts[0] + tf.sin(p[1]) * parts[1]


def linear(rng: np.random.Generator) -> Pair:
    """A system of one of the methods: a matrix, an operator or a function; a vector or columns; real or complex."""
    n, kind = int(rng.integers(1, 6)), rng.choice(["matrix", "operator", "function"])
    method = rng.choice(["cg", "bicgstab", "gmres"] + (["lu"] if kind != "function" else []))
    columns = (2,) if kind != "function" and rng.integers(2) else ()
    turn = 1j if rng.integers(3) == 0 else 0.0
    make, b, w = _matrix(rng, n, method == "cg"), rng.normal(size=(n, *columns)), rng.normal(size=(n, *columns))
    skew = rng.normal(size=(n, n)) * 0.2
    skew = skew - skew.T  # times i, Hermitian

    def system(p: Any) -> tuple[Any, Any]:
        a, right = make(p), b * tf.exp(p[0]) * p[1]
        if not turn:
            return a, right
        return tf.complex(a, skew * p[0]), tf.complex(right, right * p[1])

    def summed(x: Any) -> Any:
        return tf.reduce_sum(tf.math.real(x) * w) + (tf.reduce_sum(tf.math.imag(x) * w) if turn else 0.0)

    def solved(p: Any) -> Any:
        a, right = system(p)
        given: Any = {"matrix": a, "operator": tf.linalg.LinearOperatorFullMatrix(a),
                      "function": lambda x: tf.linalg.matvec(a, x)}[str(kind)]
        return summed(tf.implicit.linear_solve(given, right, method=str(method), rtol=1e-15))

    def oracle(p: Any) -> Any:
        a, right = system(p)
        return summed(tf.reshape(tf.linalg.solve(a, tf.reshape(right, [n, -1])), b.shape))

    return Pair(solved, oracle, 1e-11)


def _improved(f: Callable[[Any, Any], Any], x: np.ndarray, inverse: np.ndarray) -> Callable[[Any], Any]:
    """Returns p -> x(p) by steps with a fixed inverse Jacobian from the solution: each makes one more order exact."""
    def oracle(p: Any) -> Any:
        found: Any = tf.constant(x)
        for _ in range(5):
            found = found - tf.linalg.matvec(inverse, f(found, p))
        return found

    return oracle


def _in_numpy(build: Callable[[], Any]) -> Any:
    with tf.Graph().as_default():
        return run_in_numpy(build())


def _polished(f: Callable[[Any, Any], Any], start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns SciPy's root of f(x, VALUE), and the inverse of the Jacobian there."""
    def both(x: np.ndarray) -> Any:
        def build() -> Any:
            at = tf.constant(x)
            y = f(at, tf.constant(VALUE))
            return [y, tf.jacobian(y, at)]

        return _in_numpy(build)

    x = scipy.optimize.root(lambda x: both(x)[0], start, jac=lambda x: both(x)[1], tol=1e-14).x
    for _ in range(2):
        y, slope = both(x)
        x = x - np.linalg.solve(slope, y)
    return x, np.linalg.inv(both(x)[1])


def root(rng: np.random.Generator) -> Pair:
    """A root of a nonlinear system, by one of the linear solvers."""
    n = int(rng.integers(1, 5))
    make, b, w = _matrix(rng, n, False), rng.normal(size=(n, n)) * 0.3, rng.normal(size=n)
    solver = str(rng.choice(["lu", "gmres", "bicgstab"]))

    def f(x: Any, p: Any) -> Any:
        return tf.linalg.matvec(make(p), x) + tf.sin(tf.linalg.matvec(b, x)) * p[0] - p[1] * p[1]

    oracle = _improved(f, *_polished(f, np.zeros(n)))
    return Pair(lambda p: tf.reduce_sum(tf.implicit.root(lambda x: f(x, p), np.zeros(n), linear_solver=solver) * w),
                lambda p: tf.reduce_sum(oracle(p) * w))


def fixed_point(rng: np.random.Generator) -> Pair:
    """A fixed point of a contraction, plain or accelerated."""
    n, memory = int(rng.integers(1, 5)), int(rng.integers(0, 4))
    a, w = rng.normal(size=(n, n)), rng.normal(size=n)
    a *= 0.25 / np.linalg.norm(a, 2)
    solver = str(rng.choice(["lu", "gmres"]))

    def f(x: Any, p: Any) -> Any:
        return tf.tanh(tf.linalg.matvec(a, x) * p[0] + p[1]) + p[0] / 3

    def oracle(p: Any) -> Any:
        x: Any = tf.zeros([n], tf.float64)
        for _ in range(32):
            x = f(x, p)
        return tf.reduce_sum(x * w)

    return Pair(lambda p: tf.reduce_sum(tf.implicit.fixed_point(lambda x: f(x, p), np.zeros(n), anderson=memory,
                                                                linear_solver=solver) * w), oracle)


def _convex(rng: np.random.Generator, n: int) -> Callable[[Any, Any], Any]:
    make, c = _matrix(rng, n, True), rng.normal(size=n) * 2

    def f(x: Any, p: Any) -> Any:
        return (tf.reduce_sum(x * tf.linalg.matvec(make(p), x)) / 2 + tf.reduce_sum(tf.square(tf.square(x))) * p[0] / 4
                - tf.reduce_sum(c * x) * p[1])

    return f


def _slope(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def slope(x: Any, p: Any) -> Any:
        at = tf.identity(x)
        return tf.gradients(f(at, p), at)[0]

    return slope


def minimum(rng: np.random.Generator) -> Pair:
    """A minimum without limits."""
    n = int(rng.integers(1, 5))
    f, w = _convex(rng, n), rng.normal(size=n)
    oracle = _improved(_slope(f), *_polished(_slope(f), np.zeros(n)))
    return Pair(lambda p: tf.reduce_sum(tf.implicit.argmin(lambda x: f(x, p), np.zeros(n)) * w),
                lambda p: tf.reduce_sum(oracle(p) * w), 1e-11)


def bounded(rng: np.random.Generator) -> Pair:
    """A minimum within bounds that depend on p; SciPy says which are reached, the rest is a root."""
    n = int(rng.integers(2, 5))
    f, w, low = _convex(rng, n), rng.normal(size=n), -rng.uniform(0.1, 0.5, n)
    high = rng.uniform(0.1, 0.6, n)

    def value(x: np.ndarray) -> Any:
        def build() -> Any:
            at = tf.constant(x)
            y = f(at, tf.constant(VALUE))
            return [y, tf.gradients(y, at)[0]]

        return _in_numpy(build)

    lows, highs = low * VALUE[1], high
    found = scipy.optimize.minimize(value, np.zeros(n), jac=True, method="L-BFGS-B", tol=1e-13,
                                    bounds=list(zip(lows, highs, strict=True))).x
    below, above = found <= lows + 1e-9, found >= highs - 1e-9

    def lack(x: Any, p: Any) -> Any:
        return tf.where(below, x - low * p[1], tf.where(above, x - high, _slope(f)(x, p)))

    oracle = _improved(lack, *_polished(lack, found))
    return Pair(lambda p: tf.reduce_sum(tf.implicit.argmin(
        lambda x: f(x, p), np.zeros(n), bounds=(low * p[1], tf.constant(high))) * w),
        lambda p: tf.reduce_sum(oracle(p) * w), 1e-11)


def program(rng: np.random.Generator) -> Pair:
    """A quadratic program under equalities, against the system of Karush, Kuhn and Tucker."""
    n = int(rng.integers(2, 5))
    m = int(rng.integers(1, n))
    make, c, k, w = _matrix(rng, n, True), rng.normal(size=n), rng.normal(size=(m, n)), rng.normal(size=n)

    def solved(p: Any) -> Any:
        return tf.reduce_sum(w * tf.implicit.argmin(
            lambda x: tf.reduce_sum(x * tf.linalg.matvec(make(p), x)) / 2 + tf.reduce_sum(c * x) * p[0], np.zeros(n),
            equalities=lambda x: tf.linalg.matvec(k, x) * p[1] - 1.0))

    def oracle(p: Any) -> Any:
        system = tf.concat([tf.concat([make(p), p[1] * k.T], 1), tf.concat([p[1] * k, np.zeros((m, m))], 1)], 0)
        right = tf.concat([-c * p[0], tf.ones([m], tf.float64)], 0)
        return tf.reduce_sum(tf.linalg.solve(system, right[:, None])[:n, 0] * w)

    return Pair(solved, oracle, 1e-10)


def steps(rng: np.random.Generator) -> Pair:
    """A trajectory by steps of one size, against the same steps written out."""
    method = str(rng.choice(list(_ODE)))
    n, count, w = int(rng.integers(1, 4)), int(rng.integers(1, 4)), rng.normal(size=2)
    make, h = _matrix(rng, n, False), 0.125

    def f(y: Any, t: Any, p: Any) -> Any:
        return tf.tanh(tf.linalg.matvec(make(p), y)) * 0.5 + tf.cos(t * p[1])

    def solved(p: Any) -> Any:
        y = tf.implicit.odeint(lambda y, t: f(y, t, p), tf.ones([n], tf.float64) * p[0], [0.0, h, h * (1 + count)],
                               method=method, step=h)
        return y[1, 0] * w[0] + y[2, -1] * w[1]

    def oracle(p: Any) -> Any:
        nodes, rows, weights = _ODE[method]
        y: Any = tf.ones([n], tf.float64) * p[0]
        kept = []
        for i in range(1 + count):
            slopes: list[Any] = []
            for node, row in zip((0.0, *nodes), rows, strict=True):
                z = y
                for a, s in zip(row, slopes, strict=False):
                    z = z + h * a * s
                slopes.append(f(z, tf.constant((i + node) * h, tf.float64), p))
            for b, s in zip(weights, slopes, strict=True):
                y = y + h * b * s
            kept.append(y)
        return kept[0][0] * w[0] + kept[-1][-1] * w[1]

    return Pair(solved, oracle)


def flow(rng: np.random.Generator) -> Pair:
    """A linear equation by chosen steps, explicit or implicit, by the adjoint or not, or read off between."""
    method, way = str(rng.choice(["dopri5", "radau"])), str(rng.choice(["steps", "adjoint", "between"]))
    n, w, end = int(rng.integers(1, 3)), rng.normal(), float(rng.choice([-0.4, 0.6]))
    a, part = rng.normal(size=(n, n)) * 0.5, rng.normal(size=(n, n)) * 0.5

    def solved(p: Any) -> Any:
        k = a + p[0] * part
        y0 = tf.ones([n], tf.float64) * p[1]
        options: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-10, "method": method}
        if way == "between":
            _, between = tf.implicit.odeint(lambda y, t: tf.linalg.matvec(k, y), y0, [0.0, 2 * end], dense=True,
                                            max_steps=200, **options)
            return between(tf.constant(end, tf.float64))[0] * w
        y = tf.implicit.odeint(lambda y, t: tf.linalg.matvec(k, y), y0, [0.0, end], gradient=way, **options)
        return y[1, 0] * w

    def oracle(p: Any) -> Any:
        return tf.linalg.matvec(tf.linalg.expm((a + p[0] * part) * end), tf.ones([n], tf.float64) * p[1])[0] * w

    return Pair(solved, oracle, 1e-6, 2)


def event(rng: np.random.Generator) -> Pair:
    """When a decay falls to a level, which is log(p[1] / level) / p[0], and what another one is then."""
    method, level, rate = str(rng.choice(["dopri5", "radau", "rk4"])), rng.uniform(0.4, 0.8), rng.uniform(0.2, 1.0)

    def solved(p: Any) -> Any:
        y, seen = tf.implicit.odeint(
            lambda y, t: tf.stack([-p[0] * y[0], -rate * y[1]]), tf.stack([p[1], 1.0]), [0.0, 3.0], rtol=1e-9,
            method=method, step=0.01 if method == "rk4" else None, event=lambda y, t: y[0] - level)
        return seen.times[0] * y[1, 1]

    def oracle(p: Any) -> Any:
        time = tf.math.log(p[1] / level) / p[0]
        return time * tf.exp(-rate * time)

    return Pair(solved, oracle, 1e-6, 2)


KINDS = {f.__name__: f for f in (linear, root, fixed_point, minimum, bounded, program, steps, flow, event)}

PLACES: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "graph": lambda f, p: f(p),
    "function": lambda f, p: tf2.function(f)(p),
    "branch": lambda f, p: tf.cond(p[0] > 0, lambda: f(p), lambda: p[0]),
    "loop": lambda f, p: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, f(p) + 0.0 * y),
                                       [0, tf.constant(0.0, tf.float64)])[1],
    "map": lambda f, p: tf.map_fn(f, tf.stack([p, p]))[0],
}
