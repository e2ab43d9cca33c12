"""Public functions on sparse tensors, sets and sequences: gradients through them, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession

pytestmark = pytest.mark.usefixtures("graph")
_PLACES = [[0, 0], [0, 2], [1, 1], [2, 2]]


def _sparse(values: Any) -> Any:
    return tf.SparseTensor(_PLACES, values, [3, 3])


def _weighted(sparse: Any) -> Any:
    """A sum in which every place of a sparse tensor has a weight of its own."""
    dense = tf.sparse.to_dense(tf.sparse.reorder(sparse))
    shape = tf.cast(tf.shape(dense), tf.float64)
    weights = tf.reshape(tf.range(1.0, tf.cast(tf.reduce_prod(shape), tf.float32) + 1.0), tf.shape(dense))
    return tf.reduce_sum(dense**2 * tf.cast(weights, tf.float64))


_FUNCTIONS: dict[str, Any] = {
    "split": lambda x: sum(_weighted(p) for p in tf2.sparse.split(_sparse(x), 2, 1)),
    "split, 1.x": lambda x: sum(_weighted(p) for p in tf.sparse_split(sp_input=_sparse(x), num_split=3, split_dim=0)),
    "concat": lambda x: _weighted(tf.sparse.concat(1, [_sparse(x), _sparse(2.0 * x)])),
    "maximum": lambda x: _weighted(tf.sparse.maximum(_sparse(x), _sparse(x[::-1]))),
    "minimum": lambda x: _weighted(tf.sparse.minimum(_sparse(x), _sparse(x * [2.0, 0.5, -1.0, 3.0]))),
    "reduce_max": lambda x: tf.reduce_sum(tf2.sparse.reduce_max(_sparse(x), 1) ** 2 * [1.0, 2.0, 3.0]),
    "reset_shape": lambda x: _weighted(tf.sparse.reset_shape(_sparse(x), [4, 5])),
    "merge": lambda x: _weighted(tf.sparse_merge(_sparse(tf.constant([2, 0, 1, 2])), _sparse(x), 4)),
    "bincount": lambda x: _weighted(tf.sparse.bincount(_sparse(tf.constant([2, 2, 1, 2])), _sparse(x), axis=-1)),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_gradients(name: str) -> None:
    """First and second derivatives agree with finite differences."""
    v = np.array([1.5, -0.7, 0.9, 2.0])
    x = tf.placeholder(tf.float64, [4])
    y = _FUNCTIONS[name](x)
    (g,) = tf.gradients(y, x)
    g = tf.convert_to_tensor(g)
    (h,) = tf.gradients(g, x, grad_ys=[tf.constant([1.0, 2.0, 3.0, 4.0], tf.float64)])
    with HostSession() as sess:
        step, slopes, curves = 1e-5, [], []
        for i in range(4):
            ends = [sess.run([y, g], {x: v + s * step * np.eye(4)[i]}) for s in (1, -1)]
            slopes.append((ends[0][0] - ends[1][0]) / (2 * step))
            curves.append((ends[0][1] - ends[1][1]) @ [1.0, 2.0, 3.0, 4.0] / (2 * step))
        got = sess.run([g, tf.convert_to_tensor(h)], {x: v})
    assert np.abs(slopes).max() > 0.1
    np.testing.assert_allclose(got[0], slopes, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(got[1], curves, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: tf2.sparse.split(num_split=2, axis=0), ValueError, "sp_input is required.*Fix:"),
    (lambda: tf.sparse_split(_sparse([1, 2, 3, 4]), 2, 0), ValueError, "Keyword arguments are required"),
    (lambda: tf.sparse.reset_shape(_sparse([1, 2, 3, 4]), [3]), ValueError, "1 dimensions, the tensor 2"),
    (lambda: tf.sparse.reset_shape(_sparse([1, 2, 3, 4]), [2, 3]), ValueError, "must be at least"),
    (lambda: tf.sparse_merge([_sparse([1, 2, 3, 4])], _sparse([1, 2, 3, 4]), [5, 6]), ValueError, "lengths 1 and 2"),
    (lambda: tf.sparse.bincount([1], axis=2), ValueError, "axis=2. Only 0 and -1"),
    (lambda: tf.convert_to_tensor_or_sparse_tensor(_sparse([1, 2, 3, 4]), tf.float32), RuntimeError,
     "Requested: float32, Actual: int32.*Fix: tf.cast"),
    (lambda: tf.sparse.maximum([1.0], [2.0]), TypeError, "must be a SparseTensor, not list.*Fix: tf.sparse.from_dense"),
    (lambda: tf.sets.size([[1, 2]]), TypeError, "must be a SparseTensor, not list.*Fix:"),
    (lambda: tf.sets.intersection([1, 2], [2]), ValueError, "at least rank 2 but is rank 1.*Fix: give"),
    (lambda: tf.edit_distance([[1]], [[2]]), TypeError, "hypothesis must be a SparseTensor, not list"),
    (lambda: tf2.strings.split(tf.placeholder(tf.string)), ValueError, "unknown rank.*Fix: set_shape"),
    (lambda: tf.strings.split(["a"], result_type="list"), ValueError, "'RaggedTensor' or 'SparseTensor', not 'list'"),
    (lambda: tf.ragged.map_flat_values(tf.add, tf.ragged.constant([[1]]), tf.ragged.constant([[[1]]])), ValueError,
     "the same ragged_rank.*Fix:"),
    (lambda: tf.RaggedTensor.from_tensor([[[1]]], lengths=[1], ragged_rank=2), ValueError, "for one ragged axis"),
])
def test_what_is_refused(make: Any, error: Any, text: str) -> None:
    """Mistakes are named, with a remedy."""
    with pytest.raises(error, match=text):
        make()


def test_sets_of_sparse_tensors() -> None:
    """Sets of dense and sparse operands, in either order."""
    dense = tf.constant([[1, 2, 3], [4, 5, 6]])
    sparse = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [3, 6, 9], [2, 2])
    with HostSession() as sess:
        both, less, more, union = sess.run([
            tf.sets.intersection(dense, sparse), tf.sets.difference(sparse, dense),
            tf.sets.difference(sparse, dense, aminusb=False), tf.sets.union(sparse, sparse)])
    assert both.values.tolist() == [3, 6] and both.indices.tolist() == [[0, 0], [1, 0]]
    assert less.values.tolist() == [9] and more.values.tolist() == [1, 2, 4, 5] and union.values.tolist() == [3, 6, 9]


def test_values_are_one_class():
    """What a session gives back is what converters, specs and data sets take."""
    value = tf.SparseTensorValue(np.array([[0, 1]]), np.array([2.0], np.float32), np.array([3, 4]))
    with tf.Graph().as_default(), tf.Session() as sess:
        sparse = tf.convert_to_tensor_or_sparse_tensor(value)
        assert isinstance(sparse, tf.SparseTensor) and sparse.shape == [3, 4]
        again = sess.run(sparse)
        assert type(again) is type(value)
        data = tf.data.Dataset.from_tensors(value)
        assert data.element_spec == tf.SparseTensorSpec([3, 4], tf.float32)
        row = tf.data.make_one_shot_iterator(data).get_next()
        assert sess.run(row).values.tolist() == [2.0]
        assert tf.data.Dataset.from_tensors(again).element_spec == data.element_spec
