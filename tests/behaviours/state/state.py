"""Gradients of branches, loops, maps and functions that read, write or call what is not pure."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case


def _runs(tf: Any, fetches: Any, after: Any = (), times: int = 3) -> Any:
    """What is fetched in several runs, and then the values of variables."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches) for _ in range(times)], sess.run(list(after))


@case("graph")
def branch_reads_a_variable_that_is_updated(tf: Any) -> Any:
    v, x = tf.Variable(2.0), tf.constant(1.0)
    y = tf.cond(x > 0.0, lambda: x * v, lambda: x)
    with tf.control_dependencies([y]):
        bump = v.assign_add(10.0)
    return _runs(tf, [y, tf.gradients(y, x)[0], bump], [v])


@case("graph")
def the_branch_that_does_not_run_may_read_a_variable_without_a_value(tf: Any) -> Any:
    v, x = tf.Variable(2.0, use_resource=True), tf.constant(1.5)
    w = tf.Variable(3.0, use_resource=True)
    y = tf.cond(v.is_initialized(), lambda: x * v.read_value(), lambda: x * x)
    with tf.control_dependencies([y]):
        step = w.assign_add(1.0)
    with tf.control_dependencies([step]):
        z = tf.cond(x > 0.0, lambda: y * w.read_value(), lambda: y)
    with tf.control_dependencies([z]):
        last = v.assign(7.0)
    g = tf.gradients(z, x)[0]
    with tf.Session() as sess:
        sess.run(w.initializer)
        return [sess.run([y, step, z, g, last])[2:] for _ in range(3)]


@case("graph")
def two_optimizers_in_one_run(tf: Any) -> Any:
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * v), [0, w + 0.0])[1]
    one = tf.train.GradientDescentOptimizer(0.01).minimize(y, var_list=[v])
    other = tf.train.MomentumOptimizer(0.01, 0.9).minimize(y * y, var_list=[w])
    result = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run([one, other])
            result.append(sess.run([v, w]))
    return result


@case("graph")
def two_networks_against_each_other(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.variable_scope("g"):
        w = tf.get_variable("w", initializer=np.linspace(-1, 1.5, 9).reshape(3, 3).astype(np.float32))
    with tf.variable_scope("d"):
        u = tf.get_variable("u", initializer=np.linspace(-1, 2, 9).reshape(3, 3).astype(np.float32))
    made = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(a @ w)), [0, x])[1]
    flag = tf.reduce_sum(x) > 0.0
    judge = tf.cond(flag, lambda: tf.reduce_sum(tf.tanh(made @ u) ** 2), lambda: tf.reduce_sum(made @ u))
    d_step = tf.train.GradientDescentOptimizer(0.05).minimize(judge, var_list=[u])
    g_step = tf.train.GradientDescentOptimizer(0.05).minimize(-judge, var_list=[w])
    result = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for k in range(4):
            value, _, _ = sess.run([judge, d_step, g_step], {x: np.full((2, 3), 0.5 - 0.2 * k, np.float32)})
            result.append(value)
        return result, sess.run([u, w])


@case("graph")
def loop_whose_condition_reads_a_variable(tf: Any) -> Any:
    v, x = tf.Variable(9.0), tf.constant(1.5)
    y = tf.while_loop(lambda a: a < v, lambda a: a * a, [x])
    with tf.control_dependencies([y]):
        bump = v.assign_add(30.0)
    return _runs(tf, [y, tf.gradients(y, x)[0], bump])


@case("graph")
def python_is_called_once(tf: Any) -> Any:
    calls: list[int] = []

    def count(_: Any) -> Any:
        calls.append(1)
        return np.float32(len(calls))

    x = tf.constant(2.0)
    y = tf.cond(x > 0.0, lambda: x * tf.py_func(count, [x], tf.float32), lambda: x)
    with tf.Session() as sess:
        return [sess.run([y, tf.gradients(y, x)[0]]) for _ in range(3)], len(calls)


@case("graph")
def python_in_a_loop_and_in_its_condition(tf: Any) -> Any:
    calls: list[str] = []

    def factor(_: Any) -> Any:
        calls.append("body")
        return np.float32(len(calls))

    def goes_on(i: Any) -> Any:
        calls.append("cond")
        return np.bool_(i < 3)

    def body(i: Any, a: Any) -> Any:
        f = tf.py_func(factor, [a], tf.float32)
        f.set_shape([])
        return i + 1, a * a * f

    x = tf.constant(0.5)
    y = tf.while_loop(lambda i, a: tf.reshape(tf.py_func(goes_on, [i], tf.bool), []), body, [0, x])[1]
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    with tf.Session() as sess:
        return [sess.run([y, first, second]) for _ in range(2)], calls


@case("graph")
def map_that_counts(tf: Any) -> Any:
    x = tf.constant(1.0)
    calls: list[int] = []

    def count(_: Any) -> Any:
        calls.append(1)
        return np.float32(len(calls))

    y = tf.map_fn(lambda t: t * t * tf.reshape(tf.py_func(count, [t], tf.float32), []), tf.stack([x, 2.0 * x]),
                  parallel_iterations=1)
    total, g = tf.reduce_sum(y), tf.gradients(y, x)[0]
    with tf.Session() as sess:
        return [sess.run([total, g]) for _ in range(3)], len(calls)


@case("eager")
def map_that_assigns(tf: Any) -> Any:
    v = tf.Variable(3.0)

    @tf.function
    def f(x: Any) -> Any:
        y = tf.map_fn(lambda t: t * v.assign_add(1.0), tf.stack([x, x]))
        return y, tf.gradients(y, x)[0]

    return [f(tf.constant(1.0)) for _ in range(3)]


def _taped(tf: Any, f: Any, v: Any, start: float, change: Any) -> Any:
    """A function's value and gradients by a tape, three times; `change` comes between the two passes."""
    result = []
    for _ in range(3):
        x = tf.constant(start)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        change()
        result.append([y, tape.gradient(y, [x, v]), v.numpy()])
    return result


@case("eager")
def tape_over_a_function_with_a_branch(tf: Any) -> Any:
    v = tf.Variable(2.0)
    f = tf.function(lambda x: tf.cond(x > 0.0, lambda: x * v, lambda: x))
    return _taped(tf, f, v, 1.0, lambda: v.assign_add(10.0))


@case("eager")
def tape_over_a_function_with_a_loop(tf: Any) -> Any:
    v = tf.Variable(2.0)
    f = tf.function(lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, x])[1])
    return _taped(tf, f, v, 1.0, lambda: v.assign_add(10.0))


@case("eager")
def tape_over_a_function_with_a_map(tf: Any) -> Any:
    v = tf.Variable(2.0)
    f = tf.function(lambda x: tf.reduce_sum(tf.map_fn(lambda t: t * t * v, tf.stack([x, 3.0 * x]))))
    return _taped(tf, f, v, 1.0, lambda: v.assign_add(10.0))


@case("eager")
def tape_over_a_vectorized_map(tf: Any) -> Any:
    v = tf.Variable(2.0)

    def f(x: Any) -> Any:
        return tf.reduce_sum(tf.vectorized_map(lambda t: t * t * v, tf.stack([x, 3.0 * x])))

    return _taped(tf, f, v, 1.0, lambda: v.assign_add(10.0)), _taped(tf, tf.function(f), v, 1.0, lambda: v.assign(1.0))


@case("eager")
def body_that_assigns_and_reads(tf: Any) -> Any:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(3):
            v.assign_add(1.0)
            x = x * v.read_value()
        return x

    return _taped(tf, f, v, 1.0, lambda: v.assign(1.0))


@case("eager")
def branches_and_loops_in_each_other(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any) -> Any:
        if x > 0.0:
            for i in tf.range(3):
                if i != 1:
                    v.assign_add(1.0)
                    x = x * v
                else:
                    for _ in tf.range(2):
                        v.assign_sub(0.5)
                        x = x * v + v * v
        return x

    return _taped(tf, f, v, 1.0, lambda: v.assign_add(0.3))


@case("eager")
def gradient_inside_of_a_function_around_an_assignment(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0.0, lambda: x * v, lambda: x)
        v.assign_add(10.0)
        return [y, *tape.gradient(y, [x, v])]

    return [f(tf.constant(1.0)) for _ in range(3)]


@case("eager")
def second_derivative_of_a_loop_that_assigns(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(3):
            v.assign_add(1.0)
            x = x * x * v
        return x

    result = []
    for _ in range(3):
        x = tf.constant(0.5)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            v.assign_add(10.0)
            g = tape.gradient(y, x)
        result.append([y, g, outer.gradient(g, x), v.numpy()])
        v.assign(2.0)
    return result


@case("eager")
def second_derivative_of_a_branch_that_reads(tf: Any) -> Any:
    v = tf.Variable(2.0)
    f = tf.function(lambda x: tf.cond(x > 0.0, lambda: x * x * v, lambda: x))
    x = tf.constant(0.5)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        v.assign_add(10.0)
        g = tape.gradient(y, x)
    return y, g, outer.gradient(g, x)


@case("eager")
def mixed_second_derivatives_through_what_is_handed_out(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch([x, v])
            with tf.GradientTape() as tape:
                tape.watch([x, v])
                y = x
                for i in tf.range(3):
                    v.assign(v * 1.5)
                    y = tf.cond(i < 2, lambda y=y: y * v * v, lambda y=y: y * y * v)
            first = tape.gradient(y, [x, v])
        return y, first, outer.gradient(first, [x, v])

    return [f(tf.constant(0.5)) for _ in range(2)], v.numpy()


def _of_rows(tf: Any, f: Any, v: Any, places: Any, factor: float) -> list[Any]:
    """Values of f(place, x) and gradients with respect to x and v, which changes between the two."""
    result = []
    for place in places:
        x = tf.constant([1.0, 1.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(tf.constant(place), x)
        v.assign(v * factor)
        dx, dv = tape.gradient(y, [x, v])
        result.append([y, dx, tf.convert_to_tensor(dv)])
    return result


@case("eager")
def rows_of_a_variable_that_is_scattered_into(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(ids: Any, x: Any) -> Any:
        for i in tf.range(2):
            x = x * tf.nn.embedding_lookup(v, ids[i])
            v.scatter_add(tf.IndexedSlices(tf.constant([[1.0, 1.0]]), tf.constant([0])))
        return x

    return _of_rows(tf, f, v, ([0, 0], [1, 0], [1, 1]), 0.5)


@case("eager")
def rows_of_a_variable_in_a_branch(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(i: Any, x: Any) -> Any:
        return tf.cond(i < 1, lambda: x * tf.gather(v, i), lambda: x * tf.gather_nd(v, [[i, 0], [i, 1]]))

    return _of_rows(tf, f, v, (0, 1), 3.0)


@case("eager")
def elements_of_a_data_set(tf: Any) -> Any:
    v = tf.Variable(1.0)
    elements = iter(tf.data.Dataset.from_tensor_slices([2.0, 3.0, 5.0]).repeat())

    @tf.function
    def f(x: Any) -> Any:
        for _ in tf.range(4):
            t = next(elements)
            v.assign_add(t)
            x = x * v + t
        return x

    return _taped(tf, f, v, 1.0, lambda: v.assign(1.0))


@case("eager")
def unknown_number_of_iterations(tf: Any) -> Any:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        while v < 5.0:
            v.assign_add(x)
            x = x * v
        return x

    return _taped(tf, f, v, 1.1, lambda: v.assign(1.0))


@case("graph", differs="what is computed again draws the numbers of before", expected=[[True, True]] * 3)
def recomputed_dropout(tf: Any) -> Any:
    x = tf.constant(np.arange(1.0, 65.0, dtype=np.float32))
    w = tf.get_variable("w", [], initializer=tf.random_uniform_initializer(1.0, 2.0, seed=3), use_resource=True)
    y = tf.recompute_grad(lambda t: tf.nn.dropout(t, rate=0.5) * w)(x)
    keep = tf.recompute_grad(lambda t: tf.nn.dropout(t, rate=0.3))
    z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, keep(a)), [0, x * w])[1]
    g, h = tf.gradients(y, x)[0], tf.gradients(z, x)[0]
    result = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            a, b, c, d = sess.run([y, g, z, h])
            result.append([bool(np.allclose(a, b * np.arange(1, 65))), bool(np.allclose(c, d * np.arange(1, 65)))])
    return result


def _counting_body(tf: Any, v: Any, amount: float, then: Any) -> Any:
    """The body of a loop of 1.x that adds to `v` and goes on with `then(a, v)`."""

    def body(i: Any, a: Any) -> Any:
        with tf.control_dependencies([v.assign_add(amount)]):
            return i + 1, then(a, v.read_value())

    return body


@case("graph")
def cases_and_switches(tf: Any) -> Any:
    v, x = tf.Variable(2.0, use_resource=True), tf.constant(1.5)
    which = tf.placeholder_with_default(1, [])
    y = tf.switch_case(which, [lambda: x, lambda: x * v, lambda: x * x * v])
    z = tf.case([(x > 5.0, lambda: x), (x > 1.0, lambda: x * x * v)], default=lambda: x * v)
    with tf.control_dependencies([y, z]):
        bump = v.assign_add(1.0)
    return _runs(tf, [y, z, tf.gradients(y, x)[0], tf.gradients(z, [x, v]), bump])


@case("graph", rtol=1e-5)
def scan_and_hessian_beside_an_assignment(tf: Any) -> Any:
    v, x = tf.Variable(2.0, use_resource=True), tf.constant([1.5, 0.3])
    y = tf.reduce_sum(tf.scan(lambda a, t: a * t * v, x))
    z = tf.reduce_sum(tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.sin(a * v) * a), [0, x])[1])
    with tf.control_dependencies([y, z]):
        bump = v.assign_add(1.0)
    return _runs(tf, [y, tf.gradients(y, x)[0], tf.hessians(y, x)[0], z, tf.hessians(z, x)[0], bump])


@case("graph")
def gradients_asked_for_inside_of_loops_that_assign_outside(tf: Any) -> Any:
    v, x = tf.Variable(2.0, use_resource=True), tf.constant(1.5)
    y = tf.while_loop(lambda i, a: i < 2, _counting_body(tf, v, 1.0, lambda a, b: a * a * b), [0, x],
                      parallel_iterations=1)[1]
    g = tf.cond(x > 0.0, lambda: tf.gradients(y, x)[0], lambda: x)
    w = tf.Variable(2.0, use_resource=True)
    z = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * a * w), [0, x])[1]
    with tf.control_dependencies([z]):
        bump = w.assign_add(1.0)
    with tf.control_dependencies([bump]):
        h = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.gradients(z, x)[0]), [0, 0.0])[1]
    return _runs(tf, [y, g, tf.gradients(g, x)[0], tf.gradients(y, v)[0], bump, h])


@case("graph", rtol=1e-5)
def the_same_loop_differentiated_again_and_again(tf: Any) -> Any:
    v, x = tf.Variable(2.0, use_resource=True), tf.constant(0.5)
    y = tf.while_loop(lambda i, a: i < 2, _counting_body(tf, v, 0.1, lambda a, b: a * a * b), [0, x],
                      parallel_iterations=1)[1]
    first = tf.gradients(y, x)[0]
    return _runs(tf, [y, first, *tf.gradients(y * y, [x, v]), tf.gradients(tf.sin(first), x)[0]])


@case("graph", rtol=5e-6)  # sines of sines, in single precision
def shapes_and_trips_that_only_the_run_knows(tf: Any) -> Any:
    v, n = tf.Variable(2.0, use_resource=True), tf.placeholder_with_default(3, [])
    x = tf.placeholder_with_default(np.ones((2, 2), np.float32), [None, None])
    rows = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), use_resource=True)
    ids = tf.placeholder_with_default(np.array([0, 2]), [None])
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.reduce_sum(tf.gather(rows, ids) * x * v), lambda: tf.reduce_sum(x))
    with tf.control_dependencies([y]):
        bumps = v.assign_add(1.0), rows.assign_add(tf.ones([3, 2]))
    w = tf.Variable(2.0, use_resource=True)
    z = tf.while_loop(lambda i, a: i < n, _counting_body(tf, w, 0.1, lambda a, b: tf.sin(a * b)), [0, x],
                      parallel_iterations=1)[1]
    found = [*tf.gradients(y, [x, v]), tf.convert_to_tensor(tf.gradients(y, rows)[0]), *tf.gradients(z, [x, w])]
    return _runs(tf, [y, z, *found, *bumps])


@case("graph")
def random_numbers_beside_assignments(tf: Any) -> Any:
    v, x = tf.Variable(2.0, use_resource=True), tf.constant(np.arange(1.0, 9.0, dtype=np.float32))
    y = tf.while_loop(lambda i, a: i < 3, _counting_body(tf, v, 1.0, lambda a, _: tf.nn.dropout(a, rate=0.3)), [0, x],
                      parallel_iterations=1)[1]
    found, _ = _runs(tf, [y, tf.gradients(y, x)[0]])
    return [bool(np.allclose(a, b * np.arange(1, 9))) for a, b in found]


@case("graph")
def what_a_variable_held_when_it_was_gathered_from(tf: Any) -> Any:
    rows, x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True), tf.constant([0.5, 2.0])

    def body(i: Any, a: Any) -> Any:
        a = a * tf.nn.embedding_lookup(rows, i % 2)
        with tf.control_dependencies([a]):
            change = rows.scatter_add(tf.IndexedSlices(tf.constant([[1.0, -1.0]]), tf.constant([0])))
        with tf.control_dependencies([change]):
            return i + 1, tf.identity(a)

    y = tf.while_loop(lambda i, a: i < 4, body, [0, x], parallel_iterations=1)[1]
    dx, drows = tf.gradients(y, [x, rows])
    return _runs(tf, [y, dx, tf.convert_to_tensor(drows)], [rows])


@case("graph")
def a_branch_that_is_not_taken_asks_for_the_gradient_of_nested_maps_with_effects(tf: Any) -> Any:
    v, x = tf.Variable([0.5, -0.8]), tf.constant([0.6, -0.4])

    def inner(s: Any) -> Any:
        return s * tf.reduce_sum(tf.identity(v.assign_add([0.1, 0.2])))

    y = tf.map_fn(lambda r: tf.reduce_sum(tf.map_fn(inner, x * r, parallel_iterations=1)), x, parallel_iterations=1)
    z = tf.cond(x[0] < 0.0, lambda: tf.gradients(y, x)[0], lambda: tf.sin(x))
    g = tf.gradients(z, x)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([y, z, g]) for _ in range(3)]
