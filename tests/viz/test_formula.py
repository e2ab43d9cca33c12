"""Formulas of tensors: NumPy computes from them what sessions compute, and derivatives read as on paper."""

import os
import re

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession

SEEDS = range(600 if os.environ.get("GRAPHGRAD_TEST_ALL") else 40)


# -- NumPy computes formulas -----------------------------------------------------------------


def _placed(value, shape, index):
    zeros = np.zeros(shape)
    zeros[index] = value
    return zeros


def _sum_to(x, shape):
    x = x.sum(tuple(range(x.ndim - len(shape))))
    return x.sum(tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1), keepdims=True)


def _softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _broadcast_axes(a, b):
    rank = max(len(a), len(b))
    a, b = [(1,) * (rank - len(s)) + tuple(s) for s in (a, b)]
    return [tuple(i for i in range(rank) if s[i] == 1) for s in (a, b)]


FUNCTIONS = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
FUNCTIONS |= {"placed": _placed, "sum_to": _sum_to, "softmax": _softmax, "broadcast_axes": _broadcast_axes,
              "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softplus": lambda x: np.log1p(np.exp(x)),
              "unpack": lambda x, num, axis=0: np.moveaxis(x, axis, 0), "atan": np.arctan,
              "split": lambda axis, x, num_split: np.split(x, num_split, axis),
              "squeeze": lambda x, squeeze_dims: np.squeeze(x, squeeze_dims)}


def computed(formula, values):
    """Computes a formula by NumPy."""
    names = {**FUNCTIONS, **values}
    for name, text in formula.lines:
        names[name] = found = eval(text, names)
    return found


# -- random graphs -----------------------------------------------------------------------------


_UNARY = [tf.sin, tf.cos, tf.tanh, tf.sigmoid, tf.nn.relu, tf.nn.elu, tf.nn.softplus, tf.nn.softsign, tf.square,
          tf.atan, tf.negative, lambda t: tf.exp(-tf.square(t)), lambda t: tf.sqrt(1.0 + t * t),
          lambda t: tf.rsqrt(2.0 + t * t),
          lambda t: tf.math.log1p(t * t), lambda t: 1.0 / (2.0 + t * t), lambda t: t ** 3, lambda t: tf.abs(t + 0.123),
          lambda t: tf.nn.leaky_relu(t, 0.3), lambda t: tf.where(t > 0.2, t, tf.sin(t)), lambda t: 3.0 * t - 1.0,
          lambda t: tf.reciprocal(3.0 + tf.cos(t)), tf.zeros_like, tf.ones_like, tf.identity, lambda t: -(1.0 - t),
          lambda t: tf.cast(tf.cast(t, tf.float32), tf.float64), lambda t: t / tf.cast(tf.size(t), tf.float64)]
_BINARY = [tf.add, tf.subtract, tf.multiply, lambda a, b: a / (2.0 + b * b), tf.maximum, tf.minimum,
           tf.math.squared_difference, lambda a, b: tf.add_n([a + b, a * b, a + b]),
           lambda a, b: (1.5 + tf.sin(a)) ** b]


def _shaped(t, rng):
    """Applies an operation that changes the shape, or sees it."""
    rank, choice = t.shape.rank, int(rng.integers(9))
    axis = int(rng.integers(rank)) if rank else 0
    if choice == 0 or not rank:
        return t + tf.reduce_sum(t)
    if choice == 1:
        return tf.reduce_mean(t, axis, keepdims=bool(rng.integers(2)))
    if choice == 2:
        return tf.expand_dims(t, axis)[..., 0] if rank > 1 else tf.expand_dims(t, 0)
    if choice == 3:
        return tf.reshape(t, [-1]) if rank < 3 else tf.squeeze(t[:, :1], 1)
    if choice == 4:
        return t[tuple([slice(None)] * axis + [slice(None, None, -1)])]
    if choice == 5:
        return t[..., 0] if rank > 1 else tf.concat([t, t], 0)
    if choice == 6:
        turned = bool(rng.integers(2))
        return tf.transpose(t) if rank != 2 else tf.matmul(t, tf.sin(t), transpose_a=turned, transpose_b=not turned)
    if choice == 7:
        return tf.nn.softmax(t)
    return tf.reduce_sum(tf.stack([t, tf.cos(t)], axis), axis) * tf.reduce_max(t, keepdims=True)


def build(seed):
    """Builds y of placeholders whose sizes are partly unknown; returns y, and values for them."""
    rng = np.random.default_rng(seed)
    sizes = [(4, 3), (3,), (1, 3), (4, 1), ()]
    xs, feeds = [], {}
    for i, size in enumerate(sizes):
        shape = [None if rng.integers(2) else n for n in size]
        xs.append(tf.placeholder(tf.float64, shape, name=f"x{i}"))
        feeds[xs[-1]] = rng.normal(size=size)
    values = list(xs)
    for _ in range(int(rng.integers(2, 7))):
        kind, t = rng.integers(3), values[int(rng.integers(max(0, len(values) - 4), len(values)))]
        if kind == 0:
            t = _UNARY[int(rng.integers(len(_UNARY)))](t)
        elif kind == 1:
            other = xs[int(rng.integers(len(xs)))]
            try:
                t = _BINARY[int(rng.integers(len(_BINARY)))](t, other)
            except ValueError:  # shapes that do not broadcast
                t = tf.sin(t)
        else:
            t = _shaped(t, rng)
        values.append(t)
    return values[-1], xs, feeds


@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs(seed):
    with tf.Graph().as_default():
        y, xs, feeds = build(seed)
        first = [g for g in tf.gradients(y, xs) if g is not None]
        second = [g for g in tf.gradients(first, xs) if g is not None] if first else []
        fetches = [y, *first, *second[:2]]
        values = []
        with HostSession() as session:
            for t in fetches:
                try:
                    values.append(session.run(t, feeds))
                except tf.errors.InvalidArgumentError:  # sizes that were unknown and do not fit
                    return
        for t, expected in zip(fetches, values, strict=True):
            formula = tf.formula(t)
            given = {name: feeds[t] for name, t in formula.tensors.items()}
            try:
                found = computed(formula, given)
            except NameError as error:  # arithmetic on shapes that are not known
                assert "stitch" in str(error) or "shape_n" in str(error) or "concat_offset" in str(error)
                continue
            assert np.shape(found) == np.shape(expected), formula
            np.testing.assert_allclose(found, expected, 1e-6, 1e-6, err_msg=str(formula))
            assert formula.latex.count("{") == formula.latex.count("}")
            assert len(re.findall(r"\\left\b", formula.latex)) == len(re.findall(r"\\right\b", formula.latex))


# -- how formulas read -------------------------------------------------------------------------


def _slope(function, *shapes):
    """Returns the derivative of a function's sum by its first argument, as a formula of x, y and z."""
    with tf.Graph().as_default():
        xs = [tf.placeholder(tf.float32, shape, name=n) for n, shape in zip("xyz", shapes, strict=False)]
        return tf.formula(tf.gradients(function(*xs), xs[0])[0])


READ = [
    (lambda x: tf.sin(x) * x, [[]], "sin(x) + x * cos(x)"),
    (lambda x: x ** 3, [[]], "3 * x**2"),
    (lambda x: tf.exp(-x * x / 2.0), [[]], "-(exp(-(x**2 / 2)) * x)"),
    (lambda x: 1.0 / x, [[]], "-1 / x / x"),
    (tf.tanh, [[None]], "1 - tanh(x)**2"),
    (tf.sigmoid, [[None]], "sigmoid(x) * (1 - sigmoid(x))"),
    (tf.nn.relu, [[3]], "where(x > 0, 1, 0)"),
    (lambda x: x * 0.1, [[None, 2]], "broadcast_to(0.1, shape(x))"),
    (lambda x, y: x * y, [[None, 3], [3]], "broadcast_to(y, shape(x))"),
    (lambda x, y: x * y, [[3], [None, 3]], "sum(y, axis=0)"),
    (lambda x, y: x * y, [[], [None, 3]], "sum(y)"),
    (tf.matmul, [[None, 3], [3, 4]], "broadcast_to(1, shape(x @ y)) @ y.T"),
    (lambda x, y: tf.reduce_sum(tf.sin(tf.matmul(x, y))), [[5, 3], [3, 4]], "cos(x @ y) @ y.T"),
    (lambda x: tf.reduce_mean(tf.square(x)), [[4]], "x / 2"),
    (lambda x: tf.reduce_mean(tf.square(x)), [[None]], "2 * x / size(x)"),
    (lambda x: tf.reduce_sum(x[1:] * x[:-1]), [[4]],
     "placed(x[:-1], (4,), s_[1:]) + placed(x[1:], (4,), s_[:-1])"),
]


@pytest.mark.parametrize(("function", "shapes", "text"), READ)
def test_text(function, shapes, text):
    assert str(_slope(function, *shapes)) == text


LATEX = [
    (lambda x: tf.sin(x) * x, [[]], r"\sin\left(x\right) + x \, \cos\left(x\right)"),
    (lambda x: tf.sqrt(x), [[]], r"\frac{1}{2 \, \sqrt{x}}"),
    (lambda x: tf.nn.relu(x), [[]], r"\begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}"),
    (lambda x, y: tf.reduce_sum(tf.sin(tf.matmul(x, y))), [[5, 3], [3, 4]],
     r"\cos\left(x \, y\right) \, y^{\top}"),
    (lambda x: 1e-7 * x * x, [[]], r"2 \cdot 10^{-7} \, x"),
]


@pytest.mark.parametrize(("function", "shapes", "text"), LATEX)
def test_latex(function, shapes, text):
    formula = _slope(function, *shapes)
    assert formula.latex == text
    assert formula._repr_latex_() == f"$\\displaystyle {text}$"


def test_names():
    """Variables have their own names, short where that is unique; what occurs twice is named."""
    with tf.Graph().as_default():
        alpha = tf.Variable(1.0, name="first/alpha")
        other = tf.Variable(1.0, name="second/alpha")
        large, noise = tf.constant(np.arange(100.0, dtype="f"), name="table"), tf.random_normal([], name="noise")
        part = tf.exp(alpha + 2.0 * other)
        formula = tf.formula(part * (1.0 - part) * large + noise)
    assert str(formula) == "t1 = exp(alpha + 2 * second_alpha)\nt1 * (1 - t1) * table + noise"
    assert list(formula.tensors) == ["alpha", "second_alpha", "table", "noise"]
    assert formula.tensors["noise"].op.type == "RandomStandardNormal"
    assert formula.latex.startswith("\\begin{aligned}\nt_{1} &= e^{\\alpha + 2")


def test_loops_and_functions():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x], name="powers")[1]
        z = tf.cond(x > 0.0, lambda: tf.sin(x), lambda: x)
        formula = tf.formula(y + z)
        lines = str(formula).splitlines()
        assert lines[0].startswith("# powers: While, built at test_formula.py:")
        assert lines[-1] == "powers(0, x, x)[1] + cond(x > 0, x)"
        assert [op.type for op in formula.operations.values()] == ["While", "If"]


def test_python_functions():
    """In eager mode a function is traced."""
    assert str(tf2.formula(lambda x: tf2.sin(x) * x, 1.0)) == "sin(x) * x"
    assert str(tf2.formula(tf2.jacobian(lambda x, a: a * x ** 2), 1.0, 2.0))== "2 * a * x"


def test_long_chains():
    """What is long is cut into lines; no depth is too deep."""
    with tf.Graph().as_default():
        x = y = tf.placeholder(tf.float64, [], name="x")
        for _ in range(3000 if os.environ.get("GRAPHGRAD_TEST_ALL") else 600):
            y = tf.sin(y) * 0.5 + x
        formula = tf.formula(tf.gradients(y, x)[0])
        with HostSession() as session:
            expected = session.run(tf.gradients(y, x)[0], {x: 0.3})
    assert max(len(text) for _, text in formula.lines) < 300
    assert computed(formula, {"x": 0.3}) == pytest.approx(expected)


@pytest.mark.parametrize(("value", "text"), [
    (None, "None.*explain_gradient"),
    ([], r"a list.*tf.gradients\(y, x\)\[0\]"),
    (3.0, "3.0.*give a tensor"),
    (tf2.constant(1.0), "an eager one, which does not know.*tf.formula\\(f, x\\)"),
])
def test_errors(value, text):
    with pytest.raises(TypeError, match=f"(?s)tf.formula needs a tensor of a graph, not {text}"):
        tf.formula(value)


def test_errors_of_arguments():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="arguments are for a Python function"):
        tf.formula(tf.constant(1.0), 2.0)
    with pytest.raises(TypeError, match="the function has 2 results"):
        tf.formula(lambda x: (x, x * x), 2.0)
