"""`ForwardAccumulator`: against differences and tapes, nested in each other and in functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.frontend.function.function import Function
from graphgrad.ir import context

_X = np.array([0.3, -0.7, 1.1])
_D = np.array([1.0, 0.5, -2.0])


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with context.use(context.EAGER):
        yield


_w = tf.Variable(np.arange(9.0).reshape(3, 3) / 5.0)

_FUNCTIONS = {
    "elementwise": lambda x: tf.sin(x) * tf.exp(x) / (1.0 + x * x),
    "matrix": lambda x: tf.tanh(tf.linalg.matvec(_w, x)) * tf.reduce_sum(x),
    "gather": lambda x: tf.gather(x, [2, 0, 0]) * x,
    "several outputs": lambda x: tf.add_n([a * (i + 1.0) * a for i, a in enumerate(tf.split(x, 3))]) * x,
    "concatenation": lambda x: tf.concat([x[1:], x[:1]], 0) * x,
    "function": Function(lambda x: tf.sin(x) * tf.reduce_prod(x), engine="numpy"),
    "loop": Function(lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), (0, x))[1],
                     engine="numpy"),
    "map": lambda x: tf.map_fn(lambda r: tf.sin(r) * r, x),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_orders(name: str) -> None:
    """First derivative, second by accumulators in each other, by a tape around one and by one around a tape."""
    f = _FUNCTIONS[name]

    def at(e: float) -> Any:
        return f(tf.constant(_X + e * _D)).numpy()

    x, d = tf.constant(_X), tf.constant(_D)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, d) as outer:
            with tf.autodiff.ForwardAccumulator(x, d) as inner:
                y = f(x)
            first = inner.jvp(y)
        second = outer.jvp(first)
        total = tf.reduce_sum(first)
    by_tape = tf.reduce_sum(tf.convert_to_tensor(tape.gradient(total, x)) * d)
    with tf.autodiff.ForwardAccumulator(x, d) as over:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x)
    over_tape = tf.reduce_sum(tf.convert_to_tensor(over.jvp(g)) * d)
    np.testing.assert_allclose(first, (at(1e-6) - at(-1e-6)) / 2e-6, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(second, (at(1e-4) - 2 * at(0.0) + at(-1e-4)) / 1e-8, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(by_tape, tf.reduce_sum(second), rtol=1e-9)
    np.testing.assert_allclose(over_tape, tf.reduce_sum(second), rtol=1e-9)


def test_variables_structures_and_what_is_not_connected() -> None:
    """Variables are primals; several at once; None or zeros for the rest."""
    v = tf.Variable([1.0, 2.0])
    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator([v, x], [tf.ones([2]), tf.constant(10.0)]) as acc:
        y = v * x
        other = tf.constant(1.0) * 2.0
        rounded = tf.cast(y, tf.int32)
    found = acc.jvp({"y": y, "other": other, "rounded": rounded, "x": x})
    np.testing.assert_array_equal(found["y"], [13.0, 23.0])
    assert found["other"] is None and found["rounded"] is None and float(found["x"]) == 10.0
    assert float(acc.jvp(other, unconnected_gradients="zero")) == 0.0


def test_in_functions_and_graphs() -> None:
    """Inside a function the product is operations of its graph."""

    @tf.function
    def f(x, d):
        with tf.autodiff.ForwardAccumulator(x, d) as outer:
            with tf.autodiff.ForwardAccumulator(x, d) as acc:
                y = x**3
            first = acc.jvp(y)
        return first, outer.jvp(first)

    first, second = f(tf.constant(2.0), tf.constant(10.0))
    assert (float(first), float(second)) == (120.0, 1200.0)


@tf.custom_gradient
def _square(x: Any) -> Any:
    return x * x, lambda dy: dy * 100.0


@tf.custom_gradient
def _rounded(x: Any) -> Any:
    return tf.round(x), lambda dy: dy * 100.0


_squared_in_a_call = tf.function(lambda x: _square(x))


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(("function", "slope"), [
    (_square, 4.0), (lambda x: tf.cond(x > 0.0, lambda: x, lambda: x) + _square(x), 5.0), (_rounded, 100.0),
    (_squared_in_a_call, 100.0), (tf.grad_pass_through(lambda x: x * x), 4.0)])
def test_custom_gradients(staged: bool, function: Any, slope: float) -> None:
    """The derivative is that of the operations, if they have one; inside of a call it is the gradient function's.

    As in TensorFlow 2.21; but there the third one is 0 in functions.
    """
    def along(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
            y = function(x)
        return acc.jvp(y)

    assert float((tf.function(along) if staged else along)(tf.constant(2.0))) == slope


def test_constants_of_eager_mode_in_functions() -> None:
    """What a function takes from around it is constant, also beside variables that change; values are TensorFlow's."""
    factor, v = tf.constant(3.0), tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def of_argument(x, d):
        with tf.autodiff.ForwardAccumulator(x, d) as acc:
            y = tf.sin(factor) * x * factor
        return acc.jvp(y)

    @tf.function
    def of_constant(d):
        with tf.autodiff.ForwardAccumulator(factor, d) as acc:
            y = factor * factor
        return acc.jvp(y)

    @tf.function
    def of_variable(k):
        with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 2.0, -1.0]) * k) as acc:
            y = tf.reduce_sum(v * v)
        return acc.jvp(y)

    @tf.function
    def through_a_loop(x, d):
        with tf.autodiff.ForwardAccumulator([v, x], [tf.ones([3]), d]) as acc:
            y = v * x
            for _ in tf.range(2):
                y = y * v * factor
        return acc.jvp(y)

    np.testing.assert_allclose(of_argument(tf.constant(2.0), tf.constant(1.0)), 3.0 * np.sin(3.0), rtol=1e-6)
    assert float(of_constant(tf.constant(1.0))) == 6.0
    found = []
    for k in range(3):
        found.append(float(of_variable(tf.constant(float(k)))))
        v.assign(v * 0.9)
    np.testing.assert_allclose(found, [0.0, 3.6, 6.48], rtol=1e-6)
    v.assign([1.0, 2.0, 3.0])
    np.testing.assert_allclose(through_a_loop(tf.constant(2.0), tf.constant(1.0)), [63.0, 288.0, 729.0], rtol=1e-6)


def test_refused() -> None:
    """Wrong structures, shapes, dtypes, and use out of order."""
    x = tf.constant([1.0, 2.0])
    for primals, tangents, error, text in [
        ([x], x, ValueError, "same nested structure"),
        (x, tf.constant([1.0]), ValueError, r"shape \(1,\) is not that of its primal, \(2,\)(?s:.*)Fix"),
        (tf.constant(1), tf.constant(1), ValueError, "int32, which has no derivatives"),
    ]:
        with pytest.raises(error, match=text):
            tf.autodiff.ForwardAccumulator(primals, tangents)
    acc = tf.autodiff.ForwardAccumulator(x, x)
    with pytest.raises(ValueError, match="not recording"):
        acc.__exit__()
    with acc, pytest.raises(ValueError, match="already recording"):
        acc.__enter__()


@pytest.mark.parametrize(("function", "expected"), [
    (lambda x, z: z * 2.0, [0.0]), (lambda x, z: (z * 2.0, x), [0.0, 1.0]), (lambda x, z: tf.constant(3.0), [None]),
    (lambda x, z: tf.stop_gradient(x), [None]), (lambda x, z: tf.round(x), [None]), (lambda x, z: (z, x), [0.0, 1.0])])
def test_functions_of_other_arguments(function, expected):
    """A function's results that follow from arguments without tangents have zeros, as in TensorFlow 2.21."""
    x, z = tf.constant(2.0), tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as forward:
        found = tf.nest.flatten(tf.function(function)(x, z))
    slopes = [forward.jvp(t) for t in found]
    assert [None if g is None else float(g) for g in slopes] == expected
