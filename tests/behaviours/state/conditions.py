"""Conditions of loops that change variables, generators and tables; the loop and its gradient go on from there."""

from __future__ import annotations

from typing import Any

from ..harness import case


@case("eager")
def counted_in_condition(tf: Any) -> Any:
    w = tf.Variable(0)

    @tf.function
    def run(n):
        i = tf.constant(0)
        while w.assign_add(1) < n:
            i += 1
        return i, w.read_value()

    return [run(tf.constant(n)) for n in (3, 3, 8)]


@case("eager")
def asked_at_the_limit(tf: Any) -> Any:
    w = tf.Variable(0)

    def run(n):
        found = tf.while_loop(lambda i, j: w.assign_add(1) < n, lambda i, j: [i + 1, j], [tf.constant(0)] * 2,
                              maximum_iterations=20)
        return found[0], w.read_value()

    return [f(tf.constant(n)) for f in (run, tf.function(run)) for n in (3, 40)]


@case("eager")
def answer_without_the_effect(tf: Any) -> Any:
    w = tf.Variable(0)

    @tf.function
    def run(n):
        def more(i):
            w.assign_add(1)
            return i < n

        return tf.while_loop(more, lambda i: [i + 1], [0])

    return [[run(tf.constant(n)), w.read_value()] for n in (0, 1, 3)]


@case("eager")
def drawn_in_condition(tf: Any) -> Any:
    generator = tf.random.Generator.from_seed(4)

    @tf.function
    def run():
        i = tf.constant(0)
        while generator.uniform([]) < 0.9 and i < 50:
            i += 1
        return i

    return [run() for _ in range(4)]


@case("eager")
def table_filled_in_condition(tf: Any) -> Any:
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    @tf.function
    def run(n):
        def more(i):
            table.insert(i, i * i)
            return i < n

        return tf.while_loop(more, lambda i: [i + 1], [tf.constant(0, tf.int64)])

    return [run(tf.constant(3, tf.int64)), table.size(), table.lookup(tf.constant([0, 1, 2, 3, 4], tf.int64))]


@case("eager")
def derivatives_of_both_orders(tf: Any) -> Any:
    v = tf.Variable(0.5)

    @tf.function
    def run(x, n):
        v.assign(0.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x
                while v.assign_add(0.25) < n:
                    y = y * x * v
            d = inner.gradient(y, x)
        return y, d, outer.gradient(d, x), v.read_value()

    return [run(tf.constant(1.2), tf.constant(n)) for n in (0.0, 1.0, 2.0)]


@case("eager")
def changed_in_condition_and_body(tf: Any) -> Any:
    w, v = tf.Variable(0), tf.Variable(0.0)

    @tf.function
    def run(x, n):
        y = x
        w.assign(0)
        while w.assign_add(1) < n:
            y = tf.sin(y) * x * tf.cast(w, tf.float32)
            w.assign_add(1)
        v.assign(y)
        return y

    found = []
    for n in (0, 3, 9):
        x = tf.constant(1.2)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x, tf.constant(n))
        found.append([y, tape.gradient(y, x), w.read_value(), v.read_value()])
    return found


@case("eager")
def called_within_loops(tf: Any) -> Any:
    w = tf.Variable(0)

    @tf.function
    def step():
        return w.assign_add(2)

    @tf.function
    def run(x, n):
        y = x
        for k in tf.range(3):
            w.assign(0)
            while step() < n + k:
                if w > 4:
                    y = y * x
                else:
                    y = y + tf.cast(w, tf.float32) * x
        return y

    found = []
    for n in (0, 3, 9):
        x = tf.constant(1.2)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x, tf.constant(n))
        found.append([y, tape.gradient(y, x), w.read_value()])
    return found


@case("eager")
def vectors_and_arrays(tf: Any) -> Any:
    s = tf.Variable(tf.zeros([3]))

    @tf.function
    def run(x, n):
        def more(i, y, ta):
            s.assign_add(y)
            return i < n

        def body(i, y, ta):
            y = y * x + s
            return i + 1, y, ta.write(i, y)

        start = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[3])
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y, ta = tf.while_loop(more, body, (tf.constant(0), x, start))
            total = tf.reduce_sum(ta.stack()) + tf.reduce_sum(y)
        return total, tape.gradient(total, x)

    found = []
    for n in (0, 1, 4):
        s.assign(tf.zeros([3]))
        found.append([run(tf.constant([1.0, 2.0, 0.5]), tf.constant(n)), s.read_value()])
    return found


@case("eager")
def left_by_a_flag(tf: Any) -> Any:
    w = tf.Variable(0)

    @tf.function
    def run(n):
        count = 0
        for _ in tf.range(n):
            if w.assign_add(1) > 5:
                break
            count += 1
        return count

    found = []
    for start in (0, 3, 10):
        w.assign(start)
        found.append([run(tf.constant(4)), w.read_value()])
    return found


@case("graph")
def in_sessions(tf: Any) -> Any:
    w, r = (tf.get_variable(name, initializer=0, use_resource=True) for name in "wr")
    n, x = tf.placeholder(tf.int32, []), tf.constant(1.5)

    def waits(i, y):
        with tf.control_dependencies([tf.assign_add(w, 1), r.assign_add(2)]):
            return tf.identity(i < n)

    one = tf.while_loop(waits, lambda i, y: [i + 1, y * x], [0, x])
    dx = tf.gradients(one[1], x)
    limited = tf.while_loop(lambda i: tf.assign_add(w, 1) < n + 10, lambda i: [i + 1], [0], maximum_iterations=20)

    def inner(i):
        steps = tf.while_loop(lambda j: r.assign_add(1) < n * (i + 1) + 10, lambda j: [j + 1], [0])
        with tf.control_dependencies([steps]):
            return [i + 1]

    nested = tf.while_loop(lambda i: i < 2, inner, [0])
    found = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for k in (0, 3, 3):
            for fetches in (one, [one, dx], limited, nested):
                found.append([sess.run(fetches, {n: k}), sess.run([w, r])])
    return found


@case("graph")
def first_values_given_inside(tf: Any) -> Any:
    z = tf.get_variable("z", initializer=0.0, use_resource=True)

    def body(i, s):
        with tf.control_dependencies([z.assign(2.0)]):
            return [i + 1, s + z.read_value()]

    def more(i):
        with tf.control_dependencies([z.assign(5.0)]):
            return tf.identity(i < 3)

    loops = [tf.while_loop(lambda i, s: i < 3, body, [0, 0.0]), tf.while_loop(more, lambda i: [i + 1], [0])]
    found = []
    for loop in loops:
        with tf.Session() as sess:
            found.append([sess.run(loop), sess.run(z)])
    return found
