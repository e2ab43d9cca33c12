"""What cuts gradients off: `stop_gradients`, `stop_gradient`, `PreventGradient`, integers.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from tests.support.sessions import run

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


def test_stop_gradients_outside_of_the_path_change_nothing():
    x = tf.constant(3.0)
    aside, before = tf.exp(x), tf.constant(1.0) * 2.0
    y = x * x * before
    plain = run(tf.gradients(y, x))
    assert run(tf.gradients(y, x, stop_gradients=[aside, before, tf.constant(1.0)])) == plain == [12.0]


def test_a_stopped_y_and_a_stopped_x():
    x = tf.constant(3.0)
    y = x * x
    assert tf.gradients(y, x, stop_gradients=y) == [None]
    assert run(tf.gradients(y, x, stop_gradients=x)) == [6.0]  # the x itself still gets what arrives
    dy, dx = tf.gradients(y, [y, x], stop_gradients=y)
    assert run(dy) == 1.0 and dx is None
    (dx,) = tf.gradients(y, x, stop_gradients=y, unconnected_gradients="zero")
    assert run(dx) == 0.0


def test_stopping_at_one_output_stops_the_operation():
    x = tf.constant([1.0, 2.0])
    a, b = tf.unstack(x)
    assert tf.gradients(a * b, x, stop_gradients=[a]) == [None]  # as in TensorFlow: it is the op that is stopped
    da, db = tf.gradients(a * b, [a, b], stop_gradients=[a])
    assert run([da, db]) == [2.0, 1.0]


def test_prevent_gradient_beside_the_path_is_no_error():
    x, y = tf.constant(2.0), tf.constant(3.0)
    z = tf.raw_ops.PreventGradient(input=x, message="never")
    assert run(tf.gradients(z * y, y)) == [2.0]
    assert run(tf.gradients(z * y, [y], stop_gradients=[z])) == [2.0]
    assert tf.gradients(z * 2.0, x, stop_gradients=[z]) == [None]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.bool, tf.uint8])
def test_other_dtypes_are_constant(dtype):
    n, x = tf.placeholder(dtype, [2]), tf.placeholder(tf.float32, [2])
    y = tf.cast(n, tf.float32) * x + tf.cast(tf.cast(x, dtype), tf.float32)
    dn, dx = tf.gradients(y, [n, x])
    assert dn is None and run(dx, {n: [1, 0], x: [2, 3]}).tolist() == [1, 0]
