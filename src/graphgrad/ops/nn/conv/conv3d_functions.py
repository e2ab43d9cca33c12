"""Public functions of convolution in three dimensions, for TensorFlow 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphgrad.ir.opdef import raw
from graphgrad.ir.scopes import name_scope
from graphgrad.ir.tensor import ShapeLike, Tensor, TensorLike
from graphgrad.ops.common.synonyms import either

from .conv_arguments import attributes, in_batches, operands


def conv3d(input: TensorLike, filters: TensorLike, strides: int | Sequence[Any], padding: str,
           data_format: str = "NDHWC", dilations: int | Sequence[Any] | None = None, name: str | None = None) -> Tensor:
    """Convolves volumes with filters.

    Args:
      input: (*B, D, H, W, I), or (*B, I, D, H, W) for data_format "NCDHW".
      filters: (d, h, w, I / groups, O), of the same dtype.
      strides: an int, or a list of 1, 3 or 5.
      padding: "SAME" or "VALID".
      data_format: "NDHWC" or "NCDHW".
      dilations: the dilations of the filter, like `strides`.
      name: a name for the operation.
    Returns: (*B, D', H', W', O).
    Raises: ValueError if the depths do not match or the window is larger than the input.
    Gradient: Conv3DBackpropInputV2 and Conv3DBackpropFilterV2, differentiable again.
    Reference: TensorFlow 2.21 Conv3D.

    >>> x, ones = np.ones((1, 2, 2, 2, 1)), np.ones((2, 2, 2, 1, 1))
    >>> sess.run(tf.nn.conv3d(x, ones, [1, 1, 1, 1, 1], "VALID")).ravel()
    array([8.])
    """
    x, filters = operands(input, filters)
    attrs = attributes(3, strides, padding, data_format or "NDHWC", dilations)
    return in_batches(x, 3, lambda x: raw.Conv3D(x, filters, name=name, **attrs))


def conv3d_v1(input: TensorLike, filter: TensorLike = None, strides: Any = None, padding: Any = None,
              data_format: str = "NDHWC", dilations: int | Sequence[Any] = [1, 1, 1, 1, 1], name: str | None = None,
              filters: TensorLike = None) -> Tensor:
    """Convolves volumes with filters: `conv3d` with TensorFlow 1's arguments.

    Args:
      input: (*B, D, H, W, I), or (*B, I, D, H, W) for data_format "NCDHW".
      filter, filters: (d, h, w, I / groups, O), of the same dtype.
      strides, padding, data_format, dilations: as in `conv3d`.
      name: a name for the operation.
    Returns: (*B, D', H', W', O).
    Raises: ValueError if the depths do not match or the window is larger than the input.
    Gradient: Conv3DBackpropInputV2 and Conv3DBackpropFilterV2, differentiable again.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.conv3d`.
    """
    filters = either("filters", filters, "filter", filter)
    return conv3d(input, filters, strides, padding, data_format, dilations, name)


def conv3d_backprop_filter(input: TensorLike, filter_sizes: ShapeLike, out_backprop: TensorLike,
                           strides: int | Sequence[Any], padding: str, data_format: str = "NDHWC",
                           dilations: int | Sequence[Any] = [1, 1, 1, 1, 1], name: str | None = None) -> Tensor:
    """Computes the gradient of `conv3d` with respect to its filters.

    Args:
      input: (N, D, H, W, I).
      filter_sizes: the shape of the filters, an integer vector.
      out_backprop: the gradient of the result.
      strides, padding, data_format, dilations: as in `conv3d`.
      name: a name for the operation.
    Returns: a tensor of shape `filter_sizes`.
    Raises: ValueError if `out_backprop` does not have the result's shape.
    Gradient: Conv3DBackpropInputV2 and Conv3D.
    Reference: TensorFlow 2.21 Conv3DBackpropFilterV2.
    """
    return raw.Conv3DBackpropFilterV2(input, filter_sizes, out_backprop, name=name,
                                      **attributes(3, strides, padding, data_format, dilations))


def conv3d_transpose(input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: int | Sequence[Any],
                     padding: str | Sequence[Any] = "SAME", data_format: str = "NDHWC",
                     dilations: int | Sequence[Any] | None = None, name: str | None = None) -> Tensor:
    """Computes the transpose of `conv3d`.

    Args:
      input: (N, D, H, W, I).
      filters: (d, h, w, O, I).
      output_shape: the shape of the result, an integer vector.
      strides, padding, data_format, dilations: of the convolution that is transposed.
      name: a name for the operation.
    Returns: a tensor of shape `output_shape`.
    Raises: ValueError if the shapes are incompatible.
    Gradient: Conv3D and Conv3DBackpropFilterV2.
    Reference: TensorFlow 2.21 `tf.nn.conv3d_transpose`.
    """
    with name_scope(name, "conv3d_transpose") as scope:
        x, filters = operands(input, filters)
        return raw.Conv3DBackpropInputV2(output_shape, filters, x, name=scope or None,
                                         **attributes(3, strides, padding, data_format or "NDHWC", dilations))


def conv3d_transpose_v1(value: TensorLike, filter: TensorLike = None, output_shape: Any = None, strides: Any = None,
                        padding: str | Sequence[Any] = "SAME", data_format: str = "NDHWC", name: str | None = None,
                        input: TensorLike = None, filters: TensorLike = None, dilations: Any = None) -> Tensor:
    """Computes the transpose of `conv3d`: `conv3d_transpose` with TensorFlow 1's arguments.

    Args:
      value, input: (N, D, H, W, I).
      filter, filters: (d, h, w, O, I).
      output_shape: the shape of the result, an integer vector.
      strides, padding, data_format, dilations: of the convolution that is transposed.
      name: a name for the operation.
    Returns: a tensor of shape `output_shape`.
    Raises: ValueError if the shapes are incompatible.
    Gradient: Conv3D and Conv3DBackpropFilterV2.
    Reference: TensorFlow 2.21 `tf.compat.v1.nn.conv3d_transpose`.
    """
    return conv3d_transpose(either("input", input, "value", value), either("filters", filters, "filter", filter),
                            output_shape, strides, padding, data_format, dilations, name)
