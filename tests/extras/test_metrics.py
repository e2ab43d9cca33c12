"""`tf.metrics` beside what TensorFlow computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.layers import layers_cases
from tests.support.recordings import Recorded


@pytest.mark.parametrize("name", layers_cases.METRICS)
def test_recorded(name: str) -> None:
    """Names, and values and updates over three batches, are TensorFlow's."""
    entry = Recorded.of("layers").entry(f"metrics {name}")
    assert entry is not None, "nothing is recorded for this metric: run `make record`"
    with tf.Graph().as_default(), HostSession() as sess:
        ours = layers_cases.measured(tf, sess, name)
    assert list(ours["outputs"][0]) == list(entry["outputs"][0])
    for got, want in zip(ours["outputs"][1:], entry["outputs"][1:], strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_collections() -> None:
    """Values and updates join collections; initialisers of local variables start anew; XLA gives the same."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        value, update = tf.metrics.mean(x, metrics_collections=["a", "b"], updates_collections="c")
        assert tf.get_collection("a") == tf.get_collection("b") == [value]
        assert tf.get_collection("c") == [update]
        for _ in range(2):
            sess.run(tf.local_variables_initializer())
            assert sess.run(update, {x: [1.0, 2.0]}) == 1.5
            assert sess.run(update, {x: [6.0]}) == 3.0
            assert sess.run(value) == 3.0
        assert not tf.global_variables()


def test_prediction_beyond_range() -> None:
    """A prediction that is no probability is an error at run time."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        _, update = tf.metrics.auc([1, 0], x)
        sess.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"):
            sess.run(update, {x: [0.5, 1.5]})


@pytest.mark.parametrize(("values", "weights"), [
    ((3,), (3, 1)), ((3, 1), (3,)), ((3, 2), ()), ((3, 2), (3, 2)), ((3, 2), (3, 1))])
def test_weights_of_unknown_rank(values: Any, weights: Any) -> None:
    """Weights are fitted to the values when ranks are known to a run alone."""
    w = np.arange(1.0, np.prod(weights, dtype=int) + 1, dtype=np.float32).reshape(weights)
    v = np.linspace(0.0, 1.0, np.prod(values), dtype=np.float32).reshape(values)
    found = []
    for shape_v, shape_w in ((values, weights), (values, None), (None, weights), (None, None)):
        with tf.Graph().as_default(), tf.Session() as sess:
            x, y = tf.placeholder(tf.float32, shape_v), tf.placeholder(tf.float32, shape_w)
            _, update = tf.metrics.mean(x, y)
            sess.run(tf.local_variables_initializer())
            found.append(sess.run(update, {x: v, y: w}))
    np.testing.assert_allclose(found, found[:1] * 4, rtol=1e-6)


_P = np.array([0.1, 0.9], np.float32)


@pytest.mark.parametrize(("function", "error", "text"), [
    (lambda: tf.metrics.accuracy([1, 0], [1, 0, 1]), ValueError, "are incompatible"),
    (lambda: tf.metrics.auc([1, 0], _P, curve="q"), ValueError, "Curve must be either ROC or PR. Curve q is unknown"),
    (lambda: tf.metrics.auc([1, 0], _P, summation_method="q"), ValueError, "Invalid summation_method: q"),
    (lambda: tf.metrics.sensitivity_at_specificity([1, 0], _P, 2), ValueError, r"must be in the range \[0, 1\]"),
    (lambda: tf.metrics.average_precision_at_k([[1]], [_P], 0), ValueError, "Invalid k=0"),
    (lambda: tf.metrics.recall_at_k([[[1]]], [_P], 1), ValueError, "Unexpected labels shape.*for predictions shape"),
    (lambda: tf.metrics.mean(_P, np.ones((3, 3))), ValueError, "weights can not be broadcast to values"),
])
def test_errors(function: Callable[[], Any], error: type[Exception], text: str) -> None:
    """What does not fit is refused, with the reason."""
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        function()


def test_not_eager() -> None:
    """Metrics need a graph, as in TensorFlow."""
    with pytest.raises(RuntimeError, match=r"tf.metrics.mean is not supported when eager execution is enabled"):
        tf.metrics.mean([1.0])
