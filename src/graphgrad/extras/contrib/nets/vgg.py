"""VGG.

Reference: Simonyan and Zisserman 2014, Very Deep Convolutional Networks for Large-Scale Image Recognition; TensorFlow
1.15 `tf.contrib.slim.nets.vgg`.
"""

from __future__ import annotations

from typing import Any, Protocol

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
from graphgrad.frontend.variables.initializers import Zeros
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.nn.activations import relu


def vgg_arg_scope(weight_decay: float = 0.0005) -> dict[str, Any]:
    """Returns the default arguments of layers in VGG, for `arg_scope`."""
    with (
        arg_scope([conv2d, fully_connected], activation_fn=relu, weights_regularizer=l2_regularizer(weight_decay),
                  biases_initializer=Zeros()),
        arg_scope([conv2d], padding="SAME") as scope,
    ):
        return scope


def _network(inputs: Any, repetitions: tuple[int, ...], num_classes: int, is_training: Any, keep_prob: Any) -> Any:
    """Builds the convolutions, then three fully connected layers, written as convolutions."""
    net = inputs
    for i, n in enumerate(repetitions):
        net = repeat(net, n, conv2d, (64, 128, 256, 512, 512)[i], [3, 3], scope=f"conv{i + 1}")
        net = max_pool2d(net, [2, 2], scope=f"pool{i + 1}")
    net = conv2d(net, 4096, [7, 7], padding="VALID", scope="fc6")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout6")
    net = conv2d(net, 4096, [1, 1], scope="fc7")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout7")
    return conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8")


class _Vgg(Protocol):
    default_image_size: int

    def __call__(self, inputs: TensorLike, num_classes: int = 1000, is_training: Any = True,
                 dropout_keep_prob: Any = 0.5, spatial_squeeze: bool = True,
                 scope: Any = None) -> tuple[Tensor, dict[str, Tensor]]: ...


def _vgg(name: str, layers: int, repetitions: tuple[int, ...]) -> _Vgg:
    def network(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: Any = 0.5,
                spatial_squeeze: bool = True, scope: Any = name) -> Any:
        with variable_scope(scope, name) as sc:
            key = sc.name + "_end_points"
            with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=key):
                net = _network(inputs, repetitions, num_classes, is_training, dropout_keep_prob)
            end_points = convert_collection_to_dict(key)
            if spatial_squeeze:
                net = end_points[sc.name + "/fc8"] = raw.Squeeze(net, squeeze_dims=(1, 2), name="fc8/squeezed")
            return net, end_points

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
    return network  # type: ignore[return-value]  # functions take attributes


vgg_a = _vgg("vgg_a", 11, (1, 1, 2, 2, 2))
vgg_16 = vgg_d = _vgg("vgg_16", 16, (2, 2, 3, 3, 3))
vgg_19 = vgg_e = _vgg("vgg_19", 19, (2, 2, 4, 4, 4))
