"""`explain_gradient`, strict gradients, and errors for missing gradients."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

import graphgrad as v2
import graphgrad.compat.v1 as tf
from graphgrad.ir.opdef import raw, registry


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


def kinds(why: Any) -> list[tuple[str, str]]:
    return sorted((cut.kind, cut.op.type) for cut in why.cuts)


def test_every_kind_of_cut(graph: tf.Graph) -> None:
    """Each way from y to x has its cut, named by kind, op and line; the graph stays as it is."""
    x = tf.placeholder(tf.float32, [3], name="x")
    h = tf.tanh(x)
    ends = [
        tf.stop_gradient(h),
        tf.round(h),
        tf.cast(tf.cast(h, tf.int32), tf.float32),
        tf.cast(h > 0.5, tf.float32),
        tf.cast(tf.argmax(h), tf.float32),
        tf.random_shuffle(h),
        tf.exp(h),
    ]
    y = tf.add_n([tf.reduce_sum(e) for e in ends], name="y")
    n = graph.version
    why = tf.explain_gradient(y, x, stop_gradients=[ends[-1]])
    assert graph.version == n
    assert kinds(why) == [
        ("integer", "ArgMax"), ("integer", "Cast"), ("integer", "Greater"), ("not differentiable", "RandomShuffle"),
        ("returned None", "Round"), ("stop_gradient", "StopGradient"), ("stop_gradients", "Exp"),
    ]
    assert why.is_none and why.connected and tf.gradients(y, x, stop_gradients=[ends[-1]]) == [None]
    for cut in why.cuts:
        assert cut.path[0].name == "y" and cut.path[-1].name == "x" and cut.op in cut.path
    text = str(why)
    assert "is None: 7 cuts" in text
    assert "stop_gradients[0] stops here" in text
    assert re.search(r"Round \(Round\) +test_explain\.py:\d+:  tf\.round\(h\)", text)
    assert "Fix: use a smooth step: tf.sigmoid(k * (x - y))" in text
    flows = tf.explain_gradient(y, x)
    assert flows.verdict == "flows" and not flows.is_none and len(flows.cuts) == 6
    assert [op.type for op in flows.path] == ["AddN", "Sum", "Exp", "Tanh", "Placeholder"]


def test_operations_stay_as_they_are(graph: tf.Graph) -> None:
    """Explaining gives no operation further inputs or outputs, as its gradient may."""
    x = tf.placeholder(tf.float32, [2])
    y = tf.cond(x[0] > 0, lambda: tf.round(x) * tf.py_func(np.negative, [x], tf.float32), lambda: tf.round(x))

    def sizes() -> list[tuple[int, int]]:
        return [(len(op.inputs), len(op.outputs)) for op in graph.get_operations()]

    before = sizes()
    assert tf.explain_gradient(y, x).is_none and sizes() == before
    assert tf.gradients(y, x) == [None] and sizes() != before


def test_zero() -> None:
    """Zeros by construction are told from None and from what flows, and lead on as zeros."""
    x = tf.placeholder(tf.float32, [3])
    y = tf.reduce_sum(tf.sign(tf.tanh(x)) * 2.0)
    why = tf.explain_gradient(y, x)
    assert why.verdict == "zero" and kinds(why) == [("zero", "Sign")] and "is zero, for all values" in str(why)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.gradients(y, x)[0], {x: [1.0, -1.0, 0.0]}), np.zeros(3))
    rounded = tf.explain_gradient(tf.sign(tf.round(x)), x)
    assert rounded.is_none and kinds(rounded) == [("returned None", "Round"), ("zero", "Sign")]


def test_unrelated() -> None:
    """Without any way from y to x, near misses are named."""
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0], name="v")
    read = tf.identity(v, name="copy")
    y = v * 2.0

    def said(y: Any, x: Any) -> str:
        why = tf.explain_gradient(y, x)
        assert why.is_none and not why.connected and not why.cuts and tf.gradients(y, x) == [None]
        return str(why)

    assert "y does not depend on x" in said(y, x) and "What y depends on: v." in said(y, x)
    assert "Both are computed from 'v' (VarHandleOp)" in said(y, read)
    assert "x was built after y" in said(x, tf.exp(x))
    assert "no variable and no placeholder" in said(tf.constant(1.0), x)
    one, two = tf.split(x, 2)
    assert "on other outputs of Split 'split', not on output 0" in said(two, one)
    with tf.control_dependencies([x]):
        later = tf.identity(y)
    assert "only waits for x" in said(later, x)
    v.assign(x)
    assert "assigned to variable 'v'" in said(v.read_value(), x)
    assert tf.explain_gradient(y, v).verdict == "flows" and tf.explain_gradient(x, x).verdict == "flows"


def test_shapes_and_integers() -> None:
    """What matters only by its shape, and integers as x, are told where nothing else is."""
    x = tf.placeholder(tf.float32, [None])
    y = tf.cast(tf.reduce_sum(tf.shape(x)), tf.float32)
    assert kinds(tf.explain_gradient(y, x)) == [("shape only", "Shape")]
    assert kinds(tf.explain_gradient(y + tf.reduce_sum(tf.floor(x)), x)) == [("returned None", "Floor")]
    i = tf.placeholder(tf.int32, [2], name="i")
    why = tf.explain_gradient(tf.gather([1.0, 2.0], i), i)
    assert kinds(why) == [("integer", "Placeholder")] and "x is int32" in str(why)


def test_no_gradient_registered() -> None:
    """Where gradients() raises, so it is told, with the remedy."""
    x = tf.placeholder(tf.float32, [2])
    why = tf.explain_gradient(tf.unique(x)[0], x)
    assert why.verdict == "raises" and kinds(why) == [("no gradient", "Unique")]
    assert "register one with @tf.RegisterGradient('Unique')" in str(why)
    stopped = tf.explain_gradient(raw.PreventGradient(x, message="not here"), x)
    assert stopped.verdict == "raises" and "raises LookupError" in stopped.cuts[0].why


def test_custom_gradient() -> None:
    """A grad_fn that gives None is named with its line; what is only captured is told so."""
    x = tf.placeholder(tf.float32, [2])
    hidden = tf.exp(x)

    @tf.custom_gradient
    def silent(a: Any) -> Any:
        return a * hidden, lambda dy: None

    why = tf.explain_gradient(silent(tf.identity(x)), x)
    assert kinds(why) == [("returned None", "IdentityN")]
    captured = tf.explain_gradient(silent(tf.constant([1.0, 2.0])), x)
    assert kinds(captured) == [("custom gradient", "IdentityN")] and "pass x as an argument" in str(captured)

    @tf.RegisterGradient("ExplainedNowhere")
    def nowhere(op: Any, dy: Any) -> None:
        return None

    with tf.get_default_graph().gradient_override_map({"Exp": "ExplainedNowhere"}):
        why = tf.explain_gradient(tf.exp(x), x)
    assert "its gradient function nowhere (test_explain.py:" in why.cuts[0].why


def test_in_functions() -> None:
    """Inside a function, outer tensors are x as well."""

    @tf.function
    def f(a: Any) -> Any:
        why = tf.explain_gradient(tf.round(a), a)
        assert kinds(why) == [("returned None", "Round")]
        return a

    f(tf.constant(1.0))


def test_arguments_of_a_call() -> None:
    """Inside of a function that is being called, gradients begin with its arguments, and so do explanations."""
    x = tf.placeholder(tf.float32, [], name="x")

    @v2.function
    def f(a: Any) -> Any:
        why = tf.explain_gradient(a * a, x)
        assert why.is_none and kinds(why) == [("argument", "Identity")] and tf.gradients(a * a, x) == [None]
        assert "begin with its arguments" in str(why)
        assert tf.explain_gradient(a * a, a).verdict == tf.explain_gradient(a * x, x).verdict == "flows"
        return a

    y = f(x * x)
    assert tf.explain_gradient(y, x).verdict == "flows" and tf.gradients(y, x) != [None]


def test_eager_is_refused() -> None:
    """Eager values do not know how they were computed."""
    from graphgrad.ir.context import EAGER, use

    with use(EAGER):
        x = tf.constant(1.0)
        with pytest.raises(TypeError, match="(?s)tensors of a graph.*Fix:"):
            tf.explain_gradient(x, x)


def test_linear(graph: tf.Graph) -> None:
    """A deep graph with a cut at each step: no recursion, paths only when asked for, a short text."""
    x = tf.placeholder(tf.float32, [])
    y = x
    for _ in range(3000):
        y = y + tf.round(x)
    why = tf.explain_gradient(y, x)
    assert why.verdict == "flows" and len(why.cuts) == 3000
    assert len(str(why).splitlines()) < 500 and "and 2980 more cuts" in str(why) and "operations ..." in str(why)


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_gradients(seed: int) -> None:
    """On random graphs None is explained exactly where gradients() gives None."""
    rng = random.Random(seed)
    xs = [tf.placeholder(tf.float32, [2]) for _ in range(4)]
    pool: list[Any] = list(xs)
    steps = [tf.tanh, tf.round, tf.stop_gradient, tf.sign, lambda a: tf.cast(tf.cast(a, tf.int32), tf.float32),
             lambda a: tf.split(a, 2)[rng.randrange(2)] * [1.0, 2.0],
             lambda a: tf.cast(a > 0.0, tf.float32) * a]
    for _ in range(25):
        if rng.random() < 0.4:
            pool.append(rng.choice(pool) * rng.choice(pool))
        else:
            pool.append(rng.choice(steps)(rng.choice(pool)))
    ys = pool[-3:]
    stops = rng.sample(pool, 2)
    verdicts = [tf.explain_gradient(ys, t, stop_gradients=stops) for t in pool]
    found = [tf.gradients(ys, t, stop_gradients=stops)[0] for t in pool]
    assert [v.is_none for v in verdicts] == [g is None for g in found]
    assert any(v.is_none for v in verdicts) and any(v.verdict == "flows" for v in verdicts)
    zeros = [g for v, g in zip(verdicts, found, strict=True) if v.verdict == "zero"]
    with tf.Session() as sess:
        for value in sess.run(zeros, {x: [0.7, -1.3] for x in xs}):
            assert not value.any()


def test_lookup_error() -> None:
    """The error for a missing gradient carries op, path, line and remedies."""
    x = tf.placeholder(tf.float32, [2], name="x")
    middle = tf.unique(tf.exp(x))[0]
    with pytest.raises(LookupError, match=r"(?s)Unique.*Built at test_explain.py.*Fix: register one with") as e:
        tf.gradients(tf.tanh(middle), x)
    assert e.value.op is middle.op  # type: ignore[attr-defined]  # the error has it
    # Silenced: the error has it.
    assert [o.type for o in e.value.path] == ["Tanh", "Unique", "Exp", "Placeholder"]  # type: ignore[attr-defined]


_NAMES = {"k": 3.0, "t": 0.5, "n": 3.0}


_ADVICE = {name: opdef.gradient_advice for name, opdef in registry.items()}


@pytest.mark.parametrize("op_type", [t for t, text in _ADVICE.items() if "(" in text.partition(": ")[2]])
def test_replacements_are_true(op_type: str) -> None:
    """What is suggested instead of an op works, and has a gradient that is not zero."""
    expression = re.split(r", (?:n a|u uniform)", _ADVICE[op_type].partition(": ")[2])[0]
    x = tf.constant([[0.2, 1.7, -0.6]])
    names = {"tf": tf, "x": x, "y": tf.constant([[0.4, 2.0, 0.3]]), "logits": x, "predictions": x,
             "u": tf.constant([[0.2, 0.6, 0.9]]), "targets": tf.constant([1]), **_NAMES}
    value = eval(expression, names)
    with tf.Session() as sess:
        gradient = sess.run(tf.gradients(value * [0.5, 1.0, 2.0], x)[0])
    assert np.isfinite(gradient).all() and gradient.any()


def test_strict() -> None:
    """Strict gradients raise with the explanation instead of giving None, also below optimizers and in branches."""
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.Variable(1.0, name="v")
    other = tf.Variable(1.0, name="other")
    y = tf.cond(x > 0.0, lambda: x * v, lambda: x)
    with tf.strict_gradients():
        assert all(g is not None for g in tf.gradients(y, [x, v]))
        with pytest.raises(ValueError, match=r"(?s)gradient of Round:0 with respect to x:0 is None.*Fix: .*strict"):
            tf.gradients(tf.round(x), x)
        with pytest.raises(ValueError, match=r"(?s)with respect to other:0 is None: y does not depend on x"):
            tf.train.GradientDescentOptimizer(0.1).minimize(y)
        (zero,) = tf.gradients(tf.round(x), x, unconnected_gradients="zero")
        assert zero is not None
        with tf.strict_gradients(False):
            assert tf.gradients(y, other) == [None]
        with pytest.raises(ValueError, match="Nor have these a gradient: "):
            tf.gradients(y, [other] * 5)
    assert tf.gradients(y, other) == [None]
