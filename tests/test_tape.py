"""`GradientTape`, in the 2.x face."""

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ir import context


@pytest.fixture(autouse=True)
def eager():
    with context.use(context.EAGER):
        yield


def test_watched_tensors_and_variables():
    x, v = tf.constant(3.0), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.exp(v) * x * x)
    dx, dv = tape.gradient(y, [x, v])
    assert float(dx) == pytest.approx(6 * np.exp([1, 2]).sum(), rel=1e-5)
    np.testing.assert_allclose(dv.numpy(), 9 * np.exp([1, 2]), rtol=1e-5)
    assert tape.watched_variables() == (v,) or tape.watched_variables()[0] is v


def test_what_is_not_watched_is_none_or_zero():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    assert tape.gradient(y, x) is None
    assert float(tape.gradient(y, x, unconnected_gradients="zero")) == 0.0


def test_higher_orders():
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**4
        (g,) = inner.gradient(y, [x])
    assert float(g) == 32.0
    assert float(outer.gradient(g, x)) == 48.0


def test_used_twice():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * 2.0
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
        tape.gradient(y, x)


def test_stop_recording_and_output_gradients():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = x * 100.0
        y = y + z
    np.testing.assert_array_equal(tape.gradient(y, x, output_gradients=tf.constant([10.0, 1.0])), [20, 4])


def test_gathers_give_slices():
    v = tf.Variable(np.ones((4, 2), np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [1, 1, 3]) * 2.0)
    g = tape.gradient(y, v)
    np.testing.assert_array_equal(tf.convert_to_tensor(g).numpy()[:, 0], [0, 4, 0, 2])


def test_functions_and_custom_gradients_under_a_tape():
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 100.0

    @tf.function
    def g(x):
        return f(x) * 2.0

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = g(x)
    assert float(y) == 18.0
    assert float(tape.gradient(y, x)) == 200.0


def test_inside_a_function():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)
        return tape.gradient(y, x)

    assert float(f(tf.constant(0.0))) == 1.0
