"""Tapes in eager mode run what the wanted gradients need, and nothing else."""

import numpy as np
import pytest

import graphgrad as tf
from graphgrad.ir import context, eager
from graphgrad.ir.opdef import registry

IMAGES, FILTER, DEPTHS = (2, 5, 5, 3), (3, 3, 3, 4), (2, 2, 2)
raw = tf.raw_ops
_ONES = {"strides": [1, 1, 1, 1], "padding": "SAME"}

# Name: the function, the shapes of its arguments, and how many operations each argument's gradient takes alone.
CASES = {
    "add": (tf.add, [(3, 4), (3, 4)], (0, 0)),
    "add a row": (tf.add, [(3, 4), (4,)], (0, 1)),
    "add to a row": (tf.add, [(4,), (3, 4)], (1, 0)),
    "subtract": (tf.subtract, [(3, 4), (3, 4)], (0, 1)),
    "multiply": (tf.multiply, [(3, 4), (3, 4)], (1, 1)),
    "multiply by a number": (tf.multiply, [(3, 4), ()], (1, 2)),
    "multiply_no_nan": (tf.math.multiply_no_nan, [(3, 4), (3, 4)], (1, 1)),
    "divide": (tf.divide, [(3, 4), (3, 4)], (1, 4)),
    "divide_no_nan": (tf.math.divide_no_nan, [(3, 4), (3, 4)], (1, 4)),
    "squared_difference": (tf.math.squared_difference, [(3, 4), (4,)], (3, 5)),
    "maximum": (tf.maximum, [(3, 4), (3, 4)], (2, 2)),
    "minimum": (tf.minimum, [(3, 4), ()], (2, 3)),
    "pow": (tf.pow, [(3, 4), ()], (4, 7)),
    "where": (lambda x, y: tf.where(tf.constant([True, False, True, True]), x, y), [(3, 4), (4,)], (1, 2)),
    "matmul": (tf.matmul, [(3, 4), (4, 2)], (1, 1)),
    "matmul of the first's transpose": (lambda x, y: tf.matmul(x, y, transpose_a=True), [(4, 3), (4, 2)], (1, 1)),
    "matmul of the second's transpose": (lambda x, y: tf.matmul(x, y, transpose_b=True), [(3, 4), (2, 4)], (1, 1)),
    "matmul of transposes": (lambda x, y: tf.matmul(x, y, True, True), [(4, 3), (2, 4)], (1, 1)),
    "stacks": (tf.matmul, [(5, 3, 4), (5, 4, 2)], (1, 1)),
    "repeated stacks": (lambda x, y: raw.BatchMatMulV2(x=x, y=y), [(5, 3, 4), (1, 4, 2)], (1, 3)),
    "stacks, the first's adjoint": (lambda x, y: raw.BatchMatMulV2(x=x, y=y, adj_x=True), [(2, 4, 3), (2, 4, 2)],
                                    (1, 1)),
    "stacks, the second's adjoint": (lambda x, y: raw.BatchMatMulV2(x=x, y=y, adj_y=True), [(2, 3, 4), (2, 2, 4)],
                                     (1, 1)),
    "stacks, adjoints": (lambda x, y: raw.BatchMatMulV2(x=x, y=y, adj_x=True, adj_y=True), [(2, 4, 3), (2, 2, 4)],
                         (1, 1)),
    "einsum": (lambda x, y, z: tf.einsum("ij,jk,k->ik", x, y, z), [(3, 4), (4, 2), (2,)], (2, 2, 1)),
    "softmax_cross_entropy": (lambda x, y: raw.SoftmaxCrossEntropyWithLogits(features=x, labels=y)[0], [(3, 4), (3, 4)],
                              (2, 4)),
    "conv2d": (lambda x, f: tf.nn.conv2d(x, f, [1, 1], "SAME"), [IMAGES, FILTER], (1, 1)),
    "conv2d's gradient to the input": (lambda f, dy: raw.Conv2DBackpropInput(
        input_sizes=IMAGES, filter=f, out_backprop=dy, **_ONES), [FILTER, (2, 5, 5, 4)], (1, 1)),
    "conv2d's gradient to the filter": (lambda x, dy: raw.Conv2DBackpropFilter(
        input=x, filter_sizes=FILTER, out_backprop=dy, **_ONES), [IMAGES, (2, 5, 5, 4)], (1, 1)),
    "depthwise_conv2d": (lambda x, f: tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME"), [IMAGES, (3, 3, 3, 2)],
                         (1, 1)),
    "conv3d": (lambda x, f: tf.nn.conv3d(x, f, [1] * 5, "SAME"), [(1, 4, 4, 4, 2), (*DEPTHS, 2, 3)], (1, 1)),
}


@pytest.fixture(autouse=True)
def eagerly():
    with context.use(context.EAGER):
        yield


@pytest.fixture
def ran():
    """What has run, the ones that a gradient starts with excepted."""
    names = []

    def watch(opdef, inputs, outputs):
        if opdef.name not in ("OnesLike", "ZerosLike"):
            names.append(opdef.name)

    eager.watchers.append(watch)
    yield names
    eager.watchers.remove(watch)


def _arguments(shapes):
    rng = np.random.default_rng(3)
    return [tf.constant(rng.uniform(0.5, 1.5, shape).astype(np.float32)) for shape in shapes]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("watched", ["one", "all"])
def test_one_gradient_is_the_same_alone(name, watched, ran):
    function, shapes, counts = CASES[name]
    xs = _arguments(shapes)
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    together = tape.gradient(y, xs)
    assert len(counts) == len(xs)
    for x, expected, count in zip(xs, together, counts, strict=True):
        with tf.GradientTape() as tape:
            tape.watch(x if watched == "one" else xs)
            y = function(*xs)
        ran.clear()
        found = tape.gradient(y, x)
        assert len(ran) == count, ran
        assert found.numpy().tobytes() == expected.numpy().tobytes()


def test_a_persistent_tape_is_asked_for_one_after_the_other():
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = x * y
    assert [float(tape.gradient(z, t)) for t in (x, y, x)] == [3.0, 2.0, 3.0]
    assert [float(t) for t in tape.gradient(z, [y, x])] == [2.0, 3.0]


def test_derivatives_of_a_derivative_that_is_alone():
    x, y = tf.constant([[2.0, 1.0]]), tf.constant([[3.0], [4.0]])
    with tf.GradientTape() as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch(x)
            z = tf.matmul(x, y) ** 2.0
        dx = inner.gradient(z, x)  # 2 (x y) y
        s = tf.reduce_sum(dx)
    dxx, dxy = outer.gradient(s, [x, y])
    np.testing.assert_allclose(dxx, 14.0 * np.array([[3.0, 4.0]]))  # 2 (y1 + y2) y
    np.testing.assert_allclose(dxy, [[2 * 2 * 7 + 20.0], [2 * 7 + 20.0]])  # 2 (y1 + y2) x + 2 (x y)


def test_gradient_functions_are_told(monkeypatch):
    asked = []

    def rule(op, dy):
        asked.append(op.skip_input_indices)
        return dy, 2 * dy

    monkeypatch.setattr(registry["IgammaGradA"], "gradient", rule)
    x, y = tf.constant([1.0]), tf.constant([2.0])
    for sources in ([x], [y], [x, y]):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = raw.IgammaGradA(a=x, x=y)
        tape.gradient(z, sources)
    assert asked == [(1,), (0,), ()]
