"""Tapes around tapes over functions whose forward pass must not run again: it calls Python, and changes variables."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..harness import case


class _Counter:
    """A Python function that gives something else with each call."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, a: Any) -> Any:
        self.calls += 1
        return (np.asarray(a) * 0.1 + 0.05 * self.calls).astype(np.float32)


def _called(tf: Any, count: _Counter, x: Any, shape: Any = (2,)) -> Any:
    t = tf.numpy_function(count, [x], tf.float32)
    t.set_shape(shape)
    return t


def _product(tf: Any, count: _Counter) -> Callable[[Any], Any]:
    return tf.function(lambda x: tf.sin(x) * _called(tf, count, x) * x, autograph=False)


def _loop(tf: Any, count: _Counter) -> Callable[[Any], Any]:
    v = tf.Variable(1.0)

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        v.assign_add(1.0)
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * _called(tf, count, y) * v + y),
                             [0, x])[1]

    return f


def _branch(tf: Any, count: _Counter) -> Callable[[Any], Any]:
    v = tf.Variable(1.0)

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        v.assign_add(1.0)
        return tf.cond(tf.reduce_sum(x) > 0, lambda: (tf.sin(x) * _called(tf, count, x) * v + x) ** 3, lambda: x)

    return f


def _rows(tf: Any, count: _Counter) -> Callable[[Any], Any]:
    return tf.function(lambda x: tf.map_fn(lambda r: tf.sin(r) * r * _called(tf, count, r, ()), x), autograph=False)


def _orders(tf: Any, make: Any, orders: int) -> Any:
    """Derivatives up to some order, by tapes in tapes, in three runs; how often Python was called."""
    count, results = _Counter(), []
    f = make(tf, count)

    def derivatives(x: Any, order: int) -> list[Any]:
        if not order:
            return [f(x)]
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = derivatives(x, order - 1)
        return [*found, tape.gradient(found[-1], x)]

    for _ in range(3):
        results.append([*derivatives(tf.constant([0.5, -0.3]), orders), count.calls])
    return results


@case("eager")
def second_derivatives_of_a_function_that_calls_python(tf: Any) -> Any:
    return _orders(tf, _product, 2)


@case("eager")
def third_derivatives_of_a_function_that_calls_python(tf: Any) -> Any:
    return _orders(tf, _product, 3)


@case("eager", rtol=1e-5)
def second_derivatives_of_a_loop_that_calls_python(tf: Any) -> Any:
    return _orders(tf, _loop, 2)


@case("eager", rtol=1e-5)
def third_derivatives_of_a_loop_that_calls_python(tf: Any) -> Any:
    return _orders(tf, _loop, 3)


@case("eager", rtol=1e-5)
def second_derivatives_of_a_branch_that_calls_python(tf: Any) -> Any:
    return _orders(tf, _branch, 2)


@case("eager")
def second_derivatives_of_rows_that_call_python(tf: Any) -> Any:
    return _orders(tf, _rows, 2)


@case("eager")
def a_persistent_tape_that_records_its_own_gradients(tf: Any) -> Any:
    result: list[Any] = []
    for make in (_product, _loop):
        count, x = _Counter(), tf.constant([0.5, -0.3])
        f = make(tf, count)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            g = tape.gradient(y, x)
            h = tape.gradient(g, x)
        result.append([y, g, h, count.calls])
    return result


def _taped_calls(tf: Any) -> Iterator[tuple[_Counter, Any, Any, Any]]:
    """For each of the functions a count of Python's calls, x, the tape that recorded the function, its value."""
    for make in (_product, _loop, _branch, _rows):
        count, x = _Counter(), tf.constant([0.5, -0.3])
        f = make(tf, count)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        yield count, x, tape, y


@case("eager", rtol=1e-5)
def jacobians_of_functions_that_call_python(tf: Any) -> Any:
    result: list[Any] = []
    for count, x, tape, y in _taped_calls(tf):
        result.append([tape.jacobian(y, x), count.calls])
    return result


@case("eager", rtol=1e-5)
def a_gradient_that_is_asked_for_in_a_function(tf: Any) -> Any:
    result: list[Any] = []
    for count, x, tape, y in _taped_calls(tf):
        asked = tf.function(lambda tape=tape, y=y, x=x: tape.gradient(y, x), autograph=False)
        result.append([asked(), count.calls])
    return result


@case("eager")
def a_tape_that_begins_after_the_function_was_called(tf: Any) -> Any:
    count, x = _Counter(), tf.constant([0.5, -0.3])
    f = _product(tf, count)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    with tf.GradientTape() as later:
        later.watch(x)
        g = tape.gradient(y, x)
    return [g, later.gradient(g, x), count.calls]


@case("eager")
def variables_that_are_assigned_between_the_tapes(tf: Any) -> Any:
    v, x, results = tf.Variable(2.0), tf.constant(0.5), []

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        v.assign_add(1.0)
        return x * x * v * v

    for _ in range(3):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            v.assign_add(10.0)
            g, gv = inner.gradient(y, [x, v])
        v.assign_sub(3.0)
        results.append([y, g, gv, outer.gradient([g, gv], [x, v]), v])
    return results


@case("eager")
def two_tapes_side_by_side(tf: Any) -> Any:
    count, v, w = _Counter(), tf.Variable([0.5, -0.3]), tf.Variable([0.2, 0.4])
    results = []
    f = tf.function(lambda x: tf.sin(x * v) * _called(tf, count, x) * w, autograph=False)
    for _ in range(3):
        with tf.GradientTape() as one, tf.GradientTape() as other:
            y = f(tf.constant([1.0, 2.0]))
            z = tf.reduce_sum(y * y)
        gv, gw = one.gradient(z, v), other.gradient(y, w)
        v.assign_sub(0.1 * gv)
        w.assign_sub(0.1 * gw)
        results.append([z, gv, gw, count.calls])
    return results


@case("eager")
def a_tape_within_an_accumulator(tf: Any) -> Any:
    count, x, result = _Counter(), tf.constant([0.5, -0.3]), []
    f = _product(tf, count)
    for _ in range(3):
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 2.0])) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            g = tape.gradient(y, x)
        result.append([g, acc.jvp(y), acc.jvp(g), count.calls])
    return result


@case("eager")
def numbers_that_are_drawn_once(tf: Any) -> Any:
    x = tf.constant([0.5, -0.3])

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y * tf.random.uniform([2], 1.0, 2.0)),
                             [0, x])[1]

    same = []
    for _ in range(3):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        h = outer.gradient(g, x)
        # y = c x^8
        same.append([bool(np.allclose(g, 8 * y / x, rtol=1e-4)), bool(np.allclose(h, 56 * y / x**2, rtol=1e-4))])
    return same


def _asked_within(tf: Any, f: Callable[[Any], Any], x: Any, orders: int) -> list[Any]:
    """Derivatives up to some order, all asked of one tape inside of its block."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        found = [f(x)]
        for _ in range(orders):
            found.append(tape.gradient(found[-1], x))
    return found


def _pure_loop(tf: Any) -> Callable[[Any], Any]:
    return tf.function(lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y * x),
                                               [0, x])[1], autograph=False)


@case("eager", rtol=1e-5)
def a_persistent_tape_that_is_asked_for_the_third_derivative_of_a_loop(tf: Any) -> Any:
    return [_asked_within(tf, _pure_loop(tf), tf.constant(1.5), 3) for _ in range(2)]


@case("eager", rtol=1e-5)
def third_derivatives_of_a_loop_over_what_cannot_be_read_again(tf: Any) -> Any:
    count, v, x, results = _Counter(), tf.Variable(1.0), tf.constant([0.5, 0.3]), []

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        with tf.control_dependencies([v.assign_add(1.0)]):
            z = _called(tf, count, x) * x * 2.0
        w = v.read_value()
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * y * z * w), [0, z])[1]

    for _ in range(2):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            results.append(v.numpy())
            v.assign(2.5)
            g = tape.gradient(y, x)
            h = tape.gradient(g, x)
            v.assign_sub(1.25)
            results.append([y, g, h, tape.gradient(h, x), v.numpy(), count.calls])
    return results


@case("eager", rtol=1e-5)
def a_third_derivative_that_is_asked_for_in_a_function(tf: Any) -> Any:
    f, x = _pure_loop(tf), tf.constant(1.5)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        h = tape.gradient(tape.gradient(y, x), x)
    return tf.function(lambda: tape.gradient(h, x), autograph=False)()


@case("eager")
def a_gradient_does_not_repeat_what_was_waited_for(tf: Any) -> Any:
    v, x, results = tf.Variable(1.0), tf.constant(0.5), []

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        with tf.control_dependencies([v.assign_add(1.0)]):
            return tf.sin(x) * 2.0

    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        results.append([y, tape.gradient(y, x), v.numpy()])
    return results


@case("eager")
def a_tape_around_the_gradient_alone(tf: Any) -> Any:
    """The second tape begins after the forward pass: eagerly, and in a function."""
    ways = {
        "operations": lambda x: x * x * x,
        "branch": lambda x: tf.cond(x > 0.0, lambda: x * x * x, lambda: x),
        "loop": lambda x: tf.while_loop(lambda i, p: i < 2, lambda i, p: (i + 1, p * x), [tf.constant(0), x])[1],
        "function": tf.function(lambda x: x * x * x),
    }

    def second(x: Any, cube: Any) -> Any:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        with tf.GradientTape() as outer:
            outer.watch(x)
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    def found(cube: Any) -> Any:
        values = second(tf.constant(0.8), cube), tf.function(lambda x: second(x, cube))(tf.constant(0.8))
        return [None if v is None else round(float(v), 5) for v in values]

    return {name: found(cube) for name, cube in ways.items()}


def _in_a_function(tf: Any, f: Any, x: Any) -> list[Any]:
    """What a function gives that returns a list in which some are None."""
    found: list[Any] = []

    @tf.function
    def traced(x: Any) -> Any:
        found[:] = f(x)
        return [t for t in found if t is not None]

    values = iter(traced(x))
    return [None if t is None else next(values) for t in found]


def _alone(tf: Any, f: Any, v: Any, how: str, x: Any) -> list[Any]:
    """The derivatives of gradients by a tape that sees the gradients alone.

    Args:
      f: the function that is differentiated.
      v: a variable that it may read.
      how: which tapes see the forward pass, N or P (persistent), from the outermost one on, and which one is asked.
      x: what is differentiated with respect to, beside `v`.
    """
    seen, asked = how.split()
    with contextlib.ExitStack() as stack:
        tapes = [stack.enter_context(tf.GradientTape(persistent=kind == "P")) for kind in seen]
        for tape in tapes:
            tape.watch(x)
        y = f(x)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        gradients = tapes[seen.index(asked)].gradient(y, [x, v])
    return [outer.gradient(g, s) for g in gradients if g is not None for s in (x, v)]


@case("eager")
def tapes_around_gradients_of_sub_graphs_alone(tf: Any) -> Any:
    """Branches, loops, maps, in each other; with tapes that are persistent or not."""
    v = tf.Variable(0.8)

    def power(x: Any, p: Any) -> Any:
        return tf.while_loop(lambda i, p: i < 2, lambda i, p: (i + 1, p * x), [tf.constant(0), p])[1]

    def turns(i: Any, p: Any, x: Any) -> Any:
        return i + 1, tf.cond(p > 0.0, lambda: p * p * x, lambda: p)

    ways = {
        "branch": lambda x: tf.cond(x > 0.0, lambda: x * x * x, lambda: x),
        "branch_that_reads": lambda x: tf.cond(x > 0.0, lambda: v * v * v * x * x, lambda: x),
        "branch_in_branch": lambda x: tf.cond(x > 0.0, lambda: x * tf.cond(x > 0.1, lambda: tf.sin(x * x) * x,
                                                                         lambda: x), lambda: x),
        "loop": lambda x: power(x, x),
        "loop_that_reads": lambda x: power(v * x, x),
        "loop_in_branch": lambda x: tf.cond(x > 0.0, lambda: power(x, x) * x * x, lambda: x),
        "branch_in_loop": lambda x: tf.while_loop(lambda i, p: i < 2, lambda i, p: turns(i, p, x),
                                                  [tf.constant(0), x])[1],
        "map": lambda x: tf.reduce_sum(tf.map_fn(lambda r: r * r * r * x, tf.stack([x, 2.0 * x]))),
        "vectorized_map": lambda x: tf.reduce_sum(tf.vectorized_map(lambda r: r * r * r * x * x,
                                                                    tf.stack([x, 2.0 * x]))),
        "scan": lambda x: tf.scan(lambda a, r: a * r * x, tf.stack([x, 2.0 * x]), x)[-1],
    }
    results = {}
    for name, f in ways.items():
        for how in ("N N", "P P", "PN N", "PN P", "NP N"):
            found = _in_a_function(tf, functools.partial(_alone, tf, f, v, how), tf.constant(0.8))
            results[f"{name} {how}"] = [None if t is None else round(float(t), 4) for t in found]
    return results


@case("eager")
def sources_that_are_read_and_not_recorded(tf: Any) -> Any:
    """They have no gradient, even as targets, where a recorded operation reads them; as arguments of calls, too."""
    f = tf.function(lambda p, q: p * q + tf.cos(p))
    ways = {"call": f, "call_turned": lambda a, b: f(b, a), "product": lambda a, b: a * b,
            "copy": lambda a, b: a * tf.identity(b), "branch": lambda a, b: tf.cond(a > 0.0, lambda: a * b, lambda: a)}

    def one(way: Any, x: Any) -> Any:
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch(x)
            b = tf.sin(tf.constant(0.3))
            c = way(tf.sin(x), b)
        return tape.gradient([c, b], [b, x])

    results = {}
    for name, way in ways.items():
        found = functools.partial(one, way)
        results[name] = [found(tf.constant(0.6)), _in_a_function(tf, found, tf.constant(0.6))]
    return results


@case("eager")
def zeros_of_unconnected_sources_are_not_followed(tf: Any) -> Any:
    """In a function, a tape does not record them."""
    def one(x: Any) -> Any:
        with tf.GradientTape() as inner:
            inner.watch(x)
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            zero = inner.gradient(tf.constant(2.0), x, unconnected_gradients="zero")
            y = tf.tanh(zero) * x
        return [outer.gradient(y, zero), outer.gradient(y, x)]

    return _in_a_function(tf, one, tf.constant(0.6))


_LOST = ("in graphs TensorFlow's tape loses what a gradient takes from the forward pass of a sub-graph (zeros; an "
         "AssertionError for an If); these are the derivatives, as without sub-graphs")


@case("graph", rtol=1e-5, differs=_LOST, expected=4 * [[np.float32(-1.0313691), np.float32(-0.2059731)]])
def gradients_of_sub_graphs_that_a_tape_has_seen(tf: Any) -> Any:
    x, v = tf.placeholder(tf.float32, []), tf.Variable(1.2, use_resource=True)

    def f(q: Any) -> Any:
        return tf.tanh(q * v)

    forms = [lambda: f(x), lambda: tf.cond(x > 0.0, lambda: f(x), lambda: x), lambda: tf.function(f)(x),
             lambda: tf.while_loop(lambda i, q: i < 1, lambda i, q: (i + 1, f(q)), [0, x])[1]]
    found = []
    for form in forms:
        with tf.GradientTape() as tape:
            tape.watch(x)
            g = sum(tf.gradients(form(), [x, v]))
        try:
            found.append(tape.gradient(g, [x, v], unconnected_gradients="zero"))
        except AssertionError:
            found.append([tf.constant(-1.0), tf.constant(-1.0)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(found, {x: 0.6})
