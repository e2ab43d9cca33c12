"""Recurrent cells of `tf.contrib.rnn` that convolve."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphgrad.frontend.rnn.lstm_cells import LSTMStateTuple
from graphgrad.frontend.rnn.rnn_cells import RNNCell
from graphgrad.frontend.variables.initializers import Zeros
from graphgrad.frontend.variables.variable_scope import get_variable
from graphgrad.ir.conversion import convert_to_tensor
from graphgrad.ir.opdef import raw
from graphgrad.ir.shape import TensorShape
from graphgrad.ir.source import user_source
from graphgrad.ops.nn.conv.conv3d_functions import conv3d
from graphgrad.ops.nn.conv.conv_functions import conv1d, conv2d


class ConvLSTMCell(RNNCell):
    """The convolutional LSTM.

    Args:
      conv_ndims: 1, 2 or 3 dimensions.
      input_shape: the shape of inputs, without batch, with channels.
      output_channels: the number of channels of the output.
      kernel_shape: the size of the window.
      use_bias: whether there are biases.
      skip_connection: whether the input is concatenated to the output.
      forget_bias: added to the forget gate.
      initializers: accepted.
      name: the name of the cell and of its variable scope.
    Raises: ValueError for shapes of another rank.
    Reference: Shi et al. 2015, Convolutional LSTM Network; TensorFlow 1.15 `tf.contrib.rnn.ConvLSTMCell`.
    """

    def __init__(self, conv_ndims: int, input_shape: Any, output_channels: int, kernel_shape: Any,
                 use_bias: bool = True, skip_connection: bool = False, forget_bias: float = 1.0,
                 initializers: Any = None, name: str = "conv_lstm_cell"):
        super().__init__(name=name)
        sizes = [int(n) for n in input_shape]
        if conv_ndims != len(sizes) - 1:
            raise ValueError(f"Invalid input_shape {sizes} for conv_ndims={conv_ndims}.\n"
                             f"  Asked for at {user_source(2)}\n  Fix: {conv_ndims} sizes, then the channels")
        self._ndims = conv_ndims
        self._output_channels = output_channels
        self._kernel_shape = [int(n) for n in kernel_shape]
        self._use_bias = use_bias
        self._skip = skip_connection
        self._forget_bias = forget_bias
        self._sizes = sizes

    @property
    def output_size(self) -> Any:
        """The shape of the output."""
        more = self._sizes[-1] if self._skip else 0
        return TensorShape([*self._sizes[:-1], self._output_channels + more])

    @property
    def state_size(self) -> Any:
        """The shapes of c and h."""
        return LSTMStateTuple(TensorShape([*self._sizes[:-1], self._output_channels]), self.output_size)

    def call(self, inputs: Any, state: Any) -> Any:
        """Computes one step."""
        c, h = state
        whole = raw.ConcatV2([inputs, h], np.int32(self._ndims + 1))
        kernel = get_variable("kernel", [*self._kernel_shape, whole.shape.as_list()[-1], 4 * self._output_channels],
                              dtype=inputs.dtype)
        convolve: Any = {1: conv1d, 2: conv2d, 3: conv3d}[self._ndims]
        stride: Any = 1 if self._ndims == 1 else [1] * (self._ndims + 2)
        gates = convolve(whole, kernel, stride, "SAME")
        if self._use_bias:
            gates = gates + get_variable("biases", [4 * self._output_channels], dtype=inputs.dtype,
                                         initializer=Zeros())
        i, j, f, o = raw.Split(np.int32(self._ndims + 1), gates, num_split=4)
        c = raw.Sigmoid(f + self._forget_bias) * c + raw.Sigmoid(i) * raw.Tanh(j)
        h = raw.Tanh(c) * raw.Sigmoid(o)
        if self._skip:
            h = raw.ConcatV2([h, convert_to_tensor(inputs)], np.int32(self._ndims + 1))
        return h, LSTMStateTuple(c, h)


class Conv1DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` over sequences."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any):
        super().__init__(1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` over images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any):
        super().__init__(2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` over volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any):
        super().__init__(3, name=name, **kwargs)
