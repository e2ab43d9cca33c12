"""Public functions of depthwise and separable convolution, for TensorFlow 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import ShapeLike, Tensor, TensorLike
from graphgrad.ops.common.synonyms import either

from .conv_arguments import attributes, operands


def depthwise_conv2d(input: TensorLike, filter: TensorLike, strides: int | Sequence[Any], padding: str | Sequence[Any],
                     data_format: str | None = None, dilations: int | Sequence[Any] | None = None,
                     name: str | None = None) -> Tensor:
    """Convolves each channel with filters of its own.

    Args:
      input: (N, H, W, C).
      filter: (h, w, C, M), of the same dtype.
      strides: a list of 4.
      padding: "SAME", "VALID", or for each dimension a pair (before, after).
      data_format: "NHWC" or "NCHW".
      dilations: the dilations of the filter, a list of 2.
      name: a name for the scope of the operations.
    Returns: (N, H', W', C * M).
    Raises: ValueError if the depths do not match or the window is larger than the input.
    Gradient: the two backpropagation ops of DepthwiseConv2dNative, differentiable again.
    Reference: TensorFlow 2.21 DepthwiseConv2dNative.

    >>> x, ones = np.ones((1, 2, 2, 2)), np.ones((2, 2, 2, 1))
    >>> sess.run(tf.nn.depthwise_conv2d(x, ones, [1, 1, 1, 1], "VALID")).ravel()
    array([4., 4.])
    """
    with name_scope(name, "depthwise"):
        x, filter = operands(input, filter)
        return raw.DepthwiseConv2dNative(x, filter, **attributes(2, strides, padding, data_format or "NHWC", dilations))


def depthwise_conv2d_v1(input: TensorLike, filter: TensorLike, strides: int | Sequence[Any],
                        padding: str | Sequence[Any], rate: int | Sequence[Any] | None = None, name: str | None = None,
                        data_format: str | None = None, dilations: Any = None) -> Tensor:
    """Convolves each channel with filters of its own: `depthwise_conv2d` with TensorFlow 1's arguments.

    Args:
      input: (N, H, W, C).
      filter: (h, w, C, M), of the same dtype.
      strides: a list of 4.
      padding: "SAME", "VALID", or for each dimension a pair (before, after).
      rate, dilations: the dilations of the filter, a list of 2.
      name: a name for the scope of the operations.
      data_format: "NHWC" or "NCHW".
    Returns: (N, H', W', C * M).
    Raises: ValueError if the depths do not match or the window is larger than the input.
    Gradient: the two backpropagation ops of DepthwiseConv2dNative, differentiable again.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.depthwise_conv2d`.
    """
    return depthwise_conv2d(input, filter, strides, padding, data_format, either("dilations", dilations, "rate", rate),
                            name)


def depthwise_conv2d_native(input: TensorLike, filter: TensorLike, strides: int | Sequence[Any], padding: Any,
                            data_format: str = "NHWC", dilations: int | Sequence[Any] = [1, 1, 1, 1],
                            name: str | None = None) -> Tensor:
    """Convolves each channel with filters of its own: the op that `depthwise_conv2d` builds.

    Args:
      input: (N, H, W, C).
      filter: (h, w, C, M), of the same dtype.
      strides, padding, data_format, dilations: as in `depthwise_conv2d`, lists of 4.
      name: a name for the operation.
    Returns: (N, H', W', C * M).
    Raises: ValueError if the depths do not match or the window is larger than the input.
    Gradient: its two backpropagation ops, differentiable again.
    Reference: TensorFlow 2.21 DepthwiseConv2dNative.
    """
    return raw.DepthwiseConv2dNative(input, filter, name=name,
                                     **attributes(2, strides, padding, data_format, dilations))


def depthwise_conv2d_backprop_input(input_sizes: ShapeLike, filter: TensorLike, out_backprop: TensorLike,
                                    strides: int | Sequence[Any], padding: Any, data_format: str = "NHWC",
                                    dilations: int | Sequence[Any] = [1, 1, 1, 1], name: str | None = None) -> Tensor:
    """Computes the gradient of `depthwise_conv2d` with respect to its input.

    Args:
      input_sizes: the shape of the input, an integer vector.
      filter: (h, w, C, M).
      out_backprop: the gradient of the result.
      strides, padding, data_format, dilations: as in `depthwise_conv2d`, lists of 4.
      name: a name for the operation.
    Returns: a tensor of shape `input_sizes`.
    Raises: ValueError if the shapes are incompatible.
    Gradient: the other two ops of depthwise convolution.
    Reference: TensorFlow 2.21 DepthwiseConv2dNativeBackpropInput.
    """
    return raw.DepthwiseConv2dNativeBackpropInput(input_sizes, filter, out_backprop, name=name,
                                                  **attributes(2, strides, padding, data_format, dilations))


def depthwise_conv2d_backprop_filter(input: TensorLike, filter_sizes: ShapeLike, out_backprop: TensorLike,
                                     strides: int | Sequence[Any], padding: Any, data_format: str = "NHWC",
                                     dilations: int | Sequence[Any] = [1, 1, 1, 1], name: str | None = None) -> Tensor:
    """Computes the gradient of `depthwise_conv2d` with respect to its filter.

    Args:
      input: (N, H, W, C).
      filter_sizes: the shape of the filter, an integer vector.
      out_backprop: the gradient of the result.
      strides, padding, data_format, dilations: as in `depthwise_conv2d`, lists of 4.
      name: a name for the operation.
    Returns: a tensor of shape `filter_sizes`.
    Raises: ValueError if the shapes are incompatible.
    Gradient: the other two ops of depthwise convolution.
    Reference: TensorFlow 2.21 DepthwiseConv2dNativeBackpropFilter.
    """
    return raw.DepthwiseConv2dNativeBackpropFilter(input, filter_sizes, out_backprop, name=name,
                                                   **attributes(2, strides, padding, data_format, dilations))


def separable_conv2d(input: TensorLike, depthwise_filter: TensorLike, pointwise_filter: TensorLike,
                     strides: int | Sequence[Any], padding: str, data_format: str | None = None,
                     dilations: int | Sequence[Any] | None = None, name: str | None = None) -> Tensor:
    """Applies a depthwise convolution, then one that mixes the channels of each point.

    Args:
      input: (N, H, W, C).
      depthwise_filter: (h, w, C, M).
      pointwise_filter: (1, 1, C * M, O).
      strides: a list of 4, for the depthwise one.
      padding: "SAME" or "VALID".
      data_format: "NHWC" or "NCHW".
      dilations: the dilations of the depthwise filter, a list of 2.
      name: a name for the operation.
    Returns: (N, H', W', O).
    Raises: ValueError if the pointwise filter is not 1 x 1 or the depths do not match.
    Gradient: those of the two convolutions.
    Reference: TensorFlow 2.21 `tf.nn.separable_conv2d`.

    >>> x, ones, mix = np.ones((1, 2, 2, 2)), np.ones((2, 2, 2, 1)), np.ones((1, 1, 2, 1))
    >>> sess.run(tf.nn.separable_conv2d(x, ones, mix, [1, 1, 1, 1], "VALID")).ravel()
    array([8.])
    """
    with name_scope(name, "separable_conv2d") as scope:
        x, deep = operands(input, depthwise_filter)
        point = convert_to_tensor(pointwise_filter, dtype_hint=x.dtype, name="pointwise_filter")
        if point._spec.shape is not None and tuple(point._spec.shape[:2]) not in ((1, 1), (None, 1), (1, None)):
            raise ValueError(f"`pointwise_filter` must have shape [1, 1, ...], not {point.shape}. "
                             "Fix: reshape it, or use conv2d")
        layout = data_format or "NHWC"
        middle = raw.DepthwiseConv2dNative(x, deep, name="depthwise",
                                           **attributes(2, strides, padding, layout, dilations))
        return raw.Conv2D(middle, point, name=scope or None, **attributes(2, 1, "VALID", layout, None))


def separable_conv2d_v1(input: TensorLike, depthwise_filter: TensorLike, pointwise_filter: TensorLike,
                        strides: int | Sequence[Any], padding: str, rate: int | Sequence[Any] | None = None,
                        name: str | None = None, data_format: str | None = None, dilations: Any = None) -> Tensor:
    """Applies a depthwise and a pointwise convolution: `separable_conv2d` with TensorFlow 1's arguments.

    Args:
      input: (N, H, W, C).
      depthwise_filter: (h, w, C, M).
      pointwise_filter: (1, 1, C * M, O).
      strides: a list of 4, for the depthwise one.
      padding: "SAME" or "VALID".
      rate, dilations: the dilations of the depthwise filter, a list of 2.
      name: a name for the operation.
      data_format: "NHWC" or "NCHW".
    Returns: (N, H', W', O).
    Raises: ValueError if the pointwise filter is not 1 x 1 or the depths do not match.
    Gradient: those of the two convolutions.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.separable_conv2d`.
    """
    return separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format,
                            either("dilations", dilations, "rate", rate), name)
