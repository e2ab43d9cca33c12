"""Events of `tf.implicit.odeint`: closed forms, SciPy, derivatives to the third order, what is no event."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.effort import ALL
from tests.support.sessions import run, run_in_numpy

from .problems import close, compute

_METHODS = ("dopri5", "radau", "rk4") if ALL else ("rk4",)


@pytest.mark.parametrize("method", _METHODS)
def test_landing(method: str) -> None:
    """A fall lasts sqrt(2 h / g), and its derivatives by h and g are those of this; y stays as it is on the ground."""
    with tf.Graph().as_default():
        g, h = tf.constant(9.81, tf.float64), tf.constant(20.0, tf.float64)
        y, landing = tf.implicit.odeint(lambda y, t: tf.stack([y[1], -g]), tf.stack([h, tf.zeros_like(h)]),
                                        [0.0, 1.0, 4.0, 5.0], event=lambda y, t: y[0], method=method, step=0.3)
        wanted = tf.sqrt(2 * h / g)
        found = []
        for time in (landing.times[0], wanted):
            slope = tf.gradients(time, h)[0]
            bend = tf.gradients(slope, g)[0]
            found.append([time, slope, bend, tf.gradients(bend, h)[0]])
        speed = [tf.gradients(s, h)[0] for s in (y[2, 1], -tf.sqrt(2 * h * g))]
        got, exact, both, rows, values, count = compute([*found, speed, y, landing.values, landing.count])
    close(got, exact, 1e-11)
    close(both[:1], both[1:], 1e-11)
    assert count == 1
    np.testing.assert_array_equal(rows[2:], [values[0], values[0]])
    np.testing.assert_allclose(rows[1], [20 - 9.81 / 2, -9.81])


@pytest.mark.parametrize("method", ["dopri5", "radau"] if ALL else ["dopri5"])
def test_second_derivatives_of_chosen_steps(method: str) -> None:
    """A decay y = 2 exp(-k t) passes 0.8 at log(2.5) / k: sizes of steps, which depend on k, count as constants."""
    with tf.Graph().as_default():
        k = tf.constant(1.5, tf.float64)
        _, seen = tf.implicit.odeint(lambda y, t: -k * y, tf.constant(2.0, tf.float64), [0.0, 2.0], rtol=1e-8,
                                     method=method, event=lambda y, t: y - 0.8)
        slope = tf.gradients(seen.times[0], k)[0]
        got = compute([seen.times[0], slope, tf.gradients(slope, k)[0]])
    close(got, np.log(2.5) * np.array([1 / 1.5, -1 / 1.5**2, 2 / 1.5**3]), 1e-6)


_END = 9.0 if ALL else 4.0


def _pendulum(y: Any, t: Any, w: Any, lib: Any) -> Any:
    return lib.stack([y[1], -w * lib.sin(y[0]) - 0.1 * y[1]])


@pytest.mark.parametrize("direction", [-1, 0, 1] if ALL else [0])
def test_zeros_are_scipys(direction: int) -> None:
    """Times, states and their derivatives along a parameter are SciPy's, by finite differences."""
    def level(t: float, y: Any) -> float:
        return float(y[0] - 0.1 * t)

    level.direction = direction  # type: ignore[attr-defined]  # SciPy reads it from the function

    def solved(w: float) -> tuple[np.ndarray, np.ndarray]:
        found = scipy.integrate.solve_ivp(lambda t, y: _pendulum(y, t, w, np), (0.0, _END), [1.0, 0.0], rtol=1e-11,
                                          atol=1e-12, events=level)
        return found.t_events[0], found.y_events[0]

    with tf.Graph().as_default():
        w = tf.constant(2.0, tf.float64)
        event = tf.implicit.Event(lambda y, t: y[0] - 0.1 * t, terminal=False, direction=direction, limit=4)
        y, seen = tf.implicit.odeint(lambda y, t: _pendulum(y, t, w, tf), tf.constant([1.0, 0.0], tf.float64),
                                     [0.0, _END], rtol=1e-9 if ALL else 1e-8, event=event)
        n = len(solved(2.0)[0])
        slopes = [tf.gradients(seen.times[i], w)[0] for i in range(n)]
        count, times, values, last, slopes = compute([*seen, y[1], slopes])
    at, states = solved(2.0)
    assert count == n == ({0: 3, 1: 1, -1: 2}[direction] if ALL else 2)
    close(times[:n], at, 1e-6)
    close(values[:n], states, 1e-6)
    assert np.isnan(times[n:]).all()
    assert np.isnan(values[n:]).all()
    assert np.isfinite(last).all()
    close(slopes, (solved(2.0001)[0] - solved(1.9999)[0]) / 2e-4, 1e-5)


def test_compiled_backwards_and_eager() -> None:
    """XLA gives the same; time may run backwards; eager tapes see events, and what ends at none is whole."""
    with tf.Graph().as_default():
        rate = tf.constant(2.0, tf.float64)
        _, seen = tf.implicit.odeint(lambda y, t: rate * y, tf.constant(1.0, tf.float64), [0.0, -1.0, -9.0],
                                     event=tf.implicit.Event(lambda y, t: tf.math.log(y) + 3.0, limit=1), rtol=1e-7)
        got = (run if ALL else run_in_numpy)([seen.times[0], tf.gradients(seen.times[0], rate)[0]])
    close(got, [-1.5, 0.75], 1e-6)
    p = tf2.constant(1.0, tf2.float64)
    with tf2.GradientTape() as tape:
        tape.watch(p)
        y, seen, info = tf2.implicit.odeint(lambda y, t: p * tf2.ones_like(y), tf2.constant(0.5, tf2.float64),
                                            [0.0, 3.0], event=lambda y, t: y - 100.0, with_info=True)
    close([y[-1], tape.gradient(y, p), info.residual], [3.5, 3.0, 0.0])
    assert int(seen.count) == 0
    assert np.isnan(seen.times).all()


def test_grazing() -> None:
    """An event at which nothing changes its sign has no derivative: an error says so."""
    with tf.Graph().as_default():
        p = tf.constant(0.0, tf.float64)
        _, seen = tf.implicit.odeint(lambda y, t: p * y + 1.0, tf.constant(-1.0, tf.float64), [0.0, 2.0], method="rk4",
                                     step=2.0, event=lambda y, t: tf.where(t < 1.5, y - 5.0, y * 0.0))
        slope = tf.gradients(seen.times[0], p)[0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)the event.*singular.*Fix: "):
            compute(slope)


@pytest.mark.parametrize(("event", "text"), [
    (3, "a function of y and t"), (lambda y, t: y, r"event returned dtype float64 and shape \(2,\)"),
    (lambda y, t: tf.cast(t, tf.float32), "dtype float32"),
    (lambda y, t: tf.random.normal([], dtype=tf.float64), "random numbers")])
def test_no_events(event: Any, text: str) -> None:
    """What is no event is an error that says what is one."""
    with tf.Graph().as_default(), pytest.raises((TypeError, ValueError), match=f"(?s){text}.*Fix: "):
        tf.implicit.odeint(lambda y, t: y, tf.constant([1.0, 2.0], tf.float64), [0.0, 1.0], event=event)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="direction=2"):
        tf.implicit.odeint(lambda y, t: y, tf.constant([1.0, 2.0], tf.float64), [0.0, 1.0],
                           event=tf.implicit.Event(lambda y, t: y[0], direction=2))
