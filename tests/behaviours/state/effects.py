"""Effects: assignments that nothing asks for, that branches and bodies wait for, that are fetched beside variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import case
from ..together import Together

program = Together(__name__)


@program("captured")
def branch_reads_assigned(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)
    return tf.cond(x > 0.0, lambda: up * x, lambda: x), [a]


@program("captured")
def branch_reads_assign_op_value(tf, x):
    a = tf.Variable(5.0)
    up = tf.assign_add(a, 1.0)
    return tf.cond(x > 0.0, lambda: tf.identity(up) * x, lambda: x), [a]


@program("captured")
def branch_reads_scatter(tf, x):
    a = tf.Variable([5.0, 1.0])
    up = tf.scatter_add(a, [0], [1.0])
    return tf.cond(x > 0.0, lambda: tf.reduce_sum(up) * x, lambda: x), [a]


@program("captured")
def branch_value_outside(tf, x):
    a = tf.Variable(5.0)
    up = tf.identity(a.assign_add(1.0))
    return tf.cond(x > 0.0, lambda: up * x, lambda: x), [a]


@program("captured")
def branch_not_taken(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)
    return tf.cond(x < 0.0, lambda: up * x, lambda: x), [a]


@program("captured")
def while_reads_assigned(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)
    return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * up), [0, x])[1], [a]


@program("captured")
def map_reads_assigned(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)
    return tf.map_fn(lambda t: t * up, tf.stack([x, x])), [a]


@program("captured")
def scan_reads_assigned(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)
    return tf.scan(lambda s, t: s * t * up, tf.stack([x, x])), [a]


@program("captured")
def while_cond_reads_assigned(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)
    return tf.while_loop(lambda i: i < up, lambda i: i + 1.0, [x]), [a]


@program("captured")
def nested_branch_reads_assigned(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)
    return tf.cond(x > 0.0, lambda: tf.cond(x > 1.0, lambda: up * x, lambda: x), lambda: x), [a]


@program("captured")
def function_reads_assigned(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)

    @tf.function
    def f(t):
        return t * up

    return f(x), [a]


@program("captured")
def control_deps_around_cond(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)
    with tf.control_dependencies([up]):
        y = tf.cond(x > 0.0, lambda: a * x, lambda: x)
    return y, [a]


@program("captured")
def control_deps_inside_cond(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0)

    def br():
        with tf.control_dependencies([up]):
            return a * x

    return tf.cond(x > 0.0, br, lambda: x), [a]


@program("captured")
def control_deps_inside_cond_op(tf, x):
    a = tf.Variable(5.0)
    up = a.assign_add(1.0).op

    def br():
        with tf.control_dependencies([up]):
            return a * x

    return tf.cond(x > 0.0, br, lambda: x), [a]


@program("unused")
def unused_assign_in_branch(tf, x):
    v = tf.Variable(1.0)

    def br():
        v.assign_add(1.0)
        return x * 2.0

    return tf.cond(x > 0.0, br, lambda: x), [v]


@program("unused")
def unused_assign_op_in_branch(tf, x):
    v = tf.Variable(1.0)

    def br():
        tf.assign_add(v, 1.0)
        return x * 2.0

    return tf.cond(x > 0.0, br, lambda: x), [v]


@program("unused")
def unused_assign_in_body(tf, x):
    v = tf.Variable(1.0)

    def body(i, y):
        v.assign_add(1.0)
        return i + 1, y * 2.0

    return tf.while_loop(lambda i, y: i < 3, body, [0, x])[1], [v]


@program("unused")
def unused_assign_in_while_cond(tf, x):
    v = tf.Variable(1.0)

    def c(i, y):
        v.assign_add(1.0)
        return i < 3

    return tf.while_loop(c, lambda i, y: (i + 1, y * 2.0), [0, x])[1], [v]


@program("unused")
def unused_assign_in_map(tf, x):
    v = tf.Variable(1.0)

    def f(t):
        v.assign_add(1.0)
        return t * 2.0

    return tf.map_fn(f, tf.stack([x, x])), [v]


@program("unused")
def assign_in_branch_with_deps(tf, x):
    v = tf.Variable(1.0)

    def br():
        with tf.control_dependencies([v.assign_add(1.0)]):
            return x * 2.0

    return tf.cond(x > 0.0, br, lambda: x), [v]


@program("unused")
def assign_in_branch_with_deps_identity(tf, x):
    v = tf.Variable(1.0)

    def br():
        with tf.control_dependencies([v.assign_add(1.0)]):
            return tf.identity(x)

    return tf.cond(x > 0.0, br, lambda: x), [v]


@program("unused")
def unused_assign_in_nested_branch(tf, x):
    v = tf.Variable(1.0)

    def br():
        def inner():
            v.assign_add(1.0)
            return x

        return tf.cond(x > 0.0, inner, lambda: x) * 2.0

    return tf.cond(x > 0.0, br, lambda: x), [v]


@program("unused")
def function_in_branch_unused(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        v.assign_add(t)
        return t

    def br():
        f(x)
        return x * 2.0

    return tf.cond(x > 0.0, br, lambda: x), [v]


@program("unused")
def unused_assign_and_read_in_branch(tf, x):
    v = tf.Variable(1.0)

    def br():
        v.assign_add(1.0)
        return x * v

    return tf.cond(x > 0.0, br, lambda: x), [v]


@program("unused")
def read_value_in_branch_after_assign(tf, x):
    v = tf.Variable(1.0)

    def br():
        v.assign_add(1.0)
        return x * v.read_value()

    return tf.cond(x > 0.0, br, lambda: x), [v]


@program("unused")
def body_assign_read(tf, x):
    v = tf.Variable(1.0)

    def body(i, y):
        v.assign_add(1.0)
        return i + 1, y * v.read_value()

    return tf.while_loop(lambda i, y: i < 3, body, [0, x])[1], [v]


@program("unused")
def body_assign_deps(tf, x):
    v = tf.Variable(1.0)

    def body(i, y):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return i + 1, y * 2.0

    return tf.while_loop(lambda i, y: i < 3, body, [0, x])[1], [v]


@program("unused")
def body_assign_deps_i(tf, x):
    v = tf.Variable(1.0)

    def body(i, y):
        with tf.control_dependencies([v.assign_add(1.0)]):
            i = i + 1
        return i, y * 2.0

    return tf.while_loop(lambda i, y: i < 3, body, [0, x])[1], [v]


@program("unused")
def branch_returns_an_assignment(tf, x):
    v = tf.Variable(1.0)
    return tf.cond(x > 0.0, lambda: v.assign_add(1.0), lambda: v), [v]


@program("unused")
def branch_returns_an_operation(tf, x):
    v = tf.Variable(1.0)
    return tf.cond(x > 0.0, lambda: tf.group(v.assign_add(1.0)), tf.no_op), [v]


@program("fetched")
def references_are_fetched_after_updates(tf, x):
    w = tf.Variable([3.0, 1.0], use_resource=False)
    loss = tf.reduce_sum(w * w) * x
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss, [w])
    return [loss, pairs[0][0], w, optimizer.apply_gradients(pairs)], [w]


@program("fetched")
def references_of_get_variable(tf, x):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), use_resource=False)
    return [w, tf.assign_add(w, [1.0, 2.0]) * x], [w]


@program("fetched")
def resources_are_fetched_before_updates(tf, x):
    w = tf.Variable(np.ones(100, np.float32), use_resource=True)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * w) * x)
    return [w, train], [w]


program.declare()


@case("graph")
def queues_in_branches(tf: Any) -> Any:
    x, queue = tf.placeholder_with_default(2.0, []), tf.FIFOQueue(10, tf.float32)

    def asked_for():
        with tf.control_dependencies([queue.enqueue(x)]):
            return x * 2.0

    def unused():
        queue.enqueue(x)
        return x * 2.0

    y, z = tf.cond(x > 0.0, asked_for, lambda: x), tf.cond(x > 0.0, unused, lambda: x)
    with tf.Session() as sess:
        return [(sess.run([y, z]), sess.run(queue.size())) for _ in range(3)]


@case("graph")
def places_of_adam(tf: Any) -> Any:
    w = tf.Variable([1.0, 2.0], name="w")
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(tf.reduce_sum(w * w))
    powers = optimizer._get_beta_accumulators()
    return [[v.op.name, v.op.colocation_groups()] for v in (*powers, w, optimizer.get_slot(w, "m"))]
