"""Gradients asked for inside of branches, loops, maps and functions, of what was built outside of them."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

from ..harness import case


def _runs(tf: Any, fetches: Any) -> Any:
    """Three runs."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches) for _ in range(3)]


def _loop(tf: Any, step: Any, start: Any, n: int = 3) -> Any:
    """`step`, n times over."""
    return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, step(a)), (0, start))[1]


def _slope(tf: Any, y: Any, x: Any, **options: Any) -> Any:
    return tf.gradients(y, x, **options)[0]


# -- a branch, a loop's body, a map -------------------------------------------------------------


@case("graph")
def in_a_branch(tf: Any) -> Any:
    x = tf.constant(3.0)
    y = x * x
    return _runs(tf, tf.cond(x > 0, lambda: _slope(tf, y * x, x), lambda: x))


@case("graph")
def in_a_branch_by_a_way_outside_alone(tf: Any) -> Any:
    x = tf.constant(3.0)
    y = x * x
    return _runs(tf, tf.cond(x > 0, lambda: _slope(tf, y, x), lambda: x))


@case("graph")
def in_a_body(tf: Any) -> Any:
    x = tf.constant(3.0)
    y = x * x
    return _runs(tf, _loop(tf, lambda a: a + _slope(tf, y + 3.0 * x, x), 0.0))


@case("graph")
def in_a_map(tf: Any) -> Any:
    x = tf.constant(3.0)
    h = x * x
    return _runs(tf, tf.map_fn(lambda k: _slope(tf, h * k + x, x), tf.constant([1.0, 2.0])))


@case("graph")
def in_a_scan(tf: Any) -> Any:
    x = tf.constant([3.0, 2.0])
    h = x * x
    return _runs(tf, tf.scan(lambda a, k: a + _slope(tf, h * k * x, x), x, initializer=tf.zeros([2])))


@case("graph")
def jacobian_by_a_map(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    y = x * x * tf.reduce_sum(x)
    return _runs(tf, tf.map_fn(lambda i: _slope(tf, y[i], x), tf.range(3), dtype=tf.float32))


@case("graph")
def jacobian_by_a_loop(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    y = x * x * tf.reduce_sum(x)
    rows = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, _slope(tf, y[i], x))),
                         (0, tf.TensorArray(tf.float32, 3)))[1]
    return _runs(tf, rows.stack())


@case("graph")
def minimize_in_a_branch(tf: Any) -> Any:
    v = tf.Variable(2.0)
    loss = v * v * v
    p = tf.placeholder(tf.bool, [])
    step = tf.cond(p, lambda: tf.train.GradientDescentOptimizer(0.1).minimize(loss), tf.no_op)
    results = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for value in (True, False, True):
            sess.run(step, {p: value})
            results.append(sess.run(v))
    return results


@case("graph")
def compute_gradients_in_a_branch(tf: Any) -> Any:
    v, w = tf.Variable(2.0), tf.Variable([1.0, 2.0])
    loss = v * tf.reduce_sum(w * w)
    optimizer = tf.train.AdamOptimizer(0.1)

    def both() -> Any:
        pairs = optimizer.compute_gradients(loss * v, [v, w])
        return [g for g, _ in pairs]

    return _runs(tf, tf.cond(v > 0, both, lambda: [tf.constant(0.0), tf.zeros([2])]))


# -- deeper, and several ways -----------------------------------------------------------------


@case("graph")
def branch_in_a_loop_in_a_map(tf: Any) -> Any:
    x = tf.constant(1.5)
    h = x * x

    def row(k: Any) -> Any:
        q = h * k * x

        def step(a: Any) -> Any:
            r = q * a * x
            return tf.cond(a > -1e9, lambda: a + 0.001 * _slope(tf, r * h, x), lambda: a)

        return _loop(tf, step, 1.0)

    return _runs(tf, tf.map_fn(row, tf.constant([1.0, 2.0])))


@case("graph")
def hidden_tensors_of_each_level(tf: Any) -> Any:
    x = tf.constant(1.5)
    h = tf.sin(x)

    def outer() -> Any:
        k = h * x

        def inner() -> Any:
            m = k * h * x
            return tf.stack(tf.gradients(m * k, [x, h, k, m]))

        return tf.cond(k > 0, inner, lambda: tf.zeros([4]))

    return _runs(tf, tf.cond(x > 0, outer, lambda: tf.ones([4])))


@case("graph")
def a_variable_outside(tf: Any) -> Any:
    v = tf.Variable(3.0)
    y = v * v
    z = tf.cond(y > 0, lambda: _slope(tf, y * v, v), lambda: y)
    rows = tf.map_fn(lambda k: _slope(tf, y * k * v, v), tf.constant([1.0, 2.0]))
    return _runs(tf, [z, rows])


@case("graph")
def rows_of_a_variable(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = tf.gather(v, [0, 2, 0])
    z = tf.cond(tf.constant(True), lambda: tf.convert_to_tensor(_slope(tf, y * y, v)), lambda: tf.zeros([3, 2]))
    return _runs(tf, z)


@case("graph")
def stops(tf: Any) -> Any:
    x = tf.constant(3.0)
    y, w = x * x, x * 2.0
    one = tf.cond(x > 0, lambda: _slope(tf, y * x * w, x, stop_gradients=[w]), lambda: x)
    both = tf.cond(x > 0, lambda: _slope(tf, y * x * w, x, stop_gradients=[y, w]), lambda: x)
    two = tf.cond(x > 0, lambda: tf.stack(tf.gradients(y * x * w, [y, x])), lambda: tf.stack([x, x]))
    return _runs(tf, [one, both, two])


@case("graph")
def weights_and_policy(tf: Any) -> Any:
    x, w = tf.constant(3.0), tf.constant(2.0)
    y = x * x
    k = x * 5.0
    weighted = tf.cond(x > 0, lambda: tf.stack(tf.gradients([y * x, y], [y, x], grad_ys=[k, w])),
                       lambda: tf.stack([x, x]))
    zero = tf.cond(x > 0, lambda: tf.stack(tf.gradients(y, [x, w], unconnected_gradients="zero")),
                   lambda: tf.stack([x, x]))
    return _runs(tf, [weighted, zero])


@case("graph")
def what_came_in_by_convert(tf: Any) -> Any:
    x = tf.constant(3.0)
    y = x * x

    def branch() -> Any:
        inside = tf.convert_to_tensor(x)
        return _slope(tf, y * inside, inside)

    return _runs(tf, tf.cond(x > 0, branch, lambda: x))


@case("graph")
def aggregation_methods(tf: Any) -> Any:
    x = tf.constant([3.0, 2.0])
    y = x * x
    found = []
    for method in (tf.AggregationMethod.ADD_N, tf.AggregationMethod.EXPERIMENTAL_TREE):
        found.append(tf.cond(x[0] > 0, lambda m=method: _slope(tf, y * x + x * y * y, x, aggregation_method=m),
                             lambda: x))
        found.append(tf.cond(x[0] > 0, lambda m=method: _slope(tf, y * x + x * y * y, x, aggregation_method=m,
                             gate_gradients=True, colocate_gradients_with_ops=True), lambda: x))
    return _runs(tf, found)


# -- what stands outside is itself a branch, a loop, a map ------------------------------------------


@case("graph", rtol=1e-5)
def a_loop_outside(tf: Any) -> Any:
    x = tf.constant(1.1)
    y = _loop(tf, lambda a: a * a * x, x, 2)
    z = tf.cond(x > 0, lambda: _slope(tf, y * x, x), lambda: x)
    return _runs(tf, [z, _slope(tf, z, x)])


@case("graph", rtol=1e-5)
def a_loop_of_unknown_length_outside(tf: Any) -> Any:
    x = tf.constant(1.1)
    y = tf.while_loop(lambda a: a < 30.0, lambda a: a * a * 2.0, [x])
    z = tf.cond(x > 0, lambda: _slope(tf, y * x, x), lambda: x)
    rows = tf.map_fn(lambda k: _slope(tf, y * x * k, x), tf.constant([1.0, 2.0]))
    return _runs(tf, [z, rows, _slope(tf, z, x), _slope(tf, rows, x)])


@case("graph", rtol=1e-5)
def a_branch_outside(tf: Any) -> Any:
    x = tf.constant(1.1)
    y = tf.cond(x > 0, lambda: x * x * x, lambda: x)
    z = _loop(tf, lambda a: a + _slope(tf, y * x, x), 0.0)
    return _runs(tf, [z, _slope(tf, z, x)])


@case("graph", rtol=1e-5)
def a_map_outside(tf: Any) -> Any:
    x = tf.constant([1.1, 2.0])
    y = tf.map_fn(lambda t: t * t * x[0], x)
    z = _loop(tf, lambda a: a + _slope(tf, y * x, x), tf.zeros([2]))
    return _runs(tf, [z, _slope(tf, z, x)])


@case("graph")
def differentiated_again_outside(tf: Any) -> Any:
    x = tf.constant(3.0)
    y = x * x
    z = tf.cond(x > 0, lambda: _slope(tf, y * x, x) * x, lambda: x)
    first = _slope(tf, z, x)
    return _runs(tf, [z, first, _slope(tf, first, x)])


# -- Hessians and Jacobians through loops ---------------------------------------------------------


@case("graph")
def hessian_of_a_loop(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    y = tf.reduce_sum(_loop(tf, lambda a: a * a, x, 2))
    return _runs(tf, tf.hessians(y, x)[0])


@case("graph")
def hessian_of_a_scan(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.reduce_sum(tf.scan(lambda a, t: a * t * t, x))
    return _runs(tf, tf.hessians(y, x)[0])


@case("graph")
def hessian_of_an_array(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    array = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x * x * tf.cast(i, tf.float32) * x[0])),
                          (0, tf.TensorArray(tf.float32, 3)))[1]
    return _runs(tf, tf.hessians(tf.reduce_sum(array.stack()), x)[0])


@case("graph", rtol=1e-5)
def hessian_in_a_branch(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])
    y = tf.reduce_sum(x * x * x)
    return _runs(tf, tf.cond(x[0] > 0, lambda: tf.hessians(y * x[0], x)[0], lambda: tf.eye(2)))


@case("eager")
def jacobian_of_a_loop_by_a_tape(tf: Any) -> Any:
    x = tf.constant([1.0, 2.0])

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(_loop(tf, lambda a: a * a, x, 2))
            g = inner.gradient(y, x)
        return outer.jacobian(g, x)

    return [f(x) for _ in range(3)]


@case("eager")
def batch_jacobian_of_a_loop_by_a_tape(tf: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = _loop(tf, lambda a: a * x[:, ::-1], x, 2)
        return tape.batch_jacobian(y, x)

    return [f(x) for _ in range(3)]


# -- functions and tapes ------------------------------------------------------------------------


@case("eager")
def tape_in_a_body(tf: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x * x
        return _loop(tf, lambda a: a + tape.gradient(y, x), 0.0)

    return [f(tf.constant(2.0)) for _ in range(3)]


@case("eager")
def tape_in_a_branch(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = v * v * x * x
        return tf.cond(x > 0, lambda: tf.stack(tape.gradient(y, [v, x])), lambda: tf.stack([x, x]))

    return [f(tf.constant(2.0)) for _ in range(3)]


@case("eager")
def autograph(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any, n: Any) -> Any:
        y = x * x * v
        total = tf.constant(0.0)
        for i in tf.range(n):
            if tf.equal(i % 2, 0):
                total += tf.gradients(y * x, x)[0]
            else:
                w = y * tf.cast(i, tf.float32)
                total += tf.gradients(w * y, x)[0]
        return total

    return [f(tf.constant(1.5), tf.constant(n)) for n in (3, 2, 4)]


@case("eager")
def initial_values_in_functions(tf: Any) -> Any:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        def body(i: Any, a: Any) -> Any:
            seen.append(tf.gradients(a * a, x)[0] is None)
            return i + 1, a * 2.0

        return tf.while_loop(lambda i, a: i < 2, body, (0, x))[1]

    return [f(tf.constant(3.0)) for _ in range(3)], seen


_FULL = "TensorFlow leaves out the ways outside of the branch where x is captured from eager mode"


@case("eager", differs=_FULL, expected=[24.0] * 3)
def a_variable_of_eager_mode(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any) -> Any:
        y = v * v * x
        return tf.cond(x > 0, lambda: tf.gradients(y * v, v)[0], lambda: x)

    return [float(f(tf.constant(2.0))) for _ in range(3)]


@case("eager", differs=_FULL, expected=[24.0] * 3)
def a_constant_of_eager_mode(tf: Any) -> Any:
    c = tf.constant(2.0)

    @tf.function
    def f(x: Any) -> Any:
        y = c * c * x
        return tf.cond(x > 0, lambda: tf.gradients(y * c, c)[0], lambda: x)

    return [float(f(tf.constant(2.0))) for _ in range(3)]


# -- zero or None -------------------------------------------------------------------------------


@case("graph")
def second_derivatives_that_are_zero(tf: Any) -> Any:
    x, c = tf.constant([3.0, -4.0]), tf.constant(2.0)
    rows = tf.TensorArray(tf.float32, 2).unstack(x)
    ys = {
        "times two": _loop(tf, lambda a: a * 2.0, x),
        "by two": _loop(tf, lambda a: a / 2.0, x),
        "minus one": _loop(tf, lambda a: a - 1.0, x),
        "twice": _loop(tf, lambda a: a + a, x),
        "negative": _loop(tf, lambda a: -a, x),
        "captured": _loop(tf, lambda a: a * c, x),
        "sum": _loop(tf, lambda a: a + tf.reduce_sum(a), x),
        "where": _loop(tf, lambda a: tf.where(a > 0, a, -a), x),
        "relu": _loop(tf, tf.nn.relu, x),
        "stopped": _loop(tf, lambda a: a * tf.stop_gradient(a), x),
        "around": _loop(tf, lambda a: a + x * 2.0, tf.zeros([2])),
        "branch in a loop": _loop(tf, lambda a: tf.cond(a[0] > 0, lambda: a * 2.0, lambda: a), x),
        "loop in a branch": tf.cond(x[0] > 0, lambda: _loop(tf, lambda a: a * 2.0, x), lambda: x),
        "branch": tf.cond(x[0] > 0, lambda: 2.0 * x, lambda: x),
        "map": tf.map_fn(lambda t: t * 2.0, x),
        "sums": tf.scan(lambda a, t: a + t, x),
        "sums of products": tf.scan(lambda a, t: a + t * 2.0, x),
        "read": tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + rows.read(i)), (0, 0.0))[1],
        "read and times": tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + rows.read(i) * 2.0), (0, 0.0))[1],
        "written": tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, x * 2.0)),
                                 (0, tf.TensorArray(tf.float32, 2)))[1].stack(),
    }
    second = {name: _slope(tf, _slope(tf, y, x), x) for name, y in ys.items()}
    third = {name: _slope(tf, g, x) for name, g in second.items() if g is not None}
    found = {name: g for name, g in {**{f"{k}, third": g for k, g in third.items()}, **second}.items() if g is not None}
    with tf.Session() as sess:
        return {"zero": sess.run(found), "none": sorted(name for name, g in second.items() if g is None)}


@case("graph")
def first_derivatives_that_are_zero(tf: Any) -> Any:
    x, w, v = tf.constant(3.0), tf.constant(2.0), tf.Variable(2.0)
    pair = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * x, b * w * v), (0, 1.0, x))
    until = tf.while_loop(lambda i, a: a < w * 10.0, lambda i, a: (i + 1, a * 2.0), (0, x))[1]
    constant = _loop(tf, lambda a: tf.constant(1.0), x)
    rounded = _loop(tf, lambda a: a * tf.round(w) + tf.stop_gradient(v), x)
    branch = tf.cond(x > 0, lambda: x * tf.stop_gradient(w), lambda: x)
    one_branch = tf.cond(x > 0, lambda: x * tf.stop_gradient(w), lambda: x * w)
    lists = [tf.gradients(y, [x, w, v]) for y in (pair[1], until, constant, rounded, branch, one_branch)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [[None if g is None else sess.run(g) for g in found] for found in lists]


@case("graph")
def hessians_that_are_zero(tf: Any) -> Any:
    x = tf.constant([3.0, -4.0])
    y = tf.reduce_sum(_loop(tf, lambda a: a * 2.0, x))
    z = tf.reduce_sum(tf.scan(lambda a, t: a + t * 2.0, x))
    return _runs(tf, [tf.hessians(y, x)[0], tf.hessians(z, x)[0]])


@case("graph")
def choices_among_several(tf: Any) -> Any:
    x = tf.constant(3.0)
    y = x * x
    by_number = tf.switch_case(tf.constant(1), [lambda: x, lambda: _slope(tf, y * x, x), lambda: y])
    by_case = tf.case([(x > 5, lambda: x), (x > 1, lambda: _slope(tf, y * x, x))], default=lambda: y)
    return _runs(tf, [by_number, by_case])


@case("graph")
def calls_outside_happen_once(tf: Any) -> Any:
    calls = []

    def times_calls(v: Any) -> Any:
        calls.append(v)
        return v * type(v)(len(calls))

    x = tf.constant(2.0)
    f = tf.ensure_shape(tf.py_func(times_calls, [x], tf.float32), [])
    y = x * f
    z = tf.cond(x > 0, lambda: _slope(tf, y * x, x), lambda: x)
    return _runs(tf, [y, z])


@case("eager")
def tapes_in_bodies_under_tapes(tf: Any) -> Any:
    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape(persistent=True) as inner:
                inner.watch(x)
                y = x * x * x
            z = _loop(tf, lambda a: a * inner.gradient(y, x), 1.0, 2)
        return z, outer.gradient(z, x)

    return [f(tf.constant(2.0)) for _ in range(3)]


# -- waiting for operations outside ------------------------------------------------------------------


@case("graph")
def waiting_in_branches_bodies_and_maps(tf: Any) -> Any:
    v = tf.Variable(1.0)
    bump = v.assign_add(2.0)

    def read(t: Any) -> Any:
        with tf.control_dependencies([bump]):
            return t * v.read_value()

    def only_waits(t: Any) -> Any:
        with tf.control_dependencies([bump.op]):
            return tf.identity(t)

    one, rows, true = tf.constant(1.0), tf.constant([1.0, 2.0]), tf.constant(True)
    built = [
        tf.cond(true, lambda: read(one), lambda: one),
        tf.cond(true, lambda: tf.cond(true, lambda: read(one), lambda: one), lambda: one),
        tf.cond(true, lambda: only_waits(one), lambda: one),
        _loop(tf, read, one, 2),
        _loop(tf, lambda a: tf.cond(true, lambda: a + read(one), lambda: a), one, 2),
        tf.map_fn(read, rows),
        tf.map_fn(only_waits, rows),
        tf.vectorized_map(only_waits, rows),
        tf.scan(lambda a, t: a + read(t), rows),
    ]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [(sess.run(y), sess.run(v)) for _ in range(3) for y in built]


@case("graph")
def waiting_for_arguments(tf: Any) -> Any:
    x = tf.constant(2.0)

    def body(a: Any) -> Any:
        with tf.control_dependencies([a, x]):
            return tf.identity(a) * 2.0

    return _runs(tf, [_loop(tf, body, x), tf.map_fn(body, tf.constant([1.0, 2.0])),
                      tf.cond(x > 0, lambda: body(x), lambda: x)])


@case("eager")
def waiting_in_functions(tf: Any) -> Any:
    v, large = tf.Variable(1.0), tf.constant([1.0] * 9)

    @tf.function
    def f(x: Any) -> Any:
        bump = v.assign_add(x)
        y = x
        for _ in tf.range(2):
            with tf.control_dependencies([bump, large, v]):
                y += v
            if y > 1.0:
                with tf.control_dependencies([bump, x]):
                    y = y + v.read_value()
        return y

    return [f(tf.constant(2.0)) for _ in range(3)]


@case("graph")
def slots_beside_parts(tf: Any) -> Any:
    """Slots of a variable in parts are parts themselves, in checkpoints too; a scope around them shows in names."""
    found = []
    for optimizer, scope in ((tf.train.AdamOptimizer(0.1), "y"), (tf.train.MomentumOptimizer(0.1, 0.9), "")):
        with tf.Graph().as_default(), tf.Session() as sess, tempfile.TemporaryDirectory() as folder:
            cut = tf.fixed_size_partitioner(2)
            v = tf.get_variable("a/v", [3, 2], partitioner=cut, initializer=tf.ones_initializer())
            with tf.variable_scope(scope) if scope else contextlib.nullcontext():
                step = optimizer.minimize(tf.reduce_sum(tf.square(tf.convert_to_tensor(v))))
            sess.run(tf.global_variables_initializer())
            sess.run(step)
            path = tf.train.Saver().save(sess, f"{folder}/c")
            listed = [[name, list(shape)] for name, shape in tf.train.list_variables(path)]
            values = sess.run(tf.global_variables())
            sess.run(tf.global_variables_initializer())
            tf.train.Saver().restore(sess, path)
            again = sess.run(tf.global_variables())
            infos = [v._get_save_slice_info() for v in tf.global_variables()]
            found.append([listed, [v.name for v in tf.global_variables()], values, again,
                          [i and [i.full_name, list(i.full_shape), list(i.var_offset)] for i in infos]])
    return found
