"""`IndexedSlices`: sparse gradients.

Where behaviour is not obvious, the expected values were asked of TensorFlow 2.21.
"""

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from tests.support.sessions import run

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


ONE = [[1.0, 1.0]]


def _taken(f):
    """What the rows 1 and 3 of `f(p)` give for p, (5, 2), as sparse values and indices, or dense."""
    p = tf.placeholder(tf.float32, [5, 2])
    (g,) = tf.gradients(tf.gather(f(p), [1, 3]), p)
    value = run(g, {p: np.ones((5, 2))})
    return [value.values.tolist(), value.indices.tolist()] if isinstance(g, tf.IndexedSlices) else value.tolist()


@pytest.mark.parametrize(
    ("f", "values", "indices"),
    [
        (tf.identity, ONE * 2, [1, 3]),
        (lambda p: p + 1.0, ONE * 2, [1, 3]),
        (lambda p: 1.0 - p, [[-1.0, -1.0]] * 2, [1, 3]),
        (tf.negative, [[-1.0, -1.0]] * 2, [1, 3]),
        (lambda p: tf.cast(p, tf.float64), ONE * 2, [1, 3]),
        (lambda p: p + p, ONE * 4, [1, 3, 1, 3]),
        (lambda p: tf.add_n([p, p]), ONE * 4, [1, 3, 1, 3]),
        (lambda p: p - p, [*ONE * 2, [-1.0, -1.0], [-1.0, -1.0]], [1, 3, 1, 3]),
        (lambda p: tf.concat([p, tf.ones([9, 2])], 0), ONE * 2, [1, 3]),
        (lambda p: tf.concat([tf.zeros([2, 2]), p], 0), ONE, [1]),
        (lambda p: tf.concat([p, 3.0 * tf.ones([5, 1])], 1), ONE * 2, [1, 3]),
        (lambda p: tf.identity_n([p, p])[0], None, None),
        (lambda p: tf.gather(p, [4, 2, 0, 0]), ONE * 4, [4, 2, 0, 0]),
        # TensorFlow makes these dense.
        (lambda p: p * 2.0, [[2.0, 2.0]] * 2, [1, 3]),
        (lambda p: tf.placeholder_with_default(2.0, []) * p, [[2.0, 2.0]] * 2, [1, 3]),
        (lambda p: p / 0.5, [[2.0, 2.0]] * 2, [1, 3]),
        (lambda p: tf.reshape(tf.reshape(p, [5, 1, 2, 1]), [5, 2]), ONE * 2, [1, 3]),
        (lambda p: tf.reshape(p * 3.0, [5, -1]), [[3.0, 3.0]] * 2, [1, 3]),
    ],
)
def test_what_keeps_slices_sparse(f, values, indices):
    """Sums, signs, conversions, concatenation, as in TensorFlow; a gather of a gather has all rows of the inner one."""
    taken = _taken(f)
    if indices == [4, 2, 0, 0]:
        assert taken == [[[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]], indices]
    elif values is None:  # the sibling's zeros are dense
        assert taken == [[0, 0], [1, 1], [0, 0], [1, 1], [0, 0]]
    else:
        assert taken == [values, indices]


@pytest.mark.parametrize(
    "f", [lambda p: p * tf.fill([5, 2], 2.0), lambda p: p / tf.fill([2], 0.5), lambda p: 2.0 * tf.reshape(p, [10])[::2],
          lambda p: tf.transpose(tf.transpose(p * 2.0)), lambda p: tf.unstack(tf.stack([p, p * 2.0]))[1]])
def test_what_makes_slices_dense(f):
    dense = [[0, 0], [2, 2], [0, 0], [2, 2], [0, 0]]
    assert _taken(f) in (dense, [[0, 0], [2, 0], [0, 0], [2, 0], [0, 0]])


@pytest.mark.parametrize("f", [lambda p, c: p * c, lambda p, c: c * p, lambda p, c: p / c])
def test_the_scale_of_slices_gets_its_gradient(f):
    p, c = tf.placeholder(tf.float64, [5, 2]), tf.placeholder(tf.float64, [])
    feeds = {p: np.arange(10.0).reshape(5, 2) + 1, c: 3.0}
    y = tf.reduce_sum(tf.gather(f(p, c), [1, 3, 1]) ** 3)
    (g,) = tf.gradients(y, c)
    (second,) = tf.gradients(g, c)
    rows = feeds[p][[1, 3, 1]]
    if f(2.0, 4.0) == 8.0:
        want = [np.sum(3 * rows**3 * 3.0**2), np.sum(6 * rows**3 * 3.0)]
    else:
        want = [np.sum(-3 * rows**3 * 3.0**-4), np.sum(12 * rows**3 * 3.0**-5)]
    np.testing.assert_allclose(run([g, second], feeds), want, rtol=1e-12)


def test_rows_of_each_part_of_a_concatenation():
    p, q = tf.placeholder(tf.float32, [2, 1]), tf.placeholder(tf.float32, [3, 1])
    weights = tf.constant([[10.0], [20.0], [30.0], [40.0]])
    y = tf.gather(tf.concat([p, q], 0), tf.constant([4, 1, 2, 4], tf.int64)) * weights
    gp, gq = run(tf.gradients(y, [p, q]), {p: np.ones((2, 1)), q: np.ones((3, 1))})
    assert (gp.values.tolist(), gp.indices.tolist(), gp.dense_shape.tolist()) == ([[20.0]], [1], [2, 1])
    assert (gq.values.tolist(), gq.indices.tolist(), gq.dense_shape.tolist()) == (
        [[10.0], [30.0], [40.0]], [2, 0, 2], [3, 1])


def test_concatenations_of_unknown_shape():
    p, q = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, None])
    feeds = {p: np.ones((2, 2)), q: np.ones((2, 2))}
    (g,) = tf.gradients(tf.gather(tf.concat([q, p], 0), [1, 3]), p)
    value = run(g, feeds)
    assert (value.values.tolist(), value.indices.tolist(), value.dense_shape.tolist()) == (ONE, [1], [2, 2])
    # Where the columns begin must be known while building.
    (g,) = tf.gradients(tf.gather(tf.concat([q, p], 1), [1]), p)
    assert run(g, feeds).tolist() == [[0, 0], [1, 1]]


def test_indices_of_two_dtypes_are_summed_as_the_larger():
    p = tf.ones([5, 2])
    (g,) = tf.gradients([tf.gather(p, [0]), tf.gather(p, tf.constant([1], tf.int64))], p)
    value = run(g)
    assert value.indices.dtype == np.int64 and value.indices.tolist() == [0, 1]


def test_every_kind_of_gather():
    p = tf.placeholder(tf.float32, [5, 2])
    looked_up = tf.nn.embedding_lookup(p, [1, 1])
    sparse = [tf.gather(p, [[1, 2], [0, 0]]), tf.gather(p, 2), looked_up, tf.gather_nd(p, [[1]])]
    dense = [tf.gather(p, [1], axis=1), tf.gather_nd(p, [[1, 1]])]
    assert [isinstance(tf.gradients(y, p)[0], tf.IndexedSlices) for y in sparse + dense] == [True] * 4 + [False] * 2
    got = run(tf.gradients(sparse + dense, p), {p: np.ones((5, 2))})
    assert got[0].tolist() == [[2, 3], [4, 6], [2, 3], [0, 1], [0, 1]]


def test_a_warning_before_large_slices_are_made_dense():
    p = tf.placeholder(tf.float32, [200_000_000, 1])
    y = tf.gather(tf.square(p), [1])
    text = r"(?s)IndexedSlices\(.*\) to a dense Tensor with 200000000 elements \(0.8 GB\).*large amount of memory. "
    cause = r"It is made dense in the gradient of 'Square' \(op type: Square\).*Built at test_slices.py.*Fix"
    with pytest.warns(UserWarning, match=text + cause) as w:
        tf.gradients(y, p)
    assert w[0].filename == __file__


def test_slices_without_a_shape_cannot_be_made_dense():
    x = tf.placeholder(tf.float32, [3, 2])
    slices = tf.IndexedSlices(tf.constant([[5.0, 6.0]]), tf.constant([1]))
    (g,) = tf.gradients(tf.identity(x), x, grad_ys=[slices])
    assert g.dense_shape is None and run(g.values).tolist() == [[5, 6]]
    with pytest.raises(ValueError, match="(?s)without dense_shape.*Fix"):
        tf.gradients(tf.square(x), x, grad_ys=[slices])


def test_arithmetic_with_slices():
    """A gradient function that scales what it gets keeps it sparse; TensorFlow refuses to calculate with slices."""
    x = tf.placeholder(tf.float32, [3, 2])
    factor = tf.constant(4.0)
    rules = [lambda dy: dy * 2.0, lambda dy: 3 * dy, lambda dy: dy * factor, lambda dy: dy / 2.0, lambda dy: -dy,
             lambda dy: factor * dy, lambda dy: dy + dy, lambda dy: 1.0 - dy, lambda dy: dy - 1.0, lambda dy: 1.0 + dy,
             lambda dy: dy * x, lambda dy: x * dy]
    grads = []
    for rule in rules:
        y = tf.custom_gradient(lambda t, rule=rule: (t * 1.0, rule))(x)
        grads.extend(tf.gradients(tf.gather(y, [1]), x))
    assert [isinstance(g, tf.IndexedSlices) for g in grads] == [True] * 5 + [False] * 7
    values = run([tf.convert_to_tensor(g) for g in grads], {x: np.full((3, 2), 5.0)})
    assert [(v[1, 0], v[0, 0]) for v in values] == [
        (2, 0), (3, 0), (4, 0), (0.5, 0), (-1, 0), (4, 0), (2, 0), (0, 1), (0, -1), (2, 1), (5, 0), (5, 0)]
