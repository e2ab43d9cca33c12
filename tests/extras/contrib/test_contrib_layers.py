"""More layers of `tf.contrib.layers`, beside NumPy and `tf.layers`; summaries and tables of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import layers, slim
from graphgrad.executor.runtime.session import HostSession

_X = np.random.default_rng(0).normal(size=(2, 4, 5, 6)).astype(np.float32)


@pytest.fixture
def sess() -> Any:
    """A session of a fresh graph."""
    with tf.Graph().as_default(), HostSession() as session:
        yield session


def _names() -> list[str]:
    return [v.op.name for v in tf.global_variables()]


def _scaled(sess: Any, y: Any, gamma: float, beta: float) -> Any:
    sess.run(tf.global_variables_initializer())
    for v in tf.global_variables():
        v.load(np.full(v.shape.as_list(), gamma if "gamma" in v.name else beta, np.float32), sess)
    return sess.run(y)


def _standard(x: Any, axes: tuple[int, ...]) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-6)


def test_instance_norm(sess: Any) -> None:
    """Each channel of each example has mean beta and deviation gamma, wherever channels are."""
    y = layers.instance_norm(_X), layers.instance_norm(np.moveaxis(_X, 3, 1), data_format="NCHW")
    assert _names() == [f"InstanceNorm{s}/{n}" for s in ("", "_1") for n in ("beta", "gamma")]
    a, b = _scaled(sess, y, 2.0, 0.5)
    np.testing.assert_allclose(a, 2.0 * _standard(_X, (1, 2)) + 0.5, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.moveaxis(b, 1, 3), a, rtol=1e-4, atol=1e-5)
    assert slim.instance_norm is layers.instance_norm
    with pytest.raises(ValueError, match="(?s)undefined channels.*Fix:"):
        layers.instance_norm(tf.placeholder(tf.float32, [2, 3, 3, None]))


def test_group_norm(sess: Any) -> None:
    """Groups of channels together; unknown sizes too."""
    placeholder = tf.placeholder_with_default(_X, [None, None, None, 6])
    y = layers.group_norm(_X, 3), layers.group_norm(np.moveaxis(_X, 3, 1), 3, 1, (2, 3)), \
        layers.group_norm(placeholder, 3)
    assert _names()[:2] == ["GroupNorm/beta", "GroupNorm/gamma"]
    a, b, c = _scaled(sess, y, 1.5, -1.0)
    want = 1.5 * _standard(_X.reshape(2, 4, 5, 3, 2), (1, 2, 4)).reshape(_X.shape) - 1.0
    for got in (a, np.moveaxis(b, 1, 3), c):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    for arguments, text in (((4,), "not commensurate"), ((3, -1, (-1, -2)), "must not contain")):
        with pytest.raises(ValueError, match=f"(?s){text}.*Fix:"):
            layers.group_norm(_X, *arguments)


def test_small_functions(sess: Any) -> None:
    """Softmax, one-hot, maxout, unit norm."""
    e = np.exp(_X - _X.max(-1, keepdims=True))
    found = sess.run([layers.softmax(_X), layers.one_hot_encoding([2, 0], 3, 5.0, 1.0), layers.maxout(_X, 3),
                      layers.unit_norm(_X, 2)])
    np.testing.assert_allclose(found[0], e / e.sum(-1, keepdims=True), rtol=1e-5)
    assert found[1].tolist() == [[1, 1, 5], [5, 1, 1]]
    np.testing.assert_allclose(found[2], _X.reshape(2, 4, 5, 3, 2).max(-1))
    np.testing.assert_allclose(np.linalg.norm(found[3], axis=2), 1.0, rtol=1e-5)
    with pytest.raises(ValueError, match="(?s)not a multiple.*Fix:"):
        layers.maxout(_X, 4)
    with pytest.raises(ValueError, match="(?s)smaller than the input rank.*Fix:"):
        layers.unit_norm(_X, 4)


def test_convolutions(sess: Any) -> None:
    """Values are those of `tf.layers`, names contrib's."""
    ones = tf.ones_initializer()
    volume = np.random.default_rng(1).normal(size=(1, 3, 4, 3, 2)).astype(np.float32)
    ours = [layers.separable_conv2d(_X, 3, 3, 2, stride=2, weights_initializer=ones, activation_fn=None),
            layers.separable_conv2d(_X, None, [3, 3], 2, weights_initializer=ones, activation_fn=None),
            layers.conv3d_transpose(volume, 3, 2, 2, weights_initializer=ones),
            layers.max_pool3d(volume, 2, 1), layers.avg_pool3d(volume, 2, 1, "SAME")]
    assert _names() == ["SeparableConv2d/depthwise_weights", "SeparableConv2d/pointwise_weights",
                        "SeparableConv2d/biases", "SeparableConv2d_1/depthwise_weights", "SeparableConv2d_1/biases",
                        "Conv3d_transpose/weights", "Conv3d_transpose/biases"]
    plain = [tf.layers.separable_conv2d(_X, 3, 3, 2, "same", depth_multiplier=2, depthwise_initializer=ones,
                                        pointwise_initializer=ones),
             tf.nn.depthwise_conv2d(_X, tf.ones([3, 3, 6, 2]), [1, 1, 1, 1], "SAME"),
             tf.layers.conv3d_transpose(volume, 3, 2, 2, "same", activation=tf.nn.relu, kernel_initializer=ones),
             tf.layers.max_pooling3d(volume, 2, 1), tf.layers.average_pooling3d(volume, 2, 1, "same")]
    sess.run(tf.global_variables_initializer())
    for a, b in zip(*sess.run((ours, plain)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_spatial_softmax(sess: Any) -> None:
    """A channel with one bright point is where that is: x, then y."""
    image = np.full((1, 3, 5, 2), -50.0, np.float32)
    image[0, 0, 4, 0] = image[0, 2, 2, 1] = 50.0
    y = layers.spatial_softmax(image), layers.spatial_softmax(np.moveaxis(image, 3, 1), 2.0, data_format="NCHW")
    assert _names() == ["spatial_softmax/temperature"]
    sess.run(tf.global_variables_initializer())
    for found in sess.run(y):
        np.testing.assert_allclose(found, [[-1, 1, 1, 0]], atol=1e-5)


def test_embed_sequence(sess: Any) -> None:
    """Rows of a variable, shared where asked for."""
    ids = np.array([[0, 2], [1, 1]])
    y = layers.embed_sequence(ids, 3, 4, scope="e"), layers.embed_sequence(ids, 3, 4, scope="e", reuse=True)
    assert _names() == ["e/embeddings"]
    sess.run(tf.global_variables_initializer())
    a, b, table = sess.run([*y, tf.global_variables()[0]])
    np.testing.assert_array_equal(a, table[ids])
    np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="(?s)vocab size.*Fix:"):
        layers.embed_sequence(ids)


def test_summaries(sess: Any) -> None:
    """Histograms of tensors, and what a rectifier cuts off."""
    x = tf.constant([-1.0, 2.0, 7.0, 9.0], name="x")
    activation = layers.summarize_activation(tf.nn.relu6(x, name="six"))
    several = layers.summarize_tensors([x, tf.constant(1.0, name="one"), tf.constant("text")])
    assert [s.op.name for s in several] == ["x_1", "one_1"] and activation.op.name == "six/activation"
    values = {v.tag: v for s in sess.run(tf.get_collection(tf.GraphKeys.SUMMARIES))
              for v in tf.Summary.FromString(s).value}
    assert values["six/zeros"].simple_value == 0.25 and values["six/sixes"].simple_value == 0.5
    assert values["x_1"].histo.num == 4 and values["one_1"].simple_value == 1.0
    tf.add_to_collection(tf.GraphKeys.ACTIVATIONS, x)
    assert len(layers.summarize_activations()) == 1 and layers.summarize_collection("activations", "y") == []
    w = tf.get_variable("w", [2, 2])
    assert [s.op.name for s in layers.summarize_variables()] == ["w_1"]
    assert slim.model_analyzer.analyze_vars([w]) == (4, 16)


def test_tables(sess: Any, capsys: Any) -> None:
    """What a graph's operations hold."""
    tf.zeros([2, 3], name="z")
    total = slim.model_analyzer.analyze_ops(tf.get_default_graph(), print_info=True)
    assert total == 6 and "(float32 2x3) [6]" in capsys.readouterr().out
