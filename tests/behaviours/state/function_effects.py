"""Effects of functions that are called in a graph: they happen when a result is asked for, in the function's order."""

from __future__ import annotations

from typing import Any

from ..harness import case, raised
from ..together import Together

program = Together(__name__)


@program("called")
def assign_add(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        v.assign_add(t)
        return t * 10.0

    return f(x), [v]


@program("called")
def assign_add_then_read(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        v.assign_add(t)
        y = v * 1.0
        v.assign_add(t)
        return y * t

    return f(x), [v]


@program("called")
def output_is_argument(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        v.assign_add(t)
        return t

    return f(x), [v]


@program("called")
def nested_functions(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def g(t):
        v.assign_add(t)
        return t * 3.0

    @tf.function
    def f(t):
        g(t)
        return t * 10.0

    return f(x), [v]


@program("called")
def called_twice(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        v.assign_add(t)
        return v * 1.0

    a = f(x)
    b = f(a)
    return [a, b], [v]


@program("called")
def in_cond(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        v.assign_add(t)
        return t * 10.0

    return tf.cond(x > 0.0, lambda: f(x), lambda: x), [v]


@program("called")
def cond_in_function(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        if t > 0.0:
            v.assign_add(t)
        return t * 10.0

    return f(x), [v]


@program("called")
def while_in_function(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        for _i in tf.range(3):
            v.assign_add(t)
        return t * 10.0

    return f(x), [v]


@program("called")
def gradient_through(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        v.assign_add(t)
        return t * v

    y = f(x)
    return [y, tf.gradients(y, x)[0]], [v]


@program("called")
def gradient_only(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        v.assign_add(t)
        return t * t

    y = f(x)
    return [tf.gradients(y, x)[0]], [v]


@program("called")
def train_step(tf, x):
    v = tf.Variable(1.0)
    tf.train.GradientDescentOptimizer(0.5)

    @tf.function
    def f(t):
        with tf.GradientTape() as tape:
            loss = v * v * t
        g = tape.gradient(loss, v)
        v.assign_sub(0.1 * g)
        return loss

    return f(x), [v]


@program("called")
def randoms_unused(tf, x):
    @tf.function
    def f(t):
        tf.random.uniform([])
        return t

    return f(x), []


@program("called")
def functions_nested_cond_effect(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        def br():
            v.assign_add(1.0)
            return t * 2.0

        return tf.cond(t > 0.0, br, lambda: t)

    return f(x), [v]


@program("called")
def functions_nested_while_effect(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        def body(i, y):
            v.assign_add(1.0)
            return i + 1, y * 2.0

        return tf.while_loop(lambda i, y: i < 3, body, [0, t])[1]

    return f(x), [v]


@program("called")
def two_results_one_fetched(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        a = t * 2.0
        v.assign_add(t)
        return a, v * 1.0

    return f(x)[0], [v]


@program("called")
def not_fetched(tf, x):
    v = tf.Variable(1.0)

    @tf.function
    def f(t):
        v.assign_add(t)

    f(x)
    return x * 1.0, [v]


@program("called")
def gradients_with_respect_to_arguments(tf, x):
    @tf.function
    def f(a, b):
        return tf.gradients(a * b, a)[0]

    return f(x, x), []


program.declare()


@case("graph")
def functions_that_assert(tf: Any) -> Any:
    x = tf.placeholder_with_default(2.0, [])

    @tf.function
    def positive(t):
        tf.debugging.Assert(t > 0.0, [t])
        return t * 10.0

    @tf.function
    def less(t):
        tf.debugging.assert_less(t, 5.0)
        return t * 10.0

    def in_branch():
        tf.debugging.Assert(x < 0.0, [x])
        return x

    y, z, unused = positive(x), less(x), tf.cond(x > 0.0, in_branch, lambda: x)
    with tf.Session() as sess:
        return [[raised(lambda v=v, t=t: sess.run(t, {x: v})) for v in (1.0, -1.0, 6.0)] for t in (y, z, unused)]


@case("graph")
def functions_that_call_python(tf: Any) -> Any:
    x, calls = tf.placeholder_with_default(2.0, []), []

    @tf.function
    def f(t):
        tf.numpy_function(lambda q: calls.append(float(q)), [t * 2.0], [])
        tf.py_function(lambda q: calls.append(float(q) + 1.0), [t], [])
        tf.numpy_function(lambda q: calls.append(float(q) + 2.0), [t], [])
        return t * 10.0

    def in_branch():
        tf.py_func(lambda q: calls.append(-1.0), [x], [])
        return x

    y, unused = f(x), tf.cond(x > 0.0, in_branch, lambda: x)
    with tf.Session() as sess:
        return [sess.run([y, unused]) for _ in range(3)], calls


@case("eager")
def functions_call_python_in_turn(tf: Any) -> Any:
    calls: list[float] = []

    @tf.function
    def f(t):
        a = tf.numpy_function(lambda q: q + 1.0, [t], tf.float32)
        tf.numpy_function(lambda q: calls.append(float(q)), [a], [])
        tf.numpy_function(lambda q: calls.append(float(q)), [t], [])
        if t > 0.0:
            tf.numpy_function(lambda q: calls.append(float(q) * 10.0), [a], [])
            tf.numpy_function(lambda q: calls.append(float(q) * 10.0), [t], [])
        tf.numpy_function(lambda q: calls.append(float(q) * 2.0), [t], [])
        return t * 10.0

    return [f(tf.constant(2.0)) for _ in range(3)], calls
