"""`tf.contrib.slim.nets`: sizes as in Keras' applications and the papers, names as in published checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphgrad.compat.v1 as tf
from graphgrad.compat.contrib import slim
from graphgrad.executor.runtime.session import HostSession

nets = slim.nets


def _built(network: Any, scope: Any, size: int, **kwargs: Any) -> tuple[Any, dict[str, Any], int, list[str]]:
    """Output, outputs of layers, the number of weights, the names of variables."""
    with tf.Graph().as_default():
        with slim.arg_scope(scope):
            net, end_points = network(tf.placeholder(tf.float32, [2, size, size, 3]), **kwargs)
        variables = slim.get_model_variables()
        return net, end_points, slim.model_analyzer.analyze_vars(variables)[0], [v.op.name for v in variables]


# How many weights `tf_keras.applications` of 2.21 have (without biases of convolutions before batch normalization,
# which only Keras has): `count_params()`.
_KERAS = {"resnet_v1_50": 25610152, "resnet_v1_152": 60344232, "resnet_v2_50": 25613800, "resnet_v2_101": 44675560,
          "vgg_16": 138357544, "vgg_19": 143667240}


@pytest.mark.parametrize("name", _KERAS)
def test_weights(name: str) -> None:
    """As many weights as Keras' network of that name."""
    module = getattr(nets, name.rpartition("_")[0] if name.startswith("res") else "vgg")
    scope = module.resnet_arg_scope() if name.startswith("res") else module.vgg_arg_scope()
    network = getattr(module, name)
    assert network.default_image_size == 224
    net, end_points, count, names = _built(network, scope, 224, num_classes=1000)
    assert count == _KERAS[name]
    assert net.shape.as_list() == ([2, 1000] if name.startswith("vgg") else [2, 1, 1, 1000])
    if name == "resnet_v1_50":
        unit = f"{name}/block1/unit_1/bottleneck_v1"
        assert names[:6] == [f"{name}/conv1/weights", *(f"{name}/conv1/BatchNorm/{n}" for n in (
            "gamma", "beta", "moving_mean", "moving_variance")), f"{unit}/shortcut/weights"]
        assert f"{name}/block4/unit_3/bottleneck_v1/conv3/weights" in names and names[-1] == f"{name}/logits/biases"
        assert end_points[f"{name}/block2"].shape.as_list() == [2, 14, 14, 512] and "predictions" in end_points
    if name == "resnet_v2_50":
        assert names[:2] == [f"{name}/conv1/weights", f"{name}/conv1/biases"]
        assert {f"{name}/block1/unit_1/bottleneck_v2/preact/gamma", f"{name}/postnorm/beta"} <= set(names)
    if name == "vgg_16":
        assert names[:2] == ["vgg_16/conv1/conv1_1/weights", "vgg_16/conv1/conv1_1/biases"]
        assert names[-1] == "vgg_16/fc8/biases" and end_points["vgg_16/pool5"].shape.as_list() == [2, 7, 7, 512]


def test_inception_v3() -> None:
    """As many weights as Keras' (without the top), the sizes of the paper, and names with their oddities."""
    scope = nets.inception.inception_v3_arg_scope()
    assert _built(nets.inception.inception_v3_base, scope, 299)[2] == 21802784
    net, end_points, _, names = _built(nets.inception.inception_v3, scope, 299, num_classes=1001)
    assert net.shape.as_list() == end_points["AuxLogits"].shape.as_list() == [2, 1001]
    sizes = {n: end_points[n].shape.as_list()[1:] for n in ("Mixed_5d", "Mixed_6e", "Mixed_7c", "PreLogits")}
    assert sizes == {"Mixed_5d": [35, 35, 288], "Mixed_6e": [17, 17, 768], "Mixed_7c": [8, 8, 2048],
                     "PreLogits": [1, 1, 2048]}
    odd = ["Mixed_5c/Branch_1/Conv2d_0b_1x1", "Mixed_5c/Branch_1/Conv_1_0c_5x5", "Mixed_6a/Branch_0/Conv2d_1a_1x1",
           "Mixed_7b/Branch_1/Conv2d_0b_3x1", "Mixed_7c/Branch_1/Conv2d_0c_3x1", "AuxLogits/Conv2d_2a_5x5",
           "Logits/Conv2d_1c_1x1"]
    assert {f"InceptionV3/{n}/weights" for n in odd} <= set(names)
    assert "InceptionV3/Conv2d_1a_3x3/BatchNorm/moving_mean" in names
    with pytest.raises(ValueError, match="(?s)Unknown final endpoint no.*Mixed_5b"):
        _built(nets.inception.inception_v3_base, scope, 299, final_endpoint="no")
    with pytest.raises(ValueError, match="depth_multiplier"):
        _built(nets.inception.inception_v3, scope, 299, depth_multiplier=0)


@pytest.mark.parametrize("kind", [1, 2])
def test_dense_features(kind: int) -> None:
    """With `output_stride`, wider filters take the place of strides: every second result is what strides give."""
    module = getattr(nets, f"resnet_v{kind}")
    network, block = getattr(module, f"resnet_v{kind}"), getattr(module, f"resnet_v{kind}_block")
    blocks = [block("block1", 2, 2, 2), block("block2", 3, 2, 2), block("block3", 2, 1, 1)]
    images = np.random.default_rng(0).normal(size=(1, 33, 33, 3)).astype(np.float32)
    with tf.Graph().as_default() as graph, HostSession() as sess:
        graph.seed = 1
        results = []
        with slim.arg_scope(module.resnet_arg_scope()):
            for stride in (None, 8):
                net, _ = network(images, blocks, None, False, False, stride, reuse=stride is not None, scope="net")
                results.append(net)
            with pytest.raises(ValueError, match="(?s)cannot be reached.*Fix:"):
                network(images, blocks, None, False, False, 12, reuse=True, scope="net")
            with pytest.raises(ValueError, match="(?s)multiple of 4.*Fix:"):
                network(images, blocks, None, False, False, 6, reuse=True, scope="net")
        assert tf.gradients(results[0], slim.get_variables("net/conv1"))[0] is not None
        sess.run(tf.global_variables_initializer())
        sparse, dense = sess.run(results)
    assert sparse.shape[1] == 3 and dense.shape[1] == 5
    np.testing.assert_allclose(dense[:, ::2, ::2], sparse, rtol=1e-4, atol=1e-5)


def test_arguments_of_older_versions() -> None:
    """`resnet_arg_scope(is_training)` came first; modules are where programs import them from."""
    from graphgrad.compat.importing import install, uninstall

    scope = nets.resnet_utils.resnet_arg_scope(True)
    key = next(k for k in scope if k.endswith("batch_norm"))
    assert scope[key]["is_training"] is True
    install(1)
    try:
        # Silenced: tensorflow is this package here.
        from tensorflow.contrib.slim.nets import inception  # type: ignore[import-not-found]
        from tensorflow.contrib.slim.python.slim.nets.resnet_v1 import resnet_v1_152  # type: ignore[import-not-found]
    finally:
        uninstall()
    assert inception.inception_v3 is nets.inception.inception_v3 and resnet_v1_152 is nets.resnet_v1.resnet_v1_152
