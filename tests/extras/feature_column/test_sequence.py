"""Columns of sequences: what is expected, TensorFlow 2.21 gives, by `SequenceFeatures` of tf_keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf
import graphgrad.compat.v1 as tf1
from graphgrad.executor.runtime.session import HostSession
from graphgrad.extras.feature_column import sequence
from graphgrad.extras.feature_column.column import FeatureTransformationCache, ScopedState
from graphgrad.ir import context

fc = tf.feature_column
_STEPS, _NONE = [2, 1, 0, 3], [0.0, 0.0]


@pytest.fixture(autouse=True)
def _eagerly() -> Any:
    with context.use(context.EAGER):
        yield


def _features() -> dict[str, Any]:
    dense = tf.sparse.from_dense
    return {
        "x": dense([[1.0, 2.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0], [0.0] * 4, [4.0, 5.0, 6.0, 7.0]]),
        "id": dense([[1, 2, 0], [2, 0, 0], [0, 0, 0], [1, 1, 2]]),
        "w": tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 2]], ["a", "b", "zz", "a"], [4, 3]),
        "id3": tf.SparseTensor([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [3, 2, 0]], [1, 2, 0, 2, 1], [4, 3, 2])}


def _indicated(ids: Any, count: int = 3) -> Any:
    """Returns what an indicator gives for one id, or None, in each step."""
    return [[[float(i == k) for k in range(count)] for i in row] for row in ids]


_IDS = fc.sequence_categorical_column_with_identity("id", 3)
_BAGS = fc.sequence_categorical_column_with_identity("id3", 3)
_WORDS = fc.sequence_categorical_column_with_vocabulary_list("w", ["a", "b"], num_oov_buckets=1)
_NUMBERS = {"shape": (2,), "default_value": -1.0, "normalizer_fn": lambda s: s * 2.0}
_COLUMNS: dict[str, tuple[Any, Any, list[int]]] = {
    "numbers": (fc.sequence_numeric_column("x"),
                [[[1.0], [2.0], [0.0], [0.0]], [[3.0], [0.0], [0.0], [0.0]], [[0.0]] * 4,
                 [[4.0], [5.0], [6.0], [7.0]]], [2, 1, 0, 4]),
    "pairs": (fc.sequence_numeric_column("x", **_NUMBERS),
              [[[2.0, 4.0], [-1.0, -1.0]], [[6.0, -1.0], [-1.0, -1.0]], [[-1.0, -1.0]] * 2,
               [[8.0, 10.0], [12.0, 14.0]]], [1, 1, 0, 2]),
    "ids": (fc.indicator_column(_IDS), _indicated([[1, 2, None], [2, None, None], [None] * 3, [1, 1, 2]]), _STEPS),
    "words": (fc.indicator_column(_WORDS),
              _indicated([[0, 1, None], [2, None, None], [None] * 3, [None, None, 0]]), _STEPS),
    "hashes": (fc.indicator_column(fc.sequence_categorical_column_with_hash_bucket("w", 4)),
               _indicated([[3, 2, None], [2, None, None], [None] * 3, [None, None, 3]], 4), _STEPS),
    "several ids": (fc.indicator_column(_BAGS),
                    [[[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [0.0] * 3], [[0.0, 0.0, 1.0], [0.0] * 3, [0.0] * 3],
                     [[0.0] * 3] * 3, [[0.0] * 3, [0.0] * 3, [0.0, 1.0, 0.0]]], _STEPS)}


@pytest.mark.parametrize("name", _COLUMNS)
def test_numbers_and_counts(name: str) -> None:
    """The tensor of the steps, and how many there are in each row."""
    column, expected, lengths = _COLUMNS[name]
    found = column.get_sequence_dense_tensor(FeatureTransformationCache(_features()), None)
    assert found.dense_tensor.numpy().tolist() == expected
    assert found.sequence_length.numpy().tolist() == lengths and found.sequence_length.dtype is tf.int64


@pytest.mark.parametrize(("ids", "expected", "gradient"), [
    (_IDS, [[[2.0, 3.0], [4.0, 5.0], _NONE], [[4.0, 5.0], _NONE, _NONE], [_NONE] * 3,
            [[2.0, 3.0], [2.0, 3.0], [4.0, 5.0]]], [_NONE, [12.0, 18.0], [24.0, 30.0]]),
    (_BAGS, [[[3.0, 4.0], [0.0, 1.0], _NONE], [[4.0, 5.0], _NONE, _NONE], [_NONE] * 3,
             [_NONE, _NONE, [2.0, 3.0]]], [[0.0, 2.0], [7.0, 10.0], [11.0, 14.0]])])
def test_vectors(ids: Any, expected: Any, gradient: Any) -> None:
    """Vectors are combined within steps, not across them; gradients with respect to them."""
    with tf1.Graph().as_default(), HostSession() as sess:
        column = fc.embedding_column(ids, 2, initializer=tf1.constant_initializer(np.arange(6.0).reshape(3, 2)))
        state = ScopedState([], True)
        column.create_state(state)
        found = column.get_sequence_dense_tensor(FeatureTransformationCache(_features()), state)
        (weights,) = tf1.trainable_variables()
        slope = tf1.gradients(tf.reduce_sum(found.dense_tensor ** 2), weights)[0]
        sess.run(weights.initializer)
        assert sess.run(found.dense_tensor).tolist() == expected
        assert sess.run(found.sequence_length).tolist() == _STEPS
        assert sess.run(tf.convert_to_tensor(slope)).tolist() == gradient


def test_files_specs_and_context(tmp_path: Any) -> None:
    """Words of a file; how features are parsed; what belongs to a row joined to its steps."""
    (tmp_path / "words.txt").write_text("b\na\n")
    words = fc.sequence_categorical_column_with_vocabulary_file("w", str(tmp_path / "words.txt"), num_oov_buckets=1)
    assert words.num_buckets == 3 and words.name == "w"
    spec = {**_COLUMNS["numbers"][0].parse_example_spec, **_IDS.parse_example_spec}
    assert spec == {"x": tf.io.VarLenFeature(tf.float32), "id": tf.io.VarLenFeature(tf.int64)}
    joined = sequence.concatenate_context_input(tf.constant([[1.0, 2.0]]), tf.constant([[[3.0], [4.0]]]))
    assert joined.numpy().tolist() == [[[3.0, 1.0, 2.0], [4.0, 1.0, 2.0]]]


def _dense(column: Any) -> Any:
    return column.get_dense_tensor(FeatureTransformationCache(_features()), None)


def _steps(column: Any) -> Any:
    return column.get_sequence_dense_tensor(FeatureTransformationCache(_features()), None)


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: _dense(fc.indicator_column(_IDS)), ValueError, "must not be of type SequenceCategoricalColumn.*Fix:"),
    (lambda: _dense(fc.embedding_column(_IDS, 2)), ValueError, "must not be of type SequenceCategoricalColumn.*Fix:"),
    (lambda: _steps(fc.indicator_column(fc.categorical_column_with_identity("id", 3))), ValueError,
     "must be of type SequenceCategoricalColumn.*Fix:"),
    (lambda: sequence.SequenceNumericColumn("x", (1,), 0.0, tf.float32, tf.sparse.to_dense).get_sequence_dense_tensor(
        FeatureTransformationCache(_features()), None), ValueError, "needs a SparseTensor.*Fix:"),
    (lambda: fc.sequence_numeric_column("x", (0,)), ValueError, "must be greater than 0"),
    (lambda: fc.sequence_numeric_column("x", dtype=tf.string), ValueError, "must be convertible to float"),
    (lambda: sequence.concatenate_context_input(tf.zeros(2), tf.zeros([1, 2, 3])), ValueError, "must have rank 2"),
])
def test_what_cannot_be(make: Any, error: Any, text: str) -> None:
    """Errors of TensorFlow's classes."""
    with pytest.raises(error, match=f"(?s){text}"):
        make()


def test_names_in_eager_mode() -> None:
    """Variable scopes prefix names of variables; those of `get_variable` have no prefix of name scopes."""
    with tf.name_scope("a"), tf1.variable_scope("b"), tf.name_scope("e"):
        assert tf1.get_variable("v", [1]).name == "b/v:0" and tf.Variable(1.0, name="w").name == "a/b/e/w:0"
