"""Ragged tensors: every way to make one, what is made of them, their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from graphgrad.ir import context

pytestmark = pytest.mark.usefixtures("graph")
ROWS = [[1.0, 2.0], [], [3.0, 4.0, 5.0]]
FLAT = [1.0, 2.0, 3.0, 4.0, 5.0]
R = tf.RaggedTensor


def run(*fetches: Any, feeds: Any = None) -> Any:
    """The values, by NumPy."""
    with HostSession() as sess:
        found = sess.run(list(fetches), feeds)
    return found[0] if len(found) == 1 else found


_MAKE: dict[str, Any] = {
    "row_splits": lambda x: R.from_row_splits(x, [0, 2, 2, 5]),
    "row_lengths": lambda x: R.from_row_lengths(x, tf.constant([2, 0, 3])),
    "row_starts": lambda x: R.from_row_starts(x, [0, 2, 2]),
    "row_limits": lambda x: R.from_row_limits(x, [2, 2, 5]),
    "value_rowids": lambda x: R.from_value_rowids(x, [0, 0, 2, 2, 2]),
    "value_rowids of three": lambda x: R.from_value_rowids(x, [0, 0, 2, 2, 2], 3),
    "sparse": lambda x: R.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]], x, [3, 3])),
    "partitions": lambda x: tf.ragged.stack_dynamic_partitions(x, [0, 0, 2, 2, 2], 3),
    "stack": lambda x: tf.ragged.stack([x[:2], x[:0], x[2:]]),
}


@pytest.mark.parametrize("name", _MAKE)
def test_making_one(name: str) -> None:
    """All ways to say where rows begin give the same rows; what is made of them has the values' gradient."""
    x = tf.constant(FLAT)
    rows = _MAKE[name](x)
    dense = rows.to_tensor(-1.0)
    (slope,) = tf.gradients(tf.reduce_sum(dense**3 * np.arange(9.0, dtype=np.float32).reshape(3, 3)), x)
    slope = tf.convert_to_tensor(slope)
    value, lengths, ids, n, filled, g = run(rows, rows.row_lengths(), rows.value_rowids(), rows.nrows(), dense, slope)
    assert value.to_list() == ROWS
    assert (lengths.tolist(), ids.tolist(), n) == ([2, 0, 3], [0, 0, 2, 2, 2], 3)
    assert filled.tolist() == [[1.0, 2.0, -1.0], [-1.0, -1.0, -1.0], [3.0, 4.0, 5.0]]
    np.testing.assert_allclose(g, 3 * np.square(FLAT) * [0, 1, 6, 7, 8])


def test_from_dense_tensors() -> None:
    """Rows of a dense tensor: all of them, up to lengths, without padding."""
    x = tf.constant([[1, 2, 0], [0, 0, 0], [3, 0, 4]])
    whole, cut = R.from_tensor(x), R.from_tensor(x, lengths=[2, 0, 9])
    assert run(whole).to_list() == [[1, 2, 0], [0, 0, 0], [3, 0, 4]]
    assert run(cut).to_list() == [[1, 2], [], [3, 0, 4]]
    assert run(R.from_tensor(x, padding=0)).to_list() == [[1, 2], [], [3, 0, 4]]
    deep = R.from_tensor(tf.reshape(tf.range(8), [2, 2, 2]), ragged_rank=2)
    assert deep.ragged_rank == 2 and run(deep).to_list() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    assert run(R.from_uniform_row_length(tf.range(6), 2)).to_list() == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(ValueError, match="but not both"):
        R.from_tensor(x, lengths=[1, 1, 1], padding=0)


def test_rows_of_rows() -> None:
    """Two ragged axes: parts, lengths, shapes, dense and sparse forms, and the way back."""
    t = tf.ragged.constant([[[1, 2], []], [], [[3]]])
    assert t.ragged_rank == 2 and t.dtype is tf.int32 and t.shape.as_list() == [3, None, None]
    same = R.from_nested_row_lengths(t.flat_values, t.nested_row_lengths())
    again = R.from_nested_value_rowids(t.flat_values, t.nested_value_rowids(), [3, 3])
    value, other, third, box, lengths = run(t, same, again, t.bounding_shape(), t.row_lengths(axis=2))
    assert value.to_list() == other.to_list() == third.to_list() == [[[1, 2], []], [], [[3]]]
    assert box.tolist() == [3, 2, 2] and lengths.to_list() == [[2, 0], [], [1]]
    dense, sparse = run(t.to_tensor(), t.to_sparse())
    assert dense.tolist() == [[[1, 2], [0, 0]], [[0, 0], [0, 0]], [[3, 0], [0, 0]]]
    assert sparse.indices.tolist() == [[0, 0, 0], [0, 0, 1], [2, 0, 0]] and sparse.dense_shape.tolist() == [3, 2, 2]


def test_rows_and_arithmetic() -> None:
    """Single rows, slices and sums; functions of the values; masks."""
    x = tf.constant(FLAT)
    t = R.from_row_splits(x, [0, 2, 2, 5])
    twice = tf.ragged.map_flat_values(tf.multiply, t, 2.0) + t - 1.0
    (slope,) = tf.gradients(tf.reduce_sum(t[2] ** 2), x)
    row, part, sums, g = run(t[2], t[1:], twice, slope)
    assert row.tolist() == [3.0, 4.0, 5.0] and part.to_list() == ROWS[1:]
    assert sums.to_list() == [[2.0, 5.0], [], [8.0, 11.0, 14.0]] and g.tolist() == [0.0, 0.0, 6.0, 8.0, 10.0]
    mask = tf.ragged.constant([[True, False], [], [False, True, True]])
    kept, chosen = run(tf.ragged.boolean_mask(t, mask), tf.ragged.boolean_mask(t, [True, False, True]))
    assert kept.to_list() == [[1.0], [], [4.0, 5.0]] and chosen.to_list() == [ROWS[0], ROWS[2]]


def test_feeding_and_compiled() -> None:
    """A placeholder is fed with a value; between host steps, programs are compiled."""
    t = tf.ragged.placeholder(tf.float32, 1)
    y = tf.reduce_sum(tf.exp(t.to_tensor()) * 2.0, axis=1)
    with tf.Session() as sess:
        got = sess.run(y, {t: tf.ragged.constant_value(ROWS, np.float32)})
    np.testing.assert_allclose(got, 2 * np.exp([[1, 2, 0], [0, 0, 0], [3, 4, 5]]).sum(axis=1), rtol=1e-5)


def test_strings() -> None:
    """Strings of any rank are split into rows; axes of rows are merged."""
    flat = tf.strings.split(["a b  c", "", "d"], result_type="RaggedTensor")
    deep = tf2.strings.split(tf.constant([["a,b"], ["c"]]), ",")
    one = tf2.strings.split(tf.constant("a,b,,c"), ",")
    letters = tf.strings.bytes_split(flat)
    got = run(flat, deep, one, letters, letters.merge_dims(0, 1), letters.merge_dims(1, 2), letters.merge_dims(0, 2))
    assert got[0].to_list() == [[b"a", b"b", b"c"], [], [b"d"]] and got[1].to_list() == [[[b"a", b"b"]], [[b"c"]]]
    assert got[2].tolist() == [b"a", b"b", b"", b"c"]
    assert got[3].to_list() == [[[b"a"], [b"b"], [b"c"]], [], [[b"d"]]]
    assert got[4].to_list() == [[b"a"], [b"b"], [b"c"], [b"d"]]
    assert got[5].to_list() == [[b"a", b"b", b"c"], [], [b"d"]] and got[6].tolist() == [b"a", b"b", b"c", b"d"]


def test_rows_one_after_the_other() -> None:
    """Iteration ends after the last row, as in TensorFlow 2.21: what is beyond it is an IndexError in eager mode."""
    with context.use(None):
        ragged = tf2.ragged.constant([[1, 2], [3]])
        assert [row.numpy().tolist() for row in ragged] == [[1, 2], [3]]
        for key in (2, np.int64(2), tf2.constant(2), (2, 0)):
            with pytest.raises(IndexError, match="Row key 2 out of bounds"):
                ragged[key]
        for key in (-3, tf2.constant(-3), (0, 5)):
            with pytest.raises(tf2.errors.InvalidArgumentError):
                ragged[key]
    with pytest.raises(ValueError, match="slice index 2 of dimension 0 out of bounds"):
        list(tf2.ragged.constant([[1, 2], [3]]))


def test_eagerly() -> None:
    """In eager mode a ragged tensor has its lists."""
    with context.use(context.EAGER):
        t = tf2.ragged.range([2, 0, 3])
        assert t.to_list() == [[0, 1], [], [0, 1, 2]] and t[2].numpy().tolist() == [0, 1, 2]
        x = tf2.constant(FLAT)
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = tf2.reduce_sum(tf2.RaggedTensor.from_row_lengths(x, [2, 3]).to_tensor() ** 2)
        assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: R.from_row_splits(FLAT, [[0, 5]]), ValueError, "must have rank 1: row_splits. Fix:"),
    (lambda: R.from_value_rowids(FLAT, [0]), ValueError, "5 values cannot be divided into rows with 1. Fix:"),
    (lambda: R.from_row_lengths(FLAT, tf.constant([2.0, 3.0])), ValueError, "must have dtype int32 or int64"),
    (lambda: R(FLAT, [0, 5]), ValueError, "(?s)constructor is private.*Fix: tf.RaggedTensor.from_row_splits"),
    (lambda: tf.cholesky(tf.ragged.constant([[1.0]])), TypeError, r"(?s)not a tensor of its own.*map_flat_values"),
    (lambda: tf.ragged.constant([[[1]]]).merge_dims(2, 1), ValueError, "axes 2 to 1 cannot be merged"),
    (lambda: R.from_sparse([[1]]), TypeError, "Expected SparseTensor, got list"),
    (lambda: tf.ragged.constant([[1, 2], 3]), ValueError, "same nesting depth"),
    (lambda: tf.ragged.stack([[1], [2]], axis=3), ValueError, "axis=3 out of bounds"),
])
def test_what_cannot_be(make: Any, error: Any, text: str) -> None:
    """Mistakes are named, with a remedy."""
    with pytest.raises(error, match=text):
        make()


def test_no_rows_without_a_loop() -> None:
    """Python cannot go over rows whose number is not known; it did so without end."""
    spec = tf2.RaggedTensorSpec([None, None], tf.int32)
    with context.use(context.EAGER), pytest.raises(TypeError, match="(?s)number of rows is unknown.*Fix:"):
        tf2.function(list, autograph=False, input_signature=[spec]).get_concrete_function()
