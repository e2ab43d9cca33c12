"""Functions and eager code with variables that are split over a mesh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.executor.backend.mesh import MeshBuffer
from graphgrad.executor.plan import placement
from graphgrad.ir import context

_RNG = np.random.RandomState(0)
_W, _X = _RNG.randn(16, 16).astype("f"), _RNG.randn(8, 16).astype("f")


@pytest.fixture(autouse=True)
def _four_processors(monkeypatch: Any) -> Iterator[None]:
    monkeypatch.setattr(placement.default_placement, "cpus", 4)
    with context.use(context.EAGER):
        yield


def _trained(split: bool) -> list[Any]:
    w = tf.Variable(_W)
    if split:
        tf.shard(w, ["a"], mesh=tf.mesh(a=4))
    optimizer = tf.compat.v1.train.AdamOptimizer(0.1)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            h = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), (0, x))[1]
            loss = tf.reduce_mean(h * h)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss

    found = [step(_X).numpy() for _ in range(3)] + [w.numpy(), (w * 2.0).numpy()]
    kept = [w, *[v for v in optimizer.variables() if v.shape == w.shape]]
    assert len(kept) == 3
    for variable in kept:
        held = variable._handle._value.held
        assert isinstance(held, MeshBuffer) is split
        assert not split or held.bytes_of_devices() == [256] * 4
    return found


def test_a_function_trains_as_on_one_device() -> None:
    for found, wanted in zip(_trained(True), _trained(False), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)


def test_a_tape_around_a_function() -> None:
    w = tf.shard(tf.Variable(_W), [None, "a"], mesh=tf.mesh(a=2))

    @tf.function
    def loss(x: Any) -> Any:
        return tf.reduce_sum(tf.tanh(tf.matmul(x, w)))

    with tf.GradientTape() as tape:
        y = loss(_X)
    np.testing.assert_allclose(tape.gradient(y, w), _X.T @ (1 - np.tanh(_X @ _W) ** 2), rtol=1e-4, atol=1e-5)


def test_eager_code_reads_and_assigns() -> None:
    w = tf.shard(tf.Variable(_W), ["a"], mesh=tf.mesh(a=4))
    double = tf.function(lambda: w * 2.0)
    np.testing.assert_allclose(double(), 2 * _W)
    w.assign_add(np.ones_like(_W))
    np.testing.assert_allclose(double(), 2 * (_W + 1))
    assert w._handle._value.held.bytes_of_devices() == [256] * 4


def test_too_few_devices() -> None:
    w = tf.shard(tf.Variable(_W), ["a"], mesh=tf.mesh(a=8))
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)a=8 needs 8 devices.*counts as 4.*Fix: "):
        tf.function(lambda: w * 2.0)()


def test_not_inside_of_a_function() -> None:
    w = tf.Variable(_W)

    @tf.function
    def split() -> Any:
        return tf.shard(w, ["a"], mesh=tf.mesh(a=4)) * 2.0

    with pytest.raises(ValueError, match="cannot be split within a function"):
        split()
