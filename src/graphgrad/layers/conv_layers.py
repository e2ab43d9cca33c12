"""`tf.layers`: convolutions."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.tensor import Tensor, TensorLike

from .conv_layer_base import PlainConvolution, TransposedConvolution


class Conv1D(PlainConvolution):
    """A convolution of sequences, with bias and activation.

    Args:
      filters: the number of output channels.
      kernel_size: the size of the window: an int, or one for each spatial dimension.
      strides, dilation_rate: the strides and dilations of the window.
      padding: "valid" or "same", or "causal": without later elements.
      data_format: "channels_last" or "channels_first".
      activation: a function, or None.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: Glorot's, or the scope's, and zeros by default.
      kernel_regularizer, bias_regularizer: functions of a variable that give a loss, or None.
      kernel_constraint, bias_constraint: functions that optimizers apply to updated values, or None.
      activity_regularizer: a function of the output that gives a loss, or None.
      trainable: whether optimizers update the variables.
      name: the name of the layer and of the scope of its variables.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.Conv1D`.
    """

    _n = 1

    def __init__(self, filters: Any, kernel_size: Any, strides: Any = 1, padding: Any = "valid",
                 data_format: Any = "channels_last", dilation_rate: Any = 1, activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                 name: str | None = None, **kwargs: Any):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, kwargs)


def conv1d(inputs: TensorLike, filters: Any, kernel_size: Any, strides: Any = 1, padding: Any = "valid",
           data_format: Any = "channels_last", dilation_rate: Any = 1, activation: Any = None, use_bias: bool = True,
           kernel_initializer: Any = None, bias_initializer: Any = "zeros", kernel_regularizer: Any = None,
           bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
           bias_constraint: Any = None, trainable: bool = True, name: str | None = None, reuse: Any = None) -> Tensor:
    """Convolves sequences, with bias and activation.

    Args:
      inputs: (N, W, C), or with the channels second.
      filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name: as for `Conv1D`.
      reuse: whether to reuse the variables of an existing layer of that name.
    Returns: a tensor of the inputs' rank, with `filters` channels.
    Raises: ValueError for arguments that do not fit, and where the number of channels is not known.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.layers.conv1d`.

    >>> tf.layers.conv1d(tf.ones([2, 8, 3]), 4, 3, padding="same").shape.as_list()
    [2, 8, 4]
    """
    layer = Conv1D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                   kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                   kernel_constraint, bias_constraint, trainable, name, _reuse=reuse, _scope=name)
    return layer.apply(inputs)


class Conv2D(PlainConvolution):
    """A convolution of images, with bias and activation.

    Args:
      filters: the number of output channels.
      kernel_size: the size of the window: an int, or one for each spatial dimension.
      strides, dilation_rate: the strides and dilations of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      activation: a function, or None.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: Glorot's, or the scope's, and zeros by default.
      kernel_regularizer, bias_regularizer: functions of a variable that give a loss, or None.
      kernel_constraint, bias_constraint: functions that optimizers apply to updated values, or None.
      activity_regularizer: a function of the output that gives a loss, or None.
      trainable: whether optimizers update the variables.
      name: the name of the layer and of the scope of its variables.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.Conv2D`.
    """

    _n = 2

    def __init__(self, filters: Any, kernel_size: Any, strides: Any = (1, 1), padding: Any = "valid",
                 data_format: Any = "channels_last", dilation_rate: Any = (1, 1), activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                 name: str | None = None, **kwargs: Any):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, kwargs)


def conv2d(inputs: TensorLike, filters: Any, kernel_size: Any, strides: Any = (1, 1), padding: Any = "valid",
           data_format: Any = "channels_last", dilation_rate: Any = (1, 1), activation: Any = None,
           use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = "zeros",
           kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
           kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
           reuse: Any = None) -> Tensor:
    """Convolves images, with bias and activation.

    Args:
      inputs: (N, H, W, C), or with the channels second.
      filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name: as for `Conv2D`.
      reuse: whether to reuse the variables of an existing layer of that name.
    Returns: a tensor of the inputs' rank, with `filters` channels.
    Raises: ValueError for arguments that do not fit, and where the number of channels is not known.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.layers.conv2d`.

    >>> y = tf.layers.conv2d(tf.ones([2, 8, 8, 3]), 4, 3, activation=tf.nn.relu)
    >>> y.name, y.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ('conv2d/Relu:0', [2, 6, 6, 4], ['conv2d/kernel:0', 'conv2d/bias:0'])
    """
    layer = Conv2D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                   kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                   kernel_constraint, bias_constraint, trainable, name, _reuse=reuse, _scope=name)
    return layer.apply(inputs)


class Conv3D(PlainConvolution):
    """A convolution of volumes, with bias and activation.

    Args:
      filters: the number of output channels.
      kernel_size: the size of the window: an int, or one for each spatial dimension.
      strides, dilation_rate: the strides and dilations of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      activation: a function, or None.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: Glorot's, or the scope's, and zeros by default.
      kernel_regularizer, bias_regularizer: functions of a variable that give a loss, or None.
      kernel_constraint, bias_constraint: functions that optimizers apply to updated values, or None.
      activity_regularizer: a function of the output that gives a loss, or None.
      trainable: whether optimizers update the variables.
      name: the name of the layer and of the scope of its variables.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.Conv3D`.
    """

    _n = 3

    def __init__(self, filters: Any, kernel_size: Any, strides: Any = (1, 1, 1), padding: Any = "valid",
                 data_format: Any = "channels_last", dilation_rate: Any = (1, 1, 1), activation: Any = None,
                 use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = "zeros",
                 kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                 kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                 name: str | None = None, **kwargs: Any):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, kwargs)


def conv3d(inputs: TensorLike, filters: Any, kernel_size: Any, strides: Any = (1, 1, 1), padding: Any = "valid",
           data_format: Any = "channels_last", dilation_rate: Any = (1, 1, 1), activation: Any = None,
           use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = "zeros",
           kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
           kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
           reuse: Any = None) -> Tensor:
    """Convolves volumes, with bias and activation.

    Args:
      inputs: (N, D, H, W, C), or with the channels second.
      filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name: as for `Conv3D`.
      reuse: whether to reuse the variables of an existing layer of that name.
    Returns: a tensor of the inputs' rank, with `filters` channels.
    Raises: ValueError for arguments that do not fit, and where the number of channels is not known.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.layers.conv3d`.

    >>> tf.layers.conv3d(tf.ones([2, 4, 4, 4, 1]), 2, 3).shape.as_list()
    [2, 2, 2, 2, 2]
    """
    layer = Conv3D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                   kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                   kernel_constraint, bias_constraint, trainable, name, _reuse=reuse, _scope=name)
    return layer.apply(inputs)


class Conv2DTranspose(TransposedConvolution):
    """The transpose of a convolution of images, with bias and activation.

    Args:
      filters: the number of output channels.
      kernel_size: the size of the window: an int, or one for each spatial dimension.
      strides: the strides of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      activation: a function, or None.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: Glorot's, or the scope's, and zeros by default.
      kernel_regularizer, bias_regularizer: functions of a variable that give a loss, or None.
      kernel_constraint, bias_constraint: functions that optimizers apply to updated values, or None.
      activity_regularizer: a function of the output that gives a loss, or None.
      trainable: whether optimizers update the variables.
      name: the name of the layer and of the scope of its variables.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.Conv2DTranspose`.
    """

    _n = 2

    def __init__(self, filters: Any, kernel_size: Any, strides: Any = (1, 1), padding: Any = "valid",
                 data_format: Any = "channels_last", activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = None, bias_initializer: Any = "zeros", kernel_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
                 **kwargs: Any):
        super().__init__(filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, kwargs)


def conv2d_transpose(inputs: TensorLike, filters: Any, kernel_size: Any, strides: Any = (1, 1), padding: Any = "valid",
                     data_format: Any = "channels_last", activation: Any = None, use_bias: bool = True,
                     kernel_initializer: Any = None, bias_initializer: Any = "zeros", kernel_regularizer: Any = None,
                     bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                     bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
                     reuse: Any = None) -> Tensor:
    """Applies the transpose of a convolution of images, with bias and activation.

    Args:
      inputs: (N, H, W, C), or with the channels second.
      filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer, bias_initializer,
        kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable,
        name: as for `Conv2DTranspose`.
      reuse: whether to reuse the variables of an existing layer of that name.
    Returns: a tensor of the inputs' rank, with `filters` channels.
    Raises: ValueError for arguments that do not fit, and where the number of channels is not known.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.layers.conv2d_transpose`.

    >>> tf.layers.conv2d_transpose(tf.ones([2, 4, 4, 3]), 5, 3, strides=2, padding="same").shape.as_list()
    [2, 8, 8, 5]
    """
    layer = Conv2DTranspose(filters, kernel_size, strides, padding, data_format, activation, use_bias,
                            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                            activity_regularizer, kernel_constraint, bias_constraint, trainable, name, _reuse=reuse,
                            _scope=name)
    return layer.apply(inputs)


class Conv3DTranspose(TransposedConvolution):
    """The transpose of a convolution of volumes, with bias and activation.

    Args:
      filters: the number of output channels.
      kernel_size: the size of the window: an int, or one for each spatial dimension.
      strides: the strides of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      activation: a function, or None.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: Glorot's, or the scope's, and zeros by default.
      kernel_regularizer, bias_regularizer: functions of a variable that give a loss, or None.
      kernel_constraint, bias_constraint: functions that optimizers apply to updated values, or None.
      activity_regularizer: a function of the output that gives a loss, or None.
      trainable: whether optimizers update the variables.
      name: the name of the layer and of the scope of its variables.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.Conv3DTranspose`.
    """

    _n = 3

    def __init__(self, filters: Any, kernel_size: Any, strides: Any = (1, 1, 1), padding: Any = "valid",
                 data_format: Any = "channels_last", activation: Any = None, use_bias: bool = True,
                 kernel_initializer: Any = None, bias_initializer: Any = "zeros", kernel_regularizer: Any = None,
                 bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
                 bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
                 **kwargs: Any):
        super().__init__(filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, kwargs)


def conv3d_transpose(inputs: TensorLike, filters: Any, kernel_size: Any, strides: Any = (1, 1, 1),
                     padding: Any = "valid", data_format: Any = "channels_last", activation: Any = None,
                     use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = "zeros",
                     kernel_regularizer: Any = None, bias_regularizer: Any = None, activity_regularizer: Any = None,
                     kernel_constraint: Any = None, bias_constraint: Any = None, trainable: bool = True,
                     name: str | None = None, reuse: Any = None) -> Tensor:
    """Applies the transpose of a convolution of volumes, with bias and activation.

    Args:
      inputs: (N, D, H, W, C), or with the channels second.
      filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer, bias_initializer,
        kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable,
        name: as for `Conv3DTranspose`.
      reuse: whether to reuse the variables of an existing layer of that name.
    Returns: a tensor of the inputs' rank, with `filters` channels.
    Raises: ValueError for arguments that do not fit, and where the number of channels is not known.
    Gradient: those of its operations.
    Reference: TensorFlow 1.15 `tf.layers.conv3d_transpose`.

    >>> tf.layers.conv3d_transpose(tf.ones([2, 2, 2, 2, 1]), 3, 2, strides=2).shape.as_list()
    [2, 4, 4, 4, 3]
    """
    layer = Conv3DTranspose(filters, kernel_size, strides, padding, data_format, activation, use_bias,
                            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                            activity_regularizer, kernel_constraint, bias_constraint, trainable, name, _reuse=reuse,
                            _scope=name)
    return layer.apply(inputs)


convolution1d = conv1d
convolution2d = conv2d
convolution3d = conv3d
deconvolution2d = conv2d_transpose
deconvolution3d = conv3d_transpose
