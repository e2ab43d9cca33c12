"""`map_fn` computes all rows at once where a row needs nothing of another and has no effect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.ops.control import if_while

X = np.linspace(-1.0, 1.5, 14).reshape(7, 2)
W = np.array([[0.3, -0.6, 0.2], [0.9, 0.4, -0.5]])


@pytest.mark.parametrize("little", [32 << 20, 1000, 1], ids=["all", "some", "one"])
def test_derivatives(little: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, and what they share; sums over rows are made in groups if all would take much memory."""
    monkeypatch.setattr(if_while, "_LITTLE", little)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        x, w = tf.placeholder(tf.float64, [None, 2]), tf.placeholder(tf.float64, [2, 3])

        def row(r: Any) -> Any:
            return tf.sin(tf.tensordot(r, w, 1)), tf.reduce_sum(r)

        y, s = tf.map_fn(row, x, (tf.float64, tf.float64))
        types = [op.type for op in graph.get_operations()]
        assert "VectorizedMap" in types and "While" not in types
        loss = tf.reduce_sum(y * y) + tf.reduce_sum(s**3)
        gx, gw = tf.gradients(loss, [x, w])
        again = tf.gradients(tf.reduce_sum(gw * gw) + tf.reduce_sum(gx), [x, w])
        z = X @ W
        for _ in range(2):  # by NumPy, then compiled
            found = session.run([y, s, gx, gw], {x: X, w: W})
            np.testing.assert_allclose(found[0], np.sin(z), rtol=1e-12)
            np.testing.assert_allclose(found[1], X.sum(1), rtol=1e-12)
            np.testing.assert_allclose(found[2], np.sin(2 * z) @ W.T + 3 * X.sum(1, keepdims=True) ** 2, rtol=1e-9)
            np.testing.assert_allclose(found[3], X.T @ np.sin(2 * z), rtol=1e-9)

        def slopes(x: Any, w: Any) -> float:
            gw, gx = x.T @ np.sin(2 * x @ w), np.sin(2 * x @ w) @ w.T + 3 * x.sum(1, keepdims=True) ** 2
            return float((gw * gw).sum() + gx.sum())

        second = session.run(again, {x: X, w: W})
        for at, value in ((0, X), (1, W)):
            for i in np.ndindex(value.shape):
                near = []
                for change in (1e-5, -1e-5):
                    moved = [X.copy(), W.copy()]
                    moved[at][i] += change
                    near.append(slopes(*moved))
                np.testing.assert_allclose(second[at][i], (near[0] - near[1]) / 2e-5, rtol=1e-5, atol=1e-6)
        none = session.run([y, gx, gw], {x: np.zeros((0, 2)), w: W})
        assert none[0].shape == (0, 3) and none[1].shape == (0, 2) and not none[2].any()


def test_one_after_the_other() -> None:
    """What has effects, branches, or only Python can do keeps its order."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        x = tf.constant([3.0, 1.0, 2.0])
        v = tf.get_variable("v", initializer=0.0)
        order: list[float] = []

        def added(r: Any) -> Any:
            with tf.control_dependencies([tf.assign(v, v * 2.0 + r)]):
                return tf.identity(r)

        def noted(r: Any) -> Any:
            return tf.py_func(lambda a: order.append(float(a)) or a, [r], tf.float32)

        bodies = [added, noted, lambda r: tf.cond(r > 1.5, lambda: r * r, lambda: -r),
                  lambda r: r * tf.random_uniform([], 1.0, 2.0)]
        maps = [tf.map_fn(body, x) for body in bodies]
        assert [op.type for op in graph.get_operations() if "Map" in op.type] == []
        session.run(tf.global_variables_initializer())
        _, _, squares, random = session.run(maps)
        assert session.run(v) == 3.0 * 4 + 1.0 * 2 + 2.0 and order == [3.0, 1.0, 2.0]
        np.testing.assert_array_equal(squares, [9, -1, 4])
        assert len(set(random / [3.0, 1.0, 2.0])) == 3
        stopped = tf.map_fn(lambda r: r * v, x, back_prop=False)
        assert tf.gradients(stopped, x) == [None]
