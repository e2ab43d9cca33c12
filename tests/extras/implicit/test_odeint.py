"""`tf.implicit.odeint`: closed forms, SciPy, and derivatives of the very steps that were made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import graphgrad as tf2
import graphgrad.compat.contrib as contrib
import graphgrad.compat.v1 as tf
from tests.support.effort import ALL, long

from .problems import along, close, compute, pushed

_SEEDS = range(20 if ALL else 2)


@pytest.mark.parametrize(("method", "seed"), [*(("dopri5", s) for s in _SEEDS), *(("radau", s) for s in _SEEDS[::2])])
def test_linear_systems(method: str, seed: int) -> None:
    """Solutions of y' = A y are expm(A t) y0, forwards and backwards in time; so are derivatives."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 3
    a, start, w, v = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n), rng.normal(size=3)
    times = np.array([0.3, 0.5, 1.1]) * (-1) ** seed
    with tf.Graph().as_default():
        k, y0, t = tf.constant(a), tf.constant(start), tf.constant(times)
        y = tf.implicit.odeint(lambda y, _: tf.linalg.matvec(k, y), y0, t, rtol=1e-9, method=method)
        total = tf.reduce_sum(y[2] * w)
        got = compute([y, tf.gradients(total, y0)[0], tf.jvp(total, t, v), tf.gradients(total, k)[0]])
    flow = scipy.linalg.expm(a * (times[2] - times[0]))
    np.testing.assert_allclose(got[0], [scipy.linalg.expm(a * (s - times[0])) @ start for s in times], atol=1e-7)
    np.testing.assert_allclose(got[1], flow.T @ w, atol=1e-6)
    np.testing.assert_allclose(got[2], (v[2] - v[0]) * (w @ a @ flow @ start), atol=1e-6)
    one = np.zeros((n, n))
    one[0, -1] = 1  # one entry of the derivative of expm
    span = times[2] - times[0]
    change = scipy.linalg.expm_frechet(a * span, one * span, compute_expm=False)
    np.testing.assert_allclose(got[3][0, -1], w @ change @ start, atol=1e-6)


def _spring(y: Any, t: Any, p: Any) -> Any:
    return tf.stack([y[1], -p * tf.sin(y[0]) + p * tf.cos(t)])


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4"])
def test_derivatives_are_those_of_the_steps(method: str) -> None:
    """Values and three derivatives are, to rounding, those of the same steps written out."""
    start, h = np.array([0.4, -0.2]), 0.125
    with tf.Graph().as_default():
        p, one = tf.constant(1.3, tf.float64), tf.constant(1.0, tf.float64)
        y = tf.implicit.odeint(lambda y, t: _spring(y, t, p), start, [0.0, 0.125, 0.25], method=method, step=h)
        z: Any = tf.constant(start)
        for i in range(2):
            t = tf.constant(i * h, tf.float64)
            a = _spring(z, t, p)
            if method == "euler":
                z = z + h * a
                continue
            b = _spring(z + h / 2 * a, t + h / 2, p)
            if method == "midpoint":
                z = z + h * b
                continue
            c = _spring(z + h / 2 * b, t + h / 2, p)
            d = _spring(z + h * c, t + h, p)
            z = z + h / 6 * (a + 2 * b + 2 * c + d)
        got, forward, wanted = compute([along(y[2, 0], p, one, 3), pushed(y[2, 0], p, one, 2), along(z[0], p, one, 3)])
    close(got, wanted)
    close(forward, wanted[:3])


@pytest.mark.parametrize(("method", "rtol", "atol"), [("dopri5", 1e-8, 1e-7), ("radau", 1e-5, 1e-4)])
def test_nonlinear_problems_are_scipys(method: str, rtol: float, atol: float) -> None:
    """Solutions are SciPy's; first and second derivatives its finite differences."""
    def solved(p: float) -> Any:
        return scipy.integrate.solve_ivp(lambda t, y: [y[1], -p * np.sin(y[0]) + p * np.cos(t)], (0, 2), [0.4, -0.2],
                                         rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]

    with tf.Graph().as_default():
        p = tf.constant(1.3, tf.float64)
        y, info = tf.implicit.odeint(lambda y, t: _spring(y, t, p), np.array([0.4, -0.2]), [0.0, 2.0], rtol=rtol,
                                     method=method, with_info=True)
        slope = tf.gradients(y[1, 0], p)[0]
        second = tf.gradients(slope, p)[0] if method == "dopri5" or ALL else tf.constant(np.nan)
        got = compute([y[1], slope, second, info.iterations])
    h = 1e-3
    low, middle, high = solved(1.3 - h), solved(1.3), solved(1.3 + h)
    np.testing.assert_allclose(got[0], middle, atol=atol)
    np.testing.assert_allclose(got[1], (high - low)[0] / (2 * h), atol=max(10 * atol, 1e-5))
    if np.isfinite(got[2]):
        np.testing.assert_allclose(got[2], (high - 2 * middle + low)[0] / h**2, atol=1e-3)
    assert 5 < got[3] < 200


def test_stiff_equation() -> None:
    """Radau's steps are as long as the solution is smooth, where explicit ones would be 1e-5 long."""
    with tf.Graph().as_default():
        k = tf.constant(1e5, tf.float64)
        y, info = tf.implicit.odeint(lambda y, t: -k * (y - tf.cos(t)), np.array([0.0]), [0.0, 1.5], rtol=1e-5,
                                     atol=1e-8, method="radau", with_info=True)
        got, slope, steps = compute([y[1, 0], tf.gradients(y[1, 0], k)[0], info.iterations])
    # After the first moments y = (k^2 cos t + k sin t) / (1 + k^2).
    np.testing.assert_allclose(got, np.cos(1.5) + 1e-5 * np.sin(1.5), rtol=1e-6)
    np.testing.assert_allclose(slope, -1e-10 * np.sin(1.5), rtol=1e-2)
    assert steps < 60


@long("a stiff equation says the same in less time")
def test_stiff_problem() -> None:
    """Radau solves Robertson's reactions over eleven decades in few steps."""
    with tf.Graph().as_default():
        k = tf.constant(0.04, tf.float64)

        def f(y: Any, t: Any) -> Any:
            slow, fast = k * y[0] - 1e4 * y[1] * y[2], 3e7 * tf.square(y[1])
            return tf.stack([-slow, slow - fast, fast])

        y, info = tf.implicit.odeint(f, np.array([1.0, 0.0, 0.0]), [0.0, 40.0, 4e5], rtol=1e-7, atol=1e-11,
                                     method="radau", with_info=True)
        got, steps = compute([y, info.iterations])
    # Hairer and Wanner II, section IV.10: the reference of their test set at t = 40.
    np.testing.assert_allclose(got[1], [0.7158270688, 9.185534765e-6, 0.2841637457], rtol=1e-6)
    np.testing.assert_allclose(np.sum(got, 1), 1.0, rtol=1e-9)
    assert steps < 400


def test_structures_variables_and_checkpoints() -> None:
    """Structures and variables, in compiled programs, through checkpointed loops."""
    with tf.Graph().as_default():
        k = tf.Variable(2.0, dtype=tf.float64)
        start = {"x": tf.ones([2, 1], tf.float64), "v": tf.zeros([2, 1], tf.float64)}
        with tf.checkpointed_loops():
            y = tf.implicit.odeint(lambda y, t: {"x": y["v"], "v": -k * k * y["x"]}, start, [0.0, 0.5, 1.0],
                                   method="rk4", step=0.05)
        assert y["x"].shape == (3, 2, 1)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            end = y["x"][2, 0, 0]
            close(session.run([end, *tf.gradients(end, k)]), [np.cos(2.0), -np.sin(2.0)], 1e-5)


def test_eager_mode_and_contrib() -> None:
    """Tapes record trajectories; TensorFlow 1's function is the same one."""
    k = tf2.constant(0.5, tf2.float64)
    with tf2.GradientTape() as tape:
        tape.watch(k)
        y = tf2.implicit.odeint(lambda y, t: -k * y, np.array(2.0), [0.0, 1.0], method="midpoint", step=0.1)
    np.testing.assert_allclose(tape.gradient(y, k), -2 * np.exp(-0.5), rtol=1e-2)
    with tf.Graph().as_default():
        y = contrib.integrate.odeint(lambda y, t: -0.5 * y, np.array([2.0]), [0.0, 1.0], options={"first_step": 0.1})
        np.testing.assert_allclose(compute(y)[1], 2 * np.exp([-0.5]), rtol=1e-5)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("midpoint", 2)])
def test_fixed_steps(method: str, order: int) -> None:
    """`odeint_fixed` divides intervals into equal steps; its error has the method's order, its gradients are those."""
    with tf.Graph().as_default():
        rate, t = tf.constant(2.0, tf.float64), tf.constant([0.0, 0.5, 1.1], tf.float64)
        ys = [contrib.integrate.odeint_fixed(lambda y, t: -rate * y * t, tf.constant(1.0, tf.float64), t, dt, method)
              for dt in (None, 0.1, [0.05, 0.05])]
        got = compute([[y, *tf.gradients(y[2], [rate, t])] for y in ys])
    exact = np.exp(-np.array([0.0, 0.5, 1.1]) ** 2)
    wanted = [exact, -0.605 * exact[2], np.array([0.0, 0.0, -2.2 * exact[2]])]
    errors = [[np.max(np.abs(one - other)) for one, other in zip(g, wanted, strict=True)] for g in got]
    for coarse, fine in zip(errors[1], errors[2], strict=True):
        assert fine < coarse / 2 ** (order - 0.7) < 0.01
    assert errors[0][0] > 10 * errors[1][0]


def test_complex_numbers() -> None:
    """Complex unknowns, in structures with real ones, turn as they should; so do their derivatives."""
    with tf.Graph().as_default():
        p = tf.constant(1.0 + 2.0j, tf.complex128)
        start = {"z": tf.constant([1.0, 2.0j], tf.complex128), "x": tf.constant(1.0, tf.float64)}
        y = tf.implicit.odeint(lambda y, t: {"z": p * y["z"], "x": -y["x"]}, start, [0.0, 1.0], rtol=1e-9)
        got, other, slope = compute([y["z"][1], y["x"][1], tf.gradients(tf.math.real(y["z"][1, 0]), p)[0]])
    np.testing.assert_allclose(got, np.exp(1 + 2j) * np.array([1, 2j]), rtol=1e-7)
    np.testing.assert_allclose([other, slope], [np.exp(-1), np.conj(np.exp(1 + 2j))], rtol=1e-7)


_Y = np.array([1.0])
_FAILING: dict[str, tuple[Callable[[], Any], str]] = {
    "infinite": (lambda: tf.implicit.odeint(lambda y, t: y * y, _Y, [0.0, 2.0], rtol=1e-3),
                 "(?s)too small.*time left is 1"),
    "stiff": (lambda: tf.implicit.odeint(lambda y, t: -1e6 * (y - tf.cos(t)), _Y, [0.0, 2.0], max_steps=100),
              "(?s)stopped after 100 steps.*time left.*method='radau'"),
    "unordered": (lambda: tf.implicit.odeint(lambda y, t: y, _Y, [0.0, 2.0, 1.0]), "(?s)strictly.*sort t"),
    "repeated": (lambda: tf.implicit.odeint(lambda y, t: y, _Y, [0.0, 1.0, 1.0]), "strictly"),
    "nan in y0": (lambda: tf.implicit.odeint(lambda y, t: -y, np.array([np.nan]), [0.0]), "not finite.*time left"),
    "tolerances": (lambda: tf.implicit.odeint(lambda y, t: -y, _Y, [0.0, 1.0], rtol=0, atol=0), "(?s)nor both zero"),
    "backward step": (lambda: tf.implicit.odeint(lambda y, t: -y, _Y, [0.0, 1.0], method="euler", step=-0.1),
                      "(?s)step=-0.1.*order of t"),
    "no step": (lambda: tf.implicit.odeint(lambda y, t: y, _Y, [0.0, 1.0], method="rk4"), "does not estimate"),
    "method": (lambda: tf.implicit.odeint(lambda y, t: y, _Y, [0.0, 1.0], method="lsoda"), "one of 'dopri5', 'radau'"),
    "times": (lambda: tf.implicit.odeint(lambda y, t: y, _Y, 1.0), "give a vector of times"),
    "shape": (lambda: tf.implicit.odeint(lambda y, t: 1.0, _Y, [0.0, 1.0]), r"func returned shape \(\) for \(1,\)"),
    "fixed": (lambda: contrib.integrate.odeint_fixed(lambda y, t: y, _Y, [0.0], method="euler"), "method='midpoint'"),
    "full output": (lambda: contrib.integrate.odeint(lambda y, t: y, _Y, [0.0], full_output=True), "with_info"),
    "options": (lambda: contrib.integrate.odeint(lambda y, t: y, _Y, [0.0], options={"x": 1}), r"\['x'\]"),
}


@pytest.mark.parametrize("name", _FAILING)
def test_failures(name: str) -> None:
    """What cannot be integrated is an error that names the solver, what is left, and a remedy."""
    build, text = _FAILING[name]
    with tf.Graph().as_default(), pytest.raises((tf.errors.InvalidArgumentError, ValueError, NotImplementedError),
                                                match=text) as caught:
        compute(build())
    assert "odeint" in str(caught.value) and "Fix: " in str(caught.value)
