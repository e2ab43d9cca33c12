"""Sub-graphs that compute shapes: compiled where these follow from shapes, in NumPy where they follow from values."""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime import executable
from graphgrad.executor.runtime.session import HostSession

_RNG = np.random.default_rng(0)


def _hessians(x):
    """Of each example: a map whose sub-graph undoes broadcasts and sums."""
    y = tf.reduce_sum((x[:, 1:] - x[:, :-1] ** 2) ** 2 + tf.sin(x[:, 1:] * x[:, :-1]), 1)
    return tf.batch_hessian(y, x)


def _second_derivatives_in_a_loop(x):
    """A loop whose body differentiates a sum over an axis which only the run knows to be kept."""
    shift = tf.reduce_mean(x, 0, keepdims=True)

    def body(i, v):
        loss = tf.reduce_sum(tf.square(tf.reduce_sum(tf.sin(v) * shift * tf.ones_like(x), [0])))
        return i + 1, v - 0.1 * tf.gradients(loss, v)[0]

    return tf.while_loop(lambda i, v: i < 3, body, [tf.constant(0), x])[1]


def _gradient_of_a_loop(x):
    """The gradient of a loop that broadcasts."""
    row = tf.reduce_sum(x, 0, keepdims=True)
    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.tanh(v * row + x)), [tf.constant(0), x])[1]
    return tf.gradients(tf.reduce_sum(y**2), x)[0]


def _distinct_sizes(x):
    """A map whose rows are reshaped by what is computed from shapes, by way of operations that only NumPy has."""
    def row(v):
        sizes = tf.unique(tf.concat([tf.shape(x)[1:], tf.shape(v)], 0)).y
        kept = tf.setdiff1d(tf.shape(x), tf.shape(x)[:1]).out
        return tf.reshape(v, sizes) * tf.cast(tf.reduce_prod(kept), tf.float32)

    return tf.vectorized_map(row, x)


def _stitched_by_values(x):
    """A map that stitches at indices which are in the rows."""
    def row(v):
        order = tf.argsort(v)
        return tf.dynamic_stitch([order], [v * 2.0])

    return tf.vectorized_map(row, x)


def _sized_by_values(x):
    """A map whose sizes follow from a sum of values."""
    n = tf.cast(tf.reduce_sum(tf.abs(x)) * 0.0, tf.int32) + 2
    sizes = tf.dynamic_stitch([[0], [1]], [[n], [-1]])
    return tf.vectorized_map(lambda v: tf.reshape(v, tf.dynamic_stitch([[0, 1]], [sizes])), x)


CASES = {
    "Hessians": (_hessians, True), "a loop of derivatives": (_second_derivatives_in_a_loop, True),
    "the gradient of a loop": (_gradient_of_a_loop, True), "distinct sizes": (_distinct_sizes, True),
    "stitched by values": (_stitched_by_values, False), "sized by values": (_sized_by_values, True),
}


@pytest.mark.parametrize("name", CASES)
def test_shapes_within_sub_graphs(name, monkeypatch):
    build, compiled = CASES[name]
    monkeypatch.setattr(executable, "first_in_numpy", False)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 6])
        y = build(x)
        with tf.Session() as sess, HostSession() as host:
            for rows in (4, 7, 1, 4):
                fed = _RNG.standard_normal((rows, 6)).astype(np.float32)
                np.testing.assert_allclose(sess.run(y, {x: fed}), host.run(y, {x: fed}), rtol=1e-4, atol=1e-4)
            steps = sess.explain(y, {x: fed}).steps
    in_numpy = [s for s in steps if s.kind == "host" and {"While", "VectorizedMap"} & set(s.operations)]
    assert (not in_numpy) == compiled
