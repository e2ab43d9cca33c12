"""What operations with sub-graphs hand out to their gradients: what TensorFlow has no word for."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import graphgrad as v2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime import executable
from graphgrad.ir import context


def _body(v: Any, amount: float = 1.0) -> Any:
    def body(i: Any, a: Any) -> Any:
        with tf.control_dependencies([v.assign_add(amount)]):
            return i + 1, a * v.read_value()

    return body


@pytest.fixture(autouse=True)
def _numpy_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable, "first_in_numpy", True)


def test_a_session_that_has_run_a_loop_before_it_was_differentiated() -> None:
    """Plans that were made before are made again; in TensorFlow that is an error."""
    with tf.Graph().as_default(), tf.Session() as sess:
        v, x = tf.Variable(1.0, use_resource=True), tf.placeholder(tf.float32, [])
        y = tf.while_loop(lambda i, a: i < 2, _body(v), [0, x])[1]
        z = tf.cond(x > 0.0, lambda: y * tf.py_func(np.sqrt, [x], tf.float32), lambda: y)
        sess.run(v.initializer)
        assert [float(sess.run(z, {x: 4.0})) for _ in range(2)] == [2 * 3 * 4 * 2, 4 * 5 * 4 * 2]
        g = tf.gradients(z, x)[0]
        for start in (5, 7, 9):
            assert sess.run([z, g], {x: 4.0}) == [(start + 1) * (start + 2) * 8, (start + 1) * (start + 2) * 2]
        assert sess.run(z, {x: 4.0}) == 12 * 13 * 8
        assert sess.run(g, {x: 4.0}) == 14 * 15 * 2
        assert sess.run(v) == 15


def test_purely_functional_loops_stay_as_they_are() -> None:
    """What only reads gets no further outputs, and no copies of variables where nothing changes them."""
    with tf.Graph().as_default() as graph:
        v, x = tf.Variable(1.0, use_resource=True), tf.constant(2.0)
        y = tf.while_loop(lambda i, a: i < 3,
                          lambda i, a: (i + 1, tf.cond(a > 0.0, lambda: a * v, lambda: a)), [0, x])[1]
        loop = next(op for op in graph.get_operations() if op.type == "While")
        count = len(loop.inputs), len(loop.outputs)
        tf.train.GradientDescentOptimizer(0.1).minimize(y)
        assert (len(loop.inputs), len(loop.outputs)) == count
        assert not [op for op in graph.get_operations() if op.type == "VariableOf"]


def test_a_graph_that_is_written_and_read() -> None:
    """A GraphDef has what is handed out, and reads variables where they were read."""
    with tf.Graph().as_default() as graph:
        v, x = tf.Variable(2.0, use_resource=True, name="v"), tf.constant(1.5)
        y = tf.while_loop(lambda i, a: i < 3, _body(v), [0, x])[1]
        z = tf.cond(x > 0.0, lambda: y * v, lambda: y)
        with tf.control_dependencies([z]):
            change = v.assign_sub(2.5)
        tf.identity_n([z, tf.gradients(z, x)[0], change], name="results")
        message = graph.as_graph_def()
    for _ in range(2):
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            tf.import_graph_def(message, name="")
            sess.run("v/Assign")
            results = [f"results:{i}" for i in range(3)]
            assert sess.run(results) == [1.5 * 60 * 5, 300.0, 2.5]
            assert sess.run(results) == [714.65625, 476.4375, 3.0]
            message = graph.as_graph_def()


def test_loops_that_save_memory() -> None:
    """They give the gradients of those that do not."""
    found = []
    for memory in (None, "sqrt", "log"):
        saving = v2.checkpointed_loops(memory) if memory else contextlib.nullcontext()
        with tf.Graph().as_default(), tf.Session() as sess, saving:
            v, w, x = tf.Variable(1.01), tf.Variable(1.0, use_resource=True), tf.constant(1.5)
            y = tf.while_loop(lambda i, a: i < 20, lambda i, a, v=v: (i + 1, tf.sin(a * v) + a), [0, x])[1]
            z = tf.while_loop(lambda i, a: i < 20, _body(w, 0.01), [0, x])[1]
            change = v.assign_add(1.0)
            fetches = [y, *tf.gradients(y, [x, v])]
            told = pytest.warns(UserWarning, match="checkpointed_loops: .*keeps every iteration")
            with told if memory else contextlib.nullcontext():
                fetches += [z, *tf.gradients(z, [x, w]), change]
            sess.run(tf.global_variables_initializer())
            found.append(sess.run(fetches))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-4)


def test_explanations_leave_the_graph_alone() -> None:
    """They neither place reads nor let a loop hand out anything."""
    with tf.Graph().as_default() as graph:
        v, x = tf.Variable(1.0, use_resource=True), tf.constant(2.0)
        y = tf.while_loop(lambda i, a: i < 3, _body(v), [0, x])[1]
        v.assign_add(1.0)
        count = graph.version, [len(op.outputs) for op in graph.get_operations()]
        assert "neither None nor zero" in str(v2.explain_gradient(y, x))
        assert (graph.version, [len(op.outputs) for op in graph.get_operations()]) == count


def test_a_variable_keeps_its_value_under_nested_tapes() -> None:
    """The forward pass that is repeated for a second derivative assigns nothing that stays."""
    with context.use(context.EAGER):
        v, x = v2.Variable(2.0), v2.constant(0.5)

        @v2.function
        def f(x: Any) -> Any:
            v.assign_add(1.0)
            return x * x * v

        with v2.GradientTape() as outer:
            outer.watch(x)
            with v2.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            g = tape.gradient(y, x)
        assert [float(y), float(g), float(outer.gradient(g, x)), float(v)] == [0.75, 3.0, 6.0, 3.0]


def test_what_is_computed_again_has_to_be_the_same() -> None:
    """recompute_grad says so if a function draws other numbers when it is called again."""
    with tf.Graph().as_default():
        x, calls = tf.constant([1.0, 2.0]), []

        def f(t: Any) -> Any:
            calls.append(1)
            return t * tf.random.uniform([2]) if len(calls) == 1 else t * tf.random.normal([2])

        with pytest.raises(ValueError, match="(?s)other random numbers.*Fix:"):
            tf.gradients(tf.recompute_grad(f)(x), x)
