"""Residual networks of both kinds: normalization after the weights (v1), or before (v2).

Reference: He et al. 2015, Deep Residual Learning for Image Recognition; He et al. 2016, Identity Mappings in Deep
Residual Networks; TensorFlow 1.15 `tf.contrib.slim.nets.resnet_v1` and `.resnet_v2`.
"""

from __future__ import annotations

import collections
from typing import Any, Protocol

from graphgrad.extras.contrib.layers.arg_scope import add_arg_scope, arg_scope
from graphgrad.extras.contrib.layers.contrib_layers import (
    batch_norm,
    collect_named_outputs,
    conv2d,
    convert_collection_to_dict,
    max_pool2d,
)
from graphgrad.extras.contrib.layers.contrib_variables import l2_regularizer, variance_scaling_initializer
from graphgrad.extras.contrib.layers.rare_layers import softmax
from graphgrad.frontend.variables.variable_scope import variable_scope
from graphgrad.ir.opdef import raw
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.math.reduce_functions import reduce_mean
from graphgrad.ops.nn.activations import relu


class Block(collections.namedtuple("Block", ("scope", "unit_fn", "args"))):
    """A sequence of units: the name of their scope, the function that builds one, and its arguments for each."""

    __slots__ = ()


def subsample(inputs: Any, factor: int, scope: Any = None) -> Tensor:
    """Takes every `factor`-th row and column of images (batch, height, width, channels)."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1,
                scope: Any = None) -> Tensor:
    """Convolves with padding "SAME" and takes every `stride`-th row and column.

    Args:
      inputs: (batch, height, width, channels).
      num_outputs, kernel_size, stride, rate, scope: as in `conv2d`.
    """
    if stride == 1:
        return conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    total = (kernel_size - 1) * rate
    sides = [total // 2, total - total // 2]
    inputs = raw.Pad(inputs, [[0, 0], sides, sides, [0, 0]])
    return conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net: Any, blocks: Any, output_stride: Any = None, outputs_collections: Any = None) -> Tensor:
    """Builds blocks in sequence; beyond a stride, filters are dilated instead of images made smaller.

    Args:
      net: (batch, height, width, channels).
      blocks: `Block`s.
      output_stride: the stride that is not to be exceeded, or None.
      outputs_collections: collections for the outputs of blocks.
    Raises: ValueError if the strides do not multiply to `output_stride`.
    """
    current = rate = 1
    for block in blocks:
        with variable_scope(block.scope, "block") as scope:
            for i, unit in enumerate(block.args):
                if output_stride is not None and current > output_stride:
                    raise _unreachable(output_stride)
                with variable_scope(f"unit_{i + 1}"):
                    if not isinstance(unit, dict):
                        unit = dict(zip(("depth", "depth_bottleneck", "stride"), unit, strict=True))
                    if output_stride is not None and current == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        current *= unit.get("stride", 1)
            net = collect_named_outputs(outputs_collections, scope.name, net)
    if output_stride is not None and current != output_stride:
        raise _unreachable(output_stride)
    return net


def _unreachable(output_stride: Any) -> ValueError:
    return ValueError(f"The target output_stride cannot be reached: {output_stride}\n  Asked for at {user_source(3)}\n"
                      "  Fix: give a product of the first blocks' strides")


def resnet_arg_scope(weight_decay: Any = 0.0001, batch_norm_decay: Any = 0.997, batch_norm_epsilon: Any = 1e-5,
                     batch_norm_scale: Any = True, is_training: Any = None) -> dict[str, Any]:
    """Returns the default arguments of layers in residual networks, for `arg_scope`.

    Args:
      weight_decay: of weights. A bool is `is_training`, which came first in older versions.
      batch_norm_decay, batch_norm_epsilon, batch_norm_scale: of batch normalization.
      is_training: whether batch normalization trains; the networks decide by default.
    """
    if isinstance(weight_decay, bool):
        is_training, weight_decay = weight_decay, 0.0001
    params = {"decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale}
    if is_training is not None:
        params["is_training"] = is_training
    with (
        arg_scope([conv2d], weights_regularizer=l2_regularizer(weight_decay),
                  weights_initializer=variance_scaling_initializer(), activation_fn=relu, normalizer_fn=batch_norm,
                  normalizer_params=params),
        arg_scope([batch_norm], **params),
        arg_scope([max_pool2d], padding="SAME") as scope,
    ):
        return scope


# -- units -----------------------------------------------------------------------------


@add_arg_scope
def bottleneck_v1(inputs: Any, depth: int, depth_bottleneck: int, stride: int, rate: int = 1,
                  outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Builds three convolutions beside a shortcut, then relu.

    Args:
      inputs: (batch, height, width, channels).
      depth, depth_bottleneck: the number of channels at the end, and within.
      stride, rate: of the convolution in the middle.
      outputs_collections: collections for the output.
      scope: the variable scope.
    """
    with variable_scope(scope, "bottleneck_v1") as sc:
        if depth == inputs.shape.as_list()[-1]:
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        residual = conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = conv2d(residual, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, sc.name, relu(shortcut + residual))


@add_arg_scope
def bottleneck_v2(inputs: Any, depth: int, depth_bottleneck: int, stride: int, rate: int = 1,
                  outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Builds normalization and relu, then three convolutions beside a shortcut; arguments as in `bottleneck_v1`."""
    with variable_scope(scope, "bottleneck_v2") as sc:
        ready = batch_norm(inputs, activation_fn=relu, scope="preact")
        if depth == inputs.shape.as_list()[-1]:
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(ready, depth, [1, 1], stride=stride, normalizer_fn=None, activation_fn=None,
                              scope="shortcut")
        residual = conv2d(ready, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = conv2d(residual, depth, [1, 1], stride=1, normalizer_fn=None, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, sc.name, shortcut + residual)


# -- networks --------------------------------------------------------------------------


def resnet_v1(inputs: Any, blocks: Any, num_classes: int | None = None, is_training: Any = True,
              global_pool: bool = True, output_stride: Any = None, include_root_block: bool = True, reuse: Any = None,
              scope: Any = None) -> tuple[Tensor, dict[str, Tensor]]:
    """Builds a residual network of given blocks, of the first kind.

    Args:
      inputs: (batch, height, width, channels).
      blocks: `Block`s.
      num_classes: the number of classes; None for features.
      is_training: whether batch normalization trains.
      global_pool: whether features are averaged over the image.
      output_stride: the stride that is not to be exceeded, a multiple of 4, or None.
      include_root_block: whether there is a convolution and a pool before the blocks.
      reuse: whether to reuse existing variables.
      scope: the variable scope.
    Returns: logits or features, (batch, height, width, n); the outputs of layers by name.
    Raises: ValueError for an output stride that cannot be reached.
    """
    return _network(1, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse,
                    scope)


def resnet_v2(inputs: Any, blocks: Any, num_classes: int | None = None, is_training: Any = True,
              global_pool: bool = True, output_stride: Any = None, include_root_block: bool = True, reuse: Any = None,
              scope: Any = None) -> tuple[Tensor, dict[str, Tensor]]:
    """Builds a residual network of given blocks, of the second kind; see `resnet_v1`."""
    return _network(2, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse,
                    scope)


def _network(kind: int, inputs: Any, blocks: Any, num_classes: Any, is_training: Any, global_pool: bool,
             output_stride: Any, include_root_block: bool, reuse: Any, scope: Any) -> Any:
    with variable_scope(scope, f"resnet_v{kind}", reuse=reuse) as sc:
        key = sc.original_name_scope + "_end_points"
        with (
            arg_scope([conv2d, _UNITS[kind], stack_blocks_dense], outputs_collections=key),
            arg_scope([batch_norm], is_training=is_training),
        ):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4 != 0:
                        raise ValueError("The output_stride needs to be a multiple of 4.\n"
                                         f"  Asked for at {user_source(3)}\n  Fix: 16 is usual")
                    output_stride //= 4
                # In the second kind, the first unit normalizes.
                plain = {"activation_fn": None, "normalizer_fn": None} if kind == 2 else {}
                with arg_scope([conv2d], **plain):
                    net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
                net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
            net = stack_blocks_dense(net, blocks, output_stride)
            if kind == 2:
                net = batch_norm(net, activation_fn=relu, scope="postnorm")
            if global_pool:
                net = reduce_mean(net, [1, 2], keepdims=True, name="pool5")
            if num_classes is not None:
                net = conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            end_points = convert_collection_to_dict(key)
            if num_classes is not None:
                end_points["predictions"] = softmax(net, scope="predictions")
            return net, end_points


_UNITS: dict[int, Any] = {1: bottleneck_v1, 2: bottleneck_v2}
# Silenced: functions take attributes.
resnet_v1.default_image_size = resnet_v2.default_image_size = 224  # type: ignore[attr-defined]


def _block(kind: int, scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    units = [{"depth": 4 * base_depth, "depth_bottleneck": base_depth, "stride": 1} for _ in range(num_units)]
    units[-1]["stride"] = stride
    return Block(scope, _UNITS[kind], units)


def resnet_v1_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """Makes a block of a ResNet of version 1: `num_units` bottlenecks, the last of which has the stride."""
    return _block(1, scope, base_depth, num_units, stride)


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """Makes a block of a ResNet of version 2: `num_units` bottlenecks, the last of which has the stride."""
    return _block(2, scope, base_depth, num_units, stride)


class _OfDepth(Protocol):
    default_image_size: int

    def __call__(self, inputs: TensorLike, num_classes: int | None = None, is_training: Any = True,
                 global_pool: bool = True, output_stride: Any = None, reuse: Any = None,
                 scope: Any = None) -> tuple[Tensor, dict[str, Tensor]]: ...


def _of_depth(kind: int, layers: int, units: tuple[int, int, int, int]) -> _OfDepth:
    name = f"resnet_v{kind}_{layers}"

    def network(inputs: Any, num_classes: int | None = None, is_training: Any = True, global_pool: bool = True,
                output_stride: Any = None, reuse: Any = None, scope: Any = name) -> Any:
        blocks = [_block(kind, f"block{i + 1}", 64 * 2**i, n, 2 if i < 3 else 1) for i, n in enumerate(units)]
        return _network(kind, inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"Builds the residual network of {layers} layers; arguments as in `resnet_v{kind}`."
    network.default_image_size = 224  # type: ignore[attr-defined]  # functions take attributes
    return network  # type: ignore[return-value]  # functions take attributes


_DEPTHS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}
resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = (_of_depth(1, n, u) for n, u in _DEPTHS.items())
resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = (_of_depth(2, n, u) for n, u in _DEPTHS.items())
