"""Random programs that nest loops, branches, maps and arrays: their derivatives are differences, and XLA agrees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.support.effort import part

_X = np.array([0.3, 0.7, -0.4])
_D = np.array([1.0, -0.5, 0.8])


class _Program:
    """Draws expressions of shape (3,) over tensors of that shape; the same seed draws the same expression."""

    def __init__(self, x: Any):
        self.x = x

    def expression(self, seed: Any, tensors: Sequence[Any], depth: int) -> Any:
        """One expression, nested up to `depth` deep."""
        rng = np.random.default_rng(seed)

        def some() -> Any:
            return tensors[rng.integers(len(tensors))]

        kind = rng.integers(3 if not depth else 8)
        if kind == 0:
            return tf.sin(some())
        if kind == 1:
            return some() * some() * 0.7
        if kind == 2:
            return tf.tanh(some() + 0.3 * tf.reduce_sum(some()))
        inner = [int(s) for s in rng.integers(1 << 30, size=2)]
        make = (self._counted, self._branch, self._map, self._array, self._until)[kind - 3]
        return make(inner, some, int(rng.integers(4)), depth - 1)

    def _counted(self, seeds: list[int], some: Any, n: int, depth: int) -> Any:
        def body(i: Any, y: Any, z: Any) -> Any:
            y = self.expression(seeds[0], [y, z, self.x], depth)
            return i + 1, y, self.expression(seeds[1], [y, z], depth) if seeds[1] % 2 else z

        out = tf.while_loop(lambda i, *_: i < n, body, (0, some(), some()))
        return out[1] + out[2] * 0.5

    def _branch(self, seeds: list[int], some: Any, n: int, depth: int) -> Any:
        tensors = [some(), some()]
        return tf.cond(tf.reduce_sum(some()) < 1.0, lambda: self.expression(seeds[0], tensors, depth),
                       lambda: self.expression(seeds[1], tensors, depth))

    def _map(self, seeds: list[int], some: Any, n: int, depth: int) -> Any:
        factor = some()
        return tf.map_fn(lambda r: tf.reduce_sum(self.expression(seeds[0], [factor * r, self.x], depth)), some())

    def _array(self, seeds: list[int], some: Any, n: int, depth: int) -> Any:
        rows = tf.TensorArray(tf.float64, 3, clear_after_read=False).unstack(some())

        def body(i: Any, y: Any, out: Any) -> Any:
            y = self.expression(seeds[0], [y, self.x], depth) * rows.read(i)
            return i + 1, y, out.write(2 - i, tf.reduce_sum(y))

        out = tf.while_loop(lambda i, *_: i < 3, body, (0, some(), tf.TensorArray(tf.float64, 3)))
        return out[1] + out[2].stack()

    def _until(self, seeds: list[int], some: Any, n: int, depth: int) -> Any:
        def body(y: Any, i: Any) -> Any:
            return tf.tanh(self.expression(seeds[0], [y, self.x], depth)) + y * 0.9 + 0.5, i + 1

        return tf.while_loop(lambda y, i: tf.logical_and(tf.reduce_sum(y) < 2.0, i < 6), body, (some(), 0))[0]


def _built(seed: int, depth: int) -> tuple[Any, list[Any]]:
    """An input, and a function of it with two derivatives along `_D`."""
    x = tf.placeholder(tf.float64, [3])
    program = _Program(x)
    y = program.expression([seed, 0], [x], depth)
    y = program.expression([seed, 1], [x, y], depth) + y
    values = [tf.reduce_sum(tf.sin(y))]
    for _ in range(2):
        (g,) = tf.gradients(values[-1], x, unconnected_gradients="zero")
        values.append(tf.reduce_sum(g * _D))
    return x, values


@pytest.mark.parametrize("seed", part(range(16), 2))
def test_derivatives(seed: int) -> None:
    """First and second derivative are differences."""
    with tf.Graph().as_default(), HostSession() as sess:
        x, values = _built(seed, 2)
        here, ahead, behind = (sess.run(values, {x: _X + e * _D}) for e in (0.0, 1e-6, -1e-6))
    for order in range(2):
        difference = (ahead[order] - behind[order]) / 2e-6
        np.testing.assert_allclose(here[order + 1], difference, rtol=1e-5, atol=1e-6, err_msg=f"order {order + 1}")


@pytest.mark.parametrize("seed", [21])
def test_compiled(seed: int) -> None:
    """XLA gives what NumPy gives."""
    with tf.Graph().as_default(), HostSession() as host, tf.Session() as sess:
        x, values = _built(seed, 2)
        values = values[:2]
        np.testing.assert_allclose(sess.run(values, {x: _X}), host.run(values, {x: _X}), rtol=1e-9)
