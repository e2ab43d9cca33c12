"""Eager operations on large arrays, which run as compiled programs once they have recurred."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.executor.runtime import eager_programs, executable
from graphgrad.executor.runtime.executable import one_engine
from graphgrad.ir import context
from graphgrad.ir.opdef import registry


@pytest.fixture(autouse=True)
def as_for_users(monkeypatch):
    """Lets runs begin in NumPy, and change soon; small arrays count as large."""
    monkeypatch.setattr(executable, "first_in_numpy", True)
    monkeypatch.setattr(executable, "tiered", True)
    for name in ("AvgPool", "Conv2D", "Erf", "Erfc", "Prod", "ScatterNd", "Softmax"):
        assert registry[name].eager_seconds
        monkeypatch.setattr(registry[name], "eager_seconds", 2e-3)
    monkeypatch.setattr(eager_programs, "_used", {})
    with context.use(context.EAGER):
        yield


def programs():
    """Those that XLA has taken over."""
    return [p for p in eager_programs._used.values() if p is not None and p._tiers.over]


X = np.linspace(-2, 2, 600, dtype=np.float32).reshape(20, 30)


def test_recurring_operations_change_to_programs():
    x = tf.constant(X)
    found = [tf.math.erf(x).numpy() for _ in range(4)]
    assert len(programs()) == 1
    np.testing.assert_array_equal(found[1], found[2])
    np.testing.assert_array_equal(found[2], found[3])
    np.testing.assert_allclose(found[0], found[3], rtol=1e-5)


def test_one_engine_uses_none():
    x = tf.constant(X)
    with one_engine():
        for _ in range(4):
            tf.math.erf(x)
    assert not eager_programs._used


def test_small_integer_inputs_are_part_of_the_form():
    x = tf.constant(np.ones((20, 30), np.float32) * 1.01)
    for _ in range(3):
        for axis in (0, 1):
            assert tf.reduce_prod(x, axis).shape == ((30,) if axis == 0 else (20,))
    assert len(programs()) == 2


def test_views_and_attributes():
    x, w = tf.constant(X.reshape(2, 10, 30, 1)), tf.ones([3, 3, 1, 2])
    wanted = None
    for _ in range(4):
        for padding in ("SAME", "VALID"):
            found = tf.nn.conv2d(tf.transpose(x, [0, 2, 1, 3]), w, 1, padding)
            assert found.shape == ((2, 30, 10, 2) if padding == "SAME" else (2, 28, 8, 2))
        wanted = found.numpy() if wanted is None else wanted
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-4, atol=1e-5)
    assert len(programs()) == 2


def test_gradients_by_tapes():
    x, found = tf.constant(X), []
    for _ in range(5):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.softmax(tf.math.erfc(x))
        found.append(tape.gradient(y, x).numpy())
    np.testing.assert_allclose(found[0], found[-1], atol=1e-6)


def test_errors_are_those_of_eager_mode():
    updates = tf.ones([40, 5])
    texts = []
    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.scatter_nd(tf.constant([[50]] * 40), updates, [7, 5])
        texts.append(str(caught.value))
    assert len(set(texts)) == 1
    good = tf.scatter_nd(tf.constant([[3]] * 40), updates, [7, 5])
    assert good.numpy()[3].tolist() == [40.0] * 5


def test_forms_are_forgotten():
    for n in range(200, 200 + eager_programs._MOST + 10):
        tf.math.erf(tf.zeros([n]))
    assert len(eager_programs._used) <= eager_programs._MOST
