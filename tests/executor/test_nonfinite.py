"""Looking for infinities and NaNs: what is found, what is said, and that a failed run changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.nonfinite import is_finite, state
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir.context import EAGER, use


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g
    assert not state.mode, "a test left the checks on"


@pytest.fixture
def checking() -> Any:
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def failing(sess: Any, fetches: Any, feeds: Any = None) -> Any:
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        sess.run(fetches, feeds)
    return e.value


@pytest.mark.parametrize("session", [tf.Session, HostSession])
def test_born_in_the_backward_pass(graph: tf.Graph, session: Any) -> None:
    """The gradient op, its forward op, the ranges of both, both lines and a remedy; variables stay as they were."""
    v = tf.Variable([4.0, 0.0], name="v")
    with tf.name_scope("loss"):
        root = tf.sqrt(v, name="root")
        loss = tf.reduce_sum(root)
    noise = tf.Variable(0.0)
    step = tf.group(tf.train.GradientDescentOptimizer(0.1).minimize(loss), noise.assign_add(1.0))
    n = graph.version
    with session() as sess:
        sess.run([v.initializer, noise.initializer])
        with tf.locate_nonfinite():
            assert sess.run(loss) == 2.0
            error = failing(sess, [loss, step])
            again = failing(sess, step)
        np.testing.assert_array_equal(sess.run(v), [4.0, 0.0])
        assert sess.run(noise) == 0.0
        sess.run(step)
        assert np.isinf(sess.run(v)[1]) and sess.run(noise) == 1.0
    text = str(error)
    assert error.op.type == "SqrtGrad" and error.op._original_op is root.op and str(again) == text
    assert "SqrtGrad 'gradients/loss/root_grad/SqrtGrad': Detected Infinity or NaN in output 0: 1 Inf among 2" in text
    assert "the first at [1]; its inputs are finite; y=float32 (2,) from 0 to 2, dy=float32 (2,) from 1 to 1." in text
    assert "part of the gradient of Sqrt 'loss/root' with x=float32 (2,) from 0 to 4." in text
    assert 'Built at test_nonfinite.py' in text and 'tf.sqrt(v, name="root")' in text and ".minimize(loss)" in text
    assert "Fix: keep its argument away from 0" in text
    assert graph.version == n, "nothing is added to the graph"


def test_results_alone_matter() -> None:
    """locate_nonfinite lets pass what no result sees, enable_check_numerics does not."""
    x = tf.placeholder(tf.float32, [2], name="x")
    y = 1.0 / tf.math.log(x)
    with tf.Session() as sess:
        with tf.locate_nonfinite():
            np.testing.assert_allclose(sess.run(y, {x: [0.0, np.e]}), [0.0, 1.0], rtol=1e-6)
            assert "Placeholder 'x'" in str(failing(sess, y, {x: [np.nan, 1.5]}))
        tf.debugging.enable_check_numerics()
        try:
            error = failing(sess, y, {x: [0.0, np.e]})
            np.testing.assert_allclose(sess.run(y, {x: [0.5, np.e]}), 1 / np.log([0.5, np.e]), rtol=1e-6)
        finally:
            tf.debugging.disable_check_numerics()
        assert error.op.type == "Log" and "1 -Inf among 2 elements" in str(error)
        assert "x=float32 (2,) from 0 to 2.71828" in str(error)
        assert np.isnan(sess.run(y, {x: [-1.0, 1.5]})).any()


def test_where_hides_it() -> None:
    """A NaN that a sum spreads is followed back to where it was born, through all that it spoilt."""
    x = tf.placeholder(tf.float32, [3], name="x")
    safe = tf.where(x > 0.0, tf.math.log(x, name="logarithm"), tf.zeros_like(x))
    (g,) = tf.gradients(tf.reduce_sum(safe * safe), x)
    with tf.Session() as sess, tf.locate_nonfinite():
        error = failing(sess, [g * 2.0], {x: [1.0, 0.0, 2.0]})
    assert error.op._original_op is not None and error.op._original_op.name == "logarithm"
    assert "Fix: keep its argument above 0" in str(error)


def test_the_first_of_several() -> None:
    """Of several births the op that was built first is named."""
    x = tf.placeholder(tf.float32, [2], name="x")
    parts = [f(x - 1.0, name=n) for f, n in ((tf.math.log, "first"), (tf.math.rsqrt, "second"), (tf.math.log, "third"))]
    with tf.Session() as sess, tf.locate_nonfinite():
        for order in (parts, parts[::-1]):
            assert failing(sess, tf.add_n(order), {x: [1.0, 2.0]}).op.name == "first"


def test_second_order() -> None:
    """For a gradient of a gradient the whole chain of forward ops is told."""
    x = tf.placeholder(tf.float32, [], name="x")
    (g,) = tf.gradients(tf.pow(x, 1.5, name="power"), x)
    (h,) = tf.gradients(g, x)
    with tf.Session() as sess, tf.locate_nonfinite():
        assert sess.run(g, {x: 0.0}) == 0.0
        error = failing(sess, h, {x: 0.0})
    assert "gradient of Pow 'power'" in str(error) and str(error).count("It is part of") == 2


def test_made_by_an_assignment() -> None:
    """Where all tensors are finite, the assignment that overflows is named."""
    v = tf.Variable(3e38, name="v")
    step = v.assign_add(3e38)
    with tf.Session() as sess:
        sess.run(v.initializer)
        with tf.locate_nonfinite():
            error = failing(sess, step)
        assert error.op.type == "AssignAddVariableOp" and "in variable 'v' after it" in str(error)
        assert sess.run(v) == np.float32(3e38)


def test_random_numbers_repeat() -> None:
    """A failed run draws again what it drew: the next one is as if it had not been."""
    tf.set_random_seed(7)
    r = tf.random_uniform([])
    x = tf.placeholder(tf.float32, [])
    y = r + tf.math.log(x)
    with tf.Session() as sess:
        wanted = sess.run(y, {x: 1.0})
    with tf.Session() as sess:
        with tf.locate_nonfinite():
            assert "Log" in str(failing(sess, y, {x: 0.0}))
        assert sess.run(y, {x: 1.0}) == wanted


def test_bfloat16_and_complex() -> None:
    """Every floating dtype is looked at; integers and strings are none."""
    x = tf.placeholder(tf.bfloat16, [2])
    z = tf.placeholder(tf.complex64, [])
    with tf.Session() as sess, tf.locate_nonfinite():
        assert "from 0 to 1" in str(failing(sess, 1.0 / x, {x: np.array([0.0, 1.0])}))
        assert "in magnitude" in str(failing(sess, tf.math.log(z) + 1j, {z: 0.0}))
        assert sess.run([tf.constant(1), tf.constant("a")]) == [1, b"a"]
    assert is_finite(np.array([1, 2])) and is_finite(np.array(["a"], object)) and not is_finite(np.float32(np.inf))


def test_functions_and_eager(checking: None) -> None:
    """Functions and eager ops are looked at as well."""

    @tf.function
    def f(x: Any) -> Any:
        return tf.reduce_sum(tf.math.log(x))

    with use(EAGER):
        assert f(tf.constant([1.0, 1.0])).numpy() == 0.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Log 'Log': Detected.*x=float32 \(2,\) from 0"):
            f(tf.constant([0.0, 1.0]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Log.*of an op run eagerly.*Fix:"):
            tf.math.log(tf.constant([0.0]))
        tf.identity(tf.constant([0.5]))


def test_switches() -> None:
    """They nest, and go back."""
    with tf.locate_nonfinite():
        with tf.locate_nonfinite(False):
            assert not state.mode
        assert state.mode
    assert not state.mode
    tf.locate_nonfinite()
    tf.locate_nonfinite(False)


def test_add_check_numerics_ops() -> None:
    """The checks are ops of the graph, named as TensorFlow names them, and a failed one leaves variables alone."""
    v = tf.Variable(1.0)
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.gradients(tf.math.log(x, name="lg"), x)
    checks = tf.add_check_numerics_ops()
    with tf.control_dependencies([checks]):
        step = v.assign_add(1.0)
    assert checks.name == "group_deps"
    with tf.Session() as sess:
        sess.run(v.initializer)
        error = failing(sess, step, {x: [0.0, -1.0]})
        assert "lg:0 : Tensor had Inf and NaN values" in str(error)
        assert "It checks Log 'lg', built at test_nonfinite.py" in str(error)
        assert sess.run(v) == 1.0 and sess.run(step, {x: [1.0, 2.0]}) == 2.0
