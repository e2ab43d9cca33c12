"""`IndexedSlices`: sparse gradients.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from sessions import run

pytestmark = pytest.mark.usefixtures("graph")


def test_gather_gives_indexed_slices():
    p = tf.ones([5, 2])
    (g,) = tf.gradients(tf.gather(p, [1, 1, 3]) * 2.0, p)
    assert isinstance(g, tf.IndexedSlices)
    value = run(g)
    np.testing.assert_array_equal(value.values, np.full((3, 2), 2))
    np.testing.assert_array_equal(value.indices, [1, 1, 3])
    np.testing.assert_array_equal(value.dense_shape, [5, 2])


def test_sums_of_slices_stay_sparse_and_mixed_ones_become_dense():
    p = tf.ones([5, 2])
    y = tf.reduce_sum(tf.gather(p, [1, 1, 3]))
    (sparse,) = tf.gradients(y + tf.reduce_sum(tf.gather(p, [0])), p)
    assert isinstance(sparse, tf.IndexedSlices)
    np.testing.assert_array_equal(run(sparse).indices, [1, 1, 3, 0])
    (dense,) = tf.gradients(y + tf.reduce_sum(p), p)
    np.testing.assert_array_equal(run(dense)[:, 0], [1, 3, 1, 2, 1])


def test_gathered_variable_with_int64_indices():
    v = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    (g,) = tf.gradients(tf.reduce_sum(tf.gather(v, tf.constant([2, 2], tf.int64)) ** 2), v)
    value = run(g)
    np.testing.assert_array_equal(value.values, [[8, 10], [8, 10]])
    assert value.indices.dtype == np.int64
