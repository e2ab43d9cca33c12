"""Gradients with respect to variables, and inside of functions.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from tests.support.sessions import run

pytestmark = pytest.mark.usefixtures("graph")


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


def test_which_reads_connect():
    v = tf.Variable([1.0, 2.0], name="v")
    graph = tf.get_default_graph()
    element = graph.as_graph_element(v)
    xs = [v, v.value(), element, v.handle]
    y = v * 1.0 if v.value() is element else element * 1.0
    got = [tf.gradients(element * 2.0, x)[0] for x in (v, element)]
    assert [g.tolist() for g in run(got)] == [[2, 2]] * 2
    assert run(tf.gradients(y, v.handle))[0].tolist() == [1, 1] and len(xs) == 4
    assert tf.gradients(tf.identity(v) * 2.0, v.read_value()) == [None]  # another read
    assert tf.gradients(v * 2.0, v.initial_value) == [None]


def test_an_assignment_does_not_connect_to_what_was_assigned():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    assigned = v.assign(w * 2.0)
    with tf.control_dependencies([assigned]):
        y = v.read_value() * 5.0
    dv, dw = tf.gradients(y, [v, w])
    assert dw is None and run(dv).tolist() == [5, 5]


def test_a_variable_as_y_and_in_stop_gradients():
    v = tf.Variable([1.0, 2.0])
    assert run(tf.gradients(v, v))[0].tolist() == [1, 1]
    assert run(tf.gradients(v * v, v, stop_gradients=[v]))[0].tolist() == [2, 4]  # the sweep ends there in any case
    w = tf.Variable([5.0, 6.0])
    y = v * w
    assert run(tf.gradients(y, [v, w], stop_gradients=[w]))[0].tolist() == [5, 6]
    value = v.value()
    assert tf.gradients(tf.identity(value) * w, v, stop_gradients=[value]) == [None]


def test_variables_inside_functions_and_functions_inside_functions():
    w = tf.Variable([3.0, 4.0])
    c = tf.constant([5.0, 6.0])

    @tf2.function
    def f(a):
        @tf2.function
        def g(b):
            return b * w * c

        return g(a) + tf.gradients(g(a), [c])[0]

    x = tf.placeholder(tf.float32, [2])
    grads = run(tf.gradients(f(x), [x, w, c]), {x: [1.0, 2.0]})
    assert [g.tolist() for g in grads] == [[18, 28], [6, 14], [3, 8]]


def test_several_results_of_a_function():
    @tf2.function
    def f(a, b):
        return a * b, a + b

    x = tf.placeholder(tf.float32, [2])
    u, v = f(x, 2.0 * x)
    got = run([tf.gradients(u, x), tf.gradients(v, x), tf.gradients([u, v], [x, u])], {x: [1.0, 2.0]})
    assert [[g.tolist() for g in gs] for gs in got] == [[[4, 8]], [[3, 3]], [[7, 11], [1, 1]]]


def test_terms_that_are_none_are_left_out_of_sums():
    x = tf.placeholder(tf.float32, [2])
    y = tf.add_n([tf.stop_gradient(x), x * 2.0, tf.cast(tf.cast(x, tf.int32), tf.float32)])
    (g,) = tf.gradients(y, x)
    assert g.op.type == "Mul" and run(g, {x: [1, 1]}).tolist() == [2, 2]


# -- branches and loops -----------------------------------------------------------------------


def test_inside_a_loop():
    x, start = tf.placeholder(tf.float32, []), tf.constant(3.0)
    seen = []

    def body(i, v):
        dv, dx = tf.gradients(v * v * x, [v, x])
        (stopped,) = tf.gradients(tf.stop_gradient(v) * start, start)
        (direct,) = tf.gradients(v * start, start)
        seen.append((stopped, direct))
        return i + 1, dv + dx + stopped + direct

    _, result = tf.while_loop(lambda i, v: i < 2, body, [0, start])
    v = 3.0
    for _ in range(2):
        v = 2 * v * 0.5 + v * v + v + v
    assert run(result, {x: 0.5}) == v and len(seen) == 1


@pytest.mark.parametrize("through", ["itself", "an operation"])
def test_inside_a_loop_of_old_control_flow_the_initial_value_is_refused(through):
    tf.disable_control_flow_v2()
    x = tf.constant(3.0, name="start")
    start = x if through == "itself" else tf.exp(x)

    def body(i, v):
        with pytest.raises(ValueError, match="(?s)Cannot compute gradient inside while loop with respect to op 'start'"
                           ".*Built at test_variables.py.*Fix"):
            tf.gradients(v * 2.0, x)
        assert tf.gradients(tf.stop_gradient(v) * 2.0, x) == [None]
        return i + 1, v

    tf.while_loop(lambda i, v: i < 2, body, [0, start])
    tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v if tf.gradients(v, x) == [None] else None),
                  [0, tf.stop_gradient(start)])


def test_what_belongs_to_another_loop_is_out_of_reach():
    inner = []

    def body(i, v):
        inner.append(v * 2.0)
        return i + 1, inner[0]

    tf.while_loop(lambda i, v: i < 2, body, [0, tf.constant(1.0)])
    with pytest.raises(ValueError, match="(?s)must be from the same graph.*Fix"):
        tf.gradients(tf.constant(1.0), inner[0])


# -- in parts ---------------------------------------------------------------------------------


def _in_parts(**kwargs):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(3), **kwargs):
        return tf.get_variable("v", [5, 2], initializer=tf.ones_initializer())


def test_partitioned_variables():
    v = _in_parts()
    assert (v.name, len(v), v.shape.as_list(), v.dtype) == ("p/v", 3, [5, 2], tf.float32)
    assert [(u.name, u.shape.as_list()) for u in v] == [
        ("p/v/part_0:0", [2, 2]), ("p/v/part_1:0", [2, 2]), ("p/v/part_2:0", [1, 2])]
    assert tf.trainable_variables() == list(v)
    assert [u._get_save_slice_info().spec for u in v] == ["5 2 0,2:0,2", "5 2 2,2:0,2", "5 2 4,1:0,2"]
    assert _in_parts(reuse=True) is v
    whole = tf.convert_to_tensor(v)
    assert whole.op.name == "p/v" and run(whole).tolist() == [[1, 1]] * 5


def test_gradients_of_parts():
    v = _in_parts()
    weights = tf.reshape(tf.range(10.0), [5, 2])
    grads = run(tf.gradients(tf.reduce_sum(v.as_tensor() * weights), list(v)))
    assert [g.tolist() for g in grads] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9]]]
    looked_up = tf.nn.embedding_lookup(v, [0, 4, 4])  # row 4 is row 1 of part 1: rows go round in turn
    rows = run(tf.gradients(looked_up, list(v)))
    assert [(g.values.tolist(), g.indices.tolist()) for g in rows] == [
        ([[1, 1]], [0]), ([[1, 1], [1, 1]], [1, 1]), ([], [])]
    with pytest.raises(NotImplementedError, match="(?s)p/v doesn't support being used as a reference.*Fix"):
        tf.gradients(looked_up, v)
    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(v.as_tensor() * weights))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(v.as_tensor()).tolist() == (1 - np.arange(10).reshape(5, 2)).tolist()
        sess.run(v.assign(np.zeros((5, 2), np.float32)))
        sess.run(v.assign_add(weights))
        sess.run(v.assign_sub(list(v)))
        assert not sess.run(v.as_tensor()).any()


def test_initial_values_of_parts():
    values = np.arange(10, dtype=np.float32).reshape(5, 2)
    asked = []

    def initializer(shape, dtype=None, partition_info=None):
        asked.append((shape, partition_info.full_shape, partition_info.var_offset))
        return tf.zeros(shape, dtype)

    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2, axis=1)):
        given = tf.get_variable("given", initializer=values)
        made = tf.get_variable("made", [5, 3], initializer=initializer)
        scalar = tf.get_variable("scalar", [], initializer=tf.ones_initializer())
    assert scalar.name == "p/scalar:0" and [u.shape.as_list() for u in made] == [[5, 2], [5, 1]]
    assert asked == [([5, 2], [5, 3], [0, 0]), ([5, 1], [5, 3], [0, 2])]
    assert run(list(given))[1].tolist() == values[:, 1:].tolist()
    assert run(given.as_tensor()).tolist() == values.tolist()


def test_partitioners():
    shape = tf.TensorShape([10, 4])
    assert tf.fixed_size_partitioner(20)(shape) == [10, 1]
    assert tf.variable_axis_size_partitioner(40)(shape, tf.float32) == [5, 1]
    assert tf.variable_axis_size_partitioner(40, max_shards=3)(shape, tf.float32) == [3, 1]
    assert tf.min_max_variable_partitioner(4, min_slice_size=40)(shape, tf.float32) == [4, 1]
    assert tf.min_max_variable_partitioner(4, min_slice_size=100)(shape, tf.float32) == [2, 1]
    assert tf.min_max_variable_partitioner(0)(shape, tf.float32) == [1, 1]
    parts = tf.create_partitioned_variables([4, 3], [2, 1], tf.zeros_initializer(), name="made")
    assert [u.name for u in parts] == ["made/part_0:0", "made/part_1:0"]


@pytest.mark.parametrize(
    ("partitioner", "shape", "text"),
    [
        (lambda shape, dtype: [2], [4, 2], "does not match the Variable's rank"),
        (lambda shape, dtype: [2, 2], [4, 2], "Can only slice a variable along one dimension"),
        (lambda shape, dtype: [0, 1], [4, 2], "zero partitions"),
        (lambda shape, dtype: 2, [4, 2], "must return a sequence"),
        (lambda shape, dtype: [2, 1], [None, 2], "(?s)must be fully defined.*Fix"),
        (lambda shape, dtype: [2, 1], None, "(?s)must be fully defined.*Fix"),
    ],
)
def test_partitions_that_do_not_fit(partitioner, shape, text):
    with pytest.raises(ValueError, match=text):
        tf.get_variable("v", shape, initializer=tf.ones_initializer(), partitioner=partitioner)


def test_parts_that_are_not_those_there():
    _in_parts()
    with tf.variable_scope("p", reuse=True):
        with pytest.raises(ValueError, match=r"specified partitions \[2, 1\] and found partitions \[3, 1\]"):
            tf.get_variable("v", [5, 2], partitioner=tf.fixed_size_partitioner(2))
    with tf.variable_scope("p"), pytest.raises(ValueError, match="Variable p/v already exists"):
        tf.get_variable("v", [5, 2], partitioner=tf.fixed_size_partitioner(3))
    tf.get_variable("whole", [5, 2])
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match="unpartitioned version"):
        tf.get_variable("whole", [5, 2], partitioner=tf.fixed_size_partitioner(3))


# -- optimizers -------------------------------------------------------------------------------


def test_plain_tensors_have_gradients_but_cannot_be_trained():
    x, v = tf.placeholder(tf.float32, []), tf.Variable(2.0)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    ((gradient, tensor),) = optimizer.compute_gradients(x * x * v, [x])
    assert tensor is x and run(gradient, {x: 3.0}) == 12.0
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        optimizer.apply_gradients([(gradient, x)])
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, v)])
