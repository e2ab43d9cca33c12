"""`taylor`: closed forms to order 6, random graphs against nested derivatives, what it returns, its errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.gradients.core.missing import MissingGradientError

_ORDER = 6
_AT = 0.4


def run(fetches: Any, feeds: Any = None) -> Any:
    with HostSession() as sess:
        if tf.global_variables():
            sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g:
        yield g


# -- closed forms --------------------------------------------------------------------------


def _binomials(power: float) -> list[float]:
    """Coefficients of (x + s)^power."""
    found, factor = [], 1.0
    for k in range(_ORDER + 1):
        found.append(factor * _AT ** (power - k))
        factor *= (power - k) / (k + 1)
    return found


def _of_equation(start: float, slope: Callable[[list[float]], float]) -> list[float]:
    """Coefficients of a y with y' = g(y), from the coefficients of g in terms of those of y."""
    found = [start]
    for k in range(_ORDER):
        found.append(slope(found) / (k + 1))
    return found


def _last_of_square(c: list[float]) -> float:
    return sum(a * b for a, b in zip(c, c[::-1], strict=True))


def _one(c: list[float]) -> float:
    return float(len(c) == 1)


_CLOSED: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "exp": (lambda x: tf.exp(2 * x), [math.exp(2 * _AT) * 2**k / math.factorial(k) for k in range(_ORDER + 1)]),
    "log": (tf.log, [math.log(_AT), *[-((-1 / _AT) ** k) / k for k in range(1, _ORDER + 1)]]),
    "sin": (tf.sin, [math.sin(_AT + k * math.pi / 2) / math.factorial(k) for k in range(_ORDER + 1)]),
    "cos": (tf.cos, [math.cos(_AT + k * math.pi / 2) / math.factorial(k) for k in range(_ORDER + 1)]),
    "sqrt": (tf.sqrt, _binomials(0.5)),
    "rsqrt": (tf.rsqrt, _binomials(-0.5)),
    "reciprocal": (tf.reciprocal, _binomials(-1)),
    "quotient": (lambda x: 1 / x, _binomials(-1)),
    "quotient of squares": (lambda x: x / (x * x), _binomials(-1)),
    "power": (lambda x: x**2.5, _binomials(2.5)),
    "power of two": (lambda x: x**2, _binomials(2)),
    "power of three, at zero": (lambda x: (x - _AT) ** 3, [0, 0, 0, 1, 0, 0, 0]),
    "square": (tf.square, _binomials(2)),
    "tanh": (tf.tanh, _of_equation(math.tanh(_AT), lambda c: _one(c) - _last_of_square(c))),
    "tan": (tf.tan, _of_equation(math.tan(_AT), lambda c: _one(c) + _last_of_square(c))),
    "sigmoid": (tf.sigmoid, _of_equation(1 / (1 + math.exp(-_AT)), lambda c: c[-1] - _last_of_square(c))),
    "softplus": (tf.nn.softplus, [math.log1p(math.exp(_AT)), *[
        c / (k + 1) for k, c in enumerate(_of_equation(1 / (1 + math.exp(-_AT)),
                                                       lambda c: c[-1] - _last_of_square(c))[:-1])]]),
}


@pytest.mark.parametrize("name", _CLOSED)
def test_closed_forms(name: str) -> None:
    """Coefficients to order 6 are those of the known series."""
    function, wanted = _CLOSED[name]
    x = tf.placeholder(tf.float64, [])
    found = run(tf.taylor(function(x), x, 1.0, _ORDER), {x: _AT})
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def test_the_number_of_operations_is_polynomial(graph: Any) -> None:
    """The operations that an order adds grow linearly, not by a factor."""
    x = tf.placeholder(tf.float32, [None, 4])
    y = x
    for _ in range(4):
        y = tf.tanh(tf.matmul(y, tf.ones([4, 4])) + tf.ones([4]))
    counts = []
    for order in range(1, 8):
        before = len(graph.get_operations())
        tf.taylor(y, x, tf.ones_like(x), order)
        counts.append(len(graph.get_operations()) - before)
    steps = np.diff(np.diff(counts[2:]))
    assert len(set(steps)) == 1, counts  # the square of the order
    assert counts[5] < 500


# -- random graphs ---------------------------------------------------------------------------

_UNARY = [tf.sin, tf.tanh, tf.exp, tf.sigmoid, tf.square, lambda t: tf.sqrt(t * t + 1.0), lambda t: tf.log(t * t + 2.0),
          tf.nn.elu, lambda t: tf.transpose(tf.transpose(t)), lambda t: tf.reshape(t, [-1, 4]) * 0.5, tf.atan,
          lambda t: tf.concat([t[:, 1:], t[:, :1]], 1), lambda t: tf.reduce_mean(t, 0, keepdims=True),
          lambda t: tf.nn.softmax(t), lambda t: tf.cumsum(t, 1), lambda t: tf.stack(tf.unstack(t, axis=1)[::-1], 1),
          lambda t: tf.pad(t, [[0, 0], [1, 0]])[:, 1:], lambda t: tf.where(t > 0.1, t, tf.sin(t))]
_BINARY = [tf.add, tf.subtract, tf.multiply, lambda a, b: a / (2.0 + b * b), tf.maximum, tf.squared_difference,
           lambda a, b: tf.matmul(a, b, transpose_b=True)[:, :1] * a, lambda a, b: (a * a + 1.0) ** (b * 0.25),
           lambda a, b: tf.add_n([a, b + 0.0 * a, a]), tf.atan2]


def _random_graph(seed: int, x: Any) -> Any:
    rng = np.random.default_rng(seed)
    pool = [x, tf.tanh(tf.matmul(x, tf.constant(rng.normal(size=(4, 4))))), tf.constant(rng.normal(size=(3, 4)))]
    for _ in range(7):
        a, b = (pool[i] for i in rng.integers(0, len(pool), 2))
        if rng.random() < 0.5:
            made = _UNARY[rng.integers(len(_UNARY))](a)
        else:
            made = _BINARY[rng.integers(len(_BINARY))](a, b)
        pool.append(tf.tanh(made) if rng.random() < 0.3 else made)
    return tf.add_n([t + 0.0 * x for t in pool[-3:]]) * 0.25


@pytest.mark.parametrize("known", [True, False], ids=["static", "unknown batch"])
@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed: int, known: bool) -> None:
    """Coefficients agree with nested derivatives; several directions at once with one at a time."""
    rng = np.random.default_rng(1000 + seed)
    x = tf.placeholder(tf.float64, [3 if known else None, 4])
    y = _random_graph(seed, x)
    directions = rng.normal(size=(2, 3, 4))
    order = 3
    several = tf.taylor(y, x, directions, order)
    single = [tf.taylor(y, x, v, order) for v in directions]
    nested = []
    for v in directions:
        derivative, found = y, []
        for k in range(1, order + 1):
            derivative = tf.jvp(derivative, x, tf.constant(v), unconnected_gradients="zero")
            found.append(derivative / math.factorial(k))
        nested.append(found)
    feed = {x: rng.normal(size=(3, 4))}
    first, one, wanted = run([several, single, nested], feed)
    for k in range(order):
        for i in range(2):
            scale = max(1.0, np.abs(wanted[i][k]).max())
            np.testing.assert_allclose(one[i][k + 1], wanted[i][k], rtol=1e-8, atol=1e-10 * scale)
            np.testing.assert_allclose(first[k + 1][i], wanted[i][k], rtol=1e-8, atol=1e-10 * scale)


# -- what is given and returned ----------------------------------------------------------------


def test_what_it_returns() -> None:
    """The first coefficient is y itself; coefficients that vanish are zeros; there are none where y has none."""
    x = tf.placeholder(tf.float32, [2])
    y = x * x
    found = tf.taylor(y, x, tf.ones([2]), 3)
    assert found[0] is y
    values = run(found, {x: [1.0, 2.0]})
    np.testing.assert_array_equal(values, [[1, 4], [2, 4], [1, 1], [0, 0]])
    assert [c.shape.as_list() for c in tf.taylor(y, x, tf.ones([5, 2]), 3)] == [[2], [5, 2], [5, 2], [5, 2]]
    assert tf.taylor(tf.constant(1.0), x, tf.ones([2]), 2)[1:] == [None, None]
    zeros = tf.taylor(tf.constant([1.0, 2.0]), x, tf.ones([5, 2]), 1, unconnected_gradients="zero")[1]
    assert run(zeros, {x: [1.0, 2.0]}).shape == (5, 2)
    assert tf.taylor(y, x, tf.ones([2]), 0) == [y]
    assert tf.taylor(tf.stop_gradient(y), x, tf.ones([2]), 2)[1:] == [None, None]
    np.testing.assert_array_equal(run(tf.taylor(x, x, tf.ones([2]), 2)[1:], {x: [1.0, 2.0]}), [[1, 1], [0, 0]])


def test_of_variables_and_their_gradient() -> None:
    """x may be a variable, and coefficients are differentiated again: with respect to weights, x and the direction."""
    v = tf.get_variable("v", initializer=np.array([0.3, -0.2]), use_resource=True)
    w, d = tf.constant(np.array([1.5, 0.5])), tf.constant(np.array([1.0, 2.0]))
    y = tf.exp(w * v) * tf.sin(v)
    c = tf.taylor(y, v, d, 3)[3]
    nested = y
    for _ in range(3):
        nested = tf.jvp(nested, v, d)
    found = tf.gradients(tf.reduce_sum(c**2), [w, v, d])
    wanted = tf.gradients(tf.reduce_sum((nested / 6.0) ** 2), [w, v, d])
    for a, b in zip(*run([found, wanted]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def _sub_graphs() -> dict[str, Callable[[Any], Any]]:
    """Loops and branches within each other, of (4, 2); those whose number of iterations depends on x too."""
    def repeated(x: Any) -> Any:
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.sin(x) + y), (0, x))[1]

    def chosen(i: Any, x: Any, y: Any) -> Any:
        return tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(y) * x, lambda: y * y)

    def written(x: Any) -> Any:
        array = tf.TensorArray(tf.float64, 4)
        return tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, tf.sin(x[i]) * x[i])),
                             (0, array))[1].stack()

    return {
        "as long as it is small": lambda x: tf.while_loop(
            lambda y: tf.reduce_sum(y * y) < 30.0, lambda y: y * 1.5 + tf.sin(y) * x, [x]),
        "a branch in a loop": lambda x: tf.while_loop(
            lambda i, y: i < 4, lambda i, y: (i + 1, chosen(i, x, y)), (0, x))[1],
        "a loop in a branch": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: repeated(tf.tanh(x)), lambda: x),
        "a constant branch": lambda x: x * tf.cond(tf.reduce_sum(x) > 0, lambda: tf.ones_like(x), lambda: x**3),
        "one of several": lambda x: tf.switch_case(tf.constant(1), [lambda: x, lambda: tf.exp(x) * x]),
        "scan": lambda x: tf.scan(lambda a, row: a * tf.sin(row) + row, x),
        "an array": written,
    }


@pytest.mark.parametrize("name", _sub_graphs())
def test_sub_graphs(name: str) -> None:
    """Coefficients through loops and branches are those of nested derivatives, and of differences."""
    order = 3 if name in ("as long as it is small", "an array") else 2  # of branches in loops the third takes seconds
    rng = np.random.default_rng(7)
    x = tf.placeholder(tf.float64, [4, 2])
    y = tf.sin(_sub_graphs()[name](tf.tanh(x) + 0.3))
    directions = rng.normal(size=(2, 4, 2))
    found = tf.taylor(y, x, directions, order)[1:]
    wanted, derivative = [], y
    for k in range(1, order + 1):
        derivative = tf.jvp(derivative, x, tf.constant(directions[0]))
        wanted.append(derivative / math.factorial(k))
    for sign in (1, -1):  # either branch
        at = sign * np.abs(rng.normal(size=(4, 2))) * 0.5
        values, nested = run([found, wanted], {x: at})
        h = 1e-4
        below, here, above = (run(y, {x: at + s * h * directions[0]}) for s in (-1, 0, 1))
        for k in range(order):
            np.testing.assert_allclose(values[k][0], nested[k], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(values[0][0], (above - below) / (2 * h), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(values[1][0], (above - 2 * here + below) / (2 * h * h), rtol=1e-4, atol=1e-4)


def _loop(x: Any) -> Any:
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * tf.sin(x) + y), (0, x))[1]


@tf.custom_gradient
def _own(x: Any) -> Any:
    return tf.sin(x), lambda dy: 2.0 * dy * tf.cos(x)


def _overridden(x: Any) -> Any:
    if "TwiceAsMuchTaylor" not in tf.get_default_graph()._scoped_state:
        tf.RegisterGradient("TwiceAsMuchTaylor")(lambda op, dy: 2.0 * dy)
    with tf.get_default_graph().gradient_override_map({"Identity": "TwiceAsMuchTaylor"}):
        return tf.sin(tf.identity(x * x))


_PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "While": _loop,
    "If": lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sin(x) * x, lambda: x),
    "VectorizedMap": lambda x: tf.vectorized_map(lambda row: row**3 * tf.sin(row), x),
    "a user's gradient": _own,
    "complex numbers": lambda x: tf.real(tf.fft(tf.cast(x**3, tf.complex128))),
    "lists": lambda x: tf.TensorArray(tf.float64, 3).unstack(x**3).stack() * x,
    "a Python function": lambda x: tf.reshape(tf.py_function(lambda t: t**3, [x], tf.float64), [3]),
    "random numbers": lambda x: tf.random.stateless_normal([3], [1, 2], dtype=tf.float64) * x**3,
}


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", _PROGRAMS)
def test_what_is_not_carried_through(name: str, several: bool) -> None:
    """Sub-graphs, users' gradients, lists and complex numbers: by nested gradients."""
    x = tf.placeholder(tf.float64, [3])
    y = _PROGRAMS[name](x)
    v = np.array([1.0, -0.5, 0.25])
    found = tf.taylor(y, x, np.stack([v, 2 * v]) if several else v, 2)
    first = tf.jvp(y, x, tf.constant(v))
    wanted = [first, tf.jvp(first, x, tf.constant(v)) / 2.0]
    values, wanted = run([found[1:], wanted], {x: [0.3, 0.7, -0.2]})
    for k in range(2):
        one = [values[k]] if not several else [values[k][0], values[k][1] / 2 ** (k + 1)]
        for c in one:
            np.testing.assert_allclose(c, wanted[k], rtol=1e-9)


def test_an_overridden_gradient_counts() -> None:
    """A gradient given by gradient_override_map is what coefficients follow."""
    x = tf.placeholder(tf.float64, [])
    y = _overridden(x)
    found = tf.taylor(y, x, 1.0, 2)[1:]
    first = tf.jvp(y, x, tf.constant(np.float64(1.0)))
    values, wanted = run([found, [first, tf.jvp(first, x, tf.constant(np.float64(1.0))) / 2.0]], {x: 0.6})
    np.testing.assert_allclose(values, wanted, rtol=1e-12)


def test_in_functions_and_branches() -> None:
    """In a tf.function called eagerly, and in a branch with respect to a tensor outside of it."""

    @tf2.function
    def third(x: Any, v: Any) -> Any:
        return tf2.taylor(tf2.exp(2.0 * x), x, v, 3)[3]

    with tf2.init_scope(), tf2.Graph().as_default():
        pass
    x = tf.placeholder(tf.float64, [])
    branch = tf.cond(x > 0, lambda: tf.taylor(x**3, x, 1.0, 2)[2], lambda: x)
    assert run(branch, {x: 2.0}) == pytest.approx(6.0)
    outer = x**3
    inside = tf.cond(x > 0, lambda: tf.taylor(outer, x, 1.0, 2)[2], lambda: x)
    assert run(inside, {x: 2.0}) == pytest.approx(6.0)
    assert run(third(x, tf.constant(np.float64(1.0))), {x: 0.0}) == pytest.approx(8 / 6)


_BAD: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "direction": (lambda x: tf.taylor(x, x, tf.ones([3]), 1), ValueError, r"(?s)direction.*\(3,\).*\(2, 2\).*Fix:"),
    "order": (lambda x: tf.taylor(x, x, x, -1), ValueError, "(?s)order must be.*-1.*Fix:"),
    "fraction": (lambda x: tf.taylor(x, x, x, 1.5), ValueError, "(?s)order must be.*1.5.*Fix:"),
    "integers": (lambda x: tf.taylor(tf.cast(x, tf.int32), x, x, 1), TypeError, "(?s)y is int32.*Fix:"),
    "list": (lambda x: tf.taylor([x, x], x, x, 1), TypeError, "(?s)one y and one x.*Fix:"),
    "no gradient": (lambda x: tf.taylor(tf.unique(tf.reshape(x, [-1]))[0], x, x, 1), MissingGradientError,
                    "(?s)Unique.*Fix:"),
    "policy": (lambda x: tf.taylor(x, x, x, 1, unconnected_gradients="none at all"), ValueError, "Fix:"),
    "strict": (lambda x: _strictly(lambda: tf.taylor(tf.constant(1.0), x, x, 1)), ValueError, "strict_gradients"),
    "rank": (lambda x: tf.laplacian(x, x[0]), ValueError, "(?s)laplacian needs a batch.*Fix:"),
    "batch": (lambda x: tf.laplacian(tf.ones([3, 1]), x), ValueError, "(?s)first dimensions.*Fix:"),
}


def _strictly(build: Callable[[], Any]) -> Any:
    with tf.strict_gradients():
        return build()


@pytest.mark.parametrize("name", _BAD)
def test_errors(name: str) -> None:
    """Errors are of TensorFlow's classes and say what to do."""
    build, kind, text = _BAD[name]
    with pytest.raises(kind, match=text):
        build(tf.placeholder(tf.float32, [2, 2]))


def test_eager_mode_says_what_to_do() -> None:
    """In eager mode the error names the function that was called."""
    with tf.init_scope():
        pass
    from graphgrad.ir import context

    with context.use(None), pytest.raises(RuntimeError, match=r"(?s)tf\.taylor is not supported.*Fix:.*tf\.function"):
        tf2.taylor(tf2.constant(1.0), tf2.constant(1.0), 1.0, 2)
