"""The arguments of `gradients`: their order, and what is refused.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import inspect

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.sessions import run

pytestmark = pytest.mark.usefixtures("graph")


def test_eager_mode_is_a_runtime_error():
    from graphgrad.ir import context

    with context.use(context.EAGER):
        x = tf2.constant(1.0)
        with pytest.raises(RuntimeError, match=r"not supported when eager execution is enabled. Use tf.GradientTape"):
            tf2.gradients(x, x)


@pytest.mark.parametrize("x", [3.0, object(), "name", np.ones(2)])
def test_xs_that_are_no_tensors(x):
    y = tf.constant(1.0)
    with pytest.raises(TypeError, match=r"(?s)xs\[0\] is .* not a tensor or variable.*Fix"):
        tf.gradients(y, x)


def test_tensors_of_another_graph():
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        y = tf.constant(2.0)
        with pytest.raises(ValueError, match=r"(?s)xs\[0\].*must be from the same graph.*test_arguments.py"):
            tf.gradients(y, x)


def test_strings_are_refused():
    with pytest.raises(TypeError, match=r"Cannot differentiate .* of dtype string"):
        tf.gradients(tf.constant("a"), tf.constant(1.0))


def test_positional_orders():
    def names(f):
        return list(inspect.signature(f).parameters)

    shared = ["gate_gradients", "aggregation_method", "stop_gradients", "unconnected_gradients"]
    assert names(tf.gradients) == ["ys", "xs", "grad_ys", "name", "colocate_gradients_with_ops", *shared]
    assert names(tf2.gradients) == ["ys", "xs", "grad_ys", "name", *shared]
    x = tf.constant([1.0])
    (g,) = tf2.gradients(x, x, None, "there", False, None, None, "zero")
    assert g.op.name.startswith("there/")


def test_the_graph_of_ys_and_xs_is_the_one_that_grows():
    x = tf.placeholder(tf.float32, [2])
    y = x * x
    with tf.Graph().as_default() as other:
        (g,) = tf.gradients(y, x)
        z = tf.placeholder(tf.float32, [2])
        for call in (lambda: tf.gradients(z, x), lambda: tf.gradients(y, z), lambda: tf.gradients(z, z, grad_ys=[x]),
                     lambda: tf.gradients(z, z, stop_gradients=[x])):
            with pytest.raises(ValueError, match=r"(?s)must be from the same graph.*test_arguments.py.*Fix"):
                call()
        assert [o.type for o in other.get_operations() if o.name.startswith("gradients")] == []
    assert g.graph is y.graph
    assert run(g, {x: [1, 2]}).tolist() == [2, 4]


def test_a_tensor_of_an_inner_function_is_no_x_of_the_graph_around_it():
    inner = []

    @tf2.function
    def f(x):
        inner.append(x * 2.0)
        return inner[0]

    f.get_concrete_function(tf2.TensorSpec([2], tf.float32))
    y = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match=r"(?s)must be from the same graph.*Built at test_arguments.py.*Fix"):
        tf.gradients(y, inner[0])


@pytest.mark.parametrize("wrong", [3.0, "x:0", "operation"])
def test_stop_gradients_that_are_no_tensors(wrong):
    x = tf.placeholder(tf.float32, [2])
    with pytest.raises(TypeError, match=r"(?s)stop_gradients\[0\] is .* not a tensor or variable.*Fix"):
        tf.gradients(x * x, x, stop_gradients=x.op if wrong == "operation" else wrong)


def test_no_ys_and_no_xs():
    x = tf.placeholder(tf.float32, [2])
    assert tf.gradients([], [x]) == [None]
    assert tf.gradients(x, []) == []
