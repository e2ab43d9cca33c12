"""Outputs of branches, loops and maps that nobody asks for: what only they need does not run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case


class _Counter:
    """A Python function that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, a: Any) -> Any:
        self.calls += 1
        return a * np.float32(2)

    def within(self, tf: Any, x: Any, stateful: bool = True) -> Any:
        t = tf.numpy_function(self, [x], tf.float32, stateful=stateful)
        t.set_shape([])
        return t

    def taken(self) -> int:
        """The calls since the last time."""
        calls, self.calls = self.calls, 0
        return calls


def _runs(tf: Any, fetches: Any, after: Any = ()) -> Any:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches) for _ in range(3)], sess.run(list(after))


def _one(tf: Any) -> Any:
    return tf.placeholder_with_default(1.0, [])


@case("graph")
def a_branch_that_calls_python(tf: Any) -> Any:
    x, count = _one(tf), _Counter()
    y, z = tf.cond(x > 0.0, lambda: (x * x, count.within(tf, x)), lambda: (x, x))
    result = [_runs(tf, y), count.taken(), _runs(tf, [y, z]), count.taken()]
    g = tf.gradients(y, x)[0]
    return [*result, _runs(tf, y), count.taken(), _runs(tf, g), count.taken(), _runs(tf, z), count.taken()]


@case("graph")
def a_branch_that_assigns(tf: Any) -> Any:
    x, v = _one(tf), tf.Variable(0.0, use_resource=True)
    y, z = tf.cond(x > 0.0, lambda: (x * x, v.assign_add(1.0) + 0.0), lambda: (x, x))
    g = tf.gradients(y, x)[0]
    return [_runs(tf, fetches, [v]) for fetches in (y, z, g, [y, g])]


@case("graph")
def a_branch_all_of_which_waits(tf: Any) -> Any:
    x, v = _one(tf), tf.Variable(0.0, use_resource=True)

    def branch() -> Any:
        with tf.control_dependencies([tf.group(v.assign_add(1.0))]):
            return x * 2.0, tf.identity(x)

    y, _ = tf.cond(x > 0.0, branch, lambda: (x, x))
    g = tf.gradients(y, x)[0]
    return [_runs(tf, fetches, [v]) for fetches in (y, g, [y, g])]


@case("graph")
def a_loop_that_calls_python(tf: Any) -> Any:
    x, count = _one(tf), _Counter()
    i, y, z = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * 2.0, count.within(tf, b)), [0, x, x])
    result = [_runs(tf, y), count.taken(), _runs(tf, i), count.taken(), _runs(tf, z), count.taken()]
    g = tf.gradients(y, x)[0]
    return [*result, _runs(tf, y), count.taken(), _runs(tf, [y, g]), count.taken()]


@case("graph")
def a_loop_that_assigns(tf: Any) -> Any:
    x, v = _one(tf), tf.Variable(0.0, use_resource=True)
    i, y, z = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * a, b + v.assign_add(1.0)), [0, x, x])
    g = tf.gradients(y, x)[0]
    return [_runs(tf, fetches, [v]) for fetches in (y, i, z, g, [y, g])]


@case("graph")
def loop_variables_that_others_need(tf: Any) -> Any:
    x, v, count = _one(tf), tf.Variable(0.0, use_resource=True), _Counter()
    y = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * b, count.within(tf, b)), [0, x, x])[1]
    loop = tf.while_loop(lambda i, a, b: b < 3.0, lambda i, a, b: (i + 1, a * 2.0, b + v.assign_add(1.0)), [0, x, 0.0])
    return [_runs(tf, y), count.taken(), _runs(tf, loop[1], [v]), _runs(tf, loop[0], [v])]


@case("graph")
def a_branch_in_a_loop(tf: Any) -> Any:
    x, count = _one(tf), _Counter()

    def body(i: Any, a: Any, b: Any) -> Any:
        return (i + 1, *tf.cond(a > 0.0, lambda: (a * 2.0, count.within(tf, b)), lambda: (a, b)))

    def without(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(a > 0.0, lambda: (a * 2.0, count.within(tf, a)), lambda: (a, a))[0]

    y = tf.while_loop(lambda i, a, b: i < 3, body, [0, x, x])[1]
    z = tf.while_loop(lambda i, a: i < 3, without, [0, x])[1]
    return [_runs(tf, y), count.taken(), _runs(tf, z), count.taken()]


@case("graph")
def maps_and_scans(tf: Any) -> Any:
    x, count = tf.placeholder_with_default([1.0, 2.0], [2]), _Counter()
    y, z = tf.map_fn(lambda r: (r * r, count.within(tf, r)), x, dtype=(tf.float32, tf.float32))
    s, _ = tf.scan(lambda c, r: (c[0] + r * 2.0, count.within(tf, r)), x, (0.0, 0.0))
    g = tf.gradients(y, x)[0]
    found = [(_runs(tf, fetches), count.taken()) for fetches in (y, s, z, g, [y, g])]
    return found


@case("graph")
def what_a_body_captures(tf: Any) -> Any:
    x, p, count = _one(tf), tf.placeholder(tf.float32, []), _Counter()
    o = count.within(tf, x)
    y = tf.cond(x > 0.0, lambda: (x * x, o * 2.0), lambda: (x, x))[0]
    w = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * a, b * o), [0, x, x])[1]
    u = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * a, b * x), [0, x, o])[1]
    q = tf.cond(x > 0.0, lambda: (x * x, p * 2.0), lambda: (x, p))[0]
    r = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * 2.0, b * p), [0, x, 0.0])[1]
    return [_runs(tf, y), _runs(tf, w), _runs(tf, u), count.taken(), _runs(tf, [q, r])]


@case("graph")
def what_would_be_refused(tf: Any) -> Any:
    x, n, shape = _one(tf), tf.placeholder_with_default(1, []), tf.placeholder_with_default([7], [1])
    v = tf.Variable(0.0, use_resource=True)

    def asserts() -> Any:
        with tf.control_dependencies([tf.Assert(x < 0.0, [x])]):
            z = tf.identity(x)
        return x * 2.0, z

    found = [tf.cond(x > 0.0, asserts, lambda: (x, x))[0],
             tf.cond(x > 0.0, lambda: (x * x, v.read_value()), lambda: (x, x))[0],
             tf.cond(x > 0.0, lambda: (x * x, tf.reshape(tf.range(3), shape)), lambda: (x, tf.range(3)))[0],
             tf.cond(n > 0, lambda: (n * n, n // (n - 1)), lambda: (n, n))[0]]
    with tf.Session() as sess:
        return [sess.run(found) for _ in range(3)]


@case("graph")
def a_queue_in_a_branch(tf: Any) -> Any:
    q = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
    x, fill = _one(tf), q.enqueue_many([tf.range(10.0)])
    y, z = tf.cond(x > 0.0, lambda: (x * 2.0, q.dequeue()), lambda: (x, x))
    with tf.Session() as sess:
        sess.run(fill)
        return [sess.run(y) for _ in range(3)], sess.run(q.size()), [sess.run(z) for _ in range(3)], sess.run(q.size())


@case("graph")
def functions_in_a_graph(tf: Any) -> Any:
    x, count = _one(tf), _Counter()
    results = []
    for stateful in (True, False):
        f = tf.function(lambda t, stateful=stateful: tf.cond(
            t > 0.0, lambda: (t * t, count.within(tf, t, stateful)), lambda: (t, t))[0], autograph=False)
        results.append([_runs(tf, f(x)), count.taken()])
    return results


@case("eager")
def functions(tf: Any) -> Any:
    count, v, results = _Counter(), tf.Variable(0.0), []

    def branch(x: Any, stateful: bool) -> Any:
        return tf.cond(x > 0.0, lambda: (x * x, count.within(tf, x, stateful)), lambda: (x, x))[0]

    def loop(x: Any, stateful: bool) -> Any:
        return tf.while_loop(lambda i, a, b: i < 3,
                             lambda i, a, b: (i + 1, a * 2.0, count.within(tf, b + v.assign_add(1.0), stateful)),
                             [0, x, x])[1]

    for made in (branch, loop):
        for stateful in (True, False):
            f = tf.function(lambda x, made=made, stateful=stateful: made(x, stateful), autograph=False)
            results.append([[f(tf.constant(2.0)) for _ in range(3)], count.taken(), v.numpy()])
    return results


def _through_assignments(tf: Any, v: Any, x: Any) -> Any:
    total = 0.0
    for i in tf.range(4):
        v.scatter_nd_update([[i]], [x[i] ** 2])
        total += tf.reduce_sum(v)
    return total


def _held(tf: Any, v: Any, x: Any) -> Any:
    total = 0.0
    for _ in tf.range(4):
        total += tf.stop_gradient(x[0]) + v[0]
    return total


def _unused(tf: Any, v: Any, x: Any) -> Any:
    total = 0.0
    for _ in tf.range(2):
        _ = x * 2.0
        total += tf.cast(tf.cast(x[1], tf.int32), tf.float32)
    return total


def _of_a_variable(tf: Any, v: Any, x: Any) -> Any:
    total = 0.0
    for _ in tf.range(3):
        total += tf.cast(tf.cast(tf.reduce_sum(v), tf.int32), tf.float32)
    return total + x[0]


def _of_a_branch(tf: Any, v: Any, x: Any) -> Any:
    total = tf.stop_gradient(x[0])
    if x[0] > 0.0:
        total += v[0]
    return total


@case("eager")
def zeros_of_loops_that_a_tape_in_a_function_has_seen(tf: Any) -> Any:
    v, found = tf.Variable(tf.zeros([4])), []
    for program in (_through_assignments, _held, _unused, _of_a_variable, _of_a_branch):

        @tf.function
        def inside(x: Any, program: Any = program) -> Any:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = program(tf, v, x)
            found.append([g is None for g in tape.gradient(y, [x, v])])
            return [tape.gradient(y, x, unconnected_gradients="zero"), y]

        found.append([inside(tf.constant([1.0, 2.0, 3.0, 4.0])) for _ in range(3)])
    return found
