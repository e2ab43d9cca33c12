"""`custom_gradient` and its relatives.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import pytest

import graphgrad.compat.v1 as tf
from sessions import run

pytestmark = pytest.mark.usefixtures("graph")


def test_custom_gradient_with_several_results():
    @tf.custom_gradient
    def f(x, y):
        return [x * y, x + y], lambda d1, d2: (d1 * 10.0, d2 * 3.0)

    x, y = tf.constant(2.0), tf.constant(3.0)
    z = f(x, y)
    assert run(z) == [6.0, 5.0]
    assert run(tf.gradients(z, [x, y])) == [10.0, 3.0]
    assert run(tf.gradients(z[0], [x, y])) == [10.0, 0.0]


def test_custom_gradient_of_wrong_count():
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy,)

    x = tf.constant(2.0)
    z = f(x, x)
    with pytest.raises(ValueError, match=r"(?s)expected to return 2 gradients, but returned 1.*Built at"):
        tf.gradients(z, x)


def test_custom_gradient_is_differentiated_again():
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda dy: dy * 3.0 * x * x

    x = tf.constant(2.0)
    (g,) = tf.gradients(cube(x), x)
    assert run([g, tf.gradients(g, x)[0]]) == [12.0, 12.0]


def test_custom_gradient_with_variables():
    v = tf.Variable(3.0)
    other = tf.Variable(1.0)

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            assert [u.name for u in variables] == [v.name]
            return dy * 10.0, [dy * 100.0]

        return x * v, grad

    x = tf.constant(2.0)
    y = f(x) + other
    assert run([y, *tf.gradients(y, [x, v, other])]) == [7.0, 10.0, 100.0, 1.0]

    @tf.custom_gradient
    def without(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="must accept keyword argument 'variables'"):
        without(x)
