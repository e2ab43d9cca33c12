"""Networks without branches: VGG, AlexNet, OverFeat.

Reference: Simonyan and Zisserman 2014, Very Deep Convolutional Networks for Large-Scale Image Recognition; Krizhevsky
2014, One Weird Trick for Parallelizing Convolutional Neural Networks; Sermanet et al. 2013, OverFeat; TensorFlow 1.15
`tf.contrib.slim.nets`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphgrad.extras.contrib.layers.arg_scope import arg_scope
from graphgrad.extras.contrib.layers.contrib_layers import (
    conv2d,
    convert_collection_to_dict,
    dropout,
    fully_connected,
    max_pool2d,
    repeat,
)
from graphgrad.extras.contrib.layers.contrib_variables import l2_regularizer
from graphgrad.frontend.variables.initializers import Constant, Zeros
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ops.nn.activations import relu

from .slim_common import squeezed, truncated


def _network(inputs: Any, features: Callable[[Any], Any], sizes: tuple[int, int], default: str, num_classes: int,
             is_training: Any, keep_prob: Any, spatial_squeeze: bool, scope: Any, weights: dict[str, Any],
             ) -> Any:
    """Builds features, then three fully connected layers, written as convolutions."""
    with variable_scope(scope, default) as sc:
        key = sc.name + "_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=key):
            net = features(inputs)
            with arg_scope([conv2d], **weights):
                net = conv2d(net, sizes[0], [sizes[1], sizes[1]], padding="VALID", scope="fc6")
                net = dropout(net, keep_prob, is_training=is_training, scope="dropout6")
                net = conv2d(net, 4096, [1, 1], scope="fc7")
                net = dropout(net, keep_prob, is_training=is_training, scope="dropout7")
                last = {"biases_initializer": Zeros()} if weights else {}
                net = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last)
        end_points = convert_collection_to_dict(key)
        if spatial_squeeze:
            net = squeezed(net, "fc8/squeezed")
            end_points[sc.name + "/fc8"] = net
        return net, end_points


def _scope(weight_decay: float, biases: Any, pools: Any) -> Any:
    with (
        arg_scope([conv2d, fully_connected], activation_fn=relu, weights_regularizer=l2_regularizer(weight_decay),
                  biases_initializer=biases),
        arg_scope([conv2d], padding="SAME") as scope,
    ):
        if pools is None:
            return scope
        with arg_scope([max_pool2d], padding=pools) as scope:
            return scope


# -- VGG -------------------------------------------------------------------------------


def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Returns the default arguments of layers in VGG, for `arg_scope`."""
    return _scope(weight_decay, Zeros(), None)


class _Vgg:
    def __init__(self, repetitions: tuple[int, ...]):
        self.repetitions = repetitions

    def __call__(self, net: Any) -> Any:
        for i, n in enumerate(self.repetitions):
            net = repeat(net, n, conv2d, (64, 128, 256, 512, 512)[i], [3, 3], scope=f"conv{i + 1}")
            net = max_pool2d(net, [2, 2], scope=f"pool{i + 1}")
        return net


def _vgg(name: str, layers: int, repetitions: tuple[int, ...]) -> Any:
    def network(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: Any = 0.5,
                spatial_squeeze: bool = True, scope: Any = name) -> Any:
        return _network(inputs, _Vgg(repetitions), (4096, 7), name, num_classes, is_training, dropout_keep_prob,
                        spatial_squeeze, scope, {})

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"""Builds VGG of {layers} layers, for images of 224 x 224.

    Args:
      inputs: (batch, height, width, channels).
      num_classes: the number of classes.
      is_training: whether dropout is on.
      dropout_keep_prob: the probability that dropout keeps an element.
      spatial_squeeze: whether logits are (batch, classes), not (batch, height, width, classes).
      scope: the variable scope.
    Returns: logits; the outputs of layers by name.
    """
    network.default_image_size = 224  # type: ignore[attr-defined]  # functions take attributes
    return network


vgg_a = _vgg("vgg_a", 11, (1, 1, 2, 2, 2))
vgg_16 = vgg_d = _vgg("vgg_16", 16, (2, 2, 3, 3, 3))
vgg_19 = vgg_e = _vgg("vgg_19", 19, (2, 2, 4, 4, 4))

# -- AlexNet -----------------------------------------------------------------------------


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Returns the default arguments of layers in AlexNet, for `arg_scope`."""
    return _scope(weight_decay, Constant(0.1), "VALID")


def _alexnet(net: Any) -> Any:
    net = max_pool2d(conv2d(net, 64, [11, 11], 4, padding="VALID", scope="conv1"), [3, 3], 2, scope="pool1")
    net = max_pool2d(conv2d(net, 192, [5, 5], scope="conv2"), [3, 3], 2, scope="pool2")
    for i, n in enumerate((384, 384, 256)):
        net = conv2d(net, n, [3, 3], scope=f"conv{i + 3}")
    return max_pool2d(net, [3, 3], 2, scope="pool5")


def _wide() -> dict[str, Any]:
    return {"weights_initializer": truncated(0.005), "biases_initializer": Constant(0.1)}


def alexnet_v2(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: Any = 0.5,
               spatial_squeeze: bool = True, scope: Any = "alexnet_v2") -> Any:
    """Builds AlexNet of 2014, without local response normalization, for images of 224 x 224.

    Args:
      inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope: as in `vgg_16`.
    Returns: logits; the outputs of layers by name.
    """
    return _network(inputs, _alexnet, (4096, 5), "alexnet_v2", num_classes, is_training, dropout_keep_prob,
                    spatial_squeeze, scope, _wide())


alexnet_v2.default_image_size = 224  # type: ignore[attr-defined]  # functions take attributes

# -- OverFeat ------------------------------------------------------------------------------


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
    """Returns the default arguments of layers in OverFeat, for `arg_scope`."""
    return _scope(weight_decay, Zeros(), "VALID")


def _overfeat(net: Any) -> Any:
    net = max_pool2d(conv2d(net, 64, [11, 11], 4, padding="VALID", scope="conv1"), [2, 2], scope="pool1")
    net = max_pool2d(conv2d(net, 256, [5, 5], padding="VALID", scope="conv2"), [2, 2], scope="pool2")
    for i, n in enumerate((512, 1024, 1024)):
        net = conv2d(net, n, [3, 3], scope=f"conv{i + 3}")
    return max_pool2d(net, [2, 2], scope="pool5")


def overfeat(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: Any = 0.5,
             spatial_squeeze: bool = True, scope: Any = "overfeat") -> Any:
    """Builds OverFeat, for images of 231 x 231.

    Args:
      inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope: as in `vgg_16`.
    Returns: logits; the outputs of layers by name.
    """
    return _network(inputs, _overfeat, (3072, 6), "overfeat", num_classes, is_training, dropout_keep_prob,
                    spatial_squeeze, scope, _wide())


overfeat.default_image_size = 231  # type: ignore[attr-defined]  # functions take attributes
