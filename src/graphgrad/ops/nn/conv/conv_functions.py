"""Public functions of convolution in one, two or any number of dimensions, for TensorFlow 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import ShapeLike, Tensor, TensorLike
from graphgrad.ops.common.shape_values import join, part
from graphgrad.ops.common.synonyms import either

from .conv3d_functions import conv3d, conv3d_transpose
from .conv_arguments import attributes, in_batches, numbers, operands

# -- two dimensions --------------------------------------------------------------------


def conv2d(input: TensorLike, filters: TensorLike, strides: int | Sequence[Any], padding: str | Sequence[Any],
           data_format: str = "NHWC", dilations: int | Sequence[Any] | None = None, name: str | None = None) -> Tensor:
    """Convolves (cross-correlates) images with filters.

    Args:
      input: (*B, H, W, I), or (*B, I, H, W) for data_format "NCHW".
      filters: (h, w, I / groups, O), of the same dtype.
      strides: an int, or a list of 1, 2 or 4.
      padding: "SAME", "VALID", or for each dimension a pair (before, after).
      data_format: "NHWC" or "NCHW".
      dilations: the dilations of the filter, like `strides`.
      name: a name for the operation.
    Returns: (*B, H', W', O).
    Raises: ValueError if the depths do not match or the window is larger than the input.
    Gradient: Conv2DBackpropInput and Conv2DBackpropFilter, differentiable again.
    Reference: TensorFlow 2.21 Conv2D.

    >>> image, ones = np.arange(9.0).reshape(1, 3, 3, 1), np.ones((2, 2, 1, 1))
    >>> sess.run(tf.nn.conv2d(image, ones, 1, "VALID"))[0, ..., 0]
    array([[ 8., 12.],
           [20., 24.]])
    """
    x, filters = operands(input, filters)
    attrs = attributes(2, strides, padding, data_format or "NHWC", dilations)
    return in_batches(x, 2, lambda x: raw.Conv2D(x, filters, name=name, **attrs))


def conv2d_v1(input: TensorLike, filter: TensorLike = None, strides: Any = None, padding: Any = None,
              use_cudnn_on_gpu: bool = True, data_format: str = "NHWC", dilations: int | Sequence[Any] = [1, 1, 1, 1],
              name: str | None = None, filters: TensorLike = None) -> Tensor:
    """Convolves images with filters: `conv2d` with TensorFlow 1's arguments.

    Args:
      input: (*B, H, W, I), or (*B, I, H, W) for data_format "NCHW".
      filter, filters: (h, w, I / groups, O), of the same dtype.
      strides: an int, or a list of 1, 2 or 4.
      padding: "SAME", "VALID", or for each dimension a pair (before, after).
      use_cudnn_on_gpu: accepted as TensorFlow does; not used.
      data_format: "NHWC" or "NCHW".
      dilations: the dilations of the filter, like `strides`.
      name: a name for the operation.
    Returns: (*B, H', W', O).
    Raises: ValueError if the depths do not match or the window is larger than the input.
    Gradient: Conv2DBackpropInput and Conv2DBackpropFilter, differentiable again.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.conv2d`.
    """
    filters = either("filters", filters, "filter", filter)
    return conv2d(input, filters, strides, padding, data_format, dilations, name)


def conv2d_backprop_input(input_sizes: ShapeLike, filter: TensorLike = None, out_backprop: TensorLike = None,
                          strides: Any = None, padding: Any = None,
                          use_cudnn_on_gpu: bool = True, data_format: str = "NHWC",
                          dilations: int | Sequence[Any] = [1, 1, 1, 1], name: str | None = None,
                          filters: TensorLike = None) -> Tensor:
    """Computes the gradient of `conv2d` with respect to its input.

    Args:
      input_sizes: the shape of the input, an integer vector.
      filter, filters: (h, w, I / groups, O).
      out_backprop: the gradient of the result.
      strides, padding, data_format, dilations: as in `conv2d`.
      use_cudnn_on_gpu: accepted as TensorFlow does; not used.
      name: a name for the operation.
    Returns: a tensor of shape `input_sizes`.
    Raises: ValueError if `out_backprop` does not have the result's shape.
    Gradient: Conv2DBackpropFilter and Conv2D.
    Reference: TensorFlow 2.21 Conv2DBackpropInput.

    >>> dy, ones = np.ones((1, 1, 1, 1)), np.ones((2, 2, 1, 1))
    >>> sess.run(tf.nn.conv2d_backprop_input([1, 2, 2, 1], ones, dy, 1, "VALID"))[0, ..., 0]
    array([[1., 1.],
           [1., 1.]])
    """
    filters = either("filters", filters, "filter", filter)
    return raw.Conv2DBackpropInput(input_sizes, filters, out_backprop, name=name,
                                   **attributes(2, strides, padding, data_format, dilations))


def conv2d_backprop_filter(input: TensorLike, filter_sizes: ShapeLike, out_backprop: TensorLike,
                           strides: int | Sequence[Any], padding: Any, use_cudnn_on_gpu: bool = True,
                           data_format: str = "NHWC", dilations: int | Sequence[Any] = [1, 1, 1, 1],
                           name: str | None = None) -> Tensor:
    """Computes the gradient of `conv2d` with respect to its filters.

    Args:
      input: (N, H, W, I).
      filter_sizes: the shape of the filters, an integer vector.
      out_backprop: the gradient of the result.
      strides, padding, data_format, dilations: as in `conv2d`.
      use_cudnn_on_gpu: accepted as TensorFlow does; not used.
      name: a name for the operation.
    Returns: a tensor of shape `filter_sizes`.
    Raises: ValueError if `out_backprop` does not have the result's shape.
    Gradient: Conv2DBackpropInput and Conv2D.
    Reference: TensorFlow 2.21 Conv2DBackpropFilter.
    """
    return raw.Conv2DBackpropFilter(input, filter_sizes, out_backprop, name=name,
                                    **attributes(2, strides, padding, data_format, dilations))


def conv2d_transpose(input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: int | Sequence[Any],
                     padding: str | Sequence[Any] = "SAME", data_format: str = "NHWC",
                     dilations: int | Sequence[Any] | None = None, name: str | None = None) -> Tensor:
    """Computes the transpose ("deconvolution") of `conv2d`: its gradient, used as a forward function.

    Args:
      input: (N, H, W, I).
      filters: (h, w, O, I), of the same dtype.
      output_shape: the shape of the result, an integer vector.
      strides, padding, data_format, dilations: of the convolution that is transposed.
      name: a name for the operation.
    Returns: a tensor of shape `output_shape`.
    Raises: ValueError if a convolution of a tensor of that shape does not have the shape of `input`.
    Gradient: Conv2D and Conv2DBackpropFilter.
    Reference: TensorFlow 2.21 `tf.nn.conv2d_transpose`.

    >>> x, ones = np.ones((1, 1, 1, 1)), np.ones((2, 2, 1, 1))
    >>> sess.run(tf.nn.conv2d_transpose(x, ones, [1, 2, 2, 1], strides=2))[0, ..., 0]
    array([[1., 1.],
           [1., 1.]])
    """
    with name_scope(name, "conv2d_transpose") as scope:
        x, filters = operands(input, filters)
        return raw.Conv2DBackpropInput(output_shape, filters, x, name=scope or None,
                                       **attributes(2, strides, padding, data_format or "NHWC", dilations))


def conv2d_transpose_v1(value: TensorLike = None, filter: TensorLike = None, output_shape: Any = None,
                        strides: Any = None, padding: str | Sequence[Any] = "SAME", data_format: str = "NHWC",
                        name: str | None = None, input: TensorLike = None, filters: TensorLike = None,
                        dilations: Any = None) -> Tensor:
    """Computes the transpose of `conv2d`: `conv2d_transpose` with TensorFlow 1's arguments.

    Args:
      value, input: (N, H, W, I).
      filter, filters: (h, w, O, I), of the same dtype.
      output_shape: the shape of the result, an integer vector.
      strides, padding, data_format, dilations: of the convolution that is transposed.
      name: a name for the operation.
    Returns: a tensor of shape `output_shape`.
    Raises: ValueError if a convolution of a tensor of that shape does not have the shape of `value`.
    Gradient: Conv2D and Conv2DBackpropFilter.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.conv2d_transpose`.
    """
    return conv2d_transpose(either("input", input, "value", value), either("filters", filters, "filter", filter),
                            output_shape, strides, padding, data_format, dilations, name)


def atrous_conv2d(value: TensorLike, filters: TensorLike, rate: int | Sequence[Any], padding: str,
                  name: str | None = None) -> Tensor:
    """Convolves images with dilated filters.

    Args:
      value: (N, H, W, I).
      filters: (h, w, I, O).
      rate: the dilation of the filter.
      padding: "SAME" or "VALID".
      name: a name for the operation.
    Returns: (N, H', W', O).
    Raises: ValueError if the depths do not match.
    Gradient: that of `conv2d`.
    Reference: TensorFlow 2.21 `tf.nn.atrous_conv2d`.
    """
    return conv2d(value, filters, 1, padding, "NHWC", rate, name)


def atrous_conv2d_transpose(value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int | Sequence[Any],
                            padding: str, name: str | None = None) -> Tensor:
    """Computes the transpose of `atrous_conv2d`.

    Args:
      value: (N, H, W, I).
      filters: (h, w, O, I).
      output_shape: the shape of the result.
      rate: the dilation of the filter.
      padding: "SAME" or "VALID".
      name: a name for the operation.
    Returns: a tensor of shape `output_shape`.
    Raises: ValueError if the shapes are incompatible.
    Gradient: that of `conv2d_transpose`.
    Reference: TensorFlow 2.21 `tf.nn.atrous_conv2d_transpose`.
    """
    return conv2d_transpose(value, filters, output_shape, 1, padding, "NHWC", rate, name)


# -- one dimension ---------------------------------------------------------------------


def _line(data_format):
    """Returns the data format for images, and the axis to insert, for a format of sequences."""
    if data_format in (None, "NWC", "NHWC"):
        return "NHWC", 1
    if data_format in ("NCW", "NCHW"):
        return "NCHW", 2
    raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")


def _across(value, data_format, what):
    """Converts strides or dilations of sequences to those of images."""
    one = numbers(value, 1, data_format == "NCHW", what)
    return (one[0], one[1], 1, one[2]) if data_format == "NCHW" else (one[0], 1, one[1], one[2])


def conv1d(input: TensorLike, filters: TensorLike, stride: int | Sequence[Any], padding: str,
           data_format: str | None = "NWC", dilations: int | Sequence[Any] | None = None,
           name: str | None = None) -> Tensor:
    """Convolves sequences with filters.

    Args:
      input: (*B, W, I), or (*B, I, W) for data_format "NCW".
      filters: (w, I / groups, O), of the same dtype.
      stride: an int, or a list of 1 or 3.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW".
      dilations: the dilation of the filter, like `stride`.
      name: a name for the scope of the operations.
    Returns: (*B, W', O).
    Raises: ValueError if the depths do not match or the window is larger than the input.
    Gradient: that of Conv2D.
    Reference: TensorFlow 2.21 `tf.nn.conv1d`.

    >>> sess.run(tf.nn.conv1d(np.ones((1, 3, 1)), np.ones((2, 1, 1)), 1, "VALID"))[0, :, 0]
    array([2., 2.])
    """
    with name_scope(name, "conv1d"):
        x, filters = operands(input, filters)
        layout, axis = _line(data_format)
        filters = raw.ExpandDims(filters, 0)
        attrs = attributes(2, _across(stride, layout, "stride"), padding, layout,
                           _across(dilations, layout, "dilations"))

        def apply(x):
            return raw.Squeeze(raw.Conv2D(raw.ExpandDims(x, axis), filters, **attrs), squeeze_dims=(axis,))

        return in_batches(x, 1, apply)


def conv1d_v1(value: TensorLike = None, filters: TensorLike = None, stride: Any = None, padding: Any = None,
              use_cudnn_on_gpu: bool | None = None, data_format: str | None = None, name: str | None = None,
              input: TensorLike = None, dilations: Any = None) -> Tensor:
    """Convolves sequences with filters: `conv1d` with TensorFlow 1's arguments.

    Args:
      value, input: (*B, W, I), or (*B, I, W) for data_format "NCW".
      filters: (w, I / groups, O), of the same dtype.
      stride: an int, or a list of 1 or 3.
      padding: "SAME" or "VALID".
      use_cudnn_on_gpu: accepted as TensorFlow does; not used.
      data_format: "NWC" or "NCW".
      name: a name for the scope of the operations.
      dilations: the dilation of the filter, like `stride`.
    Returns: (*B, W', O).
    Raises: ValueError if the depths do not match or the window is larger than the input.
    Gradient: that of Conv2D.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.conv1d`.
    """
    return conv1d(either("input", input, "value", value), filters, stride, padding, data_format, dilations, name)


def conv1d_transpose(input: TensorLike, filters: TensorLike, output_shape: TensorLike, strides: int | Sequence[Any],
                     padding: str | Sequence[Any] = "SAME", data_format: str = "NWC",
                     dilations: int | Sequence[Any] | None = None, name: str | None = None) -> Tensor:
    """Computes the transpose of `conv1d`.

    Args:
      input: (N, W, I).
      filters: (w, O, I).
      output_shape: the shape of the result, an integer vector.
      strides, padding, data_format, dilations: of the convolution that is transposed.
      name: a name for the scope of the operations.
    Returns: a tensor of shape `output_shape`.
    Raises: ValueError if the shapes are incompatible.
    Gradient: that of Conv2DBackpropInput.
    Reference: TensorFlow 2.21 `tf.nn.conv1d_transpose`.

    >>> x, ones = np.ones((1, 2, 1)), np.ones((2, 1, 1))
    >>> sess.run(tf.nn.conv1d_transpose(x, ones, [1, 4, 1], strides=2))[0, :, 0]
    array([1., 1., 1., 1.])
    """
    with name_scope(name, "conv1d_transpose"):
        x, filters = operands(input, filters)
        layout, axis = _line(data_format)
        if hasattr(output_shape, "_spec"):
            full = join(part(output_shape, 0, axis), [1], part(output_shape, axis, 3))
        else:
            full = [*output_shape[:axis], 1, *output_shape[axis:]]
        y = raw.Conv2DBackpropInput(full, raw.ExpandDims(filters, 0), raw.ExpandDims(x, axis), **attributes(
            2, _across(strides, layout, "strides"), padding, layout, _across(dilations, layout, "dilations")))
        return raw.Squeeze(y, squeeze_dims=(axis,))


# -- any number of dimensions ----------------------------------------------------------


def _number_of(sizes):
    if hasattr(sizes, "_spec"):
        shape = sizes._spec.shape
        return shape and shape[0]
    return len(sizes)


def conv_transpose(input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: int | Sequence[Any],
                   padding: str | Sequence[Any] = "SAME", data_format: str | None = None,
                   dilations: int | Sequence[Any] | None = None, name: str | None = None) -> Tensor:
    """Computes the transpose of a convolution in one, two or three dimensions.

    Args:
      input: (N, *spatial, I).
      filters: (*window, O, I).
      output_shape: the shape of the result, of known length 3, 4 or 5.
      strides, padding, data_format, dilations: of the convolution that is transposed.
      name: a name for the operation.
    Returns: a tensor of shape `output_shape`.
    Raises: ValueError for another length.
    Gradient: that of the convolution it calls.
    Reference: TensorFlow 2.21 `tf.nn.conv_transpose`.
    """
    which = {3: (conv1d_transpose, "NWC"), 4: (conv2d_transpose, "NHWC"), 5: (conv3d_transpose, "NDHWC")}
    n = _number_of(output_shape)
    if n not in which:
        raise ValueError(f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape}")
    function, layout = which[n]
    return function(input, filters, output_shape, strides, padding, data_format or layout, dilations, name)


def convolution(input: TensorLike, filters: TensorLike, strides: int | Sequence[Any] | None = None,
                padding: str = "VALID", data_format: str | None = None, dilations: int | Sequence[Any] | None = None,
                name: str | None = None) -> Tensor:
    """Convolves in one, two or three dimensions, according to the filter's rank.

    Args:
      input: (*B, *spatial, I), or (*B, I, *spatial) for a data format that begins with "NC".
      filters: (*window, I / groups, O).
      strides: a number for each spatial dimension, or None.
      padding: "VALID" or "SAME".
      data_format: "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW" or None.
      dilations: the dilations of the filter, like `strides`.
      name: a name for the operation.
    Returns: the convolved tensor.
    Raises: ValueError if the number of dimensions is not 1, 2 or 3.
    Gradient: that of the convolution it calls.
    Reference: TensorFlow 2.21 `tf.nn.convolution`.

    >>> sess.run(tf.nn.convolution(np.ones((1, 3, 1)), np.ones((2, 1, 1)), padding="VALID"))[0, :, 0]
    array([2., 2.])
    """
    x, filters = operands(input, filters)
    shape = filters._spec.shape if filters._spec.shape is not None else x._spec.shape
    nd = None if shape is None else len(shape) - 2
    if nd not in (1, 2, 3):
        raise ValueError(f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={nd}. "
                         "Fix: give a filter of rank 3, 4 or 5")
    function, layout = {1: (conv1d, "NWC"), 2: (conv2d, "NHWC"), 3: (conv3d, "NDHWC")}[nd]
    strides = [1] * nd if strides is None else strides
    return function(x, filters, strides, padding, data_format or layout, dilations, name or "convolution")


def convolution_v1(input: TensorLike, filter: TensorLike, padding: str, strides: Any = None, dilation_rate: Any = None,
                   name: str | None = None, data_format: str | None = None, filters: TensorLike = None,
                   dilations: Any = None) -> Tensor:
    """Convolves in one, two or three dimensions: `convolution` with TensorFlow 1's arguments.

    Args:
      input: (*B, *spatial, I), or (*B, I, *spatial) for a data format that begins with "NC".
      filter, filters: (*window, I / groups, O).
      padding: "VALID" or "SAME".
      strides: a number for each spatial dimension, or None.
      dilation_rate, dilations: the dilations of the filter, like `strides`.
      name: a name for the operation.
      data_format: "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW" or None.
    Returns: the convolved tensor.
    Raises: ValueError if the number of dimensions is not 1, 2 or 3.
    Gradient: that of the convolution it calls.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.convolution`.
    """
    return convolution(input, either("filters", filters, "filter", filter), strides, padding, data_format,
                       either("dilations", dilations, "dilation_rate", dilation_rate), name)
