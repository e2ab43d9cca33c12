"""Gradients of loops, to the third order: against differences, compiled and interpreted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.backend import xla
from graphgrad.executor.program.plan_types import HostStep
from graphgrad.executor.runtime.executable import Executable
from graphgrad.executor.runtime.session import HostSession
from tests.support.effort import part

_X = np.random.default_rng(0).uniform(0.5, 1.2, (3, 3))
_D = np.cos(np.arange(9.0)).reshape(3, 3)  # the direction of derivatives


def _while(cond: Any, body: Any, start: Any, **options: Any) -> Any:
    return tf.while_loop(cond, body, start, **options)


def _times(n: Any, step: Callable[[Any], Any], y: Any) -> Any:
    return _while(lambda i, _: i < n, lambda i, y: (i + 1, step(y)), (0, y))[1]


def _until_large(x: Any) -> Any:
    return _while(lambda y: tf.reduce_sum(y) < 50.0, lambda y: [y * x + 1.0], [x])[0]


def _array_in_array_out(x: Any) -> Any:
    rows = tf.TensorArray(tf.float64, 3).unstack(x)
    out = tf.TensorArray(tf.float64, 3)
    return _while(lambda i, *_: i < 3, lambda i, s, o: (i + 1, s * rows.read(i) + 1.0, o.write(i, s * s)),
                  (0, x[0], out))[2].stack()


def _into_array(x: Any, array: Any, place: Callable[[Any], Any]) -> Any:
    out = _while(lambda i, *_: i < 4, lambda i, y, o: (i + 1, tf.sin(y) * x[1], o.write(place(i), y * y)),
                 (0, x[0], array))
    return out[2].stack() * out[1]


def _array_read_and_written(x: Any) -> Any:
    def body(i: Any, t: Any) -> Any:
        before = t.read(i - 1)
        return i + 1, t.write(i, tf.sin(before) * before * x[1])

    t = tf.TensorArray(tf.float64, 4, clear_after_read=False).write(0, x[0])
    return _while(lambda i, _: i < 4, body, (1, t))[1].stack()


def _array_that_grows(x: Any) -> Any:
    t = tf.TensorArray(tf.float64, 0, dynamic_size=True)
    return _while(lambda i, *_: i < 3, lambda i, y, t: (i + 1, y * x[0], t.write(i, y * y)), (0, x[1], t))[2].stack()


def _shape_that_grows(x: Any) -> Any:
    return _while(lambda i, _: i < 3, lambda i, y: (i + 1, tf.concat([y, y[-1:] * x[:1]], 0)), (0, x),
                  shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 3])])[1]


def _swap(x: Any) -> Any:
    return _while(lambda i, *_: i < 3, lambda i, a, b: (i + 1, b * x, a + b), (0, x, 2.0 * x))[1]


def _early_stop(x: Any) -> Any:
    return _while(lambda i, y: tf.logical_and(i < 6, tf.reduce_sum(y) < 1e3), lambda i, y: (i + 1, y * x + 2.0),
                  (0, x))[1]


def _variable_that_stays(x: Any) -> Any:
    out = _while(lambda i, *_: i < 3, lambda i, y, w: (i + 1, y * w, w), (0, x, tf.sin(x)))
    return out[1] + out[2]


def _branch_inside(x: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * x, lambda: tf.sin(y))

    return _while(lambda i, _: i < 4, body, (0, x))[1]


def _trip_count_of_outer_loop(x: Any) -> Any:
    return _while(lambda i, _: i < 4, lambda i, y: (i + 1, tf.tanh(_times(i, lambda z: z * tf.sin(x) + y, y))),
                  (0, x))[1]


# Those of the first group stay on XLA to any order; those of the second need NumPy for sizes that only the run knows.
_ON_XLA: dict[str, Callable[[Any], Any]] = {
    "count": lambda x: _times(5, lambda y: tf.sin(y) * x, x),
    "matrix product": lambda x: _times(3, lambda y: tf.tanh(tf.matmul(y, x)), x),
    "no iteration": lambda x: _times(0, lambda y: y * x, x * x),
    "nested": lambda x: _times(4, lambda y: tf.tanh(_times(3, lambda z: z * tf.sin(x) + y, y)), x),
    "rows": lambda x: _while(lambda i, _: i < 3, lambda i, s: (i + 1, s * tf.gather(x, i) + 1.0), (0, x[0]))[1],
    "sliced rows": lambda x: _while(lambda i, _: i < tf.shape(x)[0], lambda i, s: (i + 1, s * x[i] + 1.0),
                                    (0, x[0]))[1],
    "array in, array out": _array_in_array_out,
    "array written in one place": lambda x: _into_array(x, tf.TensorArray(tf.float64, 3), lambda i: i // 4),
    "array written from the end": lambda x: _into_array(x, tf.TensorArray(tf.float64, 4), lambda i: 3 - i),
    "array written before": lambda x: _into_array(x, tf.TensorArray(tf.float64, 5).unstack(tf.tile(x, [2, 1])[:5]),
                                                  lambda i: i + 1),
    "branch inside": _branch_inside,
    "read twice": lambda x: _while(lambda i, *_: i < 3, lambda i, y, z: (i + 1, y * z * x, z), (0, x, x))[1],
    "map in map": lambda x: tf.map_fn(lambda a: tf.map_fn(lambda b: tf.sin(a * b) * tf.reduce_sum(x), x), x),
    "swap": _swap,
    "maximum": lambda x: _while(lambda y: True, lambda y: [y * tf.cos(x)], [x], maximum_iterations=4)[0],
    "maximum and count": lambda x: _while(lambda i, y: i < 100, lambda i, y: (i + 1, y * tf.cos(x)), (0, x),
                                          maximum_iterations=4)[1],
    "early stop": _early_stop,
    "down by two": lambda x: _while(lambda i, _: i >= 1, lambda i, y: (i - 2, y * x + tf.cast(i, tf.float64)),
                                    (6, x))[1],
    "up to and with": lambda x: _while(lambda i, _: tf.greater_equal(7, i), lambda i, y: (i + 3, tf.sin(y) * x),
                                       (0, x))[1],
    "a variable that stays": _variable_that_stays,
    "map_fn": lambda x: tf.map_fn(lambda r: tf.sin(r) * r, x),
    "scan": lambda x: tf.scan(lambda a, r: a * tf.sin(r), x),
}
_WITH_NUMPY: dict[str, Callable[[Any], Any]] = {
    "until large": _until_large,
    "trip count of the outer loop": _trip_count_of_outer_loop,
    "array read and written": _array_read_and_written,
    "array that grows": _array_that_grows,
    "shape that grows": _shape_that_grows,
}


def _derivatives(f: Callable[[Any], Any], x: Any, order: int) -> list[Any]:
    """A sum that depends on all of f(x), and its derivatives along `_D`, as scalars; the first as a gradient too."""
    found = [tf.reduce_sum(tf.sin(f(x)))]
    for _ in range(order):
        (g,) = tf.gradients(found[-1], x, unconnected_gradients="zero")
        found.append(tf.reduce_sum(g * _D))
    return found


@pytest.mark.parametrize("name", [*_ON_XLA, *_WITH_NUMPY])
def test_three_orders(name: str) -> None:
    """Each derivative is the difference of the one before."""
    f = {**_ON_XLA, **_WITH_NUMPY}[name]
    with tf.Graph().as_default(), HostSession() as sess:
        x = tf.placeholder(tf.float64, [3, 3])
        values = _derivatives(f, x, 3)
        here, ahead, behind = (sess.run(values, {x: _X + e * _D}) for e in (0.0, 1e-5, -1e-5))
    for order in range(3):
        difference = (ahead[order] - behind[order]) / 2e-5
        np.testing.assert_allclose(here[order + 1], difference, rtol=1e-5, atol=1e-6, err_msg=f"order {order + 1}")


def _host_ops(fetches: Any, feeds: dict[Any, Any]) -> tuple[list[str], list[Any]]:
    """The loops and branches that a run leaves to NumPy once it has settled, and the run's values."""
    def resolve(_: Any) -> Any:
        raise AssertionError("there are no variables")

    executable = Executable(fetches, [], list(feeds), resolve, {})
    values = [xla.to_numpy(v) for v in executable(list(feeds.values()))]
    types = [i.op.type for s in executable.plan.steps if isinstance(s, HostStep) for i in s.program]
    return [t for t in types if t in ("If", "While")], values


@pytest.mark.parametrize("names, order", [
    (["count", "rows", "array in, array out", "no iteration", "branch inside", "map_fn", "early stop", "nested"], 1),
    (["matrix product", "maximum", "scan", "sliced rows", "array written in one place",
      "array written from the end"], 1),
    (["count", "rows"], 2),
    (["array read and written", "shape that grows", "until large"], 1),
], ids=["several", "more", "second order", "with NumPy"])
def test_compiled(names: list[str], order: int) -> None:
    """XLA gives what NumPy gives; loops of known size need no NumPy in between."""
    functions = {**_ON_XLA, **_WITH_NUMPY}
    with tf.Graph().as_default(), HostSession() as sess:
        x = tf.placeholder(tf.float64, [3, 3])
        fetches = [t for name in names for t in _derivatives(functions[name], x, order)[1:]]
        host, values = _host_ops(fetches, {x: _X})
        expected = sess.run(fetches, {x: _X})
    np.testing.assert_allclose(values, expected, rtol=1e-10)
    if all(name in _ON_XLA for name in names):
        assert not host, "it is compiled as a whole"


def test_fed_trip_count() -> None:
    """A fed number of iterations, also zero; lists are compiled for the next power of two."""
    with tf.Graph().as_default(), tf.Session() as sess:
        n = tf.placeholder(tf.int32, [])
        x = tf.placeholder(tf.float64, [])
        y = _times(n, lambda y: y * x, x)
        (g,) = tf.gradients(y, x)
        for count in (3, 4, 0, 9):
            assert np.allclose(sess.run([y, g], {n: count, x: 1.5}), [1.5 ** (count + 1), (count + 1) * 1.5**count])


@pytest.mark.usefixtures("first_in_xla")
def test_fed_trip_count_of_an_inner_loop() -> None:
    """What an inner loop captures can be known beforehand, so both loops are compiled; what varies cannot."""
    with tf.Graph().as_default(), HostSession() as sess:
        n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float64, [])
        y = _times(3, lambda y: _times(n, lambda z: tf.sin(z * x) + y, y), x)
        (g,) = tf.gradients(y, x)
        feeds = {n: np.int32(2), x: np.float64(0.7)}
        host, values = _host_ops([y, g], feeds)
        assert not host
        np.testing.assert_allclose(values, sess.run([y, g], feeds), rtol=1e-12)
        sizes = _while(lambda i, _: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(tf.zeros([i]) + 1.0)), (0, 0.0))[1]
        assert _host_ops([sizes], {}) == (["While"], [3.0])


def test_forward_operations_stay() -> None:
    """Asking for a gradient changes no operation that exists, so a session that ran the loop still can."""
    with tf.Graph().as_default() as graph, HostSession() as sess:
        x = tf.constant(2.0)
        y = _times(3, lambda y: y * x, x)
        before = [(op, op.inputs, dict(op.attrs)) for op in graph.get_operations()]
        assert sess.run(y) == 16
        (g,) = tf.gradients(y, x)
        assert before == [(op, op.inputs, dict(op.attrs)) for op in graph.get_operations()[: len(before)]]
        assert sess.run([y, g]) == [16, 32]


def test_random_numbers_come_again() -> None:
    """The loops of the gradient see the random numbers of the forward loop, each in its iteration."""
    with tf.Graph().as_default():
        x = tf.constant(1.0, tf.float64)

        def body(i: Any, y: Any, factors: Any) -> Any:
            r = tf.random_uniform([], 0.5, 2.0, tf.float64, seed=3)
            return i + 1, tf.sin(y * r), factors.write(i, r * tf.cos(y * r))

        out = _while(lambda i, *_: i < 4, body, (0, x, tf.TensorArray(tf.float64, 4)))
        (g,) = tf.gradients(out[1], x)
        for make in (HostSession, tf.Session):
            with make() as sess:
                gradient, factors = sess.run([g, out[2].stack()])
            np.testing.assert_allclose(gradient, np.prod(factors), rtol=1e-12)
            assert len(set(factors.tolist())) == 4


def test_variables_and_tables() -> None:
    """Gradients with respect to variables that a loop reads, whole and by rows."""
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        b = tf.Variable([1.0, 1.0])
        y = _while(lambda i, _: i < 3, lambda i, s: (i + 1, s * b + tf.gather(w, [i, 0])), (0, tf.ones([2, 2])))[1]
        dw, db = tf.gradients(y, [w, b])
        sess.run(tf.global_variables_initializer())
        dw, db = sess.run([tf.convert_to_tensor(dw), db])
    np.testing.assert_allclose(dw, [[4, 4], [1, 1], [1, 1]])
    # s3 = b^3 + b^2 w(0) + b w(1) + w(2), for both rows
    np.testing.assert_allclose(db, [2 * 3 + 2 * 2 * 1 + (3 + 1), 2 * 3 + 2 * 2 * 2 + (4 + 2)])


def test_inside_a_function() -> None:
    """Loops of a function, differentiated in it."""
    import graphgrad as tf2

    @tf2.function
    def f(x: Any, n: Any) -> Any:
        y = tf2.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, y * x), (0, x))[1]
        (g,) = tf2.gradients(y, x)
        return g, tf2.gradients(g, x)[0]

    assert [float(t) for t in f(tf2.constant(2.0), tf2.constant(2))] == [12.0, 12.0]


def test_unconnected() -> None:
    """As in TensorFlow, what a loop does not depend on has a zero gradient; a variable that only passes hands on."""
    with tf.Graph().as_default(), HostSession() as sess:
        x, z = tf.constant(2.0), tf.constant(3.0)
        out = _while(lambda i, *_: i < 3, lambda i, y, w: (i + 1, tf.stop_gradient(y * x), w), (0, x, z))
        grads = [tf.gradients(out[2] * 5.0, t)[0] for t in (x, z)] + tf.gradients(out[1], x)
        assert sess.run(grads) == [0.0, 5.0, 0.0]


@pytest.mark.parametrize("name", part(["count", "rows", "array in, array out", "branch inside", "swap", "until large",
                                       "array that grows"], 2))
def test_jacobians_have_gradients(name: str) -> None:
    """The gradient of a function of a Jacobian is the difference of that function, along a direction."""
    f = {**_ON_XLA, **_WITH_NUMPY}[name]
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, [3, 3])
        y = tf.reduce_sum(tf.sin(tf.jacobian(tf.sin(f(x)), x)))
        slope = tf.reduce_sum(tf.gradients(y, x)[0] * _D)
        found = sess.run(slope, {x: _X})
        high, low = (sess.run(y, {x: _X + step * _D}) for step in (1e-5, -1e-5))
    np.testing.assert_allclose(found, (high - low) / 2e-5, rtol=1e-4, atol=1e-6)
