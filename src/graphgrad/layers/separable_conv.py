"""`tf.layers`: depthwise separable convolutions."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.opdef import raw
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.nn.bias import bias_add
from graphgrad.ops.nn.conv import depthwise_functions
from graphgrad.ops.nn.conv.conv_arguments import numbers

from .conv_layer_base import Convolution
from .layer import layout


class SeparableConvolution(Convolution):
    """A convolution of each channel, followed by one that mixes the channels of each point."""

    def __init__(self, filters: Any, kernel_size: Any, strides: Any, padding: Any, data_format: Any, dilation_rate: Any,
                 depth_multiplier: int, activation: Any, use_bias: bool, depthwise_initializer: Any,
                 pointwise_initializer: Any, bias_initializer: Any, depthwise_regularizer: Any,
                 pointwise_regularizer: Any, bias_regularizer: Any, activity_regularizer: Any,
                 depthwise_constraint: Any, pointwise_constraint: Any, bias_constraint: Any, trainable: bool,
                 name: str | None, kwargs: dict[str, Any]):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         (bias_initializer, bias_regularizer, bias_constraint), activity_regularizer, trainable, name,
                         kwargs)
        self.depth_multiplier = depth_multiplier
        self._depthwise = depthwise_initializer, depthwise_regularizer, depthwise_constraint
        self._pointwise = pointwise_initializer, pointwise_regularizer, pointwise_constraint
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None

    def build(self, input_shape: Any) -> None:
        """Makes the kernels and the bias."""
        channels = self._channels(input_shape)
        between = channels * self.depth_multiplier
        initializer, regularizer, constraint = self._depthwise
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], None, initializer, regularizer,
            constraint=constraint)
        initializer, regularizer, constraint = self._pointwise
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", [1] * self._n + [between, self.filters], None, initializer, regularizer,
            constraint=constraint)
        self._build_bias()

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        strides, holes = self.strides, self.dilation_rate
        deep, point = self.depthwise_kernel, self.pointwise_kernel
        axis = 2 if self._axis == 1 else 1
        if self._n == 1:
            strides, holes = strides * 2, (1, *holes)
            inputs, deep, point = raw.ExpandDims(inputs, axis), raw.ExpandDims(deep, 0), raw.ExpandDims(point, 0)
        images = layout(self.data_format, 2)
        outputs = depthwise_functions.separable_conv2d(
            inputs, deep, point, numbers(strides, 2, self._axis == 1, "strides"), self.padding.upper(), images, holes)
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, "NCHW" if self._axis == 1 else "NHWC", name="BiasAdd")
        if self._n == 1:
            outputs = raw.Squeeze(outputs, squeeze_dims=(axis,))
        return outputs if self.activation is None else self.activation(outputs)


class SeparableConv1D(SeparableConvolution):
    """A depthwise separable convolution of sequences, with bias and activation.

    Args:
      filters: the number of output channels.
      kernel_size: the size of the window: an int, or one for each spatial dimension.
      strides, dilation_rate: the strides and dilations of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      activation: a function, or None.
      use_bias: whether there is a bias.
      depth_multiplier: the number of depthwise outputs of each channel.
      depthwise_initializer, pointwise_initializer, bias_initializer: of the variables.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of a variable that give a loss, or None.
      depthwise_constraint, pointwise_constraint, bias_constraint: functions for optimizers to apply, or None.
      activity_regularizer: a function of the output that gives a loss, or None.
      trainable: whether optimizers update the variables.
      name: the name of the layer and of the scope of its variables.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.SeparableConv1D`.
    """

    _n = 1

    def __init__(self, filters: Any, kernel_size: Any, strides: Any = 1, padding: Any = "valid",
                 data_format: Any = "channels_last", dilation_rate: Any = 1, depth_multiplier: Any = 1,
                 activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                 pointwise_initializer: Any = None, bias_initializer: Any = "zeros",
                 depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, depthwise_constraint: Any = None, pointwise_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
                 **kwargs: Any):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier,
                         activation, use_bias, depthwise_initializer, pointwise_initializer, bias_initializer,
                         depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer,
                         depthwise_constraint, pointwise_constraint, bias_constraint, trainable, name,
                         kwargs)


def separable_conv1d(inputs: TensorLike, filters: Any, kernel_size: Any, strides: Any = 1, padding: Any = "valid",
                     data_format: Any = "channels_last", dilation_rate: Any = 1, depth_multiplier: Any = 1,
                     activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                     pointwise_initializer: Any = None, bias_initializer: Any = "zeros",
                     depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
                     activity_regularizer: Any = None, depthwise_constraint: Any = None,
                     pointwise_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                     name: str | None = None, reuse: Any = None) -> Tensor:
    """Applies a depthwise separable convolution to sequences, with bias and activation.

    Args:
      inputs: (N, W, C), or with the channels second.
      filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
        depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer, pointwise_regularizer,
        bias_regularizer, activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint,
        trainable, name: as for `SeparableConv1D`.
      reuse: whether to reuse the variables of an existing layer of that name.
    Returns: a tensor of the inputs' rank, with `filters` channels.
    Raises: ValueError for arguments that do not fit, and where the number of channels is not known.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.layers.separable_conv1d`.

    >>> tf.layers.separable_conv1d(tf.ones([2, 8, 3]), 4, 3).shape.as_list()
    [2, 6, 4]
    """
    layer = SeparableConv1D(filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier,
                            activation, use_bias, depthwise_initializer, pointwise_initializer, bias_initializer,
                            depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer,
                            depthwise_constraint, pointwise_constraint, bias_constraint, trainable, name,
                            _reuse=reuse, _scope=name)
    return layer.apply(inputs)


class SeparableConv2D(SeparableConvolution):
    """A depthwise separable convolution of images, with bias and activation.

    Args:
      filters: the number of output channels.
      kernel_size: the size of the window: an int, or one for each spatial dimension.
      strides, dilation_rate: the strides and dilations of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      activation: a function, or None.
      use_bias: whether there is a bias.
      depth_multiplier: the number of depthwise outputs of each channel.
      depthwise_initializer, pointwise_initializer, bias_initializer: of the variables.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of a variable that give a loss, or None.
      depthwise_constraint, pointwise_constraint, bias_constraint: functions for optimizers to apply, or None.
      activity_regularizer: a function of the output that gives a loss, or None.
      trainable: whether optimizers update the variables.
      name: the name of the layer and of the scope of its variables.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.SeparableConv2D`.
    """

    _n = 2

    def __init__(self, filters: Any, kernel_size: Any, strides: Any = (1, 1), padding: Any = "valid",
                 data_format: Any = "channels_last", dilation_rate: Any = (1, 1), depth_multiplier: Any = 1,
                 activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                 pointwise_initializer: Any = None, bias_initializer: Any = "zeros",
                 depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
                 activity_regularizer: Any = None, depthwise_constraint: Any = None, pointwise_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
                 **kwargs: Any):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier,
                         activation, use_bias, depthwise_initializer, pointwise_initializer, bias_initializer,
                         depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer,
                         depthwise_constraint, pointwise_constraint, bias_constraint, trainable, name,
                         kwargs)


def separable_conv2d(inputs: TensorLike, filters: Any, kernel_size: Any, strides: Any = (1, 1), padding: Any = "valid",
                     data_format: Any = "channels_last", dilation_rate: Any = (1, 1), depth_multiplier: Any = 1,
                     activation: Any = None, use_bias: bool = True, depthwise_initializer: Any = None,
                     pointwise_initializer: Any = None, bias_initializer: Any = "zeros",
                     depthwise_regularizer: Any = None, pointwise_regularizer: Any = None, bias_regularizer: Any = None,
                     activity_regularizer: Any = None, depthwise_constraint: Any = None,
                     pointwise_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                     name: str | None = None, reuse: Any = None) -> Tensor:
    """Applies a depthwise separable convolution to images, with bias and activation.

    Args:
      inputs: (N, H, W, C), or with the channels second.
      filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
        depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer, pointwise_regularizer,
        bias_regularizer, activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint,
        trainable, name: as for `SeparableConv2D`.
      reuse: whether to reuse the variables of an existing layer of that name.
    Returns: a tensor of the inputs' rank, with `filters` channels.
    Raises: ValueError for arguments that do not fit, and where the number of channels is not known.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.layers.separable_conv2d`.

    >>> y = tf.layers.separable_conv2d(tf.ones([2, 8, 8, 3]), 4, 3)
    >>> [v.op.name for v in tf.trainable_variables()]
    ['separable_conv2d/depthwise_kernel', 'separable_conv2d/pointwise_kernel', 'separable_conv2d/bias']
    """
    layer = SeparableConv2D(filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier,
                            activation, use_bias, depthwise_initializer, pointwise_initializer, bias_initializer,
                            depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer,
                            depthwise_constraint, pointwise_constraint, bias_constraint, trainable, name,
                            _reuse=reuse, _scope=name)
    return layer.apply(inputs)


separable_convolution2d = separable_conv2d
