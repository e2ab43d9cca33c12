"""`optimize_derivatives`: what is left as it is and why, feeds, functions, the switch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession

_W = np.random.RandomState(3).rand(2, 4)
_POINTS = np.random.RandomState(4).rand(5, 2)


def _u(x: Any, w: Any) -> Any:
    return tf.reduce_sum(tf.tanh(tf.matmul(x, w)), 1, keepdims=True)


def _second(u: Any, x: Any, **options: Any) -> Any:
    return tf.gradients(tf.gradients(u, x, **options)[0][:, :1], x)[0][:, :1]


def _with_stop(x: Any, w: Any) -> Any:
    h = tf.matmul(x, w)
    u = tf.reduce_sum(tf.tanh(h), 1, keepdims=True) * x[:, :1] ** 2
    return _second(u, x, stop_gradients=[h])


def _with_weights(x: Any, w: Any) -> Any:
    u = _u(x, w)
    return _second(u, x, grad_ys=[tf.exp(u)])


def _of_expression(x: Any, w: Any) -> Any:
    g = tf.gradients(_u(x, w), x)[0]
    return tf.gradients(g[:, :1] * g[:, 1:], x)[0][:, :1]


def _normalized(x: Any, w: Any) -> Any:
    h = tf.matmul(x, w)
    return _second(_u(x - tf.reduce_mean(x, 0), w) + tf.reduce_sum(h * tf.reduce_mean(h), 1, keepdims=True), x)


_LEFT: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "stop_gradients": (_with_stop, "stop_gradients"), "grad_ys": (_with_weights, "grad_ys"),
    "expression": (_of_expression, "computed from derivatives"), "batch statistics": (_normalized, "mix examples"),
}


def _run(build: Callable[[Any, Any], Any], enabled: bool) -> tuple[list[Any], Any]:
    with tf.Graph().as_default():
        x, w = tf.placeholder(tf.float64, [None, 2]), tf.constant(_W)
        with tf.optimize_derivatives(enabled):
            second = build(x, w)
            loss = tf.reduce_sum(second**2)
            slopes = [s for s in tf.gradients(loss, [w, x]) if s is not None]
        report = tf.derivatives_report()
        with HostSession() as sess:
            return sess.run([loss, second, *slopes], {x: _POINTS}), report


@pytest.mark.parametrize("case", _LEFT)
def test_left_as_it_is(case: str) -> None:
    """What is not the derivative of each example is left as it is, with a reason and the user's line."""
    build, reason = _LEFT[case]
    found, report = _run(build, True)
    for a, b in zip(found, _run(build, False)[0], strict=True):
        np.testing.assert_array_equal(a, b)
    (finding,) = report.findings
    assert not finding.replaced and reason in finding.reason and "test_optimize_derivatives.py" in finding.source
    assert "left as it is" in str(report)


_REPLACED: dict[str, Callable[[Any, Any], Any]] = {
    "plain": lambda x, w: _second(_u(x, w), x),
    "stop_gradient within": lambda x, w: _second(_u(x * tf.stop_gradient(x[:, :1]), w) * x, x),
    "ones as grad_ys": lambda x, w: _second(_u(x, w), x, grad_ys=[tf.ones_like(x[:, :1])]),
    "elementwise of two": lambda x, w: _second(tf.pow(2.0 + x[:, :1], x[:, 1:]) / (1.0 + x[:, :1] ** 2), x),
    "softmax": lambda x, w: _second(tf.nn.softmax(tf.matmul(x, w)) ** 2, x),
    "third": lambda x, w: tf.gradients(_second(tf.exp(_u(x, w)), x), x)[0][:, 1:],
    "of a derivative alone": lambda x, w: 3.0 * _second(_u(x, w), x) - _second(tf.sin(x), x),
    "zero in part": lambda x, w: tf.gradients(tf.gradients(_u(x, w), x)[0], x)[0],
}


@pytest.mark.parametrize("case", _REPLACED)
def test_replaced(case: str) -> None:
    """What is the derivative of each example has the same values and gradients, by weights and points."""
    found, report = _run(_REPLACED[case], True)
    assert any(f.replaced for f in report.findings), str(report)
    for a, b in zip(found, _run(_REPLACED[case], False)[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def _graph_with_loss() -> tuple[Any, ...]:
    x, w = tf.placeholder(tf.float64, [None, 2]), tf.constant(_W)
    with tf.optimize_derivatives():
        u = _u(x, w)
        g = tf.gradients(u, x)[0]
        second = tf.gradients(g[:, :1], x)[0][:, :1]
        loss = tf.reduce_sum(second**2 * u)
        (slope,) = tf.gradients(loss, w)
    return x, w, u, g, second, loss, slope


def test_feeds() -> None:
    """A fed derivative counts in the replaced loss, and in gradients; one within it is refused, with a remedy."""
    with tf.Graph().as_default(), HostSession() as sess:
        x, _, u, g, second, loss, slope = _graph_with_loss()
        feed = {x: _POINTS, second: np.full((5, 1), 2.0)}
        value, values = sess.run([loss, u], feed)
        np.testing.assert_allclose(value, 4 * values.sum())
        assert np.all(np.isfinite(sess.run(slope, feed)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)optimize_derivatives.*Fix:"):
            sess.run(loss, {x: _POINTS, g: np.ones((5, 2))})


def test_gradient_by_what_lies_between() -> None:
    """A gradient by a tensor between x and the derivatives is that of the graph as it was built."""
    found = []
    for enabled in (False, True):
        with tf.Graph().as_default(), HostSession() as sess, tf.optimize_derivatives(enabled):
            x, w = tf.placeholder(tf.float64, [None, 2]), tf.constant(_W)
            h = tf.matmul(x, w)
            u = tf.reduce_sum(tf.tanh(h), 1, keepdims=True)
            loss = tf.reduce_sum(_second(u, x) ** 2)
            found.append(sess.run(tf.gradients(loss, [h, w]), {x: _POINTS}))
            assert not any(f.replaced for f in tf.derivatives_report().findings)
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_in_functions() -> None:
    """A tf.function with gradients inside is optimized as a graph is."""
    import graphgrad as tf2

    w = tf2.Variable(_W)
    found, reports = [], []
    for enabled in (False, True):
        @tf2.function
        def slope(x: Any) -> Any:
            loss = tf.reduce_sum(_second(_u(x, w), x) ** 2)
            result = tf2.gradients(loss, w)[0]
            reports.append(tf2.derivatives_report())
            return result

        with tf2.optimize_derivatives(enabled), tf2.init_scope():
            found.append(slope(tf2.constant(_POINTS)).numpy())
    np.testing.assert_allclose(*found, rtol=1e-10)
    assert not reports[0].findings and [f.replaced for f in reports[1].findings] == [True]


def test_switch() -> None:
    """It is off by default, undone at the end of a block, and takes a bool."""
    with tf.Graph().as_default():
        x, w = tf.placeholder(tf.float64, [None, 2]), tf.constant(_W)
        with tf.optimize_derivatives():
            pass
        tf.gradients(tf.reduce_sum(_second(_u(x, w), x)), w)
        assert str(tf.derivatives_report()) == "No nested derivatives were found."
    with pytest.raises(TypeError, match="True or False"):
        tf.optimize_derivatives(1)  # type: ignore[arg-type]  # refused, too
    with pytest.raises(TypeError, match="must be a tf.Graph"):
        tf.derivatives_report(3)
