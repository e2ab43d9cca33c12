"""Loops over data sets inside of functions, `reduce`, and iterators there; values are NumPy's."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ir import context

X = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with context.use(context.EAGER):
        yield


def _rows() -> Any:
    return tf.data.Dataset.from_tensor_slices({"a": X, "b": (X * 2, X > 2)})


def _plain(s: Any) -> Any:
    for e in _rows():
        s += e["a"] * e["b"][0]
    return s


def _jumps(s: Any) -> Any:
    for e in _rows():
        if e["a"] < 1.5:
            continue
        if e["a"] > 3.5:
            break
        s = s * e["a"]
    else:
        s = -s
    return s


def _returns(s: Any) -> Any:
    for i, e in enumerate(_rows(), 1):
        if e["b"][1]:
            return s + tf.cast(i, tf.float64)
        s += 10.0
    return s


def _batches(s: Any) -> Any:
    for e in _rows().batch(2):
        s += tf.reduce_sum(e["a"]) * tf.cast(tf.shape(e["a"])[0], tf.float64)
    return s


def _nested(s: Any) -> Any:
    for e in _rows().take(2):
        for f in tf.data.Dataset.range(3):
            s += e["a"] * tf.cast(f, tf.float64)
    return s


def _of_tensor(s: Any) -> Any:
    for e in tf.data.Dataset.from_tensor_slices(tf.stack([s, s * 2, s * 3])):
        s += e
    return s


def _reduced(s: Any) -> Any:
    return _rows().reduce((s, np.int64(0)), lambda t, e: (t[0] + e["a"] if e["b"][1] else t[0], t[1] + 1))[0]


def _by_next(s: Any) -> Any:
    rows = iter(_rows())
    first, second = next(rows), next(rows)
    return s + first["a"] - second["b"][0]


EXPECTED = {_plain: 110.5, _jumps: 3.0, _returns: 23.5, _batches: 25.5, _nested: 9.5, _of_tensor: 3.5, _reduced: 12.5,
            _by_next: -2.5}


@pytest.mark.parametrize("program", EXPECTED, ids=lambda f: f.__name__)
def test_as_python(program: Any) -> None:
    f = tf.function(program)
    start = tf.constant(0.5, tf.float64)
    assert float(f(start)) == EXPECTED[program]
    assert float(f(start)) == EXPECTED[program]  # each call begins a new pass
    assert f.experimental_get_tracing_count() == 1
    if program is not _of_tensor:
        assert float(program(start)) == EXPECTED[program]


def test_training() -> None:
    """Weights that change from element to element, and the gradient of a whole pass."""
    w = tf.Variable(0.5, dtype=tf.float64)
    data = tf.data.Dataset.from_tensor_slices(X).batch(2)

    @tf.function
    def train() -> None:
        for x in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((x * w - x) ** 2)
            w.assign_sub(0.01 * tape.gradient(loss, w))

    train()
    expected = 0.5
    for x in (X[:2], X[2:4], X[4:]):
        expected -= 0.01 * (2 * (x * expected - x) * x).sum()
    assert float(w) == pytest.approx(expected, rel=1e-12)

    @tf.function
    def total(rate: Any) -> Any:
        loss = tf.constant(0.0, tf.float64)
        for x in data:
            loss = loss * rate + tf.reduce_sum(tf.sin(x * w))
        return loss

    rate = tf.constant(0.7, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(rate)
        y = total(rate)
    slopes = [float(g) for g in tape.gradient(y, [rate, w])]
    value, near = float(w), []
    for change in (1e-5, -1e-5):
        w.assign(value + change)
        near.append(float(total(rate)))
    w.assign(value)
    assert slopes[1] == pytest.approx((near[0] - near[1]) / 2e-5, rel=1e-7)
    near = [float(total(tf.constant(0.7 + change, tf.float64))) for change in (1e-5, -1e-5)]
    assert slopes[0] == pytest.approx((near[0] - near[1]) / 2e-5, rel=1e-7)


def test_iterators_made_outside() -> None:
    """Each call takes up where the last one ended."""
    rows = iter(tf.data.Dataset.range(10))

    @tf.function
    def two(it: Any) -> Any:
        return next(it) * 10 + it.get_next()

    @tf.function
    def until(it: Any, last: Any) -> Any:
        s = tf.constant(0, tf.int64)
        for x in it:
            s += x
            if x >= last:
                break
        return s

    assert [int(two(rows)), int(two(rows)), int(next(rows))] == [1, 23, 4]
    assert [int(until(rows, tf.constant(n, tf.int64))) for n in (6, 100, 100)] == [11, 24, 0]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        two(rows)


def test_refused() -> None:
    with pytest.raises(TypeError, match="(?s)element types for the new state.*float32.*Fix: tf.cast"):
        _rows().reduce(0.0, lambda s, e: e["a"])
    with pytest.raises(TypeError, match="(?s)element structure for the new state.*Fix:"):
        _rows().reduce(0.0, lambda s, e: (s, s))

    @tf.function
    def too_many() -> Any:
        rows = iter(tf.data.Dataset.range(1))
        return next(rows) + next(rows)

    with pytest.raises(tf.errors.OutOfRangeError, match="(?s)End of sequence.*Fix:"):
        too_many()
    w = tf.Variable(0.1, dtype=tf.float64)
    drawn = random.Random(3)
    changing = tf.data.Dataset.from_generator(lambda: iter([drawn.random() for _ in range(4)]), tf.float64, [])

    @tf.function
    def apart() -> Any:
        s = tf.constant(0.0, tf.float64)
        for x in changing:
            s = tf.sin(s + w * x)
        w.assign_add(s)  # stands between the loop and its gradient, which goes through the data again
        return tf.gradients(s, w.handle)

    with pytest.raises(tf.errors.FailedPreconditionError, match="(?s)gives other elements.*Fix: take the gradient"):
        apart()


def test_gradients_of_loops_over_shuffled_data(eager: None) -> None:
    """The gradient goes through the data a second time, in the order of the first."""
    shuffled = tf.data.Dataset.range(64).map(lambda i: tf.cast(i, tf.float64)).shuffle(64)
    w, order = tf.Variable(0.1, dtype=tf.float64), []

    def noted(x: Any) -> Any:
        order.append(float(x))
        return x

    @tf.function
    def apart() -> Any:
        s = tf.constant(0.0, tf.float64)
        for x in shuffled:
            s = tf.sin(s + w * tf.ensure_shape(tf.numpy_function(noted, [x], tf.float64), []))
        before = w.read_value()
        with tf.control_dependencies([before]):
            w.assign_add(s)  # stands between the loop and its gradient
        return before, tf.gradients(s, w.handle)[0]

    for _ in range(3):
        order.clear()
        before, found = apart()
        s, wanted = 0.0, 0.0
        for x in order[:64]:
            wanted = math.cos(s + float(before) * x) * (wanted + x)
            s = math.sin(s + float(before) * x)
        assert sorted(order[:64]) == list(range(64))
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
