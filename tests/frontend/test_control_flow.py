"""`cond`, `case` and `while_loop`, and gradients through them."""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches, feed_dict=None):
    with tf.Session() as sess:
        if tf.global_variables():
            sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feed_dict)


def test_cond_and_its_gradients():
    p = tf.placeholder(tf.bool, [])
    x = tf.placeholder(tf.float32, [2])
    w = tf.Variable(2.0)
    y = tf.cond(p, lambda: x * x * w, lambda: x * 3.0)
    dx, dw = tf.gradients(y, [x, w])
    (ddx,) = tf.gradients(dx, x)
    feed = {x: [1.0, 2.0]}
    values = run([y, dx, dw, ddx], {**feed, p: True})
    for got, expected in zip(values, ([2, 8], [4, 8], 5, [4, 4])):
        np.testing.assert_array_equal(got, expected)
    values = run([y, dx, dw, ddx], {**feed, p: False})
    for got, expected in zip(values, ([3, 6], [3, 3], 0, [0, 0])):
        np.testing.assert_array_equal(got, expected)


def test_only_one_branch_runs():
    ran = []

    def branch(name):
        return lambda: tf.py_func(lambda: ran.append(name) or np.float32(1), [], tf.float32)

    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, branch("true"), branch("false"))
    run(y, {p: False})
    assert ran == ["false"]


def test_cond_with_structures_and_assignments():
    v = tf.Variable(1.0)
    p = tf.placeholder(tf.bool, [])
    out = tf.cond(p, lambda: {"a": v.assign_add(1.0), "b": [v * 0.0]}, lambda: {"a": v * 5.0, "b": [v * 7.0]})
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(out["a"], {p: True}) == 2.0
        assert sess.run(v) == 2.0
        assert sess.run(out, {p: False}) == {"a": 10.0, "b": [14.0]}
        assert sess.run(v) == 2.0


def test_cond_for_its_effect():
    v = tf.Variable(1.0)
    p = tf.placeholder(tf.bool, [])
    op = tf.cond(p, lambda: tf.group(v.assign_add(10.0)), tf.no_op)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(op, {p: False})
        assert sess.run(v) == 1.0
        sess.run(op, {p: True})
        assert sess.run(v) == 11.0


def test_branches_of_different_shapes():
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.ones([2]), lambda: tf.ones([3]))
    assert y.shape.as_list() == [None]
    assert run(y, {p: True}).shape == (2,)
    assert run(y, {p: False}).shape == (3,)


def test_the_gradient_draws_the_same_random_numbers():
    x = tf.ones([100])
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: x * tf.random_uniform([100], seed=1), lambda: x)
    (g,) = tf.gradients(y, x)
    values = run([y, g], {p: True})
    np.testing.assert_allclose(*values)


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: tf.cond(True, lambda: 1.0, lambda: 2.0), TypeError, "'pred' must not be a Python bool"),
        (
            lambda: tf.cond(tf.constant(True), lambda: 1.0, lambda: 1),
            ValueError,
            "must have the same type.*float32.*int32",
        ),
        (lambda: tf.cond(tf.constant(True), lambda: [1.0, 2.0], lambda: [1.0]), ValueError, "same structure"),
        (lambda: tf.cond(tf.constant(True), 1, 2), TypeError, "true_fn must be callable"),
        (
            lambda: tf.while_loop(lambda i: i < 3, lambda i: (i, i), [tf.constant(0)]),
            ValueError,
            "same nested structure",
        ),
        (
            lambda: tf.while_loop(lambda i: True, lambda i: tf.concat([i, i], 0), [tf.constant([0])]),
            ValueError,
            "shape_invariants",
        ),
        (lambda: tf.while_loop(1, 2, [tf.constant(0)]), TypeError, "'cond' must be callable"),
    ],
)
def test_bad_arguments(build, error, text):
    with pytest.raises(error, match=f"(?s){text}"):
        build()


def test_case():
    x = tf.placeholder(tf.int32, [])
    y = tf.case([(x < 2, lambda: tf.constant(1)), (x < 4, lambda: tf.constant(2))], default=lambda: tf.constant(3))
    assert [run(y, {x: v}) for v in (1, 3, 5)] == [1, 2, 3]


def test_while_and_its_gradients():
    x = tf.placeholder(tf.float32, [2])
    w = tf.Variable(2.0)
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x * w), [tf.constant(0), x])
    dx, dw = tf.gradients(y, [x, w])
    got = run([y, dx, dw], {x: [1.0, 2.0]})
    for value, expected in zip(got, ([8, 128], [32, 256], 204)):
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_trip_count_that_only_the_run_knows(n):
    limit = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float64, [])
    w = tf.constant(1.5, tf.float64)
    _, y = tf.while_loop(lambda i, a: i < limit, lambda i, a: (i + 1, tf.sin(a * w)), [0, x])
    grads = tf.gradients(y, [x, w])

    def value(x, w):
        for _ in range(n):
            x = np.sin(x * w)
        return x

    got = run(grads, {x: 0.7, limit: n})
    h = 1e-6
    expected = [
        (value(0.7 + h, 1.5) - value(0.7 - h, 1.5)) / (2 * h),
        (value(0.7, 1.5 + h) - value(0.7, 1.5 - h)) / (2 * h),
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9)


def test_loop_variables_that_grow():
    x = tf.placeholder(tf.float32, [None])
    n = tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(
        lambda i, a: i < n,
        lambda i, a: (i + 1, tf.concat([a, x], 0)),
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    (g,) = tf.gradients(y, x)
    value, grad = run([y, g], {x: [1.0, 2.0], n: 2})
    np.testing.assert_array_equal(value, [1, 2, 1, 2, 1, 2])
    np.testing.assert_array_equal(grad, [3, 3])


def test_assignments_in_a_loop():
    v = tf.Variable(0.0)

    def body(i):
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1

    out = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(out) == 5
        assert sess.run(v) == 10.0


def test_maximum_iterations_known_by_the_run():
    most = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float32, [None])
    i, (y,) = tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, [tf.concat([y[0] * x[0], x], 0)]), (0, [x]),
                            shape_invariants=[tf.TensorShape([]), [tf.TensorShape([None])]],
                            maximum_iterations=most)
    (g,) = tf.gradients(y, x)
    last = tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)], maximum_iterations=most)
    with tf.Session() as sess:
        for n in (2, 0, 9):
            values = sess.run([i, y, g, last], {most: n, x: [2.0]})
            count = min(n, 5)
            assert values[0] == values[3] == count
            np.testing.assert_array_equal(values[1], [2.0 ** (count + 1)] + [2.0 ** k for k in range(count, 0, -1)])
            np.testing.assert_array_equal(values[2], [(count + 1) * 2.0**count + sum(k * 2.0 ** (k - 1) for k in
                                                      range(1, count + 1))])


def test_maximum_iterations_and_nesting():
    assert run(tf.while_loop(lambda i: i >= 0, lambda i: i + 1, [0], maximum_iterations=7)) == 7

    def outer(i, total):
        inner = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + 1), [0, total])
        return i + 1, inner[1]

    assert run(tf.while_loop(lambda i, t: i < 4, outer, [0, 0])[1]) == 6


def test_cond_inside_while_has_gradients():
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(
        lambda i, a: i < 4,
        lambda i, a: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * x, lambda: a + x)),
        [0, x],
    )
    (g,) = tf.gradients(y, x)
    # ((x*x + x) * x) + x
    assert run([y, g], {x: 3.0}) == [39.0, 3 * 9.0 + 2 * 3.0 + 1]


def test_random_numbers_differ_between_iterations():
    _, a = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, tf.concat([a[1:], tf.random_uniform([1], seed=3)], 0)),
        [0, tf.zeros([3])],
    )
    assert len(set(run(a).tolist())) == 3


# -- loops over rows ---------------------------------------------------------------------

ROWS = np.float32([[1, 2], [3, 4], [5, 6]])


def test_map_fn_and_its_gradient():
    x = tf.placeholder(tf.float32, [None, 2])
    w = tf.Variable(3.0)
    y = tf.map_fn(lambda row: row * row * w, x)
    dx, dw = tf.gradients(y, [x, w])
    got = run([y, dx, dw], {x: ROWS})
    for value, expected in zip(got, (3 * ROWS**2, 6 * ROWS, (ROWS**2).sum())):
        np.testing.assert_array_equal(value, expected)


def test_map_fn_over_structures():
    x = tf.placeholder(tf.float32, [3, 2])
    y = tf.map_fn(
        lambda p: {"a": p[0] + 1.0, "b": tf.reduce_sum(p[1])}, (x, x), dtype={"a": tf.float32, "b": tf.float32}
    )
    got = run(y, {x: ROWS})
    np.testing.assert_array_equal(got["a"], ROWS + 1)
    np.testing.assert_array_equal(got["b"], ROWS.sum(1))


def test_folds_and_scans():
    x = tf.placeholder(tf.float32, [None, 2])
    ys = [
        tf.foldl(lambda a, row: a * 2.0 + row, x),
        tf.foldr(lambda a, row: a * 2.0 + row, x, initializer=tf.zeros([2])),
        tf.scan(lambda a, row: a * row, x),
        tf.scan(lambda a, row: a + row, x, initializer=tf.ones([2]), reverse=True),
    ]
    got = run(ys, {x: ROWS})
    np.testing.assert_array_equal(got[0], (ROWS[0] * 2 + ROWS[1]) * 2 + ROWS[2])
    np.testing.assert_array_equal(got[1], (ROWS[2] * 2 + ROWS[1]) * 2 + ROWS[0])
    np.testing.assert_array_equal(got[2], np.cumprod(ROWS, 0))
    np.testing.assert_array_equal(got[3], np.cumsum(ROWS[::-1], 0)[::-1] + 1)
    (g,) = tf.gradients(ys[2], x)
    np.testing.assert_array_equal(run(g, {x: ROWS}), [[19, 29], [6, 14], [3, 8]])


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: tf.map_fn(lambda x: x, tf.constant(1.0)), ValueError, "1\\+ dimensional Tensors, not scalars"),
        (lambda: tf.map_fn(lambda x: x, tf.ones([2]), dtype=tf.int32), TypeError, "fn returns \\['float32'\\]"),
        (lambda: tf.map_fn(3, tf.ones([2])), TypeError, "is not callable"),
        (lambda: tf.scan(3, tf.ones([2])), TypeError, "is not callable"),
        (lambda: tf.foldl(3, tf.ones([2])), TypeError, "is not callable"),
    ],
)
def test_bad_arguments_of_loops_over_rows(build, error, text):
    with pytest.raises(error, match=text):
        build()


@pytest.mark.parametrize("in_xla", [False, True])
def test_loops_that_add_to_a_variable_without_a_value(in_xla, request):
    if in_xla:
        request.getfixturevalue("first_in_xla")
    v = tf.get_variable("v", initializer=0, use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign_add(1)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [0])
    with tf.Session() as sess, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        sess.run(loop)
