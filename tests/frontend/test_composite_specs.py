"""Specs of sparse, ragged and sliced tensors, and functions that take such."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad as tf2
import graphgrad.compat.v1 as tf
from graphgrad.ir import context

pytestmark = pytest.mark.usefixtures("graph")


def test_specs() -> None:
    """Specs of values: made of them, compared, written."""
    sparse = tf.SparseTensor([[0, 1]], [2.0], [2, 3])
    ragged = tf.ragged.constant([[1, 2], [3]])
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 4]), tf.constant([5, 3]))
    of = tf.type_spec_from_value
    assert of(sparse) == tf.SparseTensorSpec([2, 3], tf.float32) and of(sparse).value_type is tf.SparseTensor
    assert of(ragged) == tf.RaggedTensorSpec([2, None], tf.int32) and of(ragged).row_splits_dtype is tf.int64
    assert of(slices) == tf.IndexedSlicesSpec([5, 3], tf.float32, tf.int32, tf.int32, [2])
    assert of(np.zeros([2, 3])) == tf.TensorSpec([2, 3], tf.float64) and isinstance(of(1), tf.TypeSpec)
    there = tf2.experimental.Optional.from_value(tf.constant([1]))
    assert of(there).element_spec == tf.TensorSpec([1], tf.int32) and isinstance(of(there), tf.OptionalSpec)
    assert tf.SparseTensorSpec([None, 3]).is_compatible_with(sparse)
    assert not tf.SparseTensorSpec([None, 4]).is_compatible_with(sparse)
    assert not tf.SparseTensorSpec().is_compatible_with(ragged) and tf.RaggedTensorSpec([4, None]) != of(ragged)
    value = tf.ragged.constant_value([[1.0], []], np.float32)
    assert tf.RaggedTensorSpec([None, None], tf.float32).is_compatible_with(value)
    wide = tf.SparseTensorSpec([None, 3])
    assert tf.SparseTensorSpec([4, 3]).most_specific_compatible_type(tf.SparseTensorSpec([2, 3])) == wide
    for make, error, text in (
        (lambda: tf.type_spec_from_value(object()), TypeError, "Could not build a TypeSpec"),
        (lambda: tf.RaggedTensorSpec(None), ValueError, "Must specify ragged_rank"),
        (lambda: tf.RaggedTensorSpec([None], ragged_rank=1), ValueError, "must be less than rank"),
        (lambda: tf.SparseTensorSpec.from_value(ragged), TypeError, "Expected SparseTensor, got RaggedTensor"),
        (lambda: wide.most_specific_compatible_type(of(ragged)), ValueError, "No TypeSpec is compatible"),
    ):
        with pytest.raises(error, match=f"(?s){text}.*Fix:"):
            make()


def test_functions_of_ragged_and_sparse_tensors() -> None:
    """Ragged and sparse arguments and results of functions, with and without an input signature."""
    with context.use(context.EAGER):
        traces = []

        @tf2.function
        def double(x: Any) -> Any:
            traces.append(1)
            return x * 2.0

        for rows in ([[1.0, 2.0], [], [3.0]], [[4.0]]):
            assert double(tf2.ragged.constant(rows)).to_list() == [[2 * v for v in row] for row in rows]
        assert len(traces) == 1
        f = tf2.function(lambda x, y: (x.row_lengths(), tf2.sparse.to_dense(y)),
                         input_signature=[tf2.RaggedTensorSpec([None, None], tf2.int32), tf2.SparseTensorSpec([2, 2])])
        sparse = tf2.SparseTensor([[0, 1]], [5.0], [2, 2])
        lengths, dense = f(tf2.ragged.constant([[1], [2, 3]]), sparse)
        assert lengths.numpy().tolist() == [1, 2] and dense.numpy().tolist() == [[0, 5], [0, 0]]
        with pytest.raises(TypeError, match="(?s)Binding inputs.*not compatible with RaggedTensorSpec.*Fix:"):
            f(tf2.constant([1]), sparse)
        x = tf2.constant([1.0, 2.0, 3.0])
        with tf2.GradientTape() as tape:
            tape.watch(x)
            y = tf2.reduce_sum(double(tf2.RaggedTensor.from_row_lengths(x, [2, 1])).flat_values ** 2)
        assert tape.gradient(y, x).numpy().tolist() == [8, 16, 24]
