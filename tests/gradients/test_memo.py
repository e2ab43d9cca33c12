"""`memoize_gradients`: identical calls share their operations, and nothing else does."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.ir.opdef import registry


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


@pytest.fixture
def memo() -> Any:
    with tf.memoize_gradients():
        yield


def added(graph: tf.Graph, call: Any) -> tuple[int, Any]:
    """How many operations `call` adds, and what it returns."""
    before = len(graph.get_operations())
    result = call()
    return len(graph.get_operations()) - before, result


def test_identical_calls(graph: tf.Graph) -> None:
    """The second call gives the very same tensors and adds nothing, whatever was built in between."""
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0], name="v")
    y = tf.tanh(x * v)
    with tf.memoize_gradients():
        first = tf.gradients(y, [x, v])
        tf.tanh(y) + x
        count, second = added(graph, lambda: tf.gradients(y, [x, v]))
        assert count == 0 and all(a is b for a, b in zip(first, second, strict=True))
        second.clear()  # the list belongs to the caller
        assert tf.gradients([y], (x, v), grad_ys=[None], name="gradients")[1] is first[1]
    with tf.Session() as sess:
        sess.run(v.initializer)
        dx, dv = sess.run(first, {x: [0.5, -0.25]})
    slope = 1 - np.tanh([0.5, -0.5]) ** 2
    np.testing.assert_allclose(dx, slope * [1, 2], rtol=1e-5)
    np.testing.assert_allclose(dv, slope * [0.5, -0.25], rtol=1e-5)


def test_off_by_default(graph: tf.Graph) -> None:
    """Without the switch the names are TensorFlow's; an answer from memory uses up no name."""
    x = tf.constant(1.0)
    y = tf.tanh(x)
    assert tf.gradients(y, x)[0].name.startswith("gradients/")
    assert tf.gradients(y, x)[0].name.startswith("gradients_1/")
    with tf.memoize_gradients():
        assert tf.gradients(y, x)[0].name.startswith("gradients_2/")
        assert tf.gradients(y, x)[0].name.startswith("gradients_2/")
        with tf.memoize_gradients(False):
            assert tf.gradients(y, x)[0].name.startswith("gradients_3/")
        assert tf.gradients(y, x)[0].name.startswith("gradients_2/")
    assert tf.gradients(y, x)[0].name.startswith("gradients_4/")


ARGUMENTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "other ys": {"ys": ["y", "y"]},
    "other xs": {"xs": ["h"]},
    "grad_ys": {"grad_ys": ["w"]},
    "another grad_ys": {"grad_ys": ["x"]},
    "a number": {"grad_ys": [0.0]},
    "the other zero": {"grad_ys": [-0.0]},
    "a stop": {"stop_gradients": ["h"]},
    "colocation": {"colocate_gradients_with_ops": True},
    "gates": {"gate_gradients": True},
    "aggregation": {"aggregation_method": 1},
    "zeros": {"unconnected_gradients": "zero"},
    "a name": {"name": "mine"},
}


@pytest.mark.usefixtures("memo")
def test_every_argument_counts(graph: tf.Graph) -> None:
    """Calls that differ in one argument have their own operations; each is remembered by itself."""
    x = tf.placeholder(tf.float32, [], name="x")
    h = x * x
    known = {"x": x, "h": h, "y": h * tf.tanh(x), "w": tf.constant(2.0)}

    def call(change: dict[str, Any]) -> Any:
        arguments = {"ys": ["y"], "xs": ["x"], **change}
        for key in ("ys", "xs", "grad_ys", "stop_gradients"):
            if key in arguments:
                arguments[key] = [known.get(k, k) for k in arguments[key]]
        return tf.gradients(**arguments)[0]

    results = {}
    for words, change in ARGUMENTS.items():
        count, results[words] = added(graph, lambda change=change: call(change))
        assert count > 0, words
    assert len({r.name for r in results.values()}) == len(ARGUMENTS)
    for words, change in ARGUMENTS.items():
        count, result = added(graph, lambda change=change: call(change))
        assert (count, result) == (0, results[words]), words
    # A slope for each: what the arguments ask for is what comes out.
    with tf.Session() as sess:
        got = dict(zip(results, sess.run(list(results.values()), {x: 0.5}), strict=True))
    t, slope = np.tanh(0.5), 0.25 * (1 - np.tanh(0.5) ** 2)
    for words, scale in (("plain", 1), ("other ys", 2), ("grad_ys", 2), ("another grad_ys", 0.5), ("a number", 0)):
        np.testing.assert_allclose(got[words], scale * (t + slope), rtol=1e-5, err_msg=words)
    np.testing.assert_allclose([got["other xs"], got["a stop"]], [t, slope], rtol=1e-5)


def test_surroundings_count(graph: tf.Graph, memo: Any) -> None:
    """Control dependencies, devices, colocation and overrides are part of the question."""

    @tf.RegisterGradient("MemoZeroGrad")
    def _zero(op: Any, *grads: Any) -> Any:
        return [None for _ in op.inputs]

    x = tf.constant(1.0)
    y = tf.tanh(x) * x
    (plain,) = tf.gradients(y, x)
    barrier = tf.no_op("barrier")
    with tf.control_dependencies([barrier]):
        (waiting,) = tf.gradients(y, x)
        assert tf.gradients(y, x)[0] is waiting is not plain
    made = graph.get_operations()[barrier.index + 1 :]
    assert made and all(barrier in op.control_inputs or any(t.op in made for t in op.inputs) for op in made)
    with tf.control_dependencies([barrier]):  # another block: what was built in it waits for itself
        assert tf.gradients(y, x)[0] is not waiting
    with tf.device("/cpu:0"):
        (placed,) = tf.gradients(y, x)
    assert placed.device.lower().endswith("cpu:0") and not plain.device
    with tf.colocate_with(y.op):
        (beside,) = tf.gradients(y, x)
    assert f"loc:@{y.op.name}".encode() in beside.op.colocation_groups()
    with graph.gradient_override_map({"TanhGrad": "MemoZeroGrad"}):
        (overridden,) = tf.gradients(y, x)
        assert tf.gradients(y, x)[0] is overridden
    assert len({t.name for t in (plain, waiting, placed, beside, overridden)}) == 5
    assert tf.gradients(y, x)[0] is plain


@pytest.mark.usefixtures("memo")
def test_names() -> None:
    """The default name is no wish; a name that was asked for is one, in the scope where it was."""
    x = tf.constant(1.0)
    y = tf.tanh(x)
    (plain,) = tf.gradients(y, x)
    with tf.name_scope("a"):
        assert tf.gradients(y, x)[0] is plain
        (named,) = tf.gradients(y, x, name="slope")
    assert named.name.startswith("a/slope/")
    with tf.name_scope("b"):
        assert tf.gradients(y, x, name="slope")[0].name.startswith("b/slope/")


def test_rules_that_change(graph: tf.Graph, memo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that is exchanged, declared or registered under a new name is used by the next call."""
    x = tf.constant(0.5)
    y = tf.tanh(x)
    (before,) = tf.gradients(y, x)
    with monkeypatch.context() as m:
        m.setattr(registry["Tanh"], "gradient", lambda op, dy: 7.0 * dy)
        (changed,) = tf.gradients(y, x)
        assert changed is not before
    (back,) = tf.gradients(y, x)
    assert back is not changed
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run([changed, back]), [7.0, 1 - np.tanh(0.5) ** 2], rtol=1e-5)
    assert tf.gradients(y, x)[0] is back
    with graph.gradient_override_map({"Tanh": "MemoLater"}):
        z = tf.tanh(x)
    for _ in range(2):  # an error is not remembered
        with pytest.raises(LookupError, match="MemoLater"):
            tf.gradients(z, x)

    @tf.RegisterGradient("MemoLater")
    def _later(op: Any, dy: Any) -> Any:
        return 3.0 * dy

    (late,) = tf.gradients(z, x)
    with tf.Session() as sess:
        assert sess.run(late) == 3.0


def test_changes_in_place(graph: tf.Graph, memo: Any) -> None:
    """What is newly known about a shape between xs and ys, or a device, is used; changes elsewhere are no concern."""
    x = tf.placeholder(tf.float32, None)
    y = tf.tanh(x)
    (before,) = tf.gradients(y, x)
    assert before.shape.rank is None
    later = tf.placeholder(tf.float32, None)
    later.set_shape([4])
    x.set_shape(None)  # says nothing new
    assert tf.gradients(y, x)[0] is before
    x.set_shape([3])
    y.set_shape([3])
    (after,) = tf.gradients(y, x)
    assert after is not before and after.shape == [3]
    tf.gradients(later, later)  # another answer, of more operations, stays
    y.op._set_device("/cpu:0")
    assert tf.gradients(y, x)[0] is not after
    (z,) = tf.gradients(tf.reduce_sum(tf.matmul(w := tf.placeholder(tf.float32, None), w)), w)
    assert tf.gradients(y, x)[0] is tf.gradients(y, x)[0] and z is not None


def test_shapes_set_by_rules(memo: Any) -> None:
    """A call whose rules refine the shapes of what they build is remembered all the same."""
    x = tf.placeholder(tf.float32, [3])

    @tf.custom_gradient
    def f(x: Any) -> Any:
        return tf.tanh(x), lambda dy: tf.placeholder_with_default(dy, None)

    y = f(x)
    (g,) = tf.gradients(y, x)
    assert g.shape == [3] and tf.gradients(y, x)[0] is g


def test_what_cannot_be_told_is_built_anew(graph: tf.Graph, memo: Any) -> None:
    """Arrays may change, device functions may answer anything, and variables among the ys are read anew."""
    v = tf.Variable([1.0, 2.0])
    x = tf.placeholder(tf.float32, [2])
    y = x * 2.0
    weights = np.ones(2, np.float32)
    (one,) = tf.gradients(y, x, grad_ys=weights)
    weights[:] = 5.0
    (five,) = tf.gradients(y, x, grad_ys=weights)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run([one, five]), [[2, 2], [10, 10]])
    with tf.device(lambda op: "/cpu:0"):
        assert tf.gradients(y, x)[0] is not tf.gradients(y, x)[0]
    assert tf.gradients(v, v)[0] is not tf.gradients(v, v)[0]


@pytest.mark.usefixtures("memo")
def test_strict() -> None:
    """A None that was remembered is an error under strict_gradients all the same."""
    x = tf.constant(0.5)
    y = tf.round(x)
    for _ in range(2):
        assert tf.gradients(y, x) == [None]
    for _ in range(2):
        with tf.strict_gradients(), pytest.raises(ValueError, match="strict_gradients is on"):
            tf.gradients(y, x)


@pytest.mark.usefixtures("memo")
def test_who_profits(graph: tf.Graph) -> None:
    """Optimizers share the operations of `gradients`; sparse gradients are shared, too; Hessians take half as many."""
    table = tf.Variable(np.ones((5, 2), np.float32))
    w = tf.Variable([1.0, 2.0])
    loss = tf.reduce_sum(tf.tanh(tf.gather(table, [1, 3]) * w))
    grads = tf.gradients(loss, [table, w])
    assert isinstance(grads[0], tf.IndexedSlices)
    count, pairs = added(graph, lambda: tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss, [table, w]))
    assert count == 0 and [g for g, _ in pairs] == grads
    x = tf.placeholder(tf.float32, [3])
    y = tf.reduce_sum(x * x * x)
    first, _ = added(graph, lambda: tf.hessians(y, x))
    second, (h,) = added(graph, lambda: tf.hessians(y, x))
    assert second < first
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(h, {x: [1, 2, 3]}), np.diag([6, 12, 18]))


def test_control_flow_and_functions() -> None:
    """Inside functions each graph remembers its own; loops and branches are differentiated as ever."""

    def f(x: Any, n: int) -> Any:
        def body(i: Any, y: Any) -> Any:
            return i + 1, tf.cond(y > 0.0, lambda: y * x, lambda: -y)

        _, y = tf.while_loop(lambda i, y: i < n, body, [0, x])
        return tf.gradients(y, x)[0], tf.gradients(y, x)[0]

    with tf.Session() as sess, tf.memoize_gradients():
        x = tf.placeholder(tf.float32, [])
        a, b = f(x, 3)
        assert a is b
        np.testing.assert_allclose(sess.run(a, {x: 2.0}), 4 * 2.0**3, rtol=1e-5)
        same = []

        @tf.function
        def g(x: Any) -> Any:
            a, b = f(x, 2)
            same.append(a is b)
            return a + b

        np.testing.assert_allclose(sess.run(g(x), {x: 2.0}), 2 * 3 * 2.0**2, rtol=1e-5)
        assert same and all(same)


def test_threads(graph: tf.Graph) -> None:
    """The switch is each thread's own; of several threads that ask the same, one builds."""
    x = tf.constant(1.0)
    y = x
    for _ in range(300):
        y = tf.tanh(y)
    start = threading.Barrier(4)
    results: list[Any] = []

    def ask() -> None:
        with graph.as_default(), tf.memoize_gradients():
            start.wait()
            results.append(tf.gradients(y, x)[0])

    def ask_anew() -> None:
        with graph.as_default():
            results.append(tf.gradients(y, x)[0])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({t.name for t in results}) == 1
    assert sum(op.type == "TanhGrad" for op in graph.get_operations()) == 300
    with tf.memoize_gradients():
        thread = threading.Thread(target=ask_anew)
        thread.start()
        thread.join()
        assert results[-1] is not results[0] and tf.gradients(y, x)[0] is results[0]


def test_goes_with_the_graph() -> None:
    """What is remembered keeps no graph alive."""
    with tf.Graph().as_default() as g, tf.memoize_gradients():
        x = tf.placeholder(tf.float32, [2])
        y = tf.tanh(x)
        with tf.control_dependencies([y]):
            tf.gradients(y, x, grad_ys=tf.gradients(y, x))
    gone = weakref.ref(g)
    del g, x, y
    gc.collect()
    assert gone() is None
