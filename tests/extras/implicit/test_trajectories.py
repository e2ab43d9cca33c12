"""`tf.implicit.odeint` by the adjoint, and between the times asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.support.effort import ALL, long
from tests.support.sessions import run, run_in_numpy

from .problems import close, compute

_SEEDS = range(12 if ALL else 2)


def _linear(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Returns a matrix, a start, times (forwards or backwards) and weights."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 3
    return (rng.normal(size=(n, n)), rng.normal(size=n), np.array([0.3, 0.5, 1.1]) * (-1) ** seed,
            rng.normal(size=(3, n)))


@pytest.mark.parametrize(("method", "seed"), [*(("dopri5", s) for s in _SEEDS), *(("radau", s) for s in _SEEDS[::2])])
def test_adjoint_of_linear_systems(method: str, seed: int) -> None:
    """The adjoint gives the derivatives of expm(A t) y0 by y0, A and t, and second ones by y0 and A."""
    a, start, times, w = _linear(seed)
    second = method == "dopri5" or ALL
    with tf.Graph().as_default():
        k, y0, t = tf.constant(a), tf.constant(start), tf.constant(times)
        y = tf.implicit.odeint(lambda y, _: tf.linalg.matvec(k, y), y0, t, rtol=1e-9, atol=1e-11, method=method,
                               gradient="adjoint")
        total = tf.reduce_sum(tf.square(y) * w)
        by = tf.gradients(total, [y0, k, t])
        bend = tf.gradients(by[0][0], [y0, k]) if second else []
        # The exact solution, as operations.
        spans = t - t[0]
        exact = tf.stack([tf.linalg.matvec(tf.linalg.expm(k * spans[i]), y0) for i in range(3)])
        wanted_total = tf.reduce_sum(tf.square(exact) * w)
        wanted_by = tf.gradients(wanted_total, [y0, k, t])
        wanted_bend = tf.gradients(wanted_by[0][0], [y0, k]) if second else []
        got, wanted = compute([[y, *by, *bend], [exact, *wanted_by, *wanted_bend]])
    close(got, wanted, 1e-6)


@pytest.mark.parametrize("method", ["rk4", "midpoint"])
def test_adjoint_approaches_the_steps(method: str) -> None:
    """Steps half as long leave a difference to the steps' own derivatives that the method's order foretells."""
    def difference(step: float) -> float:
        with tf.Graph().as_default():
            p, v = tf.Variable(1.3, dtype=tf.float64), tf.constant([0.4, -0.2], tf.float64)
            ends = [tf.implicit.odeint(lambda y, t: tf.stack([y[1], -p * tf.sin(y[0]) + tf.cos(p * t)]), v, [0.0, 1.0],
                                       method=method, step=step, gradient=g)[1, 0] for g in ("steps", "adjoint")]
            slopes = [tf.gradients(end, p)[0] for end in ends]
            with HostSession() as session:
                session.run(tf.global_variables_initializer())
                exact, adjoint = session.run(slopes)
        return abs(exact - adjoint)

    order = {"rk4": 4, "midpoint": 2}[method]
    assert 0 < difference(0.05) < difference(0.1) / 2 ** (order - 0.7) < 1e-3


@long("tapes see dense solutions, and graphs the adjoint, in less time")
def test_adjoint_in_eager_mode_and_structures() -> None:
    """Tapes find the adjoint, for structures with complex numbers, through what the equation closes over."""
    k = tf2.constant(0.5, tf2.float64)
    start = {"x": tf2.constant(2.0, tf2.float64), "z": tf2.constant([1.0 + 1.0j], tf2.complex128)}
    with tf2.GradientTape() as tape:
        tape.watch(k)
        y = tf2.implicit.odeint(lambda y, t: {"x": -k * y["x"], "z": tf2.complex(0.0 * k, k) * y["z"]}, start,
                                [0.0, 1.0], method="midpoint", step=0.1, gradient="adjoint")
        total = y["x"][1] + tf2.math.real(y["z"][1, 0])
    np.testing.assert_allclose(tape.gradient(total, k), -2 * np.exp(-0.5) + (1j * np.exp(0.5j) * (1 + 1j)).real,
                               rtol=1e-2)


def _spring(p: Any) -> Callable[[Any, Any], Any]:
    return lambda y, t: tf.stack([y[1], -p * tf.sin(y[0]) + p * tf.cos(t)])


@pytest.mark.parametrize(("method", "sign"), [("dopri5", 1), ("dopri5", -1), ("rk4", 1),
                                              *([("radau", 1)] if ALL else [])])
def test_between_the_times(method: str, sign: int) -> None:
    """Values between are SciPy's; at ends of steps those of the steps; slopes are the equation's."""
    asked = sign * np.array([2.0, 0.0, 0.7, 1.0, 1.9])
    options = {"step": 0.02} if method == "rk4" else {"rtol": 1e-8}
    with tf.Graph().as_default():
        p, s = tf.constant(1.3, tf.float64), tf.constant(asked)
        y, between = tf.implicit.odeint(_spring(p), np.array([0.4, -0.2]), [0.0, sign * 1.0, sign * 2.0], method=method,
                                        dense=True, max_steps=200, **options)
        at = between(s)
        assert at.shape == (5, 2) and between(0.5 * sign).shape == (2,)
        got, rows, slope, one, by, by_rows = compute([
            at, y, tf.gradients(at[:, 0], s)[0], between(0.7 * sign),
            *(tf.gradients(v, p)[0] for v in (at[0, 0] + at[3, 0], y[2, 0] + y[1, 0]))])
    exact = scipy.integrate.solve_ivp(lambda t, y: [y[1], 1.3 * (np.cos(t) - np.sin(y[0]))], (0, sign * 2), [0.4, -0.2],
                                      rtol=1e-12, atol=1e-13, method="DOP853", dense_output=True).sol(asked).T
    np.testing.assert_allclose(got, exact, atol=1e-6)
    np.testing.assert_allclose(got[[0, 1, 3]], rows[[2, 0, 1]], atol=1e-14)
    np.testing.assert_allclose(slope, got[:, 1], atol=1e-5)
    np.testing.assert_allclose(one, got[2], atol=1e-14)
    np.testing.assert_allclose(by, by_rows, rtol=1e-12)


def test_second_derivatives_between() -> None:
    """A decay read off between times, twice differentiated by its rate."""
    with tf.Graph().as_default():
        k = tf.constant(1.5, tf.float64)
        _, between = tf.implicit.odeint(lambda y, t: -k * y, tf.constant(2.0, tf.float64), [0.0, 1.0], rtol=1e-9,
                                        dense=True, max_steps=100)
        y = between(0.6)
        slope = tf.gradients(y, k)[0]
        got = (run if ALL else run_in_numpy)([y, slope, tf.gradients(slope, k)[0]])
    close(got, [2 * np.exp(-0.9) * (-0.6) ** i for i in range(3)], 1e-7)


def test_between_after_an_event() -> None:
    """After a terminal event y stays what it is then; before, it falls."""
    with tf.Graph().as_default():
        h = tf.constant(20.0, tf.float64)
        _, landing, between = tf.implicit.odeint(lambda y, t: tf.stack([y[1], -9.81 + 0.0 * y[0]]), tf.stack([h, 0.0]),
                                                 [0.0, 5.0], event=lambda y, t: y[0], dense=True, max_steps=50)
        at = between([1.0, 4.0])
        got, wanted, slopes = compute([at, landing.values[0], [tf.gradients(at[i, i], h)[0] for i in range(2)]])
    np.testing.assert_allclose(got, [[20 - 9.81 / 2, -9.81], wanted], atol=1e-9)
    np.testing.assert_allclose(slopes, [1.0, -np.sqrt(9.81 / 40)])


def test_between_in_eager_mode() -> None:
    """Tapes see values between, in structures, and what the equation closes over."""
    k = tf2.constant(0.5, tf2.float64)
    with tf2.GradientTape() as tape:
        tape.watch(k)
        _, between, info = tf2.implicit.odeint(lambda y, t: [-k * y[0]], [tf2.constant([2.0], tf2.float64)], [0.0, 1.0],
                                               method="euler", step=0.5, dense=True, max_steps=5, with_info=True)
        (y,) = between(0.75)
    np.testing.assert_allclose(y, [2.0 * 0.75 * 0.875])
    np.testing.assert_allclose(tape.gradient(y, k), -(0.875 + 0.75 * 0.5))
    assert int(info.iterations) == 2


def _decay(**options: Any) -> Any:
    return tf.implicit.odeint(lambda y, t: -y, np.array([1.0]), [0.0, 1.0], max_steps=50, **options)


def _stiff_adjoint() -> Any:
    k = tf.constant(200.0, tf.float64)
    y = tf.implicit.odeint(lambda y, t: -k * (y - tf.cos(t)), np.array([1.0]), [0.0, 1.0], step=0.005, method="rk4",
                           gradient="adjoint")
    return tf.gradients(y[1, 0], k)


_FAILING: dict[str, tuple[Callable[[], Any], str]] = {
    "late": (lambda: _decay(dense=True)[1](1.25), "(?s)the last one: the distance is 0.25.*integrate further"),
    "early": (lambda: _decay(dense=True)[1](tf.constant([0.5, -1.0], tf.float64)), "distance is 1"),
    "no time": (lambda: _decay(dense=True)[1](np.nan), "distance is nan"),
    "not back": (_stiff_adjoint, "(?s)the adjoint does not come back, from time 1.*deviation is.*gradient='steps'"),
    "adjoint and event": (lambda: _decay(gradient="adjoint", event=lambda y, t: y[0]), "(?s)with event.*checkpointed"),
    "adjoint and dense": (lambda: _decay(gradient="adjoint", dense=True), "'adjoint' with dense"),
    "kind": (lambda: _decay(gradient="exact"), "one of 'steps', 'adjoint'"),
    "matrix of times": (lambda: _decay(dense=True)[1](np.zeros((2, 2))), r"shape \(2, 2\)"),
    "dtype of times": (lambda: _decay(dense=True)[1](tf.constant(0.5)), "dtype float32"),
}


@pytest.mark.parametrize("name", _FAILING)
def test_failures(name: str) -> None:
    """Times outside, and an adjoint along another trajectory, are errors that name the solver and a remedy."""
    build, text = _FAILING[name]
    with tf.Graph().as_default(), pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=text) as caught:
        compute(build())
    assert "odeint" in str(caught.value) and "Fix: " in str(caught.value)
