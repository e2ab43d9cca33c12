"""The contract of `gradients`: its arguments, its names, its errors.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import inspect

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import op


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feed_dict=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer()) if tf.global_variables() else None
        return sess.run(fetches, feed_dict)


# -- where and what ----------------------------------------------------------------------


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
    described = [op.node_def.__dict__ for op in before]
    for name, scope in [(None, "gradients/"), ("gradients", "gradients_1/"), ("mine", "mine/"), ("mine", "mine_1/")]:
        count = len(graph.get_operations())
        tf.gradients(y, x, name=name) if name else tf.gradients(y, x)
        new = graph.get_operations()[count:]
        assert new and all(op.name.startswith(scope) for op in new)
    assert [op.node_def.__dict__ for op in before] == described


def test_gradient_ops_remember_their_forward_op(graph):
    x = tf.placeholder(tf.float32, [3])
    y = tf.tanh(x)
    g = tf.gradients(y, x)[0]
    assert g.op.type == "TanhGrad"
    assert g.op._original_op is y.op


def test_only_ops_between_are_visited(graph):
    @tf.RegisterGradient("NeverCalled")
    def _never(op, dy):
        raise AssertionError("not between x and y")

    x = tf.constant(2.0)
    with graph.gradient_override_map({"Exp": "NeverCalled"}):
        tf.exp(x)  # y does not depend on it
        z = tf.exp(tf.constant(1.0))  # does not depend on x
    assert run(tf.gradients(x * z, x)) == [pytest.approx(np.e)]


# -- several ys and xs -------------------------------------------------------------------


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


# -- grad_ys -----------------------------------------------------------------------------


def test_grad_ys_multiply_each_y():
    x = tf.constant([1.0, 2.0])
    y, z = 2 * x, x * x
    (g,) = tf.gradients([y, z], x, grad_ys=[None, [10.0, 100.0]])
    np.testing.assert_array_equal(run(g), [22, 402])


def test_default_grad_ys_have_the_dynamic_shape_of_y():
    x = tf.placeholder(tf.float32, [None])
    (g,) = tf.gradients(x * x, x)
    np.testing.assert_array_equal(run(g, {x: [1.0, 2.0, 3.0]}), [2, 4, 6])


def test_indexed_slices_as_grad_y():
    x = tf.placeholder(tf.float32, [3, 2])
    slices = tf.IndexedSlices(tf.constant([[5.0, 6.0]]), tf.constant([1]), tf.constant([3, 2]))
    (g,) = tf.gradients(tf.identity(x), x, grad_ys=[slices])
    value = run(g, {x: np.zeros((3, 2))})
    np.testing.assert_array_equal(value.values, [[5, 6]])
    (dense,) = tf.gradients(2.0 * x, x, grad_ys=[slices])
    np.testing.assert_array_equal(run(dense, {x: np.zeros((3, 2))}), [[0, 0], [10, 12], [0, 0]])


@pytest.mark.parametrize(
    ("grad_ys", "error", "text"),
    [
        ([1.0, 1.0], ValueError, "Passed 2 grad_ys for 1 ys"),
        ([np.float32([1, 2, 3])], ValueError, r"(?s)grad_ys\[0\] has shape \(3,\).*\(2,\).*Built at.*Fix"),
        (["a"], TypeError, r"grad_ys\[0\] does not fit"),
    ],
)
def test_grad_ys_that_do_not_fit(grad_ys, error, text):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(error, match=text):
        tf.gradients(2 * x, x, grad_ys=grad_ys)


def test_grad_y_of_another_dtype():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(TypeError, match=r"(?s)Gradient type int32 generated for real.*must be float32.*tf.cast"):
        tf.gradients(2 * x, x, grad_ys=[tf.constant([1, 2])])


# -- stopping ----------------------------------------------------------------------------


def _three_ways():
    a = tf.constant(0.0)
    b = 2 * a
    return a, b


def test_stop_gradients_are_partial_derivatives():
    a, b = _three_ways()
    assert run(tf.gradients(a + b, [a, b], stop_gradients=[a, b])) == [1.0, 1.0]
    assert run(tf.gradients(a + b, [a, b])) == [3.0, 1.0]
    assert run(tf.gradients(a + b, [a, b], stop_gradients=b)) == [1.0, 1.0]


def test_stop_gradient_while_building():
    a = tf.stop_gradient(tf.constant(0.0))
    b = tf.stop_gradient(2 * a)
    assert run(tf.gradients(a + b, [a, b])) == [1.0, 1.0]


def test_both_ways_combined_stop_at_whichever_comes_first():
    x = tf.constant(3.0)
    y = x * x
    z = tf.stop_gradient(y) * y * x
    assert run(tf.gradients(z, x)) == [5 * 81.0 - 2 * 81.0]
    assert run(tf.gradients(z, x, stop_gradients=[y])) == [81.0]


@pytest.mark.parametrize("subset", range(16))
def test_stop_gradients_equal_inserted_stops_for_every_subset(subset):
    def build(stop):
        x = tf.constant(1.5)
        tensors = [x]

        def add(t, k):
            t = tf.stop_gradient(t) if stop(k) else t
            tensors.append(t)
            return t

        a = add(tf.sin(x), 0)
        b = add(a * x, 1)
        c = add(tf.exp(a) + b, 2)
        d = add(b * c, 3)
        return d * a + c, x, [a, b, c, d]

    inside = [bool(subset >> k & 1) for k in range(4)]
    y, x, _ = build(lambda k: inside[k])
    expected = tf.gradients(y, x, unconnected_gradients="zero")
    y2, x2, tensors = build(lambda k: False)
    stops = [t for t, on in zip(tensors, inside) if on]
    got = tf.gradients(y2, x2, stop_gradients=stops, unconnected_gradients="zero")
    np.testing.assert_allclose(*run([got, expected]), rtol=1e-6)


def test_prevent_gradient_says_so():
    x = tf.constant(1.0)
    y = tf.raw_ops.PreventGradient(input=x, message="not meant to be learnt")
    with pytest.raises(LookupError, match=r"(?i)gradient explicitly disabled.*not meant to be learnt"):
        tf.gradients(y, x)


def test_integers_are_constant():
    x = tf.constant(2.0)
    y = tf.cast(tf.cast(x, tf.int32), tf.float32)
    assert tf.gradients(y, x) == [None]
    n = tf.constant(2)
    assert tf.gradients(tf.cast(n * n, tf.float32) * x, [n]) == [None]


# -- unconnected -------------------------------------------------------------------------


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


# -- aggregation, gating, colocation -----------------------------------------------------

METHODS = {
    tf.AggregationMethod.DEFAULT: ["AddN"],
    tf.AggregationMethod.ADD_N: ["AddN"],
    tf.AggregationMethod.EXPERIMENTAL_TREE: ["AddN", "AddN", "AddN"],
    tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N: ["AccumulateNV2"],
}


@pytest.mark.parametrize("method", METHODS)
def test_aggregation_methods(graph, method):
    x = tf.placeholder(tf.float32, [2], name="x")
    z = tf.add_n([tf.tanh(x) for _ in range(4)])
    count = len(graph.get_operations())
    (g,) = tf.gradients(z, x, aggregation_method=method)
    sums = [op for op in graph.get_operations()[count:] if op.type in ("AddN", "AccumulateNV2")]
    assert [op.type for op in sums] == METHODS[method]
    if method == tf.AggregationMethod.EXPERIMENTAL_TREE:
        assert sums[0].name == "gradients/x_gradient_sum/AddN"
    np.testing.assert_allclose(run(g, {x: [0.5, 1.0]}), 4 * (1 - np.tanh([0.5, 1.0]) ** 2), rtol=1e-5)


def test_one_term_stays_itself(graph):
    x = tf.placeholder(tf.float32, [2])
    (g,) = tf.gradients(tf.tanh(x), x)
    assert g.op.type == "TanhGrad"


def test_unknown_aggregation_method():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match=r"Invalid `aggregation_method` specified 7. Accepted values are \[0, 1, 2\]"):
        tf.gradients(x + x, x, aggregation_method=7)


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
        a = tf.tanh(x)
    with tf.device("/gpu:0"):
        b = tf.tanh(x)
    (g,) = tf.gradients([a, b], x, colocate_gradients_with_ops=True)
    assert g.op.type == "AddN"
    assert g.op.device == g.op.inputs[0].op.device
    assert g.op.colocation_groups() == g.op.inputs[0].op.colocation_groups()


# -- IndexedSlices -----------------------------------------------------------------------


def test_gather_gives_indexed_slices():
    p = tf.ones([5, 2])
    (g,) = tf.gradients(tf.gather(p, [1, 1, 3]) * 2.0, p)
    assert isinstance(g, tf.IndexedSlices)
    value = run(g)
    np.testing.assert_array_equal(value.values, np.full((3, 2), 2))
    np.testing.assert_array_equal(value.indices, [1, 1, 3])
    np.testing.assert_array_equal(value.dense_shape, [5, 2])


def test_sums_of_slices_stay_sparse_and_mixed_ones_become_dense():
    p = tf.ones([5, 2])
    y = tf.reduce_sum(tf.gather(p, [1, 1, 3]))
    (sparse,) = tf.gradients(y + tf.reduce_sum(tf.gather(p, [0])), p)
    assert isinstance(sparse, tf.IndexedSlices)
    np.testing.assert_array_equal(run(sparse).indices, [1, 1, 3, 0])
    (dense,) = tf.gradients(y + tf.reduce_sum(p), p)
    np.testing.assert_array_equal(run(dense)[:, 0], [1, 3, 1, 2, 1])


def test_gathered_variable_with_int64_indices():
    v = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    (g,) = tf.gradients(tf.reduce_sum(tf.gather(v, tf.constant([2, 2], tf.int64)) ** 2), v)
    value = run(g)
    np.testing.assert_array_equal(value.values, [[8, 10], [8, 10]])
    assert value.indices.dtype == np.int64


# -- complex -----------------------------------------------------------------------------


def test_complex_convention():
    x = tf.constant(1 + 2j)
    (g,) = tf.gradients(x * x * tf.constant(3j), x, grad_ys=tf.constant(1 + 0j))
    assert run(g) == -12 - 6j
    (g,) = tf.gradients(tf.abs(x), x)
    assert run(g) == pytest.approx((1 + 2j) / np.sqrt(5))
    (g,) = tf.gradients(tf.exp(x), x, grad_ys=tf.constant(1j))
    assert run(g) == pytest.approx(1j * np.conj(np.exp(1 + 2j)))


def test_complex_ys_need_grad_ys():
    x = tf.placeholder(tf.complex64, [2], name="x")
    with pytest.raises(TypeError, match=r"Gradients of complex tensors .* must set grad_ys \(y.dtype = complex64\)"):
        tf.gradients(x, x)


# -- the registry ------------------------------------------------------------------------


def test_registering_twice_quotes_the_first_place():
    with pytest.raises(KeyError, match=r"Registering two gradient with name 'Tanh'!"):
        tf.RegisterGradient("Tanh")(lambda op, dy: dy)

    tf.RegisterGradient("TwiceMine")(lambda op, dy: dy)
    with pytest.raises(KeyError, match=r"(?s)TwiceMine.*test_gradients.py"):
        tf.RegisterGradient("TwiceMine")(lambda op, dy: dy)


def test_override_map_nests_and_ends(graph):
    for factor in (2.0, 3.0):
        tf.RegisterGradient(f"Times{factor}")(lambda op, dy, factor=factor: dy * factor)
    x = tf.constant(0.0)
    with graph.gradient_override_map({"Sin": "Times2.0"}):
        a = tf.sin(x)
        with graph.gradient_override_map({"Sin": "Times3.0"}):
            b = tf.sin(x)
        c = tf.sin(x)
    d = tf.sin(x)
    assert run([tf.gradients(y, x)[0] for y in (a, b, c, d)]) == [2.0, 3.0, 2.0, 1.0]


def test_override_with_an_unregistered_name(graph):
    x = tf.constant(1.0)
    with graph.gradient_override_map({"Tanh": "Nope"}):
        y = tf.tanh(x)
    with pytest.raises(LookupError, match=r"(?s)'Nope'.*'Tanh'.*test_gradients.py"):
        tf.gradients(y, x)


def test_not_differentiable_gives_none(graph):
    tf.NotDifferentiable("DeclaredConstant")
    x = tf.constant(1.0)
    with graph.gradient_override_map({"Sin": "DeclaredConstant"}):
        assert tf.gradients(tf.sin(x), x) == [None]
    assert tf.gradients(tf.floor(x), x) == [None]


@op("WithoutGradient", "x: T -> y: T", shape=lambda x: x)
def without_gradient(xp, x):
    """An op for which nobody declared a gradient."""
    return x


def test_py_func_is_constant_as_in_tensorflow():
    x = tf.constant(2.0)
    assert tf.gradients(tf.py_func(lambda v: v, [x], tf.float32), x) == [None]


def test_missing_gradient_names_op_path_and_line():
    x = tf.constant(2.0, name="x")
    y = without_gradient(x * 2.0, name="host")
    z = tf.exp(tf.reshape(y, []), name="z")
    with pytest.raises(LookupError) as e:
        tf.gradients(z, x)
    text = str(e.value)
    assert "No gradient defined for operation 'host' (op type: WithoutGradient)" in text
    assert "z (Exp) <- " in text and "<- host (WithoutGradient) <- mul (Mul) <- x (Const)" in text
    assert (
        "test_gradients.py" in text and "@tf.RegisterGradient('WithoutGradient')" in text and "tf.stop_gradient" in text
    )


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda op, dy: [dy, dy], "Num gradients 2 generated for op .* do not match num inputs 1"),
        (lambda op, dy: tf.cast(dy, tf.float64), "Gradient of dtype float64 computed for input"),
        (lambda op, dy: tf.ones([7]), r"Incompatible shapes.*Original input shape: \(2,\).*\(7,\)"),
    ],
)
def test_rules_that_return_nonsense_are_caught(graph, rule, text):
    name = f"Nonsense{abs(hash(text))}"
    tf.RegisterGradient(name)(rule)
    x = tf.constant([1.0, 2.0])
    with graph.gradient_override_map({"Sin": name}):
        y = tf.sin(x)
    with pytest.raises(ValueError, match=f"(?s){text}.*test_gradients.py"):
        tf.gradients(y, x)


# -- custom_gradient ---------------------------------------------------------------------


def test_custom_gradient_with_several_results():
    @tf.custom_gradient
    def f(x, y):
        return [x * y, x + y], lambda d1, d2: (d1 * 10.0, d2 * 3.0)

    x, y = tf.constant(2.0), tf.constant(3.0)
    z = f(x, y)
    assert run(z) == [6.0, 5.0]
    assert run(tf.gradients(z, [x, y])) == [10.0, 3.0]
    assert run(tf.gradients(z[0], [x, y])) == [10.0, 0.0]


def test_custom_gradient_of_wrong_count():
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy,)

    x = tf.constant(2.0)
    z = f(x, x)
    with pytest.raises(ValueError, match=r"(?s)expected to return 2 gradients, but returned 1.*Built at"):
        tf.gradients(z, x)


def test_custom_gradient_is_differentiated_again():
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda dy: dy * 3.0 * x * x

    x = tf.constant(2.0)
    (g,) = tf.gradients(cube(x), x)
    assert run([g, tf.gradients(g, x)[0]]) == [12.0, 12.0]


def test_custom_gradient_with_variables():
    v = tf.Variable(3.0)
    other = tf.Variable(1.0)

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            assert [u.name for u in variables] == [v.name]
            return dy * 10.0, [dy * 100.0]

        return x * v, grad

    x = tf.constant(2.0)
    y = f(x) + other
    assert run([y, *tf.gradients(y, [x, v, other])]) == [7.0, 10.0, 100.0, 1.0]

    @tf.custom_gradient
    def without(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="must accept a 'variables' keyword"):
        without(x)


# -- variables and functions -------------------------------------------------------------


def test_every_way_of_reading_a_variable_connects():
    v = tf.Variable([1.0, 2.0])
    ys = [v * 1.0, v.read_value() * 2.0, tf.identity(v) * 3.0, v.value() * 4.0, v.initialized_value() * 5.0]
    (g,) = tf.gradients(ys, v)
    np.testing.assert_array_equal(run(g), [15, 15])


def test_gradients_inside_a_function_reach_what_it_captures():
    outside = tf2.constant
    with tf2.init_scope():
        pass

    @tf2.function
    def f(x):
        with_captured = x * captured
        return tf2.gradients(with_captured, [x, captured])

    from graphgrad.ir import context

    with context.use(context.EAGER):
        captured = outside([2.0, 3.0, 4.0, 5.0, 6.0])
        dx, dc = f(outside(10.0))
    assert float(dx) == 20.0
    np.testing.assert_array_equal(dc.numpy(), [10.0] * 5)


# -- other errors ------------------------------------------------------------------------


def test_eager_mode_is_a_runtime_error():
    from graphgrad.ir import context

    with context.use(context.EAGER):
        x = tf2.constant(1.0)
        with pytest.raises(RuntimeError, match=r"not supported when eager execution is enabled. Use tf.GradientTape"):
            tf2.gradients(x, x)


@pytest.mark.parametrize("x", [3.0, object(), "name", np.ones(2)])
def test_xs_that_are_no_tensors(x):
    y = tf.constant(1.0)
    with pytest.raises(TypeError, match=r"(?s)xs\[0\] is .* not a tensor or variable.*Fix"):
        tf.gradients(y, x)


def test_tensors_of_another_graph():
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        y = tf.constant(2.0)
        with pytest.raises(ValueError, match=r"(?s)xs\[0\].*must be from the same graph.*test_gradients.py"):
            tf.gradients(y, x)


def test_strings_are_refused():
    with pytest.raises(TypeError, match=r"Cannot differentiate .* of dtype string"):
        tf.gradients(tf.constant("a"), tf.constant(1.0))


def test_positional_orders():
    def names(f):
        return list(inspect.signature(f).parameters)

    shared = ["gate_gradients", "aggregation_method", "stop_gradients", "unconnected_gradients"]
    assert names(tf.gradients) == ["ys", "xs", "grad_ys", "name", "colocate_gradients_with_ops", *shared]
    assert names(tf2.gradients) == ["ys", "xs", "grad_ys", "name", *shared]
    x = tf.constant([1.0])
    (g,) = tf2.gradients(x, x, None, "there", False, None, None, "zero")
    assert g.op.name.startswith("there/")


def test_a_failed_call_leaves_the_scopes_as_they_were(graph):
    x = tf.constant(2.0)
    y = without_gradient(x)
    with tf.name_scope("here"):
        with pytest.raises(LookupError):
            tf.gradients(y, x, colocate_gradients_with_ops=True)
        after = tf.constant(1.0, name="after")
    assert after.op.name == "here/after" and after.op._original_op is None
    assert after.op.colocation_groups() == [b"loc:@here/after"]


# -- size --------------------------------------------------------------------------------


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
