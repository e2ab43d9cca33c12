"""Gradients asked for inside of sub-graphs, of what stands outside: explanations, memory, errors, what is built."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as v2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.frontend.control_flow.loop_memory import checkpointed_loops
from graphgrad.frontend.function.function import Function
from graphgrad.ir import context
from tests.programs import nested_gradients
from tests.support.effort import part


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def _inside(build: Any) -> Any:
    """What `build` returns in a branch in a loop's body."""
    found = []

    def branch() -> Any:
        found.append(build())
        return tf.constant(0.0)

    tf.while_loop(lambda i: i < 1, lambda i: i + tf.cast(tf.cond(i < 5, branch, lambda: 0.0), tf.int32), [0])
    return found[0]


def test_explanations_go_outside(graph: tf.Graph) -> None:
    """Ways and cuts lead through the graphs; nothing is added to any of them."""
    x = tf.placeholder(tf.float32, [], name="x")
    h = tf.exp(x, name="h")
    loop = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * h), (0, x))[1]
    r = tf.round(h, name="r")
    n = graph.version

    def build() -> Any:
        y = r * h
        before = graph.version, tf.get_default_graph().version
        flows, none = tf.explain_gradient(y, x), tf.explain_gradient(r, x)
        loops, stopped = tf.explain_gradient(loop, x), tf.explain_gradient(y, x, stop_gradients=[h])
        assert (graph.version, tf.get_default_graph().version) == before
        return flows, none, loops, stopped

    flows, none, loops, stopped = _inside(build)
    assert n < graph.version  # the loop that was built around it
    assert flows.verdict == "flows" and [op.name for op in flows.path][-2:] == ["h", "x"]
    assert [(cut.kind, cut.op) for cut in flows.cuts] == [("returned None", r.op)]
    assert none.is_none and [op.name for op in none.cuts[0].path] == ["r", "h", "x"]
    assert loops.verdict == "flows" and stopped.is_none and {cut.op for cut in stopped.cuts} == {h.op, r.op}


def test_strict_gradients_look_outside() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    h = tf.exp(x)
    r = tf.round(h, name="r")

    def build() -> Any:
        with tf.strict_gradients():
            assert tf.gradients(h, x) != [None]
            with pytest.raises(ValueError, match="(?s)with respect to x:0 is None: 1 cut.*Round 'r'"):
                tf.gradients(r * 2.0, x)

    _inside(build)


def test_memory_is_of_one_graph() -> None:
    """What depends on other graphs is built again; what does not is remembered."""
    x = tf.placeholder(tf.float32, [None])
    h = tf.exp(x)

    def build() -> Any:
        with tf.memoize_gradients():
            y = h * h
            first = tf.gradients(y, x)[0]
            h.set_shape([3])
            again = tf.gradients(y, x)[0]
            own = h * 2.0
            z = tf.exp(own)
            return first, again, tf.gradients(z, own)[0] is tf.gradients(z, own)[0]

    first, again, remembered = _inside(build)
    assert first is not again and remembered


def test_an_operation_without_gradient_outside() -> None:
    """The way to it is told, through the graphs."""
    x = tf.placeholder(tf.float32, [], name="x")
    b = tf.bitcast(tf.bitcast(x, tf.float32), tf.float32, name="b")

    def build() -> Any:
        with pytest.raises(LookupError, match=r"(?s)'b' \(op type: Bitcast\).*\(Mul\) <- b \(Bitcast\) <- .*<- x"):
            tf.gradients(b * 2.0, x)

    _inside(build)


def test_what_is_asked_for_the_gradient_alone_is_not_computed() -> None:
    """A y outside is differentiated without its value."""
    calls = []

    def note(v: Any) -> Any:
        calls.append(v)
        return v

    x = tf.constant(3.0)
    square = tf.ensure_shape(tf.py_func(note, [x], tf.float32), [])
    y = 2.0 * x + tf.stop_gradient(square)
    z = tf.cond(x > 0, lambda: tf.gradients(y, x)[0], lambda: x)
    with tf.Session() as sess:
        assert sess.run(z) == 2.0 and not calls


def test_loops_outside_are_recorded_once(graph: tf.Graph) -> None:
    """The loop that keeps the iterations stands beside the loop, not in the map that goes back for each row."""
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x * tf.reduce_sum(a)), (0, x))[1]
    rows = tf.map_fn(lambda i: tf.gradients(y[i], x)[0], tf.range(3), dtype=tf.float32)
    direct = tf.stack([tf.gradients(y[i], x)[0] for i in range(3)])
    with tf.Session() as sess:
        for _ in range(2):
            np.testing.assert_allclose(*sess.run([rows, direct]), rtol=1e-6)
    assert sum(op.type == "While" and "Record" in op.name for op in graph.get_operations()) == 4


def test_a_rule_may_return_what_stands_outside() -> None:
    """A user's gradient function that gives a tensor of the forward graph, also with gates."""

    @tf.custom_gradient
    def f(a: Any, b: Any) -> Any:
        return a * b, lambda dy: (b, a)

    x = tf.constant(3.0)
    y = f(x, x * 2.0)
    z = [tf.cond(x > 0, lambda gate=gate: tf.gradients(y, x, gate_gradients=gate)[0], lambda: x)
         for gate in (False, True)]
    with tf.Session() as sess:
        assert sess.run(z) == [12.0, 12.0]


def test_recomputed_functions_count_once() -> None:
    """What the function gets depends on the variable that it reads, too."""
    v = tf.Variable(3.0)
    with tf.variable_scope("s"):
        y = tf.recompute_grad(lambda t: t * v)(v * v)
    g = tf.gradients(y, v)[0]
    inside = tf.cond(v > 0, lambda: tf.gradients(y, v)[0], lambda: v)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run([g, inside]) == [27.0, 27.0]


def test_variables_outside_in_a_function() -> None:
    """In a function's loop, too, a gradient by something outside depends on the variables that it reads there."""
    x, w, h = np.array([0.6, -0.4]), np.array([0.5, -0.8]), 1e-6

    def expected(w: Any) -> Any:
        return np.tanh((1 - np.tanh(w * x) ** 2) * w)

    with context.use(context.EAGER):
        v = v2.Variable(w)

        def f(x: Any) -> Any:
            y = tf.tanh(v * x)
            return tf.map_fn(lambda r: tf.gradients(r * tf.tanh(tf.gradients(y, x)[0]), v)[0], x)

        found = Function(f, engine="numpy")(v2.constant(x))
    slope = (expected(w + h) - expected(w - h)) / (2 * h)
    np.testing.assert_allclose(found, np.outer(x, slope), rtol=1e-8)


@pytest.mark.parametrize("kind", ["sqrt", "log"])
def test_loops_in_little_memory(kind: str) -> None:
    x = tf.constant(1.05)
    with checkpointed_loops(kind):
        y = tf.while_loop(lambda i, a: i < 9, lambda i, a: (i + 1, a * x), (0, x))[1]
    z = tf.cond(x > 0, lambda: tf.gradients(y * x, x)[0], lambda: x)
    again = tf.gradients(z, x)[0]
    with tf.Session() as sess:
        for _ in range(2):
            np.testing.assert_allclose(sess.run([z, again]), [11 * 1.05**10, 110 * 1.05**9], rtol=1e-5)


@pytest.mark.parametrize(("session", "seeds", "deepest", "most"), [(HostSession, part(range(20), 2), 3, 1500),
                                                                  (tf.Session, part(range(20, 34), 2), 2, 400)])
def test_random_programs(session: Any, seeds: list[int], deepest: int, most: int) -> None:
    """Nested programs with gradients of anything at any depth give what the same programs give when they are flat."""
    found = [nested_gradients.difference(seed, deepest, session, most) for seed in seeds]
    assert sum(d is not None for d in found) > len(seeds) // 4 and all(d is None or d < 1e-9 for d in found)


def test_hessians_of_dynamic_rnn() -> None:
    """They are those of the unrolled network."""
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(2, 2, 2)))
    w = tf.constant(rng.normal(size=(4, 2)))

    class Cell(tf.nn.rnn_cell.RNNCell):
        state_size = output_size = 2

        def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
            state = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), w))
            return state, state

    loop, _ = tf.nn.dynamic_rnn(Cell(), x, sequence_length=[2, 1], dtype=tf.float64)
    flat, _ = tf.nn.static_rnn(Cell(), tf.unstack(x, axis=1), sequence_length=[2, 1], dtype=tf.float64)
    ys = [tf.reduce_sum(loop * loop), tf.reduce_sum(tf.stack(flat, 1) ** 2)]
    with HostSession() as host:  # XLA's are those of scans, in behaviours
        np.testing.assert_allclose(*host.run([tf.hessians(y, w)[0] for y in ys]), rtol=1e-9, atol=1e-12)
