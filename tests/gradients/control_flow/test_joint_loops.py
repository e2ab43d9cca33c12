"""A run that needs a loop and its gradient goes through the iterations once, and computes what separate runs do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.executable import Executable
from graphgrad.ir import context


def _loops(session: Any, fetches: list[Any]) -> int:
    """How many loops a run of these fetches executes."""
    tensors = [f for f in fetches if isinstance(f, tf.Tensor)]
    feeds = [op.outputs[0] for op in session.graph.get_operations() if op.type == "Placeholder"]
    plan = Executable(tensors, [], feeds, session._resolve, {}).plan
    return sum(i.op.type == "While" for step in plan.steps for i in step.program)


def _body(case: str, w: Any) -> Any:
    if case == "product":
        return lambda y: tf.tanh(tf.matmul(y, w)) + y
    if case == "random":
        return lambda y: y * tf.random_uniform([2, 2], dtype=tf.float64, seed=3) + w
    if case == "branch":
        return lambda y: tf.cond(tf.reduce_sum(y) > 0, lambda: tf.sin(y) * w, lambda: y * y - w)
    return lambda y: tf.while_loop(lambda j, _: j < 2, lambda j, z: (j + 1, tf.sin(z @ w)), (0, y))[1]


@pytest.mark.parametrize("case", ["product", "random", "branch", "nested"])
def test_one_loop(case: str) -> None:
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        x, n = tf.placeholder(tf.float64, [2, 2]), tf.placeholder(tf.int32, [])
        w = tf.get_variable("w", initializer=np.array([[0.3, -0.2], [0.5, 0.1]]))
        step = _body(case, w)
        y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, step(y)), (0, x), maximum_iterations=5)[1]
        loss = tf.reduce_sum(y * y)
        grads = tf.gradients(loss, [x, w])
        session.run(tf.global_variables_initializer())
        feeds = {x: np.array([[0.1, 0.7], [-0.4, 0.2]]), n: 3}
        assert _loops(session, [loss]) == 1
        assert _loops(session, [loss, *grads]) == 2  # forward and recording in one, and the one back
        assert _loops(session, [y, grads[0]]) == 2
        if case == "random":
            return  # each run draws anew
        alone = session.run(loss, feeds)
        together = session.run([loss, *grads, y], feeds)
        np.testing.assert_allclose(together[0], alone, rtol=1e-12)
        slope = np.zeros((2, 2))
        for i in np.ndindex(2, 2):
            near = []
            for change in (1e-5, -1e-5):
                moved = feeds[x].copy()
                moved[i] += change
                near.append(session.run(loss, {**feeds, x: moved}))
            slope[i] = (near[0] - near[1]) / 2e-5
        np.testing.assert_allclose(together[1], slope, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(session.run(grads, feeds), together[1:3], rtol=1e-12)
        np.testing.assert_allclose(session.run([loss, *grads], {**feeds, n: 0})[0], (feeds[x] ** 2).sum())


def test_effects_keep_their_order() -> None:
    """A variable that the loop reads is assigned between the loop and its gradient: the loop runs before."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        v = tf.get_variable("v", initializer=2.0, use_resource=True)
        y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * v.read_value()), (0, tf.constant(1.0)))[1]
        with tf.control_dependencies([y]):
            after = tf.assign(v, 5.0)
        slope = tf.gradients(y, v)[0]
        session.run(v.initializer)
        assert session.run([y, after])[0] == 8.0
        session.run(v.initializer)
        assert session.run([y, slope, after])[0] == 8.0
        session.run(v.initializer)
        assert session.run([y, slope]) == [8.0, 12.0]
        order: list[str] = []

        def note(x: Any) -> Any:
            order.append("host")
            return x

        z = tf.while_loop(lambda i, _: i < 3, lambda i, z: (i + 1, tf.sin(z)), (0, tf.constant(1.0)))[1]
        told = tf.py_func(note, [z], tf.float32)
        g = tf.gradients(z, z.op.inputs[0].op.inputs[1])[0]
        assert _loops(session, [told, g]) == 2  # nothing else has effects, so this may come later
        np.testing.assert_allclose(session.run([told, g])[0], np.sin(np.sin(np.sin(1.0))), rtol=1e-6)
        assert order == ["host"]


def test_tapes() -> None:
    """Under a tape the forward pass keeps what the backward pass reads: that has one loop, the one back."""
    with context.use(context.EAGER):

        @tf2.function
        def f(x: Any) -> Any:
            y = x
            for _ in tf2.range(4):
                y = tf2.tanh(y * x) + x
            return y

        x = tf2.constant(0.4)
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        slope = float(tape.gradient(y, x))
        assert slope == pytest.approx((float(f(tf2.constant(0.401))) - float(f(tf2.constant(0.399)))) / 2e-3, rel=1e-4)
        reverse = f.get_concrete_function(x)._part._reverse
        loops = [[i.op.type for s in part._executable.plan.steps for i in s.program].count("While")
                 for part in (reverse.forward, reverse.backward)]
        assert loops == [1, 1]
