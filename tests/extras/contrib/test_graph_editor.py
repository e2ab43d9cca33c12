"""`tf.contrib.graph_editor`: TensorFlow 2.21 has none to record from; graphs are small enough to say what is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import graph_editor as ge
from graphgrad.executor.runtime.session import HostSession


@pytest.fixture
def net() -> Any:
    """a -> b -> c -> d, and b -> e -> d, in a graph with a session."""
    with tf.Graph().as_default() as graph, HostSession() as sess:
        a = tf.constant([1.0, 2.0], name="a")
        b = tf.square(a, name="scope/b")
        c = tf.negative(b, name="scope/c")
        e = tf.exp(b, name="e")
        d = tf.add(c, e, name="d")
        yield graph, sess, {"a": a, "b": b, "c": c, "d": d, "e": e}


def _names(values: Any) -> list[str]:
    return [v.name for v in values]


def test_walks(net: Any) -> None:
    """Walks go against and along the edges, stop at tensors, and keep within operations."""
    _, _, t = net
    assert set(_names(ge.get_backward_walk_ops(t["d"].op))) == {"d", "scope/c", "e", "scope/b", "a"}
    assert set(_names(ge.get_backward_walk_ops([t["d"]], inclusive=False))) == {"scope/c", "e", "scope/b", "a"}
    assert set(_names(ge.get_backward_walk_ops(t["d"].op, stop_at_ts=[t["b"]]))) == {"d", "scope/c", "e"}
    assert set(_names(ge.get_forward_walk_ops(t["b"].op))) == {"scope/b", "scope/c", "e", "d"}
    assert set(_names(ge.get_forward_walk_ops([t["b"]]))) == {"scope/c", "e", "d"}
    assert set(_names(ge.get_forward_walk_ops(t["b"].op, within_ops=[t["b"].op, t["e"].op]))) == {"scope/b", "e"}
    assert set(_names(ge.get_forward_walk_ops(t["b"].op, within_ops_fn=lambda op: op.type != "Exp"))) == {
        "scope/b", "scope/c", "d"}
    assert set(_names(ge.get_walks_intersection_ops(t["b"].op, t["e"].op))) == {"scope/b", "e"}
    with tf.control_dependencies([t["e"]]):
        late = tf.no_op(name="late")
    assert _names(ge.get_backward_walk_ops(late)) == ["late"]
    assert "e" in _names(ge.get_backward_walk_ops(late, control_inputs=True))


def test_selecting(net: Any) -> None:
    """By patterns and functions, of names and of operations."""
    graph, _, t = net
    assert _names(ge.select_ops("^scope/", graph=graph)) == ["scope/b", "scope/c"]
    assert _names(ge.select_ops("scope", positive_filter=lambda op: op.type == "Neg")) == ["scope/c"]
    assert _names(ge.select_ops([t["a"].op], "^e$")) == ["a", "e"]
    assert _names(ge.select_ts("^scope/.*:0")) == ["scope/b:0", "scope/c:0"]
    assert _names(ge.filter_ts_from_regex([t["d"].op, t["c"].op], "scope")) == ["scope/c:0", "scope/b:0"]
    assert _names(ge.filter_ts([t["c"].op], lambda x: "b" in x.name)) == ["scope/b:0"]
    assert _names(ge.filter_ops_from_regex(graph.get_operations(), "^[ad]$")) == ["a", "d"]
    assert _names(ge.get_name_scope_ops(graph, "scope")) == ["scope/b", "scope/c"]
    assert _names(ge.get_generating_ops([t["b"], t["c"]])) == ["scope/b", "scope/c"]
    assert _names(ge.get_consuming_ops([t["b"]])) == ["scope/c", "e"]
    view = ge.sgv("^scope/")
    assert (_names(view.inputs), _names(view.outputs)) == (["a:0"], ["scope/b:0", "scope/c:0"])
    with pytest.raises(TypeError, match="Expected an operation"):
        ge.make_list_of_op([t["a"]])
    with pytest.raises(ValueError, match="Invalid keywords arguments: nonsense"):
        ge.select_ops("a", nonsense=1)


def test_copying(net: Any) -> None:
    """Copies compute the same on other inputs, have gradients, and names of their own; also in another graph."""
    _, sess, t = net
    other = tf.constant([0.0, 1.0])
    view, info = ge.copy_with_input_replacements(ge.sgv("^scope/|^d$|^e$"), {t["a"]: other}, dst_scope="new")
    d = info.transformed(t["d"])
    assert d.name == "new/d:0" and info.original(d) is t["d"] and info.transformed(t["a"]) is None
    assert set(_names(view.ops)) == {"new/scope/b", "new/scope/c", "new/e", "new/d"}
    np.testing.assert_allclose(sess.run(d), -np.array([0.0, 1.0]) + np.exp([0.0, 1.0]))
    grad, = tf.gradients(d, other)
    np.testing.assert_allclose(sess.run(grad), [0.0, -2 + 2 * np.e], rtol=1e-6)
    replaced = ge.graph_replace([t["d"], t["b"]], {t["b"]: tf.constant([0.0, 0.0])})
    np.testing.assert_allclose(sess.run(replaced[0]), [1.0, 1.0])
    assert replaced[1] is t["b"]
    with pytest.raises(ValueError, match="not connected"):
        ge.graph_replace(t["a"], {t["d"]: other})
    with tf.Graph().as_default() as elsewhere, HostSession() as session:
        with pytest.raises(ValueError, match="of another graph"):
            ge.copy_with_input_replacements(t["c"].op, {}, elsewhere)
        _, info = ge.copy(ge.sgv([v.op for v in t.values()]), elsewhere)
        np.testing.assert_allclose(session.run(info.transformed(t["b"])), [1.0, 4.0])


def test_changing(net: Any) -> None:
    """Inputs and control inputs are changed, and runs and gradients see it; the order stays possible."""
    _, sess, t = net
    later = tf.identity(t["a"], name="later")
    with pytest.raises(ValueError, match=r"(?s)'?d'? cannot use later:0, which was built after it.*Fix:"):
        ge.reroute_ts([later], [t["c"]])
    assert ge.reroute_ts([t["a"]], [t["b"]], cannot_modify=[t["e"].op]) == 1
    np.testing.assert_allclose(sess.run(t["d"]), -np.array([1.0, 2.0]) + np.exp([1.0, 4.0]), rtol=1e-6)
    grad, = tf.gradients(t["d"], t["a"])
    np.testing.assert_allclose(sess.run(grad), [-1 + 2 * np.exp(1), -1 + 4 * np.exp(4)], rtol=1e-6)
    assert ge.reroute_ts([t["a"]], [t["b"]], can_modify=[]) == 0
    assert _names(t["b"].consumers())[:1] == ["e"]
    ge.add_control_inputs(t["d"].op, [t["a"].op])
    assert t["d"].op.control_inputs == (t["a"].op,)
    with pytest.raises(ValueError, match="already a control_input"):
        ge.add_control_inputs(t["d"].op, t["a"].op)
    with pytest.raises(ValueError, match="cannot wait for later"):
        ge.add_control_inputs(t["d"].op, later.op)
    ge.remove_control_inputs(t["d"].op, t["a"].op)
    assert t["d"].op.control_inputs == ()
    with pytest.raises(ValueError, match="float32, .* int32"):
        ge.reroute_ts([t["a"]], [tf.constant([1, 2])])
    with pytest.raises(ValueError, match="give one for each"):
        ge.reroute_ts([t["a"]], [t["a"], t["b"]])


def test_gradients_with_checkpoints() -> None:
    """As memory-saving gradients do it: what lies between is copied, and computed again for the gradient."""
    with tf.Graph().as_default() as graph, HostSession() as sess:
        x = tf.constant(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))
        w = tf.constant(np.eye(3, dtype=np.float32) * 1.3)
        layers = [x]
        for _ in range(6):
            layers.append(tf.tanh(tf.matmul(layers[-1], w)))
        loss = tf.reduce_sum(layers[-1] ** 2)
        expected = sess.run(tf.gradients(loss, [w])[0])
        forward = set(ge.get_forward_walk_ops([x, w])) & set(ge.get_backward_walk_ops(loss.op))
        checkpoint = layers[3]
        cut = tf.stop_gradient(checkpoint)
        between = [op for op in forward if op.index > checkpoint.op.index]
        _, info = ge.copy_with_input_replacements(ge.sgv(between), {})
        copied = list(info._transformed_ops.values())
        assert ge.reroute_ts([cut], [checkpoint], can_modify=copied) == 1
        upper = tf.gradients(info.transformed(loss), [cut, w])
        lower = tf.gradients(checkpoint, [w], upper[0])
        np.testing.assert_allclose(sess.run(upper[1] + lower[0]), expected, rtol=1e-5)
        assert graph.version > 0
