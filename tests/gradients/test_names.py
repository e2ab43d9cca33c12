"""Where `gradients` puts its operations: names, scopes, what stays untouched.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import pytest

import graphgrad.compat.v1 as tf
from tests.support.sessions import without_gradient

pytestmark = pytest.mark.usefixtures("graph")


def test_names_and_op_types_are_tensorflows(graph):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    tf.gradients(tf.tanh(x) * x + x, x)
    made = [(op.name, op.type) for op in graph.get_operations() if op.name.startswith("gradients")]
    assert made == [
        ("gradients/Shape", "Const"),
        ("gradients/grad_ys_0/Const", "Const"),
        ("gradients/grad_ys_0", "Fill"),
        ("gradients/mul_grad/Mul", "Mul"),
        ("gradients/mul_grad/Mul_1", "Mul"),
        ("gradients/Tanh_grad/TanhGrad", "TanhGrad"),
        ("gradients/AddN", "AddN"),
    ]


def test_scope_is_unique_and_nothing_is_added_outside(graph):
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.exp(x)
    before = graph.get_operations()
    described = [op.node_def for op in before]
    for name, scope in [(None, "gradients/"), ("gradients", "gradients_1/"), ("mine", "mine/"), ("mine", "mine_1/")]:
        count = len(graph.get_operations())
        tf.gradients(y, x, name=name) if name else tf.gradients(y, x)
        new = graph.get_operations()[count:]
        assert new and all(op.name.startswith(scope) for op in new)
    assert [op.node_def for op in before] == described


def test_gradient_ops_remember_their_forward_op(graph):
    x = tf.placeholder(tf.float32, [3])
    y = tf.tanh(x)
    g = tf.gradients(y, x)[0]
    assert g.op.type == "TanhGrad"
    assert g.op._original_op is y.op


def test_a_failed_call_leaves_the_scopes_as_they_were(graph):
    x = tf.constant(2.0)
    y = without_gradient(x)
    with tf.name_scope("here"):
        with pytest.raises(LookupError):
            tf.gradients(y, x, colocate_gradients_with_ops=True)
        after = tf.constant(1.0, name="after")
    assert after.op.name == "here/after" and after.op._original_op is None
    assert after.op.colocation_groups() == [b"loc:@here/after"]


def _names(graph, since):
    return [o.name for o in graph.get_operations()[since:]]


def test_names_follow_the_scopes_of_the_call_and_of_the_forward_op(graph):
    with tf.name_scope("outer"):
        x = tf.placeholder(tf.float32, [3], name="x")
        with tf.name_scope("layer"):
            y = tf.exp(x)
        count = graph.version
        tf.gradients(y, x)
    assert _names(graph, count) == [
        "outer/gradients/Shape", "outer/gradients/grad_ys_0/Const", "outer/gradients/grad_ys_0",
        "outer/gradients/outer/layer/Exp_grad/Mul",
    ]
    count = graph.version
    with tf.name_scope("elsewhere"):
        tf.gradients(y, x, name="g")
    assert all(n.startswith("elsewhere/g/") for n in _names(graph, count))


def test_names_of_a_second_order(graph):
    x = tf.placeholder(tf.float32, [3], name="x")
    (g,) = tf.gradients(x * x, x)
    count = graph.version
    tf.gradients(g, x)
    assert _names(graph, count) == [
        "gradients_1/Shape", "gradients_1/grad_ys_0/Const", "gradients_1/grad_ys_0",
        "gradients_1/gradients/mul_grad/Mul_grad/Mul", "gradients_1/gradients/mul_grad/Mul_grad/Mul_1",
        "gradients_1/gradients/mul_grad/Mul_1_grad/Mul", "gradients_1/gradients/mul_grad/Mul_1_grad/Mul_1",
        "gradients_1/AddN",
    ]


def test_a_name_with_a_slash_enters_that_scope_again_and_an_empty_one_none(graph):
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.exp(x)
    count = graph.version
    with tf.name_scope("left"):
        for name in ("mine/", "mine/", ""):
            tf.gradients(y, x, name=name)
    names = _names(graph, count)
    assert names[:4] == ["mine/Shape", "mine/grad_ys_0/Const", "mine/grad_ys_0", "mine/Exp_grad/Mul"]
    assert names[4:8] == ["mine/Shape_1", "mine/grad_ys_0_1/Const", "mine/grad_ys_0_1", "mine/Exp_grad_1/Mul"]
    assert names[8:] == ["Shape", "grad_ys_0/Const", "grad_ys_0", "Exp_grad/Mul"]
    with pytest.raises(ValueError, match="'a b' is not a valid"):
        tf.gradients(y, x, name="a b")


def test_existing_operations_stay_as_they_are(graph):
    with tf.device("/cpu:0"), tf.control_dependencies([tf.no_op()]):
        x = tf.placeholder(tf.float32, [3], name="x")
        y = tf.reduce_sum(tf.exp(x) * x)

    def described():
        return [(o.name, o.type, o.inputs, dict(o.attrs), o.control_inputs, o.device, o.colocation_groups(),
                 o._original_op, [t.shape.as_list() for t in o.outputs]) for o in before]

    before = graph.get_operations()
    then = described()
    tf.gradients(y, [x], colocate_gradients_with_ops=True, gate_gradients=True, unconnected_gradients="zero")
    assert described() == then
    assert graph.get_operations()[: len(before)] == before


def test_control_dependencies_around_the_call_hold_for_what_it_adds(graph):
    x = tf.placeholder(tf.float32, [3])
    y = tf.exp(x)
    first = tf.no_op(name="first")
    with tf.control_dependencies([first]):
        count = graph.version
        tf.gradients(y, x)
    waiting = {o.name: [c.name for c in o.control_inputs] for o in graph.get_operations()[count:]}
    # What has an input from within the block waits through it.
    assert waiting == {"gradients/Shape": ["first"], "gradients/grad_ys_0/Const": ["first"],
                       "gradients/grad_ys_0": [], "gradients/Exp_grad/Mul": []}


def test_the_users_line_is_that_of_the_call(graph):
    x = tf.placeholder(tf.float32, [3])
    y = tf.exp(x)
    count = graph.version
    tf.gradients(y, x)
    assert {str(o.source).split(":  ")[1] for o in graph.get_operations()[count:]} == {"tf.gradients(y, x)"}


def test_zeros_for_what_is_unconnected_stand_outside_of_the_scope(graph):
    x, v = tf.placeholder(tf.float32, [None], name="x"), tf.Variable([1.0, 2.0], name="v")
    y = tf.constant(1.0)
    count = graph.version
    zeros = tf.gradients(y, [x, v], unconnected_gradients="zero")
    assert [(g.op.name, g.op.type) for g in zeros] == [("zeros_like", "ZerosLike"), ("zeros", "Fill")]
    inside = [n for n in _names(graph, count) if not n.startswith("zeros")]
    assert inside == ["gradients/Shape", "gradients/grad_ys_0/Const", "gradients/grad_ys_0"]
