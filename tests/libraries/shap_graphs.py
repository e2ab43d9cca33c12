"""SHAP's deep and gradient explainers on tensors of a graph and a session, in programs for 2.x without eager mode."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import into

CASES: dict[str, Callable[[Any], Any]] = {}
_case = into(CASES)
ATOL = 1e-4


def prepare(tf: Any) -> None:
    """Leaves eager mode and begins a new graph, also for Keras."""
    warnings.filterwarnings("ignore", "Your TensorFlow version is newer than 2.4.0")
    tf = tf.compat.v1
    tf.disable_v2_behavior()
    tf.keras.backend.clear_session()
    tf.reset_default_graph()
    tf.set_random_seed(5)
    np.random.seed(5)


def _rows(n: int, *shape: int) -> Any:
    return np.random.RandomState(n).randn(n, *shape).astype(np.float32)


def _weights(*shape: int) -> Any:
    return (np.random.RandomState(sum(shape)).randn(*shape) / 2).astype(np.float32)


def _explained(tensors: Any, sess: Any, background: Any, x: Any) -> Any:
    import shap

    explainer = shap.DeepExplainer(tensors, background, session=sess)
    values = explainer.shap_values(x)
    total = values.sum(axis=tuple(range(1, values.ndim - 1)))
    outputs = sess.run(tensors[1], {tensors[0]: x})
    np.testing.assert_allclose(total + explainer.expected_value, outputs, rtol=1e-3, atol=1e-3)
    return [values, explainer.expected_value]


@_case
def deep_explainer_of_tensors(tf: Any) -> Any:
    """A network of operations: products, a maximum, a square root, batch normalization, softmax."""
    tf = tf.compat.v1
    x = tf.placeholder(tf.float32, [None, 4])
    w = tf.get_variable("w", initializer=_weights(4, 6))
    h = tf.nn.bias_add(tf.matmul(x, w), tf.Variable(_weights(6)))
    h = tf.nn.relu(h) * tf.sigmoid(tf.matmul(x, w * 0.5)) + tf.maximum(h, 0.3) / 2.0 - tf.nn.softplus(h)
    h = tf.nn.batch_normalization(h, _weights(6), tf.exp(_weights(6)), None, None, 1e-3)
    out = tf.nn.softmax(tf.matmul(h, tf.Variable(_weights(6, 3))))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return _explained((x, out), sess, _rows(8, 4), _rows(3, 4))


@_case
def deep_explainer_of_images(tf: Any) -> Any:
    tf = tf.compat.v1
    x = tf.placeholder(tf.float32, [None, 8, 8, 2])
    h = tf.nn.elu(tf.nn.conv2d(x, tf.Variable(_weights(3, 3, 2, 4)), strides=1, padding="SAME"))
    h = tf.nn.avg_pool(tf.nn.max_pool(h, 2, 2, "VALID"), 2, 2, "VALID")
    out = tf.matmul(tf.reshape(h, [-1, 16]), tf.Variable(_weights(16, 2)))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return _explained((x, out), sess, _rows(5, 8, 8, 2), _rows(2, 8, 8, 2))


@_case
def deep_explainer_of_a_recurrent_layer(tf: Any) -> Any:
    """Unrolled: a loop's operations are no operations of the graph."""
    layers = tf.compat.v1.keras.layers
    model = tf.compat.v1.keras.Sequential([
        layers.LSTM(3, unroll=True, input_shape=(4, 2)), layers.Dense(1, activation="sigmoid")])
    sess = tf.compat.v1.keras.backend.get_session()
    for variable in model.weights:
        variable.load(_weights(*variable.shape.as_list()), sess)
    return _explained((model.layers[0].input, model.layers[-1].output), sess, _rows(4, 4, 2), _rows(2, 4, 2))


@_case
def gradient_explainer_of_an_inner_layer(tf: Any) -> Any:
    """SHAP's second program: what an inner layer contributes, given by its input."""
    import shap

    layers = tf.compat.v1.keras.layers
    model = tf.compat.v1.keras.Sequential([
        layers.Conv2D(3, 3, activation="relu", input_shape=(6, 6, 1)), layers.Flatten(), layers.Dense(2)])
    sess = tf.compat.v1.keras.backend.get_session()
    for variable in model.weights:
        variable.load(_weights(*variable.shape.as_list()), sess)
    inner = sess.run(model.layers[1].input, {model.layers[0].input: _rows(6, 6, 6, 1)})
    explainer = shap.GradientExplainer((model.layers[1].input, model.layers[-1].output), inner, session=sess)
    return [explainer.shap_values(inner[:2], nsamples=20, rseed=2)]
