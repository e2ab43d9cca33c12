"""Inception v3.

Reference: Szegedy et al. 2015, Rethinking the Inception Architecture for Computer Vision; TensorFlow 1.15
`tf.contrib.slim.nets.inception`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphgrad.extras.contrib.layers.arg_scope import arg_scope
from graphgrad.extras.contrib.layers.contrib_layers import (
    avg_pool2d,
    batch_norm,
    conv2d,
    dropout,
    fully_connected,
    max_pool2d,
)
from graphgrad.extras.contrib.layers.contrib_variables import l2_regularizer, variance_scaling_initializer
from graphgrad.extras.contrib.layers.rare_layers import softmax
from graphgrad.frontend.graph.collections import GraphKeys
from graphgrad.frontend.variables.initializers import TruncatedNormal
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.ops.nn.activations import relu

# A layer: its name, which begins with its kind, its depth, and further arguments. The window is the end of the name,
# unless a third element gives it.
_Layer = tuple[Any, ...]


def _plain(net: Any, layer: _Layer, depth: Callable[[int], int], **more: Any) -> Any:
    """Adds one layer: a convolution or a pool."""
    name, channels, *given = layer
    window = [int(n) for n in name.rpartition("_")[2].split("x")]
    for g in given:
        if isinstance(g, list):
            window = g
        else:
            more = {**more, **g}
    if name.startswith("MaxPool"):
        return max_pool2d(net, window, scope=name, **more)
    if name.startswith("AvgPool"):
        return avg_pool2d(net, window, scope=name, **more)
    return conv2d(net, depth(channels), window, scope=name, **more)


def _mixed(net: Any, name: str, branches: Sequence[Sequence[Any]], depth: Callable[[int], int]) -> Any:
    """Adds parallel branches; a list among the layers of a branch means parallel layers."""
    with variable_scope(name):
        results = []
        for i, branch in enumerate(branches):
            with variable_scope(f"Branch_{i}"):
                out = net
                for layer in branch:
                    if isinstance(layer, list):
                        out = raw.ConcatV2([_plain(out, part, depth) for part in layer], 3)
                    else:
                        out = _plain(out, layer, depth)
                results.append(out)
        return raw.ConcatV2(results, 3)


def _through(net: Any, rows: Sequence[Any], final_endpoint: str, depth: Callable[[int], int],
             end_points: dict[str, Any]) -> tuple[Any, bool]:
    """Adds layers and mixed blocks in sequence; returns also whether the last one requested was reached."""
    for name, what in rows:
        net = _mixed(net, name, what, depth) if isinstance(what, list) else _plain(net, (name, *what), depth)
        end_points[name] = net
        if name == final_endpoint:
            return net, True
    return net, False


def _unknown(final_endpoint: str, end_points: dict[str, Any]) -> ValueError:
    return ValueError(f"Unknown final endpoint {final_endpoint}\n  Asked for at {user_source(3)}\n"
                      f"  Fix: use one of {', '.join(end_points)}")


_HALF = {"stride": 2}


def _block_5(pooled: int, first: str = "Conv2d_0a_1x1", second: str = "Conv2d_0b_5x5") -> list[Any]:
    return [[("Conv2d_0a_1x1", 64)], [(first, 48), (second, 64)],
            [("Conv2d_0a_1x1", 64), ("Conv2d_0b_3x3", 96), ("Conv2d_0c_3x3", 96)],
            [("AvgPool_0a_3x3", 0), ("Conv2d_0b_1x1", pooled)]]


def _block_6(n: int) -> list[Any]:
    return [[("Conv2d_0a_1x1", 192)],
            [("Conv2d_0a_1x1", n), ("Conv2d_0b_1x7", n), ("Conv2d_0c_7x1", 192)],
            [("Conv2d_0a_1x1", n), ("Conv2d_0b_7x1", n), ("Conv2d_0c_1x7", n), ("Conv2d_0d_7x1", n),
             ("Conv2d_0e_1x7", 192)],
            [("AvgPool_0a_3x3", 0), ("Conv2d_0b_1x1", 192)]]


def _block_7(last: str) -> list[Any]:
    return [[("Conv2d_0a_1x1", 320)],
            [("Conv2d_0a_1x1", 384), [("Conv2d_0b_1x3", 384), (last, 384)]],
            [("Conv2d_0a_1x1", 448), ("Conv2d_0b_3x3", 384), [("Conv2d_0c_1x3", 384), ("Conv2d_0d_3x1", 384)]],
            [("AvgPool_0a_3x3", 0), ("Conv2d_0b_1x1", 192)]]


_VALID = {"stride": 2, "padding": "VALID"}
_STEM = [
    ("Conv2d_1a_3x3", (32, _HALF)), ("Conv2d_2a_3x3", (32,)), ("Conv2d_2b_3x3", (64, {"padding": "SAME"})),
    ("MaxPool_3a_3x3", (0, _HALF)), ("Conv2d_3b_1x1", (80,)), ("Conv2d_4a_3x3", (192,)), ("MaxPool_5a_3x3", (0, _HALF)),
]
# Some names give another window, or break the pattern, as in the published variables.
_BLOCKS = [
    ("Mixed_5b", _block_5(32)), ("Mixed_5c", _block_5(64, "Conv2d_0b_1x1", "Conv_1_0c_5x5")),
    ("Mixed_5d", _block_5(64)),
    ("Mixed_6a", [[("Conv2d_1a_1x1", 384, [3, 3], _VALID)],
                  [("Conv2d_0a_1x1", 64), ("Conv2d_0b_3x3", 96), ("Conv2d_1a_1x1", 96, [3, 3], _VALID)],
                  [("MaxPool_1a_3x3", 0, _VALID)]]),
    ("Mixed_6b", _block_6(128)), ("Mixed_6c", _block_6(160)), ("Mixed_6d", _block_6(160)), ("Mixed_6e", _block_6(192)),
    ("Mixed_7a", [[("Conv2d_0a_1x1", 192), ("Conv2d_1a_3x3", 320, _VALID)],
                  [("Conv2d_0a_1x1", 192), ("Conv2d_0b_1x7", 192), ("Conv2d_0c_7x1", 192),
                   ("Conv2d_1a_3x3", 192, _VALID)],
                  [("MaxPool_1a_3x3", 0, _VALID)]]),
    ("Mixed_7b", _block_7("Conv2d_0b_3x1")), ("Mixed_7c", _block_7("Conv2d_0c_3x1")),
]


class _Depth:
    """Depths times a factor, with a lower bound."""

    def __init__(self, multiplier: float, least: int):
        if multiplier <= 0:
            raise ValueError(f"depth_multiplier is not greater than zero.\n  Asked for at {user_source(3)}\n"
                             "  Fix: 1.0 is the network as published")
        self.multiplier = multiplier
        self.least = least

    def __call__(self, depth: int) -> int:
        return max(int(depth * self.multiplier), self.least)


def inception_v3_base(inputs: Any, final_endpoint: str = "Mixed_7c", min_depth: int = 16,
                      depth_multiplier: float = 1.0, scope: Any = None) -> tuple[Tensor, dict[str, Tensor]]:
    """Builds Inception v3 up to a layer.

    Args:
      inputs: (batch, height, width, channels).
      final_endpoint: the name of the layer, such as "Mixed_6e".
      min_depth, depth_multiplier: depths are multiplied by the latter, but stay at least the former.
      scope: the variable scope.
    Returns: the layer's output; the outputs of all layers by name.
    Raises: ValueError for another name, or a multiplier that is not positive.
    """
    depth = _Depth(depth_multiplier, min_depth)
    end_points: dict[str, Any] = {}
    layers = [conv2d, max_pool2d, avg_pool2d]
    with variable_scope(scope, "InceptionV3"):
        with arg_scope(layers, stride=1, padding="VALID"):
            net, there = _through(inputs, _STEM, final_endpoint, depth, end_points)
        if not there:
            with arg_scope(layers, stride=1, padding="SAME"):
                net, there = _through(net, _BLOCKS, final_endpoint, depth, end_points)
    if not there:
        raise _unknown(final_endpoint, end_points)
    return net, end_points


def inception_v3(inputs: Any, num_classes: int = 1000, is_training: Any = True, dropout_keep_prob: Any = 0.8,
                 min_depth: int = 16, depth_multiplier: float = 1.0, prediction_fn: Any = softmax,
                 spatial_squeeze: bool = True, reuse: Any = None,
                 scope: Any = "InceptionV3") -> tuple[Tensor, dict[str, Tensor]]:
    """Builds Inception v3, for images of 299 x 299.

    Args:
      inputs: (batch, height, width, channels).
      min_depth, depth_multiplier: depths are multiplied by the latter, but stay at least the former.
      num_classes: the number of classes.
      is_training: whether batch normalization and dropout train.
      dropout_keep_prob: the probability that dropout keeps an element.
      prediction_fn: the function from logits to predictions; softmax by default.
      spatial_squeeze: whether logits are (batch, classes), not (batch, 1, 1, classes).
      reuse: whether to reuse existing variables.
      scope: the variable scope.
    Returns: logits; the outputs of layers by name, "AuxLogits", "Logits" and "Predictions" among them.
    Raises: ValueError for a multiplier that is not positive.
    """
    depth = _Depth(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV3", reuse=reuse) as sc,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, end_points = inception_v3_base(inputs, scope=sc, min_depth=min_depth, depth_multiplier=depth_multiplier)
        with variable_scope("AuxLogits"), arg_scope([conv2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"):
            aux = avg_pool2d(end_points["Mixed_6e"], [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
            aux = conv2d(aux, depth(128), [1, 1], scope="Conv2d_1b_1x1")
            window = _window(aux, [5, 5])
            aux = conv2d(aux, depth(768), window, weights_initializer=TruncatedNormal(0.0, 0.01), padding="VALID",
                         scope=f"Conv2d_2a_{window[0]}x{window[1]}")
            aux = conv2d(aux, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                         weights_initializer=TruncatedNormal(0.0, 0.001), scope="Conv2d_2b_1x1")
            end_points["AuxLogits"] = _squeezed(aux) if spatial_squeeze else aux
        with variable_scope("Logits"):
            window = _window(net, [8, 8])
            net = avg_pool2d(net, window, padding="VALID", scope=f"AvgPool_1a_{window[0]}x{window[1]}")
            net = end_points["PreLogits"] = dropout(net, dropout_keep_prob, scope="Dropout_1b")
            logits = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="Conv2d_1c_1x1")
            logits = end_points["Logits"] = _squeezed(logits) if spatial_squeeze else logits
            end_points["Predictions"] = (prediction_fn or softmax)(logits, scope="Predictions")
    return logits, end_points


inception_v3.default_image_size = 299  # type: ignore[attr-defined]  # functions take attributes


def _squeezed(t: Any) -> Any:
    """Reshapes (batch, 1, 1, n) to (batch, n)."""
    return raw.Squeeze(t, squeeze_dims=(1, 2), name="SpatialSqueeze")


def _window(net: Any, window: list[int]) -> list[int]:
    """Returns the size of a window, at most that of the input."""
    size = net.shape.as_list()[1:3]
    return window if None in size else [min(n, w) for n, w in zip(size, window, strict=True)]


def inception_v3_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars",
                           use_fused_batchnorm: bool = True) -> dict[str, Any]:
    """Returns the default arguments of layers in Inception v3, for `arg_scope`.

    Args:
      weight_decay: of weights.
      batch_norm_var_collection: the collection of moving averages.
      use_fused_batchnorm: whether one op does the normalization.
    """
    moving = [batch_norm_var_collection]
    params = {"decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS,
              "fused": use_fused_batchnorm, "variables_collections": {
                  "beta": None, "gamma": None, "moving_mean": moving, "moving_variance": moving}}
    with (
        arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope([conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=relu,
                  normalizer_fn=batch_norm, normalizer_params=params) as scope,
    ):
        return scope
