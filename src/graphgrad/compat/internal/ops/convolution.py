"""`tensorflow.python.ops.nn_ops.Convolution`."""

from __future__ import annotations

from typing import Any

from graphgrad.ops.nn.conv.conv_functions import convolution


class PreparedConvolution:
    """A convolution whose arguments are given before its operands.

    Args:
      input_shape, filter_shape: accepted.
      padding: "SAME" or "VALID".
      strides, dilation_rate: one number for each spatial dimension.
      name: a name for the operations.
      data_format: as `tf.nn.convolution` takes it.
    """

    def __init__(self, input_shape: Any, filter_shape: Any, padding: str, strides: Any = None,
                 dilation_rate: Any = None, name: str | None = None, data_format: str | None = None):
        self._arguments = {"strides": strides, "padding": padding, "data_format": data_format,
                           "dilations": dilation_rate, "name": name}

    def __call__(self, inp: Any, filter: Any) -> Any:
        """Computes the convolution.

        Args:
          inp: the input.
          filter: the filters.
        """
        return convolution(inp, filter, **self._arguments)
