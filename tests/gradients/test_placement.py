"""Gating, devices and colocation of gradient operations.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.sessions import run

pytestmark = pytest.mark.usefixtures("graph")


def test_gated_gradients_come_out_together(graph):
    ran = []

    def note(which):
        return lambda v: ran.append(which) or v

    @tf.RegisterGradient("Noting")
    def _noting(op, dy):
        a, b = op.inputs
        return (
            tf.py_func(note("a"), [dy * b], tf.float32),
            tf.py_func(note("b"), [dy * a], tf.float32),
        )

    a, b = tf.constant(2.0), tf.constant(3.0)
    with graph.gradient_override_map({"Mul": "Noting"}):
        y = a * b
    with tf.Session() as sess:
        da, _ = tf.gradients(y, [a, b], gate_gradients=False)
        assert sess.run(da) == 3.0 and ran == ["a"]
        ran.clear()
        da, db = tf.gradients(y, [a, b], gate_gradients=True)
        assert sess.run(da) == 3.0 and sorted(ran) == ["a", "b"]
    assert db.op.type == "Identity"
    assert db.op.control_inputs[0].type == "NoOp"
    assert db.op.control_inputs[0].name == "gradients_1/mul_grad/tuple/group_deps"


def test_colocation_and_devices(graph):
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/gpu:1"):
        y = tf.tanh(x, name="y")
    (apart,) = tf.gradients(y, x)
    assert apart.op.colocation_groups() != y.op.colocation_groups() and apart.op.device == ""
    (beside,) = tf.gradients(y, x, colocate_gradients_with_ops=True)
    assert beside.op.colocation_groups() == y.op.colocation_groups()
    assert beside.op.device == "/device:GPU:1"
    for group in beside.op.colocation_groups():
        graph.get_operation_by_name(group.decode().removeprefix("loc:@"))


def test_a_sum_goes_with_its_first_term(graph):
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/cpu:0"):
        a, b = tf.tanh(x), tf.sin(x)
    for colocate in (True, False):
        (g,) = tf.gradients([a, b], x, colocate_gradients_with_ops=colocate)
        assert g.op.type == "AddN"
        assert g.op.device == g.op.inputs[0].op.device == ("/device:CPU:0" if colocate else "")
        assert g.op.colocation_groups() == g.op.inputs[0].op.colocation_groups()
        assert (g.op.colocation_groups() == a.op.colocation_groups()) is colocate


def test_terms_on_several_devices_are_summed_on_each_first(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/cpu:0"):
        a, b = tf.tanh(x), tf.tanh(x)
    with tf.device("/gpu:0"):
        c, d = tf.tanh(x), tf.tanh(x)
    (g,) = tf.gradients([a, c, b, d], x, colocate_gradients_with_ops=True)
    assert [t.op.type for t in g.op.inputs] == ["AddN", "AddN"]
    assert [t.op.device for t in g.op.inputs] == ["/device:CPU:0", "/device:GPU:0"]
    assert [t.op.colocation_groups() for t in g.op.inputs] == [a.op.colocation_groups(), c.op.colocation_groups()]
    assert g.op.device == "" and g.op.colocation_groups() == [b"loc:@x"]
    np.testing.assert_allclose(run(g, {x: [0.0, 1.0]}), 4 * (1 - np.tanh([0.0, 1.0]) ** 2), rtol=1e-5)


def test_a_tree_of_sums_goes_with_its_operation(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/cpu:0"):
        ys = [tf.tanh(x), tf.sin(x), tf.cos(x)]
    tree = tf.AggregationMethod.EXPERIMENTAL_TREE
    (g,) = tf.gradients(ys, x, aggregation_method=tree, colocate_gradients_with_ops=True)
    assert {o.op.device for o in (g, g.op.inputs[0])} == {""}
    assert {o.op.colocation_groups()[0] for o in (g, g.op.inputs[0])} == {b"loc:@x"}


def test_the_callers_device_and_group(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.exp(x, name="y")
    with tf.device("/cpu:0"):
        assert tf.gradients(y, x)[0].op.device == "/device:CPU:0"
        assert tf.gradients(y, x, colocate_gradients_with_ops=True)[0].op.device == ""
    with tf.colocate_with(tf.constant(1.0, name="z")):
        assert tf.gradients(y, x)[0].op.colocation_groups() == [b"loc:@z"]
        beside = tf.gradients(y, x, colocate_gradients_with_ops=True)[0]
    assert beside.op.colocation_groups() == [b"loc:@y", b"loc:@z"]


def test_seeds_and_zeros_stand_beside_their_ops_too(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/gpu:0"):
        a, _ = tf.unstack(x, name="parts")
        y = tf.exp(a, name="y")
    count = graph.version
    tf.gradients(y, x, colocate_gradients_with_ops=True)
    new = graph.get_operations()[count:]
    assert {o.device for o in new} == {"/device:GPU:0"}
    assert {o.colocation_groups()[0] for o in new} == {b"loc:@y", b"loc:@parts"}


def test_the_2x_face_always_colocates(graph):
    x = tf.placeholder(tf.float32, [2])
    y = tf.tanh(x, name="y")
    assert tf2.gradients(y, x)[0].op.colocation_groups() == [b"loc:@y"]


def test_gated_slices_wait_for_each_other(graph):
    p = tf.placeholder(tf.float32, [3, 2])
    slices = tf.IndexedSlices(tf.constant([[5.0, 6.0]]), tf.constant([1]), tf.constant([3, 2]))
    a, b = tf.identity_n([p, p], name="pair")
    (g,) = tf.gradients([a, b], p, grad_ys=[slices, slices], gate_gradients=True)
    assert isinstance(g, tf.IndexedSlices)
    for values in g.values.op.inputs[:2]:
        assert [c.name for c in values.op.control_inputs] == ["gradients/pair_grad/tuple/group_deps"]
    value = run(g)
    np.testing.assert_array_equal(value.values, [[5, 6], [5, 6]])
    np.testing.assert_array_equal(value.indices, [1, 1])


def test_one_gradient_needs_no_gate(graph):
    x = tf.placeholder(tf.float32, [2])
    assert tf.gradients(tf.tanh(x), x, gate_gradients=True)[0].op.type == "TanhGrad"


def test_gated_gradients_of_every_operation_on_a_run(graph):
    """With gating, no gradient is used before all of its operation are there; without it, they come as they come."""
    ran = []

    def note(which):
        return lambda v: ran.append(which) or v

    @tf.RegisterGradient("NotingOrder")
    def _noting(op, dy):
        return [tf.py_func(note(f"{op.name}/{k}"), [dy * 1.0], tf.float32) for k in range(2)]

    a = tf.constant(2.0)
    with graph.gradient_override_map({"Mul": "NotingOrder"}):
        y = tf.multiply(a * 3.0, 5.0, name="outer")
    for gate in (False, True):
        ran.clear()
        (g,) = tf.gradients(y, a, gate_gradients=gate)
        run(g)
        assert ("outer/1" in ran and "mul/1" in ran) is gate
        if gate:
            assert max(ran.index("outer/0"), ran.index("outer/1")) < min(ran.index("mul/0"), ran.index("mul/1"))


def test_branches_go_with_their_operation_and_keep_devices_inside(graph):
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])

    def on_gpu():
        with tf.device("/gpu:0"):
            return tf.sin(x, name="inside")

    with tf.device("/cpu:0"):
        y = tf.cond(p, on_gpu, lambda: tf.cos(x), name="choice")
    forward = next(o for o in graph.get_operations() if o.type == "If")
    for colocate in (True, False):
        count = graph.version
        tf.gradients(y, x, colocate_gradients_with_ops=colocate)
        (backward,) = [o for o in graph.get_operations()[count:] if o.type == "If"]
        assert (backward.device, backward.colocation_groups() == forward.colocation_groups()) == (
            ("/device:CPU:0", True) if colocate else ("", False))
        inside = backward._attr("then_branch")
        gradient_ops = [o for o in inside.get_operations() if "inside_grad" in o.name]
        assert gradient_ops and {o.device for o in gradient_ops} == {"/device:GPU:0"}
        for o in inside.get_operations():
            for group in o.colocation_groups():
                inside.get_operation_by_name(group.decode().removeprefix("loc:@"))


def test_functions_called_in_a_graph_colocate_like_its_own_operations(graph):
    x = tf.placeholder(tf.float32, [2])

    @tf2.function
    def f(t):
        with tf.device("/gpu:0"):
            return tf.sin(t, name="inside")

    (g,) = tf.gradients(f(x), x, colocate_gradients_with_ops=True)
    assert g.op.device == "/device:GPU:0" and g.op.colocation_groups() == [b"loc:@inside"]


def test_an_outer_control_dependency_reaches_gated_gradients(graph):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    y = a * b
    with tf.control_dependencies([tf.no_op(name="first")]):
        count = graph.version
        grads = tf.gradients(y, [a, b], gate_gradients=True)
    gates = [o for o in graph.get_operations()[count:] if o.type == "NoOp"]
    assert len(gates) == 1 and {g.op.control_inputs for g in grads} == {(gates[0],)}
    assert {c.name for c in gates[0].control_inputs} >= {"gradients/mul_grad/Mul", "gradients/mul_grad/Mul_1"}
    assert run(grads, {a: 2.0, b: 3.0}) == [3.0, 2.0]
