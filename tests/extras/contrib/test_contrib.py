"""What programs use of `tf.contrib`, beside `tf.layers` and NumPy: TensorFlow 2.21 has none to record from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat import contrib
from graphgrad.executor.runtime.session import HostSession
from graphgrad.training.optimizers.optimize_loss import OPTIMIZERS

layers, slim, framework = contrib.layers, contrib.slim, contrib.framework
_X = np.random.default_rng(0).normal(size=(4, 6, 6, 3)).astype(np.float32)
_ROWS = _X[:, 0, 0]


def _names(variables: Any = None) -> list[str]:
    return [v.op.name for v in (tf.global_variables() if variables is None else variables)]


# Contrib's layer, its name of scope and output, its variables; the layer of tf.layers that computes the same.
_ONES = tf.ones_initializer()
_LAYERS: list[tuple[Callable[[], Any], str, list[str], Callable[[], Any]]] = [
    (lambda: layers.fully_connected(_ROWS, 4, weights_initializer=_ONES), "fully_connected/Relu",
     ["fully_connected/weights", "fully_connected/biases"],
     lambda: tf.layers.dense(_ROWS, 4, tf.nn.relu, kernel_initializer=_ONES)),
    (lambda: layers.linear(_X, 4, weights_initializer=_ONES, biases_initializer=None, scope="s"), "s/Tensordot",
     ["s/weights"], lambda: tf.layers.dense(_X, 4, use_bias=False, kernel_initializer=_ONES)),
    (lambda: layers.conv2d(_X, 4, 3, 2, weights_initializer=_ONES, activation_fn=None), "Conv/BiasAdd",
     ["Conv/weights", "Conv/biases"], lambda: tf.layers.conv2d(_X, 4, 3, 2, "same", kernel_initializer=_ONES)),
    (lambda: layers.convolution2d(_X, 4, [3, 2], rate=2, padding="VALID", weights_initializer=_ONES), "Conv/Relu",
     ["Conv/weights", "Conv/biases"],
     lambda: tf.layers.conv2d(_X, 4, (3, 2), dilation_rate=2, activation=tf.nn.relu, kernel_initializer=_ONES)),
    (lambda: layers.conv2d_transpose(_X, 4, 3, 2, weights_initializer=_ONES, activation_fn=tf.nn.tanh),
     "Conv2d_transpose/Tanh", ["Conv2d_transpose/weights", "Conv2d_transpose/biases"],
     lambda: tf.layers.conv2d_transpose(_X, 4, 3, 2, "same", activation=tf.nn.tanh, kernel_initializer=_ONES)),
    (lambda: layers.batch_norm(_X, scale=True), "BatchNorm/FusedBatchNormV3",
     ["BatchNorm/gamma", "BatchNorm/beta", "BatchNorm/moving_mean", "BatchNorm/moving_variance"],
     lambda: tf.layers.batch_normalization(_X, training=True)),
    (lambda: layers.batch_norm(_ROWS, is_training=False, scope="bn"), "bn/batchnorm/add_1",
     ["bn/beta", "bn/moving_mean", "bn/moving_variance"], lambda: tf.layers.batch_normalization(_ROWS)),
    (lambda: layers.max_pool2d(_X, 2), "MaxPool2D/MaxPool", [], lambda: tf.layers.max_pooling2d(_X, 2, 2)),
    (lambda: layers.avg_pool2d(_X, [3, 3], 1, "SAME"), "AvgPool2D/AvgPool", [],
     lambda: tf.layers.average_pooling2d(_X, 3, 1, "same")),
    (lambda: layers.flatten(_X), "Flatten/Reshape", [], lambda: tf.layers.flatten(_X)),
    (lambda: layers.dropout(_X, is_training=False), "Dropout/Identity", [], lambda: tf.constant(_X)),
    (lambda: layers.bias_add(_ROWS, tf.nn.relu, _ONES), "BiasAdd/Relu", ["BiasAdd/biases"],
     lambda: tf.nn.relu(_ROWS + 1)),
]


@pytest.mark.parametrize("number", range(len(_LAYERS)))
def test_layer(number: int) -> None:
    """Names are contrib's, values those of `tf.layers`."""
    ours, name, variables, plain = _LAYERS[number]
    with tf.Graph().as_default(), HostSession() as sess:
        y = ours()
        assert y.op.name == name
        assert _names() == variables == _names(framework.get_model_variables())
        z = plain()
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*sess.run([y, z]), rtol=1e-5, atol=1e-6)


def test_layer_norm() -> None:
    """Each example has mean 0 and variance 1; beta and gamma are of the last dimension."""
    with tf.Graph().as_default(), HostSession() as sess:
        y = layers.layer_norm(_X)
        assert _names() == ["LayerNorm/beta", "LayerNorm/gamma"]
        sess.run(tf.global_variables_initializer())
        got = sess.run(y)
    flat = _X.reshape(4, -1)
    want = (flat - flat.mean(1, keepdims=True)) / flat.std(1, keepdims=True)
    np.testing.assert_allclose(got.reshape(4, -1), want, rtol=1e-4, atol=1e-5)


def test_arg_scope() -> None:
    """Defaults nest; what a call says comes first; a scope can be gone back to."""
    with tf.Graph().as_default():
        with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=tf.nn.tanh,
                            weights_regularizer=slim.l2_regularizer(0.1)) as kept:
            with slim.arg_scope([slim.conv2d], stride=2, normalizer_fn=slim.batch_norm):
                a = slim.conv2d(_X, 4, 3, scope="a")
            b = slim.conv2d(a, 4, 3, 1, activation_fn=None, scope="b")
        with slim.arg_scope(kept):
            c = slim.fully_connected(slim.flatten(b), 2, scope="c")
        d = slim.fully_connected(c, 2, scope="d")
        assert [t.op.name for t in (a, b, c, d)] == ["a/Tanh", "b/BiasAdd", "c/Tanh", "d/Relu"]
        assert a.shape.as_list() == [4, 3, 3, 4]
        assert _names(slim.get_variables("a")) == [
            "a/weights", "a/BatchNorm/beta", "a/BatchNorm/moving_mean", "a/BatchNorm/moving_variance"]
        assert len(tf.losses.get_regularization_losses()) == 3


def test_reuse_and_collections() -> None:
    """Scopes are numbered and reused; collections get variables and outputs."""
    with tf.Graph().as_default():
        first = layers.fully_connected(_ROWS, 3, variables_collections={"weights": ["w"]}, outputs_collections="out")
        layers.fully_connected(first, 3)
        layers.fully_connected(_ROWS, 3, scope="fully_connected", reuse=True)
        assert _names() == ["fully_connected/weights", "fully_connected/biases", "fully_connected_1/weights",
                            "fully_connected_1/biases"]
        assert _names(tf.get_collection("w")) == ["fully_connected/weights"]
        found = layers.python.layers.utils.convert_collection_to_dict("out")
        assert found == {"fully_connected": first}
        layers.stack(first, layers.fully_connected, [4, 2], scope="stacked")
        slim.repeat(_X, 2, slim.conv2d, 3, [3, 3], scope="conv")
        assert _names(tf.trainable_variables())[4::2] == [
            "stacked/stacked_1/weights", "stacked/stacked_2/weights", "conv/conv_1/weights", "conv/conv_2/weights"]
        assert _names(framework.get_variables(suffix="biases"))[:1] == ["fully_connected/biases"]
        assert _names(framework.get_variables_by_name("weights", "conv")) == ["conv/conv_1/weights",
                                                                              "conv/conv_2/weights"]
        assert framework.get_unique_variable("conv/conv_1/weights").op.name == "conv/conv_1/weights"
        left = framework.get_variables_to_restore(exclude=["conv", "stacked"])
        assert _names(left) == _names()[:4]


def test_updates_in_place() -> None:
    """With `updates_collections=None` the moving averages follow whatever uses the outputs."""
    with tf.Graph().as_default(), HostSession() as sess:
        y = layers.batch_norm(_ROWS, decay=0.5, updates_collections=None)
        assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        sess.run(tf.global_variables_initializer())
        sess.run(y)
        np.testing.assert_allclose(sess.run(tf.global_variables()[1]), _ROWS.mean(0) / 2, rtol=1e-5)


@pytest.mark.parametrize(("make", "variance"), [
    (lambda: layers.xavier_initializer(seed=1), 2 / 500),
    (lambda: layers.xavier_initializer(uniform=False, seed=1), 2 / 500),
    (lambda: layers.variance_scaling_initializer(seed=1), 2 / 200),
    (lambda: layers.variance_scaling_initializer(1.0, "FAN_OUT", True, seed=1), 1 / 300),
])
def test_initializers(make: Callable[[], Any], variance: float) -> None:
    """Values have the variance that the mode asks for."""
    with tf.Graph().as_default(), HostSession() as sess:
        values = sess.run(make()([200, 300]))
    assert abs(values.mean()) < 0.002
    np.testing.assert_allclose(values.var(), variance, rtol=0.03)


def test_regularizers() -> None:
    """Sums of absolute values and halves of squares, times the scale."""
    w = np.array([1.0, -3.0], np.float32)
    with tf.Graph().as_default(), HostSession() as sess:
        both = layers.l1_l2_regularizer(0.5, 2.0)(tf.constant(w))
        total = layers.apply_regularization(layers.l1_regularizer(0.1), [tf.constant(w), tf.constant(2 * w)])
        assert tf.losses.get_regularization_losses() == [total]
        assert layers.l2_regularizer(0.0)(w) is None
        np.testing.assert_allclose(sess.run([both, total]), [0.5 * 4 + 2.0 * 5, 0.1 * 12], rtol=1e-6)


@pytest.mark.parametrize("optimizer", [
    *OPTIMIZERS, tf.train.GradientDescentOptimizer(0.1), tf.train.AdamOptimizer,
    lambda lr: tf.train.MomentumOptimizer(lr, 0.5)])
def test_optimize_loss(optimizer: Any) -> None:
    """Each kind of optimizer makes the loss smaller, and the step goes on."""
    with tf.Graph().as_default(), HostSession() as sess:
        w = tf.get_variable("w", initializer=np.float32([3.0, -2.0]))
        step = tf.train.get_or_create_global_step()
        train = layers.optimize_loss(tf.reduce_sum(w * w), step, 0.1, optimizer, clip_gradients=1.0,
                                     gradient_multipliers={"w:0": 0.5},
                                     learning_rate_decay_fn=lambda lr, s: tf.train.exponential_decay(lr, s, 10, 0.9))
        sess.run(tf.global_variables_initializer())
        values = [sess.run(train) for _ in range(4)]
        assert values[0] > values[-1]
        assert sess.run(step) == 4


def test_optimize_loss_by_hand() -> None:
    """One step of gradient descent, clipped to a norm of 1: in the direction of the gradient, as long as the rate."""
    with tf.Graph().as_default(), HostSession() as sess:
        w = tf.get_variable("w", initializer=np.float32([3.0, -4.0]))
        train = layers.optimize_loss(tf.reduce_sum(w * w), None, 0.1, "SGD", clip_gradients=1.0)
        sess.run(tf.global_variables_initializer())
        assert sess.run(train) == 25.0
        np.testing.assert_allclose(sess.run(w), [3.0 - 0.06, -4.0 + 0.08], rtol=1e-6)


def test_nest() -> None:
    """The functions on structures, under contrib's names."""
    nest = framework.nest
    assert nest.is_sequence([1]) and not nest.is_sequence("a")
    assert nest.pack_sequence_as({"a": 0, "b": (0, 0)}, nest.flatten({"b": (2, 3), "a": 1})) == {"a": 1, "b": (2, 3)}


@pytest.mark.parametrize(("function", "error", "text"), [
    (lambda: layers.fully_connected(_ROWS, "3"), ValueError, "num_outputs type should be one of"),
    (lambda: layers.conv2d(_X[0], 3, 3), ValueError, "Convolution expects input with rank 4, got 3"),
    (lambda: layers.conv2d(_X, 3, 3, data_format="XYZ"), ValueError, "Invalid data_format: 'XYZ'"),
    (lambda: layers.batch_norm(_X, zero_debias_moving_mean=True), NotImplementedError, "zero_debias_moving_mean"),
    (lambda: layers.layer_norm(_ROWS, begin_norm_axis=2), ValueError, "must be < rank"),
    (lambda: layers.layer_norm(tf.placeholder(tf.float32, [2, None])), ValueError, "is not fully defined"),
    (lambda: layers.l2_regularizer(1), ValueError, "scale cannot be an integer: 1"),
    (lambda: layers.l1_regularizer(-1.0), ValueError, "Setting a scale less than 0 on a regularizer: -1.0"),
    (lambda: layers.apply_regularization(layers.l2_regularizer(1.0)), ValueError, "No weights to regularize"),
    (lambda: layers.variance_scaling_initializer(mode="IN"), TypeError, "Unknown mode IN"),
    (lambda: layers.xavier_initializer(dtype=tf.int32), TypeError, "non-floating point type"),
    (lambda: framework.get_unique_variable("no"), ValueError, "Couldn't find variable no"),
    (lambda: framework.arg_scope([tf.tanh], x=1).__enter__(), ValueError, "is not decorated with @add_arg_scope"),
    (lambda: framework.arg_scope(slim.conv2d, x=1).__enter__(), TypeError, "must either be a list/tuple or reused"),
    (lambda: framework.arg_scope({}, x=1).__enter__(), ValueError, "kwargs must be empty"),
    (lambda: layers.optimize_loss(tf.get_variable("v", []), None, 0.1, "Best"), ValueError, "Optimizer name should be"),
    (lambda: layers.optimize_loss(tf.get_variable("v", []), None, None, "SGD"), ValueError, "Learning rate is None"),
    (lambda: layers.optimize_loss(tf.get_variable("v", []), None, 0.1, 7), ValueError, "Unrecognized optimizer"),
    (lambda: layers.optimize_loss(tf.get_variable("v", []), None, 0.1, "SGD", learning_rate_decay_fn=max), ValueError,
     "global_step is required for learning_rate_decay_fn"),
])
def test_errors(function: Callable[[], Any], error: type[Exception], text: str) -> None:
    """What does not fit is refused, with the reason."""
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        function()
