"""Eager operations on large arrays, which run as compiled programs once they have recurred."""

from __future__ import annotations

import contextlib

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


_DRAWS = {
    "uniform": lambda seed: tf.random.uniform([20, 30], seed=seed),
    "doubles": lambda seed: tf.random.uniform([20, 30], dtype=tf.float64, seed=seed),
    "integers": lambda seed: tf.random.uniform([20, 30], 5, 90, tf.int32, seed=seed),
    "normal": lambda seed: tf.random.normal([20, 30], seed=seed),
    "truncated": lambda seed: tf.random.truncated_normal([20, 30], seed=seed),
    "dropout": lambda seed: tf.nn.dropout(tf.constant(X), 0.4, seed=seed),
    "stateless": lambda seed: tf.random.stateless_uniform([20, 30], [seed or 0, 9]),
}


@pytest.mark.parametrize("name", _DRAWS)
def test_random_numbers_are_those_of_the_kernels(name, monkeypatch):
    """A program serves all seeds, and goes on where the kernel would."""
    draw = _DRAWS[name]
    for key in ("StatelessRandomUniformV2", "StatelessRandomUniformIntV2", "StatelessRandomNormalV2",
                "StatelessTruncatedNormalV2"):
        monkeypatch.setattr(registry[key], "eager_seconds", 2e-3)
        for opdef in registry.values():
            if opdef.keyed == key:
                monkeypatch.setattr(opdef, "eager_seconds", 2e-3)
    found = []
    for programs_only in (True, False):
        tf.random.set_seed(7)
        with contextlib.nullcontext() if programs_only else one_engine():
            found.append([draw(seed).numpy() for seed in (None, 3, None, 3, None, None, 4, 3)])
    assert len(programs()) == 1
    for program, kernel in zip(*found, strict=True):
        np.testing.assert_allclose(program, kernel, rtol=2e-5, atol=2e-6)
    if name != "stateless":
        assert all((found[0][0] != other).any() for other in found[0][1:])


def test_random_numbers_after_a_failing_program(monkeypatch):
    """The kernel draws what the program would have drawn."""
    monkeypatch.setattr(registry["RandomUniform"], "eager_seconds", 2e-3)
    tf.random.set_seed(7)
    with one_engine():
        wanted = [tf.random.uniform([600]).numpy() for _ in range(6)]
    tf.random.set_seed(7)
    found = [tf.random.uniform([600]).numpy() for _ in range(4)]
    monkeypatch.setattr(executable.Executable, "run", lambda *args: 1 / 0)
    found += [tf.random.uniform([600]).numpy() for _ in range(2)]
    np.testing.assert_array_equal(found, wanted)
