"""What cuts gradients off: `stop_gradients`, `stop_gradient`, `PreventGradient`, integers.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from sessions import run

pytestmark = pytest.mark.usefixtures("graph")


def _three_ways():
    a = tf.constant(0.0)
    b = 2 * a
    return a, b


def test_stop_gradients_are_partial_derivatives():
    a, b = _three_ways()
    assert run(tf.gradients(a + b, [a, b], stop_gradients=[a, b])) == [1.0, 1.0]
    assert run(tf.gradients(a + b, [a, b])) == [3.0, 1.0]
    assert run(tf.gradients(a + b, [a, b], stop_gradients=b)) == [1.0, 1.0]


def test_stop_gradient_while_building():
    a = tf.stop_gradient(tf.constant(0.0))
    b = tf.stop_gradient(2 * a)
    assert run(tf.gradients(a + b, [a, b])) == [1.0, 1.0]


def test_both_ways_combined_stop_at_whichever_comes_first():
    x = tf.constant(3.0)
    y = x * x
    z = tf.stop_gradient(y) * y * x
    assert run(tf.gradients(z, x)) == [5 * 81.0 - 2 * 81.0]
    assert run(tf.gradients(z, x, stop_gradients=[y])) == [81.0]


@pytest.mark.parametrize("subset", range(16))
def test_stop_gradients_equal_inserted_stops_for_every_subset(subset):
    def build(stop):
        x = tf.constant(1.5)
        tensors = [x]

        def add(t, k):
            t = tf.stop_gradient(t) if stop(k) else t
            tensors.append(t)
            return t

        a = add(tf.sin(x), 0)
        b = add(a * x, 1)
        c = add(tf.exp(a) + b, 2)
        d = add(b * c, 3)
        return d * a + c, x, [a, b, c, d]

    inside = [bool(subset >> k & 1) for k in range(4)]
    y, x, _ = build(lambda k: inside[k])
    expected = tf.gradients(y, x, unconnected_gradients="zero")
    y2, x2, tensors = build(lambda k: False)
    stops = [t for t, on in zip(tensors, inside) if on]
    got = tf.gradients(y2, x2, stop_gradients=stops, unconnected_gradients="zero")
    np.testing.assert_allclose(*run([got, expected]), rtol=1e-6)


def test_prevent_gradient_says_so():
    x = tf.constant(1.0)
    y = tf.raw_ops.PreventGradient(input=x, message="not meant to be learnt")
    with pytest.raises(LookupError, match=r"(?i)gradient explicitly disabled.*not meant to be learnt"):
        tf.gradients(y, x)


def test_integers_are_constant():
    x = tf.constant(2.0)
    y = tf.cast(tf.cast(x, tf.int32), tf.float32)
    assert tf.gradients(y, x) == [None]
    n = tf.constant(2)
    assert tf.gradients(tf.cast(n * n, tf.float32) * x, [n]) == [None]
