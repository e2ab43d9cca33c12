"""Functions of dense tensors with ragged ones: TensorFlow's values, graphs, derivatives, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context

from . import ragged_cases as cases

pytestmark = pytest.mark.usefixtures("graph")


@pytest.mark.parametrize("group", cases.EXPRESSIONS)
def test_as_tensorflow(group: str) -> None:
    """Values, structure and classes of errors of all expressions, in eager mode."""
    recorded = cases.recorded()
    with context.use(context.EAGER):
        ours = {e: cases.evaluated(tf2, e) for e in cases.expressions(group)}
    wrong = {e: (v, recorded[e]) for e, v in ours.items() if v != recorded[e]}
    assert not wrong, wrong


def test_in_graphs() -> None:
    """The same expressions in one graph."""
    recorded = cases.recorded()
    fetches = {}
    for group in ("unary", "binary", "broadcast", "reduce", "join", "gather", "index"):
        for e in cases.expressions(group):
            if recorded[e][0] in ("ragged", "dense"):
                fetches[e] = eval(e, cases.operands(tf2))
    with HostSession() as sess:
        values = sess.run(fetches)
    wrong = {e: (v, recorded[e]) for e, v in values.items() if cases.shown(v)[1:] != recorded[e][1:]}
    assert len(fetches) > 130 and not wrong, wrong


_SMOOTH = {
    "sum along rows": lambda t, x: tf.reduce_sum(t, axis=1, keep_dims=True) ** 2,
    "mean of columns": lambda t, x: tf.reduce_mean(t, axis=0) ** 2,
    "softmax": lambda t, x: tf.nn.softmax(t).flat_values ** 2,
    "broadcast": lambda t, x: (t * tf.reshape(x[:3], [3, 1])).flat_values,
    "joined": lambda t, x: tf.concat([t, tf.exp(t)], 1).to_tensor() ** 2,
    "picked": lambda t, x: tf.gather(t * t, tf.ragged.constant([[0, 2], [2]])).flat_values ** 2,
    "sliced": lambda t, x: tf.square(t[:, 1:].flat_values) * t[2, -1],
    "deviation": lambda t, x: tf.math.reduce_std(t[::2], axis=1),
}


@pytest.mark.parametrize("name", _SMOOTH)
def test_derivatives(name: str) -> None:
    """Derivatives by finite differences, in float64, and those of the derivative."""
    start = np.array([0.3, -0.7, 1.1, 0.4, -0.2])
    x = tf.placeholder(tf.float64, [5])
    t = tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 5])
    y = tf.reshape(_SMOOTH[name](t, x), [-1])
    loss = tf.reduce_sum(y * tf.cast(tf.range(1, tf.size(y) + 1), tf.float64))
    (slope,) = tf.gradients(loss, x)
    (curve,) = tf.gradients(tf.reduce_sum(slope * slope), x)
    with HostSession() as sess:
        for value, found in ((loss, slope), (tf.reduce_sum(slope * slope), curve)):
            expected = []
            for i in range(5):
                step = 1e-5 * np.eye(5)[i]
                high, low = (sess.run(value, {x: start + s * step}) for s in (1, -1))
                expected.append((high - low) / 2e-5)
            np.testing.assert_allclose(sess.run(found, {x: start}), expected, rtol=1e-6, atol=1e-8)


def test_compiled() -> None:
    """Sums of rows and products, with XLA between host steps, rows known when it runs."""
    t = tf.ragged.placeholder(tf.float32, 1)
    y = tf.reduce_sum(tf.exp(t) * 2.0, axis=1)
    rows = [[1.0, 2.0], [], [3.0, 4.0, 5.0]]
    with tf.Session() as sess:
        for _ in range(2):
            got = sess.run(y, {t: tf.ragged.constant_value(rows, np.float32)})
    np.testing.assert_allclose(got, [2 * np.exp(r).sum() for r in rows], rtol=1e-5)


def test_rows_that_differ() -> None:
    """Rows of different lengths are refused when they are met."""
    one, other = tf.ragged.placeholder(tf.float32, 1), tf.ragged.placeholder(tf.float32, 1)
    total = one + other
    value = tf.ragged.constant_value
    feed = {one: value([[1.0], [2.0]], np.float32)}
    with HostSession() as sess:
        assert sess.run(total, {**feed, other: value([[3.0], [4.0]], np.float32)}).to_list() == [[4.0], [6.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
            sess.run(total, {**feed, other: value([[3.0, 4.0], []], np.float32)})


R: Any = lambda: tf.ragged.constant([[1.0, 2.0], [], [3.0]])  # noqa: E731  # in the graph of a test


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: tf.reduce_sum(R(), 2), ValueError, "axis=2 out of bounds: expected -2<=axis<2"),
    (lambda: R()[:, 0], ValueError, "Cannot index into an inner ragged dimension"),
    (lambda: R()[:, ::0], ValueError, "slice step cannot be zero"),
    (lambda: tf.concat([R(), tf.ragged.constant([[[1.0]]])], 0), ValueError, r"same rank, not \[2, 3\]"),
    (lambda: tf.tile(R(), [2]), ValueError, "multiples must be 2 numbers, not 1"),
    (lambda: tf.tile(R(), tf.placeholder(tf.int32, [2])), ValueError, "multiples that are known"),
    (lambda: tf.tile(R(), [0, 1]), ValueError, "multiples of 0 are not offered"),
    (lambda: tf.gather(R(), [[0]], axis=0, batch_dims=1), ValueError, "batch_dims=1 must be at most axis=0"),
    (lambda: tf.math.bincount(tf.ragged.constant([[[1]]])), ValueError, "must be a ragged matrix, not of rank 3"),
    (lambda: tf.gather(R(), [0], axis=2), ValueError, "axis=2 out of bounds: expected -2<=axis<2"),
    (lambda: tf.ragged.constant(1, ragged_rank=1), ValueError, "pylist=1: incompatible with ragged_rank=1"),
    (lambda: tf.squeeze(R()), ValueError, "must have an axis argument"),
    (lambda: tf.split(R(), 2), ValueError, "3 rows cannot be split into 2 equal parts"),
    (lambda: tf.split(R(), 1, axis=1), NotImplementedError, "along the first axis alone"),
    (lambda: tf.one_hot(tf.ragged.constant([[1]]), 2, axis=0), ValueError, "along a new last axis alone, not 0"),
    (lambda: tf.nn.softmax(R(), axis=0), ValueError, "along its last axis alone"),
    (lambda: R() + tf.ragged.constant([[[1.0]]]), ValueError, "with 2 and 1 ragged axes are not offered"),
    (lambda: R() + tf.ones([1, 3, 1]), ValueError, "rank 3 cannot be broadcast"),
    (lambda: R() + tf.placeholder(tf.float32), ValueError, "must have a known rank"),
    (lambda: tf.linalg.matmul(R(), R()), TypeError, "not a tensor of its own"),
    (lambda: tf.cumsum(R()), TypeError, "Cumsum.*not a tensor of its own"),
])
def test_what_cannot_be(make: Any, error: Any, text: str) -> None:
    """Mistakes are named, with a remedy."""
    with pytest.raises(error, match=f"(?s){text}.*Fix:|Fix:.*{text}|{text}"):
        make()


def test_the_shape_of_a_ragged_tensor() -> None:
    """`tf.shape` of it has the sizes that all rows share, and refuses the others."""
    x = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    shape = tf.shape(x)
    assert (shape.rank, shape.num_row_partitions, shape.dtype) == (3, 1, tf.int32)
    assert [shape.is_uniform(i) for i in range(3)] == [True, False, True]
    with tf.Session() as sess:
        assert [sess.run(shape[i]) for i in (0, 2, -1)] == [2, 2, 2]
    assert tf.shape(x, out_type=tf.int64)[0].dtype is tf.int64
    with pytest.raises(ValueError, match="Index 1 is not uniform.*Fix"):
        shape[1]
