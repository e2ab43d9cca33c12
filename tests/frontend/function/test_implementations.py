"""Functions of which one replaces another on a device, by attributes of `tf.function`."""

from __future__ import annotations

from typing import Any

import pytest

import graphgrad as tf


def _called(device: str, general: Any, special: Any, x: Any) -> Any:
    """Calls a general function, and offers a special one, as libraries do inside of a function."""
    one = tf.function(general, experimental_attributes={"api_implements": "name"})
    other = tf.function(special, experimental_attributes={"api_implements": "name", "api_preferred_device": device})
    result = one(x)
    concrete = other.get_concrete_function(x)
    concrete.add_to_graph()
    concrete.add_gradient_functions_to_graph()
    return result


def _on_processors() -> bool:
    return not tf.config.list_physical_devices("GPU")


@pytest.mark.parametrize(("device", "expected"), [("CPU", 30.0), ("TPU", 20.0)])
def test_the_one_for_the_device_runs(device: str, expected: float) -> None:
    function = tf.function(lambda x: _called(device, lambda v: 2 * v, lambda v: 3 * v, x) + 0.0)
    if _on_processors():
        assert function(tf.constant(10.0)).numpy() == expected


def test_gradients_are_those_of_the_one_that_runs() -> None:
    function = tf.function(lambda x: tf.exp(_called("CPU", lambda v: 2 * v, lambda v: v * v * v, 1.0 * x)))
    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        slope = inner.gradient(y, x)
    if _on_processors():
        value = 2.718281828 ** 0.125
        assert slope.numpy() == pytest.approx(0.75 * value, rel=1e-5)
        assert tape.gradient(slope, x).numpy() == pytest.approx((0.75 ** 2 + 3.0) * value, rel=1e-5)


def test_in_graphs_and_loops() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [])
        y = _called("CPU", lambda v: [2 * v, v], lambda v: [3 * v, v + 1.0], x)
        total = tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, s + _called("CPU", tf.sin, tf.square, s)),
                              (0, x))[1]
        slopes = tf.gradients(y[0] * y[1], x)[0], tf.gradients(total, x)[0]
        found = session.run([*y, total, *slopes], {x: 2.0})
    if _on_processors():
        assert found[:3] == [6.0, 3.0, 1806.0]
        # (3x (x + 1))' = 6x + 3; s -> s + s^2 three times: the product of 1 + 2s for s = 2, 6, 42.
        assert found[3:] == [15.0, 5.0 * 13.0 * 85.0]


def test_other_kinds_of_results_do_not_replace() -> None:
    function = tf.function(lambda x: _called("CPU", lambda v: 2 * v, lambda v: tf.cast(v, tf.float64), x))
    assert function(tf.constant(10.0)).numpy() == 20.0
