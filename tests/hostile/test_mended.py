"""Calls that hostile inputs brought down once, and what they answer now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.extras.contrib.seq2seq.legacy import attention_decoder


def _sparse() -> Any:
    return tf.SparseTensor([[0, 1]], [2.0], [2, 2])


def _array_without_size() -> Any:
    graph_def = tf.GraphDef()
    node = graph_def.node.add()
    node.name, node.op = "array", "TensorArrayV3"
    return tf.import_graph_def(graph_def)


def _write_without_data() -> Any:
    with tf.Graph().as_default() as graph:
        size = tf.constant(2, name="size")
    graph_def = graph.as_graph_def()
    assert size.op.name == "size"
    made, written = graph_def.node.add(), graph_def.node.add()
    made.name, made.op = "array", "TensorArrayV3"
    made.input.append("size")
    written.name, written.op = "write", "TensorArrayWriteV3"
    written.input.append("array")
    return tf.import_graph_def(graph_def)


CALLS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "an array without its size": (_array_without_size, ValueError, "'array'.* has 0 of the 1 inputs"),
    "a write without data": (_write_without_data, ValueError, "'write'.* has 0 of the 2 inputs"),
    "two sparse factors": (lambda: tf.sparse_tensor_dense_matmul(_sparse(), _sparse()), TypeError, "both are sparse"),
    "a tensor to initialize": (lambda: tf.variables_initializer(tf.constant([1.0, 2.0])), TypeError,
                               "takes a list of variables"),
    "one threshold": (lambda: tf.metrics.recall_at_thresholds([True], [0.5], 0.5), TypeError, "list of numbers"),
    "an update without columns": (lambda: tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorIdentity(2),
                                                                                1.0), ValueError, "u must be a matrix"),
    "an endless k": (lambda: tf.metrics.average_precision_at_k([[1]], [[0.1, 0.9]], float("inf")), ValueError,
                     "no integer"),
    "an endless axis": (lambda: tf.sparse_reduce_sum_sparse(_sparse(), float("-inf")), TypeError, "int32"),
    "large strides": (lambda: tf.extract_image_patches(np.zeros([1, 4, 4, 1], np.float32), [1, 2, 2, 1],
                                                       [1, 2**64, 2**64, 1], [1, 1, 1, 1], "SAME"), ValueError,
                      "2147483647"),
    "decoder inputs without a list": (
        lambda: attention_decoder(np.float32(1), np.zeros([2, 3], np.float32), tf.zeros([2, 3, 4]),
                                  tf.nn.rnn_cell.GRUCell(3)),
        TypeError, "must be a list"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_error_is_of_a_class_and_says_what_to_do(name: str) -> None:
    call, cls, text = CALLS[name]
    with tf.Graph().as_default(), pytest.raises(cls, match=text) as found:
        call()
    assert "Fix" in str(found.value)
