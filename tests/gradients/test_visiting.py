"""Which operations `gradients` visits, and what it gives for xs that the ys do not depend on.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.sessions import run

pytestmark = pytest.mark.usefixtures("graph")


def test_only_ops_between_are_visited(graph):
    @tf.RegisterGradient("NeverCalled")
    def _never(op, dy):
        raise AssertionError("not between x and y")

    x = tf.constant(2.0)
    with graph.gradient_override_map({"Exp": "NeverCalled"}):
        tf.exp(x)  # y does not depend on it
        z = tf.exp(tf.constant(1.0))  # does not depend on x
    assert run(tf.gradients(x * z, x)) == [pytest.approx(np.e)]


def test_ys_that_depend_on_each_other_are_summed():
    x = tf.constant(3.0)
    y = x * x
    z = y * y
    assert run(tf.gradients([y, z], [x, y])) == [114.0, 19.0]
    assert run(tf.gradients([z, z], [x, x, y])) == [216.0, 216.0, 36.0]


def test_y_is_x():
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(run(tf.gradients(x, x))[0], [1, 1])
    integer = tf.placeholder(tf.int32, [2])
    (g,) = tf.gradients(integer, integer)
    assert g.dtype is tf.int32


def test_an_x_inside_the_path_of_another():
    x = tf.constant(2.0)
    y = x * x
    z = tf.exp(y)
    dx, dy = run(tf.gradients(z, [x, y]))
    assert dy == pytest.approx(np.exp(4), rel=1e-5)
    assert dx == pytest.approx(4 * np.exp(4), rel=1e-5)


def test_nested_structures_of_ys_and_xs():
    a, b = tf.constant(1.0), tf.constant(2.0)
    assert run(tf.gradients([[a * b], a], [a, [b]])) == [3.0, 1.0]


def test_higher_orders():
    x = tf.constant(3.0)
    y = x**5
    values = []
    for _ in range(5):
        (y,) = tf.gradients(y, x)
        values.append(y)
    assert run(values) == [405.0, 540.0, 540.0, 360.0, 120.0]


def test_unconnected_gradients():
    a, b = tf.ones([1, 2]), tf.ones([3, 1])
    assert tf.gradients([b], [a], unconnected_gradients="none") == [None]
    assert tf.gradients([b], [a]) == [None]
    for zero in ("zero", tf.UnconnectedGradients.ZERO):
        (g,) = tf.gradients([b], [a], unconnected_gradients=zero)
        np.testing.assert_array_equal(run(g), [[0, 0]])


def test_zeros_have_the_run_time_shape_and_the_variables_dtype():
    x = tf.placeholder(tf.float64, [None])
    v = tf.Variable(np.ones(3, np.float64))
    gx, gv = tf.gradients(tf.constant(1.0), [x, v], unconnected_gradients="zero")
    gx, gv = run([gx, gv], {x: np.ones(4)})
    assert gx.dtype == gv.dtype == np.float64
    assert gx.shape == (4,) and gv.shape == (3,)


def test_unknown_policy_is_refused():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'foo'"):
        tf.gradients(x, x, unconnected_gradients="foo")


def test_siblings_of_what_matters():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    a, b = tf.split(x, 2)
    dx, db, da = tf.gradients(tf.reduce_sum(a * 2.0), [x, b, a])
    np.testing.assert_array_equal(run(dx), [2, 2, 0, 0])
    np.testing.assert_array_equal(run(da), [2, 2])
    # As in TensorFlow, what was handed to Split's rule for the sibling is zeros.
    assert db is None or not run(db).any()


def test_depth_needs_no_recursion():
    x = tf.constant(1.0)
    y = x
    for _ in range(20_000):
        y = tf.identity(y)
    (g,) = tf.gradients(y, x)
    assert g is not None


def test_fan_in_and_out():
    x = tf.constant(1.0)
    y = tf.add_n([x * float(i) for i in range(100)])
    assert run(tf.gradients(y * y, x)) == [pytest.approx(2 * 4950.0**2)]


def test_paths_through_comparisons_lead_nowhere():
    """An op that reaches y only through a comparison does not keep its inputs waiting for it."""
    w, v = tf.constant(2.0), tf.constant(3.0)
    shared = w * 1.0
    mask = tf.cast(shared > 1.0, tf.float32)
    assert run(tf.gradients(mask * v + shared, [w, v])) == [1.0, 1.0]


def _noting(graph, types, what):
    """Lets the ops of some types note in `what` the types of the gradients that their rules are handed."""
    name = graph.unique_name(f"Noting{id(what)}")

    @tf.RegisterGradient(name)
    def _note(op, *dys):
        what.append((op.name, [d if d is None else d.op.type for d in dys]))
        return [tf.zeros_like(t) if t.dtype.is_floating else None for t in op.inputs]

    return graph.gradient_override_map(dict.fromkeys(types, name))


def test_rules_get_zeros_for_floating_outputs_that_do_not_matter_and_none_for_others(graph):
    seen = []
    x = tf.placeholder(tf.float32, [3])
    with _noting(graph, ["Unpack", "TopKV2", "IdentityN"], seen):
        parts = tf.unstack(x, name="parts")
        values, positions = tf.nn.top_k(x, 2, name="top")
        several = tf.identity_n([x, x, tf.constant(1), tf.constant("s"), tf.constant(True)], name="several")
    tf.gradients(parts[1], x)
    tf.gradients(values, x)
    tf.gradients(several[1], x)
    assert tf.gradients(tf.cast(positions, tf.float32), x) == [None]
    assert seen == [("parts", ["ZerosLike", "Fill", "ZerosLike"]), ("top", ["Fill", None]),
                    ("several", ["ZerosLike", "Fill", None, None, None])]


def test_what_does_not_matter_is_not_asked(graph):
    seen = []
    x = tf.placeholder(tf.float32, [3])
    with _noting(graph, ["Sin", "Cos", "Exp", "Tanh"], seen):
        within = tf.sin(x, name="within")
        tf.cos(within, name="dead_end")
        before_integers = tf.tanh(x, name="before_integers")
        y = tf.exp(within, name="y") + tf.cast(tf.cast(before_integers, tf.int32), tf.float32)
        before_stop = tf.sin(x, name="before_stop")
        z = tf.cos(tf.stop_gradient(before_stop), name="z")
    tf.gradients(y, x)
    assert [name for name, _ in seen] == ["y", "within"]
    seen.clear()
    with _noting(graph, ["Sin"], seen):
        behind = tf.sin(tf.cast(tf.cast(x, tf.int32), tf.float32), name="behind_integers")
    assert tf.gradients(behind, x) == [None] and seen == []
    tf.gradients(y, within)
    assert [name for name, _ in seen] == ["y"]  # not beyond the x
    seen.clear()
    assert tf.gradients(z, x) == [None]
    assert [name for name, _ in seen] == ["z"]


def test_all_ways_in_which_ys_and_xs_can_coincide():
    x = tf.constant(3.0)
    y = x * x
    z = y * y
    values = run([
        tf.gradients([y, x], [x, x, y]), tf.gradients([z, y, x], [z, y, x]),
        tf.gradients([z, y], [z, y], stop_gradients=y), tf.gradients([z, y], [z, y], stop_gradients=z),
        tf.gradients(z, [x, y, z, x]),
    ])
    assert values == [[7.0, 7.0, 1.0], [1.0, 19.0, 115.0], [1.0, 19.0], [1.0, 1.0], [108.0, 18.0, 1.0, 108.0]]


def test_unconnected_siblings_and_inputs_of_an_op_with_several_outputs():
    f = tf.placeholder(tf.float32, [2])
    w = tf.placeholder(tf.float64, [None])
    first, second = tf.identity_n([f, w])
    # The sweep passes through the op, so its other output and what that depends on get zeros, as in TensorFlow.
    for policy in ("none", "zero"):
        df, dw, dsecond = tf.gradients(first, [f, w, second], unconnected_gradients=policy)
        values = run([df, dw, dsecond], {f: [1, 2], w: [1, 2, 3]})
        assert [v.tolist() for v in values] == [[1, 1], [0, 0, 0], [0, 0, 0]]
    # Without an x upstream the sweep ends before the op.
    assert tf.gradients(first, [second]) == [None]
    (zeros,) = tf.gradients(first, [second], unconnected_gradients="zero")
    assert run(zeros, {f: [1, 2], w: [1, 2, 3]}).tolist() == [0, 0, 0]


@pytest.mark.parametrize("value", [None, "ZERO", "NONE", 1])
def test_policies_that_are_none(value):
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match=f"Unknown value for unconnected_gradients: {value!r}.*Fix: use 'none'"):
        tf.gradients(x, x, unconnected_gradients=value)


def test_zeros_for_what_is_cut_off_constant_or_of_unknown_shape():
    x = tf.placeholder(tf.float32, None)
    n = tf.placeholder(tf.int32, [2])
    b = tf.placeholder(tf.bool, [2])
    y = tf.stop_gradient(x) * 2.0
    xs = [x, n, b, tf.identity(n)]
    assert tf.gradients(y, xs) == [None] * 4
    zeros = tf.gradients(y, xs, unconnected_gradients="zero")
    values = run(zeros, {x: np.ones((2, 1)), n: [1, 2], b: [True, True]})
    assert [(v.dtype.name, v.tolist()) for v in values] == [
        ("float32", [[0.0], [0.0]]), ("int32", [0, 0]), ("bool", [False, False]), ("int32", [0, 0])]


def test_zeros_of_a_variable_do_not_need_its_value():
    v = tf.Variable(np.ones((2, 3)))
    (g,) = tf.gradients(tf.constant(1.0), v, unconnected_gradients="zero")
    with tf.Session() as sess:  # not initialised
        assert sess.run(g).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_zeros_of_a_captured_variable():
    v = tf.Variable([1.0, 2.0])

    @tf2.function
    def f(x):
        return tf2.gradients(x * x, [x, v], unconnected_gradients="zero")

    dx, dv = run(f(tf.constant(3.0)))
    assert dx == 6.0 and dv.tolist() == [0.0, 0.0]


def test_an_op_waits_for_consumers_near_and_far():
    x = tf.constant(2.0)
    shared = x * x
    far = shared
    for _ in range(5):
        far = far * 1.0
    assert run(tf.gradients(shared * 10.0 + far, x)) == [44.0]
    assert run(tf.gradients(far + shared * 10.0, [shared, x])) == [11.0, 44.0]
