"""Less common layers of `tf.contrib.layers`: normalization, separable and three-dimensional ones, small functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.variables.initializers import Ones, Zeros
from graphgrad.frontend.variables.variable_scope import get_variable, variable_scope
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.dtypes import float32, int32, int64
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.source import user_source
from graphgrad.ir.tensor import Tensor
from graphgrad.layers import conv_layers, pool_layers, separable_conv
from graphgrad.ops.array.reshape import shape
from graphgrad.ops.nn.activations import relu as relu_function
from graphgrad.ops.nn.conv.depthwise_functions import depthwise_conv2d_v1 as depthwise_conv2d
from graphgrad.ops.nn.embedding import embedding_lookup_v1 as embedding_lookup
from graphgrad.ops.nn.norm.moments import batch_normalization as normalized
from graphgrad.ops.nn.norm.moments import moments

from .arg_scope import add_arg_scope
from .contrib_layers import (
    _XAVIER,
    _ZEROS,
    _add_variables,
    _finished,
    _getter,
    _layout,
    _pooled,
    collect_named_outputs,
)
from .contrib_variables import model_variable

# -- normalization ---------------------------------------------------------------------


def _channel_parameters(depth: int, like: list[int], dtype: Any, center: bool, scale: bool, given: Any, trainable: bool,
                        collections: Any) -> tuple[Any, Any]:
    """Makes beta and gamma, one for each channel, in a shape that broadcasts."""
    first = given or {}
    beta = gamma = None
    if center:
        beta = model_variable("beta", [depth], dtype, first.get("beta", Zeros()), trainable=trainable)
    if scale:
        gamma = model_variable("gamma", [depth], dtype, first.get("gamma", Ones()), trainable=trainable)
    _add_variables(collections, beta=beta, gamma=gamma)
    shaped = [None if v is None else raw.Reshape(v, np.array(like, np.int32)) for v in (beta, gamma)]
    return shaped[0], shaped[1]


def _known_channels(inputs: Any, axis: int) -> int:
    if inputs.shape.rank is None or inputs.shape.as_list()[axis] is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension: {inputs.shape}.\n"
                         f"  Built at {user_source(3)}\n  Fix: set_shape")
    return int(inputs.shape.as_list()[axis])


@add_arg_scope
def instance_norm(inputs: Any, center: bool = True, scale: bool = True, epsilon: Any = 1e-6, activation_fn: Any = None,
                  param_initializers: Any = None, reuse: Any = None, variables_collections: Any = None,
                  outputs_collections: Any = None, trainable: bool = True, data_format: Any = "NHWC",
                  scope: Any = None) -> Tensor:
    """Normalizes each channel of each example to its own mean and variance.

    Args:
      inputs: (N, ..., C), or (N, C, ...) for a data_format "NCHW".
      center, scale: whether there is a `beta`, a `gamma`.
      epsilon: a small number that is added to the variance.
      activation_fn: a function, or None.
      param_initializers: a dict for beta and gamma.
      reuse, variables_collections, outputs_collections, trainable, scope: as in `fully_connected`.
      data_format: "NHWC" or "NCHW".
    Returns: a tensor of the inputs' shape.
    Raises: ValueError if the number of channels is not known.
    Gradient: those of its operations.
    Reference: Ulyanov et al. 2016, Instance Normalization; TensorFlow 1.15 `tf.contrib.layers.instance_norm`.

    >>> sess.run(instance_norm(tf.constant([[[1.0], [3.0]]]), center=False, scale=False))[0, :, 0].round(3)
    array([-1.,  1.], dtype=float32)
    """
    inputs = convert_to_tensor(inputs)
    axis = 1 if _layout(data_format) == "channels_first" else (inputs.shape.rank or 4) - 1
    depth = _known_channels(inputs, axis)
    rank = inputs.shape.rank
    like = [depth if i == axis else 1 for i in range(rank)]
    with variable_scope(scope, "InstanceNorm", reuse=reuse) as sc:
        beta, gamma = _channel_parameters(depth, like, inputs.dtype, center, scale, param_initializers, trainable,
                                          variables_collections)
        mean, variance = moments(inputs, [i for i in range(1, rank) if i != axis], keepdims=True)
        outputs = normalized(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return _finished(outputs, activation_fn, None, None, outputs_collections, sc.name)


@add_arg_scope
def group_norm(inputs: Any, groups: int = 32, channels_axis: int = -1, reduction_axes: Any = (-3, -2),
               center: bool = True, scale: bool = True, epsilon: Any = 1e-6, activation_fn: Any = None,
               param_initializers: Any = None, reuse: Any = None, variables_collections: Any = None,
               outputs_collections: Any = None, trainable: bool = True, scope: Any = None,
               mean_close_to_zero: bool = False) -> Tensor:
    """Normalizes groups of channels of each example to their own mean and variance.

    Args:
      inputs: a float tensor of known rank.
      groups: the number of groups of channels.
      channels_axis: the axis of the channels.
      reduction_axes: the axes that are normalized together, with the channels of a group.
      center, scale: whether there is a `beta`, a `gamma`.
      epsilon: a small number that is added to the variance.
      activation_fn: a function, or None.
      param_initializers: a dict for beta and gamma.
      reuse, variables_collections, outputs_collections, trainable, scope: as in `fully_connected`.
      mean_close_to_zero: accepted; the variance is computed the same way.
    Returns: a tensor of the inputs' shape.
    Raises: ValueError for axes that meet, and groups that do not divide the channels.
    Gradient: those of its operations.
    Reference: Wu and He 2018, Group Normalization; TensorFlow 1.15 `tf.contrib.layers.group_norm`.
    """
    inputs = convert_to_tensor(inputs)
    rank = inputs.shape.rank
    depth = _known_channels(inputs, channels_axis)
    axis = channels_axis % rank
    reduced = sorted(a % rank for a in reduction_axes)
    if axis in reduced or axis + 1 > rank:
        raise ValueError(f"reduction_axes {tuple(reduction_axes)} must not contain channels_axis {channels_axis}\n"
                         f"  Asked for at {user_source(2)}\n  Fix: leave it out")
    if groups > depth or depth % groups:
        raise ValueError(f"{groups} groups is not commensurate with {depth} channels.\n"
                         f"  Asked for at {user_source(2)}\n  Fix: a divisor of {depth}")
    sizes = inputs.shape.as_list()
    if sizes.count(None) <= 1:
        whole: Any = [-1 if n is None else n for n in sizes]
        apart: Any = [*whole[:axis], groups, depth // groups, *whole[axis + 1 :]]
    else:
        whole = shape(inputs)
        parts = [np.array([groups, depth // groups], np.int32)]
        parts = ([whole[:axis]] if axis else []) + parts + ([whole[axis + 1 :]] if axis + 1 < rank else [])
        apart = raw.ConcatV2(parts, 0)
    over = [a + (a > axis) for a in reduced] + [axis + 1]
    like = [1] * (rank + 1)
    like[axis : axis + 2] = [groups, depth // groups]
    with variable_scope(scope, "GroupNorm", reuse=reuse) as sc:
        beta, gamma = _channel_parameters(depth, like, inputs.dtype, center, scale, param_initializers, trainable,
                                          variables_collections)
        grouped = raw.Reshape(inputs, apart)
        mean, variance = moments(grouped, over, keepdims=True)
        outputs = raw.Reshape(normalized(grouped, mean, variance, beta, gamma, epsilon), whole)
        outputs.set_shape(inputs.shape)
        return _finished(outputs, activation_fn, None, None, outputs_collections, sc.name)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: Any = 1e-7, scope: Any = None) -> Tensor:
    """Divides by the length along a dimension.

    Args:
      inputs: a float tensor of known rank.
      dim: the dimension, not negative.
      epsilon: a small number that is added to the squared length.
      scope: the name of the operations.
    Raises: ValueError for a dimension out of range.
    Reference: TensorFlow 1.15 `tf.contrib.layers.unit_norm`.
    """
    with variable_scope(scope, "UnitNorm"):
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None or not 0 <= dim < rank:
            raise ValueError(f"dim must be positive but smaller than the input rank: {dim}, {rank}\n"
                             f"  Asked for at {user_source(2)}\n  Fix: count from 0")
        squares = raw.Sum(raw.Square(inputs), np.array([dim], np.int32), keep_dims=True)
        return inputs / raw.Sqrt(epsilon + squares)


# -- convolutions and pools ----------------------------------------------------------------


@add_arg_scope
def convolution3d_transpose(inputs: Any, num_outputs: Any, kernel_size: Any, stride: Any = 1, padding: Any = "SAME",
                            data_format: Any = "NDHWC", activation_fn: Any = relu_function, normalizer_fn: Any = None,
                            normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                            weights_regularizer: Any = None, biases_initializer: Any = _ZEROS,
                            biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
                            outputs_collections: Any = None, trainable: bool = True,
                            scope: Any = None) -> Tensor:
    """Adds the transpose of a `convolution3d`.

    Args:
      inputs: (N, D, H, W, C), or with C second for a data_format "NC...".
      num_outputs: the number of output channels.
      kernel_size, stride, padding, data_format: of the convolution that is transposed.
      activation_fn, normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer,
        biases_regularizer, reuse, variables_collections, outputs_collections, trainable, scope: as in
        `fully_connected`.
    Returns: a tensor of the inputs' rank; with padding "SAME" its sides are the inputs' times the stride.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.convolution3d_transpose`.
    """
    with variable_scope(scope, "Conv3d_transpose", reuse=reuse, custom_getter=_getter) as sc:
        layer = conv_layers.Conv3DTranspose(
            num_outputs, kernel_size, stride, padding, _layout(data_format), None,
            normalizer_fn is None and biases_initializer is not None, weights_initializer, biases_initializer,
            weights_regularizer, biases_regularizer, trainable=trainable, _scope=sc, _reuse=reuse)
        outputs = layer.apply(convert_to_tensor(inputs))
        _add_variables(variables_collections, weights=layer.kernel, biases=layer.bias)
        return _finished(outputs, activation_fn, normalizer_fn, normalizer_params, outputs_collections, sc.name)


@add_arg_scope
def separable_convolution2d(inputs: Any, num_outputs: Any, kernel_size: Any, depth_multiplier: Any = 1, stride: Any = 1,
                            padding: Any = "SAME", data_format: Any = "NHWC", rate: Any = 1,
                            activation_fn: Any = relu_function, normalizer_fn: Any = None,
                            normalizer_params: Any = None, weights_initializer: Any = _XAVIER,
                            pointwise_initializer: Any = None, weights_regularizer: Any = None,
                            biases_initializer: Any = _ZEROS, biases_regularizer: Any = None, reuse: Any = None,
                            variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
                            scope: Any = None) -> Tensor:
    """Adds a depthwise and a pointwise convolution, with `depthwise_weights`, `pointwise_weights` and `biases`.

    Args:
      inputs: (N, H, W, C), or (N, C, H, W) for a data_format "NCHW".
      num_outputs: the number of output channels; None for the depthwise convolution alone.
      kernel_size: the size of the window.
      depth_multiplier: the number of depthwise outputs of each channel.
      stride, rate: the stride and the dilation of the window.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      pointwise_initializer: of the pointwise weights; `weights_initializer` by default.
      activation_fn, normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer,
        biases_regularizer, reuse, variables_collections, outputs_collections, trainable, scope: as in
        `fully_connected`.
    Gradient: those of its operations.
    Reference: Chollet 2016, Xception; TensorFlow 1.15 `tf.contrib.layers.separable_conv2d`.

    >>> y = separable_convolution2d(tf.ones([2, 8, 8, 3]), 4, 3, depth_multiplier=2)
    >>> y.shape.as_list(), [v.name for v in tf.trainable_variables()][:2]
    ([2, 8, 8, 4], ['SeparableConv2d/depthwise_weights:0', 'SeparableConv2d/pointwise_weights:0'])
    """
    inputs = convert_to_tensor(inputs)
    with variable_scope(scope, "SeparableConv2d", reuse=reuse, custom_getter=_getter) as sc:
        bias = normalizer_fn is None and biases_initializer is not None
        if num_outputs is not None:
            layer = separable_conv.SeparableConv2D(
                num_outputs, kernel_size, stride, padding, _layout(data_format), rate, depth_multiplier, None, bias,
                weights_initializer, pointwise_initializer or weights_initializer, biases_initializer,
                weights_regularizer, weights_regularizer, biases_regularizer, trainable=trainable, _scope=sc,
                _reuse=reuse)
            outputs = layer.apply(inputs)
            _add_variables(variables_collections, weights=layer.depthwise_kernel, biases=layer.bias)
            _add_variables(variables_collections, weights=layer.pointwise_kernel)
        else:
            outputs = _depthwise(inputs, kernel_size, depth_multiplier, stride, padding, data_format, rate,
                                 weights_initializer, weights_regularizer, biases_initializer if bias else None,
                                 biases_regularizer, variables_collections, trainable)
        return _finished(outputs, activation_fn, normalizer_fn, normalizer_params, outputs_collections, sc.name)


def _pair(value: Any) -> list[int]:
    return [int(v) for v in value] if isinstance(value, (list, tuple)) else [int(value)] * 2


def _depthwise(inputs: Any, kernel_size: Any, multiplier: int, stride: Any, padding: str, data_format: Any, rate: Any,
               initializer: Any, regularizer: Any, biases_initializer: Any, biases_regularizer: Any, collections: Any,
               trainable: bool) -> Any:
    axis = 1 if _layout(data_format) == "channels_first" else 3
    depth = _known_channels(inputs, axis)
    weights = model_variable("depthwise_weights", [*_pair(kernel_size), depth, multiplier], inputs.dtype, initializer,
                             regularizer, trainable)
    by = _pair(stride)
    strides = [1, 1, *by] if axis == 1 else [1, *by, 1]
    outputs = depthwise_conv2d(inputs, weights, strides, padding.upper(), _pair(rate), data_format=data_format)
    biases = None
    if biases_initializer is not None:
        biases = model_variable("biases", [depth * multiplier], inputs.dtype, biases_initializer, biases_regularizer,
                                trainable)
        outputs = raw.BiasAdd(outputs, biases, data_format="NCHW" if axis == 1 else "NHWC")
    _add_variables(collections, weights=weights, biases=biases)
    return outputs


@add_arg_scope
def max_pool3d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: Any = "VALID", data_format: Any = "NDHWC",
               outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Computes the maximum of each window; see `tf.layers.max_pooling3d`."""
    return _pooled(pool_layers.MaxPooling3D, "MaxPool3D", inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


@add_arg_scope
def avg_pool3d(inputs: Any, kernel_size: Any, stride: Any = 2, padding: Any = "VALID", data_format: Any = "NDHWC",
               outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Computes the mean of each window; see `tf.layers.average_pooling3d`."""
    return _pooled(pool_layers.AveragePooling3D, "AvgPool3D", inputs, kernel_size, stride, padding, data_format,
                   outputs_collections, scope)


# -- small functions -----------------------------------------------------------------------


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Tensor:
    """Computes softmax over the last dimension, of any rank.

    Args:
      logits: (..., n).
      scope: the name of the operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.softmax`.

    >>> sess.run(softmax(tf.zeros([1, 1, 2])))
    array([[[0.5, 0.5]]], dtype=float32)
    """
    with variable_scope(scope, "softmax"):
        logits = convert_to_tensor(logits)
        flat = raw.Softmax(raw.Reshape(logits, np.array([-1, logits.shape.as_list()[-1]], np.int32)))
        outputs = raw.Reshape(flat, shape(logits))
        outputs.set_shape(logits.shape)
        return outputs


@add_arg_scope
def one_hot_encoding(labels: Any, num_classes: int, on_value: Any = 1.0, off_value: Any = 0.0,
                     outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """Converts labels to one-hot vectors.

    Args:
      labels: integers.
      num_classes: the number of classes.
      on_value, off_value: the value for the label, and for the others.
      outputs_collections: collections to join.
      scope: the name of the operations.
    Reference: TensorFlow 1.15 `tf.contrib.layers.one_hot_encoding`.
    """
    with name_scope(scope, "OneHotEncoding") as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype is int32:
            labels = raw.Cast(labels, DstT=int64)
        outputs = raw.OneHot(labels, np.int32(num_classes), convert_to_tensor(on_value), convert_to_tensor(off_value))
        return collect_named_outputs(outputs_collections, (sc or "").rstrip("/"), outputs)


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Tensor:
    """Computes the maximum of groups of channels.

    Args:
      inputs: a float tensor.
      num_units: the number of groups.
      axis: the axis of the channels.
      scope: the name of the operations.
    Raises: ValueError if `num_units` does not divide the channels.
    Reference: Goodfellow et al. 2013, Maxout Networks; TensorFlow 1.15 `tf.contrib.layers.maxout`.

    >>> sess.run(maxout(tf.constant([[1.0, 2.0, 3.0, 0.0]]), 2))
    array([[2., 3.]], dtype=float32)
    """
    with variable_scope(scope, "MaxOut"):
        inputs = convert_to_tensor(inputs)
        dims = inputs.shape.as_list()
        channels = _known_channels(inputs, axis)
        if channels % num_units:
            raise ValueError(f"number of features({channels}) is not a multiple of num_units({num_units})\n"
                             f"  Asked for at {user_source(2)}\n  Fix: a divisor of {channels}")
        dims[axis] = num_units
        sizes = [shape(inputs)[i] if n is None else np.int32(n) for i, n in enumerate(dims)]
        grouped = raw.Reshape(inputs, raw.Pack([*sizes, np.int32(channels // num_units)]))
        outputs = raw.Max(grouped, np.array([-1], np.int32))
        outputs.set_shape(dims)
        return outputs


def embed_sequence(ids: Any, vocab_size: Any = None, embed_dim: Any = None, unique: bool = False,
                   initializer: Any = None, regularizer: Any = None, trainable: bool = True, scope: Any = None,
                   reuse: Any = None) -> Tensor:
    """Embeds symbols as vectors, from a variable `embeddings`.

    Args:
      ids: (batch, time), integers.
      vocab_size, embed_dim: the number of symbols, and the size of vectors; unless `reuse`.
      unique: accepted; every symbol's row is looked up.
      initializer, regularizer, trainable: of the variable.
      scope: the variable scope.
      reuse: whether to reuse an existing variable.
    Returns: (batch, time, embed_dim).
    Raises: ValueError if sizes are missing.
    Gradient: with respect to the variable.
    Reference: TensorFlow 1.15 `tf.contrib.layers.embed_sequence`.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError("Must specify vocab size and embedding dimension when not reusing. Got "
                         f"vocab_size={vocab_size} and embed_dim={embed_dim}\n  Asked for at {user_source(2)}\n"
                         "  Fix: give both")
    with variable_scope(scope, "EmbedSequence", reuse=reuse):
        table = model_variable("embeddings", [vocab_size, embed_dim], initializer=initializer, regularizer=regularizer,
                               trainable=trainable)
        return embedding_lookup(table, ids)


@add_arg_scope
def spatial_softmax(features: Any, temperature: Any = None, name: Any = None, variables_collections: Any = None,
                    trainable: bool = True, data_format: Any = "NHWC") -> Tensor:
    """Computes the mean position of each channel in the image, between -1 and 1, weighted by its softmax.

    Args:
      features: (N, H, W, C), or (N, C, H, W) for a data_format "NCHW".
      temperature: the divisor of the features; a variable with initial value 1 by default.
      name: the variable scope.
      variables_collections: collections of the variable.
      trainable: whether optimizers update it.
      data_format: "NHWC" or "NCHW".
    Returns: (N, 2 C): x and y of the first channel, of the second, ...
    Gradient: those of its operations.
    Reference: Finn et al. 2016, Deep Spatial Autoencoders for Visuomotor Learning; TensorFlow 1.15
      `tf.contrib.layers.spatial_softmax`.
    """
    with variable_scope(name, "spatial_softmax"):
        features = convert_to_tensor(features)
        if _layout(data_format) == "channels_last":
            features = raw.Transpose(features, np.array([0, 3, 1, 2], np.int32))
        _, channels, height, width = features.shape.as_list()
        if None in (channels, height, width):
            raise ValueError(f"The size of images must be known: {features.shape}\n  Built at {user_source(2)}\n"
                             "  Fix: set_shape")
        x, y = np.meshgrid(np.linspace(-1.0, 1.0, height), np.linspace(-1.0, 1.0, width), indexing="ij")
        if temperature is None:
            temperature = get_variable("temperature", [], float32, initializer=Ones(), trainable=trainable)
            _add_variables(variables_collections, temperature=temperature)
        flat = raw.Reshape(features, np.array([-1, height * width], np.int32))
        attention = raw.Softmax(flat / temperature)
        at = np.stack([x.reshape(-1), y.reshape(-1)], 1).astype(np.float32)
        return raw.Reshape(raw.MatMul(attention, at), np.array([-1, 2 * channels], np.int32))


conv3d_transpose = convolution3d_transpose
separable_conv2d = separable_convolution2d
