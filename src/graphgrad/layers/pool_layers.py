"""`tf.layers`: pooling."""

from __future__ import annotations

from typing import Any

from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.tensor import Tensor, TensorLike
from graphgrad.ops.nn.pool import pool_functions as nn

from .layer import Layer, check_padding, layout, sizes


class _Pooling(Layer):
    """The base of the pooling layers."""

    _n = 2
    _kind = "max"

    def __init__(self, pool_size: Any, strides: Any, padding: Any = "valid", data_format: Any = "channels_last",
                 name: str | None = None, **kwargs: Any):
        super().__init__(name=name, **kwargs)
        self.pool_size = sizes(pool_size, self._n, "pool_size")
        self.strides = sizes(pool_size if strides is None else strides, self._n, "strides")
        self.padding = check_padding(padding)
        self.data_format = data_format
        self._layout = layout(data_format, self._n)

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        name = {"max": "MaxPool", "avg": "AvgPool"}[self._kind]
        n, padding = max(self._n, 2), self.padding.upper()
        function = getattr(nn, f"{self._kind}_pool{n}d")
        if self._n > 1:
            return function(inputs, self.pool_size, self.strides, padding, self._layout, name + "3D" * (n == 3))
        axis = 2 if self._layout == "NCW" else 1
        outputs = function(raw.ExpandDims(inputs, axis), (1, *self.pool_size), (1, *self.strides), padding,
                           layout(self.data_format, 2), name)
        return raw.Squeeze(outputs, squeeze_dims=(axis,))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the output."""
        dims = TensorShape(input_shape).as_list()
        first = 2 if self._layout.startswith("NC") else 1
        for i, (k, s) in enumerate(zip(self.pool_size, self.strides, strict=True)):
            size = dims[first + i]
            if size is not None:
                dims[first + i] = (size - (k - 1 if self.padding == "valid" else 0) + s - 1) // s
        return TensorShape(dims)


class MaxPooling1D(_Pooling):
    """A layer that computes the maximum of each window.

    Args:
      pool_size: the size of a window.
      strides: the strides of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the name of the layer.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.MaxPooling1D`.
    """

    _n = 1
    _kind = "max"


def max_pooling1d(inputs: TensorLike, pool_size: Any, strides: Any, padding: Any = "valid",
                  data_format: Any = "channels_last", name: str | None = None) -> Tensor:
    """Computes the maximum of each window.

    Args:
      inputs: (N, W, C), or with the channels second.
      pool_size, strides, padding, data_format: as in `MaxPooling1D`.
      name: the name of the layer.
    Returns: a tensor of the inputs' rank.
    Gradient: that of the pooling op.
    Reference: TensorFlow 1.15 `tf.layers.max_pooling1d`.

    >>> tf.layers.max_pooling1d(tf.ones([2, 8, 3]), 2, 2).shape.as_list()
    [2, 4, 3]
    """
    return MaxPooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


class MaxPooling2D(_Pooling):
    """A layer that computes the maximum of each window.

    Args:
      pool_size: the size of a window.
      strides: the strides of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the name of the layer.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.MaxPooling2D`.
    """

    _n = 2
    _kind = "max"


def max_pooling2d(inputs: TensorLike, pool_size: Any, strides: Any, padding: Any = "valid",
                  data_format: Any = "channels_last", name: str | None = None) -> Tensor:
    """Computes the maximum of each window.

    Args:
      inputs: (N, H, W, C), or with the channels second.
      pool_size, strides, padding, data_format: as in `MaxPooling2D`.
      name: the name of the layer.
    Returns: a tensor of the inputs' rank.
    Gradient: that of the pooling op.
    Reference: TensorFlow 1.15 `tf.layers.max_pooling2d`.

    >>> y = tf.layers.max_pooling2d(tf.ones([2, 8, 8, 3]), 2, 2)
    >>> y.name, y.shape.as_list()
    ('max_pooling2d/MaxPool:0', [2, 4, 4, 3])
    """
    return MaxPooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


class MaxPooling3D(_Pooling):
    """A layer that computes the maximum of each window.

    Args:
      pool_size: the size of a window.
      strides: the strides of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the name of the layer.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.MaxPooling3D`.
    """

    _n = 3
    _kind = "max"


def max_pooling3d(inputs: TensorLike, pool_size: Any, strides: Any, padding: Any = "valid",
                  data_format: Any = "channels_last", name: str | None = None) -> Tensor:
    """Computes the maximum of each window.

    Args:
      inputs: (N, D, H, W, C), or with the channels second.
      pool_size, strides, padding, data_format: as in `MaxPooling3D`.
      name: the name of the layer.
    Returns: a tensor of the inputs' rank.
    Gradient: that of the pooling op.
    Reference: TensorFlow 1.15 `tf.layers.max_pooling3d`.

    >>> tf.layers.max_pooling3d(tf.ones([2, 8, 8, 8, 3]), 2, 2).shape.as_list()
    [2, 4, 4, 4, 3]
    """
    return MaxPooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


class AveragePooling1D(_Pooling):
    """A layer that computes the mean of each window.

    Args:
      pool_size: the size of a window.
      strides: the strides of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the name of the layer.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.AveragePooling1D`.
    """

    _n = 1
    _kind = "avg"


def average_pooling1d(inputs: TensorLike, pool_size: Any, strides: Any, padding: Any = "valid",
                      data_format: Any = "channels_last", name: str | None = None) -> Tensor:
    """Computes the mean of each window.

    Args:
      inputs: (N, W, C), or with the channels second.
      pool_size, strides, padding, data_format: as in `AveragePooling1D`.
      name: the name of the layer.
    Returns: a tensor of the inputs' rank.
    Gradient: that of the pooling op.
    Reference: TensorFlow 1.15 `tf.layers.average_pooling1d`.

    >>> tf.layers.average_pooling1d(tf.ones([2, 8, 3]), 2, 2).shape.as_list()
    [2, 4, 3]
    """
    return AveragePooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


class AveragePooling2D(_Pooling):
    """A layer that computes the mean of each window.

    Args:
      pool_size: the size of a window.
      strides: the strides of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the name of the layer.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.AveragePooling2D`.
    """

    _n = 2
    _kind = "avg"


def average_pooling2d(inputs: TensorLike, pool_size: Any, strides: Any, padding: Any = "valid",
                      data_format: Any = "channels_last", name: str | None = None) -> Tensor:
    """Computes the mean of each window.

    Args:
      inputs: (N, H, W, C), or with the channels second.
      pool_size, strides, padding, data_format: as in `AveragePooling2D`.
      name: the name of the layer.
    Returns: a tensor of the inputs' rank.
    Gradient: that of the pooling op.
    Reference: TensorFlow 1.15 `tf.layers.average_pooling2d`.

    >>> tf.layers.average_pooling2d(tf.ones([2, 8, 8, 3]), 2, 2).shape.as_list()
    [2, 4, 4, 3]
    """
    return AveragePooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


class AveragePooling3D(_Pooling):
    """A layer that computes the mean of each window.

    Args:
      pool_size: the size of a window.
      strides: the strides of the window.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      name: the name of the layer.
      **kwargs: those of `Layer`.
    Reference: TensorFlow 1.15 `tf.layers.AveragePooling3D`.
    """

    _n = 3
    _kind = "avg"


def average_pooling3d(inputs: TensorLike, pool_size: Any, strides: Any, padding: Any = "valid",
                      data_format: Any = "channels_last", name: str | None = None) -> Tensor:
    """Computes the mean of each window.

    Args:
      inputs: (N, D, H, W, C), or with the channels second.
      pool_size, strides, padding, data_format: as in `AveragePooling3D`.
      name: the name of the layer.
    Returns: a tensor of the inputs' rank.
    Gradient: that of the pooling op.
    Reference: TensorFlow 1.15 `tf.layers.average_pooling3d`.

    >>> tf.layers.average_pooling3d(tf.ones([2, 8, 8, 8, 3]), 2, 2).shape.as_list()
    [2, 4, 4, 4, 3]
    """
    return AveragePooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


max_pool2d = max_pooling2d
average_pool2d = average_pooling2d
