"""`tf.layers` beside what TensorFlow computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.executor.runtime.session import HostSession
from tests.support.recordings import Recorded
from tests.support.sessions import run

from . import layers_cases


@pytest.mark.parametrize("name", layers_cases.CASES)
def test_recorded(name: str) -> None:
    """Names of outputs and variables, values, moving averages and gradients are TensorFlow's."""
    entry = Recorded.of("layers").entry(name)
    assert entry is not None, "nothing is recorded for this layer: run `make record`"
    with tf.Graph().as_default(), HostSession() as sess:
        ours = layers_cases.computed(tf, sess, name)
    assert list(ours["outputs"][0]) == list(entry["outputs"][0])
    got, want = (e["outputs"][1:] + e["gradients"] for e in (ours, entry))
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype
        np.testing.assert_allclose(g, w, rtol=2e-4, atol=2e-4)


def test_signatures() -> None:
    """Arguments have TensorFlow's names and order."""
    entry = Recorded.of("layers").entry("signatures")
    assert entry is not None, "nothing is recorded: run `make record`"
    ours = layers_cases.signatures(tf.layers)
    for got, want in zip(ours["outputs"][0], entry["outputs"][0], strict=True):
        assert got == want


@pytest.mark.usefixtures("first_in_xla")
def test_training_tensor_and_update_ops() -> None:
    """The idiom of batch normalization: one feed switches it, the training step depends on UPDATE_OPS."""
    data = np.random.default_rng(0).normal(3.0, 2.0, size=(64, 5)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 5])
        training = tf.placeholder(tf.bool, [])
        y = tf.layers.batch_normalization(x, training=training, momentum=0.5)
        y = tf.layers.dropout(y, 0.5, training=training)
        loss = tf.reduce_mean(tf.square(tf.layers.dense(y, 1)))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
        sess.run(tf.global_variables_initializer())
        for _ in range(12):
            sess.run(step, {x: data, training: True})
        mean, variance = sess.run(tf.global_variables()[2:4])
        np.testing.assert_allclose(mean, data.mean(0) * (1 - 0.5**12), rtol=1e-4)
        np.testing.assert_allclose(variance, data.var(0) * (1 - 0.5**12) + 0.5**12, rtol=1e-4)
        later = sess.run(loss, {x: data[:1], training: False})
        assert later == sess.run(loss, {x: data[:1], training: False})
        np.testing.assert_array_equal(mean, sess.run(tf.global_variables()[2]))


def test_channels_first() -> None:
    """The same numbers, with the channels second."""
    x = layers_cases.inputs()
    with tf.Graph().as_default(), HostSession() as sess:
        ones = tf.ones_initializer()
        kinds = [
            lambda v, d: tf.layers.conv2d(v, 4, 3, 2, data_format=d, kernel_initializer=ones),
            lambda v, d: tf.layers.conv2d_transpose(v, 4, 3, 2, data_format=d, kernel_initializer=ones),
            lambda v, d: tf.layers.separable_conv2d(v, 4, 3, data_format=d, depthwise_initializer=ones,
                                                    pointwise_initializer=ones),
            lambda v, d: tf.layers.max_pooling2d(v, 2, 2, data_format=d),
            lambda v, d: tf.layers.average_pooling2d(v, 2, 1, "same", data_format=d),
        ]
        pairs = []
        for kind in kinds:
            last = kind(tf.constant(x), "channels_last")
            first = kind(tf.constant(x.transpose(0, 3, 1, 2)), "channels_first")
            assert first.shape.as_list() == [last.shape.as_list()[i] for i in (0, 3, 1, 2)]
            pairs.append((last, tf.transpose(first, [0, 2, 3, 1])))
        sess.run(tf.global_variables_initializer())
        for last, first in sess.run(pairs):
            np.testing.assert_allclose(first, last, rtol=1e-5, atol=1e-5)


def test_unknown_batch() -> None:
    """Shapes are inferred where the size of the batch is not known."""
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [None, 8, 8, 3])
        y = tf.layers.conv2d_transpose(x, 5, 3, 2, "same")
        assert y.shape.as_list() == [None, 16, 16, 5]
        assert tf.layers.flatten(y).shape.as_list() == [None, 16 * 16 * 5]
        assert tf.layers.dense(x, 7).shape.as_list() == [None, 8, 8, 7]
        rows = tf.layers.flatten(tf.placeholder(tf.float32, [None, None, 2]))
        assert rows.shape.as_list() == [None, None]
    with g.as_default():
        assert run(rows, {g.get_tensor_by_name("Placeholder_1:0"): np.ones((2, 3, 2))}).shape == (2, 6)


def test_partitioned_scope() -> None:
    """A scope's partitioner is for kernels, not for moving averages."""
    with tf.Graph().as_default(), HostSession() as sess:
        with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
            y = tf.layers.batch_normalization(tf.layers.dense(np.ones((4, 3), np.float32), 2), training=True)
        names = [v.op.name for v in tf.global_variables()]
        assert names[-2:] == ["p/batch_normalization/moving_mean", "p/batch_normalization/moving_variance"]
        assert names[:2] == ["p/dense/kernel/part_0", "p/dense/kernel/part_1"]
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(y), np.zeros((4, 2)), atol=1e-3)


def test_causal() -> None:
    """A causal convolution sees nothing of what comes later."""
    with tf.Graph().as_default(), HostSession() as sess:
        x = tf.constant(layers_cases.inputs()[:, 0])
        y = tf.layers.Conv1D(2, 2, padding="causal", dilation_rate=2)(x)
        seen = tf.gradients(y[:, 3], x)[0]
        sess.run(tf.global_variables_initializer())
        touched = np.abs(sess.run(seen)).sum(axis=(0, 2)) > 0
    assert touched.tolist() == [False, True, False, True, False, False]


def test_own_layer() -> None:
    """A layer of one's own, with its variables in its scope."""

    class Scale(tf.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.w = self.add_variable("w", [input_shape[-1]], initializer=tf.ones_initializer())
            self.built = True

        def call(self, inputs: Any) -> Any:
            return inputs * self.w

    with tf.Graph().as_default():
        layer = Scale(name="scale")
        y = layer(np.ones((2, 3), np.float32))
        layer(np.ones((2, 3), np.float32))
        assert [v.name for v in layer.trainable_variables] == ["scale/w:0"] == [v.name for v in tf.global_variables()]
        assert layer.count_params() == 3
        np.testing.assert_array_equal(run(y), np.ones((2, 3)))


_X = np.ones((2, 4, 4, 3), np.float32)


@pytest.mark.parametrize(("function", "error", "text"), [
    (lambda: tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 3), ValueError,
     "last dimension of the inputs to `Dense` should be defined"),
    (lambda: tf.layers.dense(_X, 3, "nonsense"), ValueError, "Unknown activation function: 'nonsense'"),
    (lambda: tf.layers.dense(_X, 3, kernel_initializer="nonsense"), ValueError, "Unknown initializer: nonsense"),
    (lambda: tf.layers.dense(_X, 3, name="q", reuse=True), ValueError, "q/kernel does not exist"),
    (lambda: tf.layers.Dense(3, frobnicate=1), TypeError, "Keyword argument not understood: 'frobnicate'"),
    (lambda: tf.layers.Dense(3).compute_output_shape([2, 3]).frobnicate, AttributeError, "frobnicate"),
    (lambda: tf.layers.conv2d(_X[0], 3, 3), ValueError, "expected ndim=4, found ndim=3"),
    (lambda: tf.layers.conv2d(_X, 3, (3, 3, 3)), ValueError, "`kernel_size` argument must be a tuple of 2 integers"),
    (lambda: tf.layers.conv2d(_X, 3, 3, padding="wide"), ValueError, "`padding` argument must be one of"),
    (lambda: tf.layers.conv2d(_X, 3, 3, padding="causal"), ValueError, "Causal padding is only supported"),
    (lambda: tf.layers.max_pooling2d(_X, 2, 2, data_format="NHWC"), ValueError, "`data_format` argument must be one"),
    (lambda: tf.layers.batch_normalization(_X, axis=4), ValueError, "Invalid axis: 4"),
    (lambda: tf.layers.batch_normalization(_X, axis=[1, 1]), ValueError, "Duplicate axis"),
    (lambda: tf.layers.batch_normalization(_X[0], fused=True), ValueError, "only support 4D input tensors"),
    (lambda: tf.layers.batch_normalization(tf.placeholder(tf.float32)), ValueError, "undefined rank"),
    (lambda: tf.layers.batch_normalization(_X, renorm=True), NotImplementedError, "renorm=True is not implemented"),
    (lambda: tf.layers.Layer().compute_output_shape([1]), NotImplementedError, "does not say its output's shape"),
    (lambda: tf.losses.mean_squared_error(_X, _X, weights=np.zeros(3)), ValueError,
     "weights can not be broadcast to values. values.rank=4. weights.rank=1."),
    (lambda: tf.losses.mean_squared_error(_X, _X[:1]), ValueError, "are incompatible"),
    (lambda: tf.losses.softmax_cross_entropy(_X, _X[:1]), ValueError, "are incompatible"),
    (lambda: tf.losses.mean_squared_error(None, _X), ValueError, "labels must not be None"),
    (lambda: tf.losses.mean_squared_error(_X, _X, reduction="q"), ValueError, "Invalid Reduction Key q"),
    (lambda: tf.losses.cosine_distance(_X, _X), ValueError, "You must specify argument `axis`"),
])
def test_errors(function: Callable[[], Any], error: type[Exception], text: str) -> None:
    """What does not fit is refused, with the reason."""
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        function()
