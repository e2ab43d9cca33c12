"""Gradients with respect to variables, and inside of functions.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from sessions import run

pytestmark = pytest.mark.usefixtures("graph")


def test_every_way_of_reading_a_variable_connects():
    v = tf.Variable([1.0, 2.0])
    ys = [v * 1.0, v.read_value() * 2.0, tf.identity(v) * 3.0, v.value() * 4.0, v.initialized_value() * 5.0]
    (g,) = tf.gradients(ys, v)
    np.testing.assert_array_equal(run(g), [15, 15])


def test_gradients_inside_a_function_reach_what_it_captures():
    outside = tf2.constant
    with tf2.init_scope():
        pass

    @tf2.function
    def f(x):
        with_captured = x * captured
        return tf2.gradients(with_captured, [x, captured])

    from graphgrad.ir import context

    with context.use(context.EAGER):
        captured = outside([2.0, 3.0, 4.0, 5.0, 6.0])
        dx, dc = f(outside(10.0))
    assert float(dx) == 20.0
    np.testing.assert_array_equal(dc.numpy(), [10.0] * 5)
