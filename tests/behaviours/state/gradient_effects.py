"""Effects of users' gradient functions, in loops and branches: Python calls, assertions, assignments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..harness import case


def _square(tf: Any, told: list[float], most: float = 100.0) -> Callable[[Any], Any]:
    """Returns a function that squares, and whose gradient tells what arrives; at most `most` may."""

    @tf.custom_gradient
    def square(x):
        def grad(dy):
            tf.debugging.assert_less(dy, most)
            tf.numpy_function(_teller(told), [dy], tf.float32)
            return dy * 2.0 * x

        return x * x, grad

    return square


def _teller(told: list[float]) -> Callable[[Any], Any]:
    def tell(value):
        told.append(float(value))
        return value

    return tell


def _in_and_out(tf: Any, told: list[float], run: Callable[[Any, Any], Any]) -> Any:
    """Returns the gradient taken inside of a function, that of a function, and what was told each time."""

    @tf.function
    def inside(x, k):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x, k)
        return tape.gradient(y, x)

    outside, x, k, found = tf.function(run), tf.constant(1.1), tf.constant(3), []
    for _ in range(2):
        told.clear()
        found.append([inside(x, k), list(told)])
        told.clear()
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = outside(x, k)
        found.append([tape.gradient(y, x), list(told)])
    return found


@case("eager")
def told_in_a_loop(tf: Any) -> Any:
    told: list[float] = []
    square = _square(tf, told)

    def run(x, k):
        for _ in tf.range(k):
            x = square(x)
        return x

    return _in_and_out(tf, told, run)


@case("eager")
def told_in_a_loop_that_counts(tf: Any) -> Any:
    told: list[float] = []
    square, count = _square(tf, told), tf.Variable(0.0)

    def run(x, k):
        count.assign(0.0)
        for _ in tf.range(k):
            count.assign_add(1.0)
            x = square(x) * count
        return x

    return _in_and_out(tf, told, run)


@case("eager")
def told_in_nested_loops(tf: Any) -> Any:
    told: list[float] = []
    square = _square(tf, told)

    def run(x, k):
        for _ in tf.range(k):
            x = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, square(y) * 0.9), (0, x))[1]
        return x

    return _in_and_out(tf, told, run)


@case("eager")
def told_in_a_branch_that_counts(tf: Any) -> Any:
    told: list[float] = []
    square, count = _square(tf, told), tf.Variable(0.0)

    def run(x, k):
        count.assign(0.0)
        if k > 1:
            x = square(x * count.assign_add(3.0)) * count
        return x

    return _in_and_out(tf, told, run)


@case("eager")
def asserted_in_a_loop(tf: Any) -> Any:
    square = _square(tf, [], 2.0)

    @tf.function
    def run(x, k):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, y: i < k, lambda i, y: (i + 1, square(y)), (0, x))[1]
        return tape.gradient(y, x)

    found = [run(tf.constant(0.5), tf.constant(3))]
    try:
        run(tf.constant(1.1), tf.constant(3))
    except tf.errors.InvalidArgumentError as error:
        found.append(type(error).__name__)
    return found


@case("graph")
def waited_for_in_a_session(tf: Any) -> Any:
    told: list[float] = []

    @tf.custom_gradient
    def square(x):
        def grad(dy):
            with tf.control_dependencies([tf.py_func(_teller(told), [dy], tf.float32)]):
                return tf.identity(dy * 2.0 * x)

        return x * x, grad

    x = tf.constant(1.1)
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, square(y)], [0, x])[1]
    dx = tf.gradients(y, x)
    with tf.Session() as sess:
        return [sess.run(dx), told]
